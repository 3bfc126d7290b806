// Caches the plans of a communicator's most recent collectives over messages, so that Go does not compile the same plan
// again in each iteration of a loop. A call reuses the plan of an earlier call with the same arguments, if the
// arguments' arrays have the same contents.
#ifndef GOMPI_PLAN_CACHE_H
#define GOMPI_PLAN_CACHE_H

#include "comm/comm.h"
#include "message/plan.h"

struct gompi_collective;

#pragma GCC visibility push(hidden)

// Returns an idle cached plan for this call and marks it as in use. Returns NULL if the cache has no idle plan for this
// call.
struct gompi_plan *gompi_plan_cache_acquire(struct gompi_comm *c, const struct gompi_collective *a);
// Adds p, the plan of this call, to the cache. Evicts the oldest plan if the cache is full. If calls of this kind are
// not cached, or if out of memory, does not add p but releases it. The caller got p from gompi_plan_to_cache.
void gompi_plan_cache_add(struct gompi_comm *c, const struct gompi_collective *a, struct gompi_plan *p);
// Frees the cache of the communicator with this handle.
void gompi_plan_cache_close(uintptr_t handle);

#pragma GCC visibility pop
#endif
