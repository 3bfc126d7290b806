// Plans that a communicator keeps of the last calls that went by messages, so that a loop compiles nothing: a call with
// the arguments of one of them, and the same numbers in their arrays, begins its plan again.
#ifndef GOMPI_KEPT_H
#define GOMPI_KEPT_H

#include "comm/comm.h"
#include "message/plan.h"

struct gompi_collective;

#pragma GCC visibility push(hidden)

// The plan that is kept of a call and not under way, which is under way from now on. NULL: there is none.
struct gompi_plan *gompi_kept_take(struct gompi_comm *c, const struct gompi_collective *a);
// Keeps the plan of a call, of gompi_plan_for_later, instead of the oldest one.
void gompi_kept_add(struct gompi_comm *c, const struct gompi_collective *a, struct gompi_plan *p);
// Gives up what the communicator with this handle keeps.
void gompi_kept_close(uintptr_t handle);

#pragma GCC visibility pop
#endif
