// Cache of the plans of a communicator's last calls that went by messages, so that a loop does not compile them again.
// A call with the same arguments as a cached one, and the same numbers in its arrays, reuses its plan.
#ifndef GOMPI_PLAN_CACHE_H
#define GOMPI_PLAN_CACHE_H

#include "comm/comm.h"
#include "message/plan.h"

struct gompi_collective;

#pragma GCC visibility push(hidden)

// Returns the idle cached plan of such a call and marks it as in use; NULL if no such plan is idle.
struct gompi_plan *gompi_plan_cache_acquire(struct gompi_comm *c, const struct gompi_collective *a);
// Adds the plan of a call, from gompi_plan_to_cache, to the cache, and evicts the oldest plan.
void gompi_plan_cache_add(struct gompi_comm *c, const struct gompi_collective *a, struct gompi_plan *p);
// Frees the cache of the communicator with this handle.
void gompi_plan_cache_close(uintptr_t handle);

#pragma GCC visibility pop
#endif
