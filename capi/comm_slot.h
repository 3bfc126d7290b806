// A communicator as the data path sees it: what MPI_Comm_rank, MPI_Comm_size and MPI_Barrier need without a call into Go.
#ifndef GOMPI_COMM_SLOT_H
#define GOMPI_COMM_SLOT_H

#include "mpi.h"
#include "shared_barrier.h"

struct gompi_comm {
	uintptr_t handle; // A slot is never given back to the system, so a stale handle finds one with another handle in it
	int rank, size;
	struct gompi_barrier *barrier; // NULL: the members do not share memory, or there is no other
	uint32_t barriers;             // so far
};

enum { GOMPI_COMM_INDICES = 1 << 20 };
extern struct gompi_comm *_Atomic gompi_comm_table[GOMPI_COMM_INDICES];
extern struct gompi_comm gompi_comm_world, gompi_comm_self;

// The slot of a live communicator that the application has a handle of, or NULL.
static inline struct gompi_comm *gompi_comm_get(MPI_Comm comm) {
	uintptr_t h = (uintptr_t)comm;
	struct gompi_comm *c = comm == MPI_COMM_WORLD  ? &gompi_comm_world
			       : comm == MPI_COMM_SELF ? &gompi_comm_self
						       : atomic_load_explicit(&gompi_comm_table[h % GOMPI_COMM_INDICES], memory_order_relaxed);
	return c != NULL && c->handle == h ? c : NULL;
}

// Makes the slot of a communicator; barrier may be NULL. false: there is no memory.
bool gompi_comm_open(uintptr_t handle, int rank, int size, void *barrier);
void gompi_comm_close(uintptr_t handle);

#endif
