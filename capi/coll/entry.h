// What the entry points of collectives share: looking at their arguments, and handing a call on.
#ifndef GOMPI_COLL_ENTRY_H
#define GOMPI_COLL_ENTRY_H

#include "base/up.h"
#include "base/verdict.h"
#include "coll/slots.h"
#include "comm/comm.h"
#include "datatype/datatype.h"

#pragma GCC visibility push(hidden)

// gompi_reduction_of, of an operation of the application.
bool gompi_user_reduction(struct gompi_reduction *r, MPI_Op op, MPI_Datatype datatype);

// What a call returns that slots have not done.
int gompi_slots_refused(int rc, const struct gompi_slots_call *c, MPI_Comm comm);

// Hands a call to Go. What it returns. wide: the arrays of sides, if there are any, have 64-bit integers.
int gompi_collective_to_go(const char *name, int kind, struct gompi_side send, struct gompi_side recv, bool wide,
			   MPI_Op op, int root, MPI_Comm comm);

// Starts a collective and stores a request of it (MPI-5.0 6.12); makes a persistent request (6.13). What the call
// returns.
int gompi_collective_start(const struct gompi_collective *a, MPI_Request *request);
int gompi_collective_init(const struct gompi_collective *a, MPI_Info info, MPI_Request *request);

// Does a call of equal blocks whose data does not lie together at this member, or hands it to Go.
int gompi_packed_call(const char *name, int kind, struct gompi_side send, struct gompi_side recv, int root,
		      MPI_Comm comm);

// Bytes of a block: with those of all members they fit into memory.
#define GOMPI_MOST_BLOCK ((int64_t)1 << 40)

// The slots of a live communicator if its members share memory, else NULL.
static inline struct gompi_slots *gompi_slots_for(MPI_Comm comm, int kind) {
	struct gompi_comm *c = gompi_comm_get(comm);
	return c != NULL && c->slots != NULL && gompi_slots_fit(kind, c->size) ? c->slots : NULL;
}

// Returns true if count elements of a type lie together, somewhere in memory: then r is their buffer.
static inline bool gompi_lies_together(struct gompi_buffer *r, const void *buf, MPI_Count count, MPI_Datatype type) {
	const struct gompi_type *t = gompi_type_get(type);
	if (t == NULL || (t->flags & GOMPI_TYPE_CONTIGUOUS) == 0 || !gompi_type_bytes(t, count, &r->size) ||
	    r->size > GOMPI_MOST_BLOCK || gompi_invalid_address(buf, t->origin))
		return false;
	r->at = (char *)buf + t->origin;
	r->type = NULL;
	return true;
}

static inline int gompi_run_slots(struct gompi_slots *t, struct gompi_slots_call *c, MPI_Comm comm) {
	int rc = gompi_slots_run(t, c);
	return __builtin_expect(rc == GOMPI_SLOTS_DONE, 1) ? MPI_SUCCESS : gompi_slots_refused(rc, c, comm);
}

// Makes the reduction of an operation on elements that lie together: a predefined one, or one of the application's on
// elements without gaps. false: Go is to look at it.
static inline bool gompi_reduction_of(struct gompi_reduction *r, MPI_Op op, MPI_Datatype datatype) {
	r->kernel = gompi_op_kernel(op, datatype);
	if (__builtin_expect(r->kernel != NULL, 1)) {
		r->size = (uint64_t)gompi_type_get(datatype)->size;
		return op != MPI_REPLACE && op != MPI_NO_OP;
	}
	return gompi_user_reduction(r, op, datatype);
}

// A side of a call as Go gets it.
static inline struct gompi_side gompi_side(const void *buf, MPI_Count count, MPI_Datatype type) {
	return (struct gompi_side){.buf = (uintptr_t)buf, .count = count, .type = (uintptr_t)type};
}

// A call that gives or gets a block for each member, of which here is mine. Returns true if what this member sends
// itself is what it gets, and lies elsewhere.
static inline bool gompi_go_together(const struct gompi_buffer *send, const struct gompi_buffer *recv,
				     const char *here) {
	return send->size == recv->size && send->at != here;
}

#pragma GCC visibility pop
#endif
