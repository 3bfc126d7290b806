// Shared parts of the entry points of collectives: argument checks, and passing a call to the shared-memory collectives
// or to Go.
#ifndef GOMPI_COLL_ENTRY_H
#define GOMPI_COLL_ENTRY_H

#include "base/go_callbacks.h"
#include "base/error_status.h"
#include "coll/shm_coll.h"
#include "comm/comm.h"
#include "datatype/datatype.h"

#pragma GCC visibility push(hidden)

// Fills in *r for a user-defined operation on contiguous elements without gaps. Returns false if Go must run the call.
bool gompi_user_reduction(struct gompi_reduction *r, MPI_Op op, MPI_Datatype datatype);

// Raises the error or mismatch rc that gompi_shm_run has returned. Returns what the MPI call returns.
int gompi_shm_raise(int rc, const struct gompi_coll_call *c, MPI_Comm comm);

// Runs a blocking collective with blocks of individual sizes, or a neighborhood collective. Returns what the MPI call
// returns.
int gompi_collective_run(const struct gompi_collective *a);

// gompi_collective_start starts a nonblocking collective (MPI-5.0 6.12) and gompi_collective_init makes a persistent
// one (6.13). Both store the request and return what the MPI call returns.
int gompi_collective_start(const struct gompi_collective *a, MPI_Request *request);
int gompi_collective_init(const struct gompi_collective *a, MPI_Info info, MPI_Request *request);

// Runs a blocking collective that no fast path accepts. Passes the call to Go if messages must move the data, or if an
// argument is invalid. Returns what the MPI call returns.
int gompi_collective_slow_path(const struct gompi_collective *a);

// Maximum bytes of a block, so that the blocks of all members together fit into the address space.
#define GOMPI_MAX_BLOCK_BYTES ((int64_t)1 << 40)

// Returns comm's view (its private state in this process) for shared-memory collectives. Returns NULL if comm is
// invalid, if its members do not share memory, or if shared memory does not support calls of this kind.
static inline struct gompi_shm_coll *gompi_shm_coll_for(MPI_Comm comm, int kind) {
	struct gompi_comm *c = gompi_comm_usable(comm);
	return c != NULL && c->shm_coll != NULL && gompi_shm_supports(kind, c->size) ? c->shm_coll : NULL;
}

// Returns true if count elements of a type are contiguous at a valid address, and describes them in *r.
static inline bool gompi_is_contiguous(struct gompi_buffer *r, const void *buf, MPI_Count count, MPI_Datatype type) {
	const struct gompi_type *t = gompi_type_get(type);
	if (t == NULL || (t->flags & GOMPI_TYPE_CONTIGUOUS) == 0 || !gompi_type_bytes(t, count, &r->size) ||
	    r->size > GOMPI_MAX_BLOCK_BYTES || gompi_invalid_address(buf, t->origin))
		return false;
	r->at = (char *)buf + t->origin;
	r->type = NULL;
	return true;
}

// Applies gompi_is_contiguous to one side of a call.
static inline bool gompi_is_contiguous_side(struct gompi_buffer *r, const struct gompi_collective_side *s) {
	return gompi_is_contiguous(r, (const void *)s->buf, s->count, (MPI_Datatype)s->type);
}

static inline bool gompi_is_in_place(uintptr_t buf) { return buf == (uintptr_t)MPI_IN_PLACE; }

static inline int gompi_shm_run_or_raise(struct gompi_shm_coll *t, struct gompi_coll_call *c, MPI_Comm comm) {
	int rc = gompi_shm_run(t, c);
	return __builtin_expect(rc == GOMPI_COLL_DONE, 1) ? MPI_SUCCESS : gompi_shm_raise(rc, c, comm);
}

// Fills in *r for contiguous elements: for a predefined operation, or for a user-defined operation on elements without
// gaps. Returns false if Go must run the call.
static inline bool gompi_reduction_of(struct gompi_reduction *r, MPI_Op op, MPI_Datatype datatype) {
	r->kernel = gompi_op_kernel(op, datatype);
	if (__builtin_expect(r->kernel != NULL, 1)) {
		r->size = (uint64_t)gompi_type_get(datatype)->size;
		return op != MPI_REPLACE && op != MPI_NO_OP;
	}
	return gompi_user_reduction(r, op, datatype);
}

// Describes one side of a call in the form that Go receives.
static inline struct gompi_collective_side gompi_collective_side(const void *buf, MPI_Count count, MPI_Datatype type) {
	return (struct gompi_collective_side){.buf = (uintptr_t)buf, .count = count, .type = (uintptr_t)type};
}

// Checks the block that this member sends to itself. The parameter `single` describes the side of the call that has one
// block. The parameter `all` describes the side that has a block for each member; its size is that of one block. This
// member's block on that side is at self_block. Returns true if the two blocks have the same length and different
// addresses. Otherwise the arguments may be erroneous, and Go must run the call.
static inline bool gompi_self_block_matches(const struct gompi_buffer *single, const struct gompi_buffer *all,
					    const char *self_block) {
	return single->size == all->size && single->at != self_block;
}

#pragma GCC visibility pop
#endif
