// A barrier among the members of a communicator or window on one node, in shared memory of GOMPI_BARRIER_SIZE(n)
// bytes (core/shm.BarrierSize), zeroed before use.
#ifndef GOMPI_BARRIER_H
#define GOMPI_BARRIER_H

#include "base/wait.h"

// One member's lines. Each round of the dissemination has its own word, written by one partner only, so no atomic
// read-modify-write is needed.
struct gompi_barrier_member {
	_Alignas(GOMPI_LINE) gompi_a32 round[16]; // number of the barrier in which my partner of this round has arrived
	_Alignas(GOMPI_LINE) struct gompi_waitword wait;
};

struct gompi_barrier {
	_Alignas(GOMPI_LINE) gompi_a32 arrived; // central form, for more processes than cores
	_Alignas(GOMPI_LINE) gompi_a32 phase;
	struct gompi_waitword wait;
	struct gompi_barrier_member member[];
};

// Returns when all n members have called it as often as this one. number is this member's count of barriers on b, kept
// by the caller, starting at 0. Whatever a member stored before is seen by all afterwards. 0 or MPI_ERR_PROC_ABORTED.
int gompi_shared_barrier(struct gompi_barrier *b, int n, int me, uint32_t *number, const struct gompi_waiting *what);

// A barrier in two halves, for a member 0 that does something in between, such as to meet other nodes. The first
// returns there when all n members have called it, at the others at once; the second returns there at once, at the
// others when member 0 has called it. All barriers on b are of this form, or none is.
int gompi_barrier_gather(struct gompi_barrier *b, int n, int me, uint32_t *number, const struct gompi_waiting *what);
int gompi_barrier_release(struct gompi_barrier *b, int n, int me, uint32_t number, const struct gompi_waiting *what);

#endif
