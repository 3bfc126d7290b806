// The comm descriptor: the part of a communicator that messages, small collectives and query calls use without a call
// into Go. core/comm decides its contents.
#ifndef GOMPI_COMM_H
#define GOMPI_COMM_H

#include "attribute/attribute.h"
#include "base/abi.h"
#include "base/barrier.h"
#include "base/table.h"
#include "base/ranks.h"
#include "comm/topology.h"
#include "errors/handler.h"
#include "group/group.h"

// Offset, in bytes from the end of the barrier, of a file's shared file pointer in the control memory of the file's
// communicator (core/comm/block.go).
enum { GOMPI_COMM_FILE_POINTER = 8 };

// Hints from info objects (hints.c).
struct gompi_comm_hints {
	uint32_t asserted; // bit set of the assertions in hints.c
	char *alloc_kinds; // value of mpi_assert_memory_alloc_kinds, allocated by malloc; NULL if not set
};

struct gompi_comm {
	uintptr_t handle;         // 0 if no communicator uses the descriptor
	gompi_a64 usable_handle;  // the handle, or 0 if the communicator is restricted (failures.h)
	int rank, size;           // rank of this process in the group (if is_inter, local group); size of that group
	bool is_inter;            // this is an intercommunicator
	uint64_t id;              // base of its context ids; core/comm.Comm.Context adds the kind of message
	struct gompi_ranks peers; // destinations of messages: the group or, if is_inter, the remote group

	struct gompi_barrier *barrier;       // NULL if the members share no memory, or there is only one member
	uint32_t barrier_count;              // number of barriers on `barrier` that this process has executed
	struct gompi_shm_coll *shm_coll;     // shared-memory collectives (coll/shm_coll.h); NULL if barrier is NULL
	struct gompi_nbc *nbc;               // nonblocking shared-memory collectives (coll/nbc.h); NULL if barrier
					     // is NULL
	struct gompi_hierarchy *hierarchy;   // two-level collectives of members on several nodes (coll/hierarchy.h);
					     // if not NULL, shm_coll and nbc are NULL
	struct gompi_plan_cache *plan_cache; // cached plans of the latest calls (coll/plan_cache.h)
	int32_t plan_tag;                    // tag of the latest nonblocking or persistent collective that used a plan
	struct gompi_topology topology;
	struct gompi_bsend_buffer *_Atomic bsend_buffer; // attached buffer (message/bsend_buffer.h); NULL if none was
							 // ever attached
	struct gompi_attributes *_Atomic attributes;     // NULL if no attribute was ever set
	struct gompi_errhandler_ref errhandler;
	struct gompi_ranks members; // the group or, if is_inter, the local group
	struct gompi_comm_hints hints;
	struct gompi_group *group, *remote_group; // created when the application first asks for them
	gompi_a32 is_revoked;                     // 1 after MPIX_Comm_revoke at any member
	struct gompi_comm_failures *failures;     // failed members (failures.c); NULL if none is known
	struct gompi_comm *next;                  // next in the free list
};

extern struct gompi_table gompi_comms;        // all communicators except MPI_COMM_WORLD and MPI_COMM_SELF
extern struct gompi_table gompi_usable_comms; // those of them that are not restricted (failures.h)
extern struct gompi_comm gompi_comm_world, gompi_comm_self;

// True if the program has set an error handler on MPI_COMM_SELF. Errors that belong to no object are raised on
// MPI_COMM_SELF. Older MPI standards raised them on MPI_COMM_WORLD, and most programs rely on that. So MPI_COMM_WORLD's
// handler is used until the program sets a handler on MPI_COMM_SELF.
extern atomic_bool gompi_comm_self_handler_set;

// Returns the descriptor of the communicator with this handle, or NULL if the handle is MPI_COMM_NULL or invalid.
static inline struct gompi_comm *gompi_comm_get(MPI_Comm comm) {
	uintptr_t h = (uintptr_t)comm;
	if (comm == MPI_COMM_WORLD)
		return gompi_comm_world.handle == h ? &gompi_comm_world : NULL;
	if (comm == MPI_COMM_SELF)
		return gompi_comm_self.handle == h ? &gompi_comm_self : NULL;
	return gompi_table_get(&gompi_comms, h);
}

// Returns the descriptor as gompi_comm_get does, but NULL if the communicator is restricted (failures.h). For the fast
// paths of calls that communicate.
static inline struct gompi_comm *gompi_comm_usable(MPI_Comm comm) {
	uintptr_t h = (uintptr_t)comm;
	if (comm == MPI_COMM_WORLD)
		return gompi_load(&gompi_comm_world.usable_handle) == h ? &gompi_comm_world : NULL;
	if (comm == MPI_COMM_SELF)
		return gompi_load(&gompi_comm_self.usable_handle) == h ? &gompi_comm_self : NULL;
	return gompi_table_get(&gompi_usable_comms, h);
}

// Makes gompi_comm_usable ignore a communicator.
void gompi_comm_restrict(struct gompi_comm *c);

// Creates the descriptor of a communicator with the contents of c. Copies the lists of ranks, and takes ownership of
// the hints (c->hints.alloc_kinds). Returns NULL if out of memory.
struct gompi_comm *gompi_comm_open(const struct gompi_comm *c);
void gompi_comm_close(uintptr_t handle);

// Sets hints from an info object. Returns MPI_SUCCESS or the error class in *v: MPI_ERR_INFO if the handle `info` is
// not an info object.
int gompi_comm_hints_set(struct gompi_comm_hints *hints, MPI_Info info, struct gompi_error_status *v);

// Returns the error handler of a communicator for a new communicator derived from it. Acquires a reference.
// Returns MPI_ERRORS_ARE_FATAL if the communicator does not exist.
uintptr_t gompi_comm_errhandler(uintptr_t handle);

// Stores the name of a communicator in `name`, which has MPI_MAX_OBJECT_NAME bytes. Returns the length of the name, or
// 0 if the communicator has no name or does not exist.
int gompi_comm_name(MPI_Comm comm, char *name);

// Reports MPI_ERR_COMM in *v for a handle that is not a live communicator.
__attribute__((cold)) int gompi_comm_invalid(struct gompi_error_status *v, MPI_Comm comm);
// Raises MPI_ERR_COMM for a handle that is not a live communicator. Returns the value that the call must return.
__attribute__((cold)) int gompi_raise_invalid_comm(MPI_Comm comm, const char *call);

#endif
