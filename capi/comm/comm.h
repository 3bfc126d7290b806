// A communicator as the data path sees it: what messages, small collectives and the calls that only ask need without a
// call into Go. core/comm decides what is in it.
#ifndef GOMPI_COMM_SLOT_H
#define GOMPI_COMM_SLOT_H

#include "attribute/attribute.h"
#include "base/abi.h"
#include "base/barrier.h"
#include "base/table.h"
#include "base/ranks.h"
#include "comm/topology.h"
#include "errors/handler.h"
#include "group/group.h"

// What info objects have said of a communicator (hints.c).
struct gompi_comm_hints {
	uint32_t asserted; // bits
	char *kinds;       // mpi_assert_memory_alloc_kinds, by malloc; NULL: not given
};

struct gompi_comm {
	uintptr_t handle;         // 0: none has the slot
	int rank, size;           // of this process in the (local) group, and of that
	bool inter;               // an intercommunicator
	uint64_t id;              // of its messages: core/comm.Comm.Context adds which
	struct gompi_ranks peers; // whom messages go to: the group, or the remote one

	struct gompi_barrier *barrier;     // NULL: the members do not share memory, or there is no other
	uint32_t barriers;                 // so far
	struct gompi_slots *slots;         // of the other collectives (coll/slots.h), NULL in the same case
	struct gompi_board *board;         // of those that are started (coll/board.h), NULL in the same case
	struct gompi_hierarchy *hierarchy; // of members on several nodes (coll/hierarchy.h), instead of both
	struct gompi_kept *kept;           // plans of its last calls (coll/kept.h)
	int32_t started;                   // calls that have gone by plans with requests so far, their tag
	struct gompi_topology topology;
	struct gompi_bsend_buffer *_Atomic attached; // its buffer (message/attached.h), NULL: it never had one
	struct gompi_attributes *_Atomic attributes; // NULL: there were none
	struct gompi_raises raises;
	struct gompi_ranks members; // the (local) group
	struct gompi_comm_hints hints;
	struct gompi_group *group, *remote_group; // once the application has asked for them
	struct gompi_comm *next;                  // of slots without a communicator
};

extern struct gompi_table gompi_comms; // all but those two
extern struct gompi_comm gompi_comm_world, gompi_comm_self;

// The slot of a live communicator that the application has a handle of, or NULL.
static inline struct gompi_comm *gompi_comm_get(MPI_Comm comm) {
	uintptr_t h = (uintptr_t)comm;
	if (comm == MPI_COMM_WORLD)
		return gompi_comm_world.handle == h ? &gompi_comm_world : NULL;
	if (comm == MPI_COMM_SELF)
		return gompi_comm_self.handle == h ? &gompi_comm_self : NULL;
	return gompi_table_get(&gompi_comms, h);
}

// Makes the slot of a communicator as c describes it; the lists are copied, the hints are its own then. NULL: there is
// no memory.
struct gompi_comm *gompi_comm_open(const struct gompi_comm *c);
void gompi_comm_close(uintptr_t handle);

// Takes what an info object says. The verdict's class, MPI_ERR_INFO: there is no such object.
int gompi_comm_hints_take(struct gompi_comm_hints *hints, MPI_Info info, struct gompi_verdict *v);

// Returns the error handler of a communicator for one that is made of it, with one reference more.
uintptr_t gompi_comm_errhandler(uintptr_t handle);

// Stores the name of a communicator, of less than MPI_MAX_OBJECT_NAME bytes, and returns its length. 0: it has none, or
// there is no such communicator.
int gompi_comm_name(MPI_Comm comm, char *name);

// Says that a handle is no live communicator: MPI_ERR_COMM.
__attribute__((cold)) int gompi_comm_none(struct gompi_verdict *v, MPI_Comm comm);
// Raises MPI_ERR_COMM for a handle that is no live communicator, and returns what the call shall return.
__attribute__((cold)) int gompi_not_a_communicator(MPI_Comm comm, const char *call);

#endif
