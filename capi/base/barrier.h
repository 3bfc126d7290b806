// A barrier among the members of a communicator or window on one node. It uses core/shm.BarrierSize(n) bytes of shared
// memory, which must be zeroed before the first use.
#ifndef GOMPI_BARRIER_H
#define GOMPI_BARRIER_H

#include "base/wait.h"

// The cache lines of one member. Each dissemination round has its own word, which only the partner of this round
// writes. So a plain store suffices, and no atomic read-modify-write is needed.
struct gompi_barrier_member {
	// round[r]: number of the last barrier in which the partner of round r has arrived
	_Alignas(GOMPI_CACHE_LINE) gompi_a32 round[16];
	_Alignas(GOMPI_CACHE_LINE) struct gompi_waitword wait;
};

struct gompi_barrier {
	// arrivals of all members in all barriers so far; not used by dissemination
	_Alignas(GOMPI_CACHE_LINE) gompi_a32 arrived;
	_Alignas(GOMPI_CACHE_LINE) gompi_a32 phase; // number of the last complete barrier; not used by dissemination
	struct gompi_waitword wait;
	struct gompi_barrier_member member[];
};

// Waits until all n members have called the function as often as this member. The caller keeps *number, the count of
// this member's barriers on b, and initializes it with 0. Stores that a member makes before the barrier are visible to
// all members after it. Returns 0 or MPI_ERR_PROC_ABORTED.
int gompi_shared_barrier(struct gompi_barrier *b, int n, int me, uint32_t *number, const struct gompi_wait_desc *desc);

// Splits a barrier into two halves. Between the halves member 0 may act, for example synchronize with other nodes. At
// member 0, gompi_barrier_gather returns when all n members have called it, and gompi_barrier_release returns
// immediately. At the other members, gompi_barrier_gather returns immediately, and gompi_barrier_release returns when
// member 0 has called it. A barrier b serves either for split barriers only, or for gompi_shared_barrier only. Both
// functions return 0 or MPI_ERR_PROC_ABORTED.
int gompi_barrier_gather(struct gompi_barrier *b, int n, int me, uint32_t *number, const struct gompi_wait_desc *desc);
int gompi_barrier_release(struct gompi_barrier *b, int n, int me, uint32_t number, const struct gompi_wait_desc *desc);

#endif
