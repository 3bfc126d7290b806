// Shared parts of the entry points of collectives: argument checks, and the hand-over of a call to slots or to Go.
#ifndef GOMPI_COLL_ENTRY_H
#define GOMPI_COLL_ENTRY_H

#include "base/up.h"
#include "base/verdict.h"
#include "coll/slots.h"
#include "comm/comm.h"
#include "datatype/datatype.h"

#pragma GCC visibility push(hidden)

// Makes the reduction of a user-defined operation; see gompi_reduction_of.
bool gompi_user_reduction(struct gompi_reduction *r, MPI_Op op, MPI_Datatype datatype);

// Reports that slots did not complete a call (rc of gompi_slots_run). Returns what the MPI call returns.
int gompi_slots_refused(int rc, const struct gompi_slots_call *c, MPI_Comm comm);

// Runs a call in Go and returns what the MPI call returns. wide: the arrays of the sides hold 64-bit integers.
int gompi_collective_to_go(const char *name, int kind, struct gompi_side send, struct gompi_side recv, bool wide,
			   MPI_Op op, int root, MPI_Comm comm);

// gompi_collective_start starts a nonblocking collective (MPI-5.0 6.12) and gompi_collective_init makes a persistent
// one (6.13). Both store the request and return what the MPI call returns.
int gompi_collective_start(const struct gompi_collective *a, MPI_Request *request);
int gompi_collective_init(const struct gompi_collective *a, MPI_Info info, MPI_Request *request);

// Runs a call with equal blocks whose data is not contiguous at this member, or passes it to Go.
int gompi_packed_call(const char *name, int kind, struct gompi_side send, struct gompi_side recv, int root,
		      MPI_Comm comm);

// Maximum bytes of a block. The blocks of all members together still fit into the address space.
#define GOMPI_MOST_BLOCK ((int64_t)1 << 40)

// Returns the slots of a live communicator whose members share memory, else NULL.
static inline struct gompi_slots *gompi_slots_for(MPI_Comm comm, int kind) {
	struct gompi_comm *c = gompi_comm_get(comm);
	return c != NULL && c->slots != NULL && gompi_slots_fit(kind, c->size) ? c->slots : NULL;
}

// Returns true if count elements of a type are contiguous at a valid address; then r describes them.
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

// Makes the reduction for contiguous elements: with a predefined operation, or with a user-defined one on elements
// without gaps. Returns false if the call must go through Go.
static inline bool gompi_reduction_of(struct gompi_reduction *r, MPI_Op op, MPI_Datatype datatype) {
	r->kernel = gompi_op_kernel(op, datatype);
	if (__builtin_expect(r->kernel != NULL, 1)) {
		r->size = (uint64_t)gompi_type_get(datatype)->size;
		return op != MPI_REPLACE && op != MPI_NO_OP;
	}
	return gompi_user_reduction(r, op, datatype);
}

// Describes one side of a call in the form that Go receives.
static inline struct gompi_side gompi_side(const void *buf, MPI_Count count, MPI_Datatype type) {
	return (struct gompi_side){.buf = (uintptr_t)buf, .count = count, .type = (uintptr_t)type};
}

// Checks a call that sends or receives one block for each member; here is this member's own block there. Returns true
// if the block that this member sends to itself has the length of the one that it receives, and another address.
static inline bool gompi_go_together(const struct gompi_buffer *send, const struct gompi_buffer *recv,
				     const char *here) {
	return send->size == recv->size && send->at != here;
}

#pragma GCC visibility pop
#endif
