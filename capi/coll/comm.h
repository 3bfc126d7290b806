// A communicator as the data path sees it: what MPI_Comm_rank, MPI_Comm_size and MPI_Barrier need without a call into
// Go.
#ifndef GOMPI_COMM_SLOT_H
#define GOMPI_COMM_SLOT_H

#include "base/abi.h"
#include "base/barrier.h"
#include "base/table.h"

struct gompi_comm {
	uintptr_t handle; // 0: none has the slot
	int rank, size;
	struct gompi_barrier *barrier; // NULL: the members do not share memory, or there is no other
	uint32_t barriers;             // so far
	struct gompi_comm *next;       // of slots without a communicator
};

extern struct gompi_table gompi_comm_table; // of all but those two
extern struct gompi_comm gompi_comm_world, gompi_comm_self;

// The slot of a live communicator that the application has a handle of, or NULL.
static inline struct gompi_comm *gompi_comm_get(MPI_Comm comm) {
	uintptr_t h = (uintptr_t)comm;
	if (comm == MPI_COMM_WORLD)
		return gompi_comm_world.handle == h ? &gompi_comm_world : NULL;
	if (comm == MPI_COMM_SELF)
		return gompi_comm_self.handle == h ? &gompi_comm_self : NULL;
	return gompi_table_get(&gompi_comm_table, h);
}

// Makes the slot of a communicator; barrier may be NULL. false: there is no memory.
bool gompi_comm_open(uintptr_t handle, int rank, int size, void *barrier);
void gompi_comm_close(uintptr_t handle);

#endif
