// Blocking collectives that no fast path accepts: the data is not contiguous, the operation is user-defined, the blocks
// have individual sizes, or the members are on several nodes. C packs the data of these calls into private memory, with
// the functions of nonblocking collectives (nbc_arguments.c). Go runs calls that need messages, and reports errors.
#include <stdlib.h>

#include "coll/entry.h"
#include "coll/hierarchy.h"
#include "coll/nbc_op.h"
#include "coll/protocol.h"

// Lists n blocks, except that of rank `me`. Returns NULL if out of memory.
static const struct gompi_pair_block *list_pairs(struct gompi_call_memory *m, const struct gompi_span *blocks, int n,
						 int me) {
	struct gompi_pair_block *list = gompi_call_alloc(m, (size_t)n * sizeof *list);
	for (int i = 0; list != NULL && i < n; i++)
		list[i] = (struct gompi_pair_block){i == me ? -1 : i,
						    {.at = blocks[i].at, .size = (int64_t)blocks[i].bytes}};
	return list;
}

// Lists the lengths of n blocks. Returns NULL if out of memory.
static uint64_t *list_sizes(struct gompi_call_memory *m, const struct gompi_span *blocks, int n) {
	uint64_t *list = gompi_call_alloc(m, (size_t)n * sizeof *list);
	for (int i = 0; list != NULL && i < n; i++)
		list[i] = blocks[i].bytes;
	return list;
}

// Lists the addresses of the blocks that this member receives. The block from itself is at the address `self`, to which
// it has been copied. Blocks that this member discards share the memory that *discarded describes. Returns NULL if out
// of memory.
static uintptr_t *list_outs(struct gompi_call_memory *m, const struct gompi_span *outs, int n, int me,
			    const char *self) {
	uintptr_t *list = gompi_call_alloc(m, (size_t)n * sizeof *list);
	char *discarded = NULL;
	for (int i = 0; list != NULL && i < n; i++) {
		list[i] = (uintptr_t)(i == me ? self : outs[i].at);
		if (list[i] != 0 || outs[i].bytes == 0)
			continue;
		// blocks that are discarded have the same length
		if (discarded == NULL && (discarded = gompi_call_alloc(m, outs[i].bytes)) == NULL)
			return NULL;
		list[i] = (uintptr_t)discarded;
	}
	return list;
}

// Describes in *c the call whose arguments are in s. Blocks of this member for itself have been copied
// (gompi_nbc_op_pack). Returns false if out of memory.
static bool describe_call(struct gompi_coll_call *c, struct gompi_call_memory *m, const struct gompi_nbc_op *s,
			  const struct gompi_collective *a, int n, int me) {
	const struct gompi_nbc_phase *p = &s->phase[0];
	const bool root = me == a->root, all_to_all = s->kind == GOMPI_ALLTOALLV;
	uint64_t *sizes;
	*c = (struct gompi_coll_call){.kind = a->kind == GOMPI_ALLTOALLW ? GOMPI_ALLTOALLW : s->kind,
				      .root = a->root,
				      .name = a->name,
				      .bytes = s->bytes,
				      .in = p->in.at,
				      .out = p->out.at,
				      .ins = {.stride = s->bytes},
				      .reduction = s->reduction};
	switch (s->kind) {
	case GOMPI_BCAST:
		if (root)
			c->out = p->in.at;
		return true;
	case GOMPI_SCATTER:
		if (root)
			c->ins.base = p->ins[0].at, c->out = p->ins[me].at;
		return true;
	case GOMPI_REDUCE_SCATTER:
		return (c->sizes = list_sizes(m, p->ins, n)) != NULL;
	case GOMPI_GATHER:
		if (root && p->outs[me].at != NULL)
			c->in = p->outs[me].at;
		return !root || (c->outs.list = list_outs(m, p->outs, n, me, c->in)) != NULL;
	case GOMPI_ALLGATHER:
		c->outs.list = list_outs(m, p->outs, n, me, c->in);
		c->sizes = sizes = list_sizes(m, p->outs, n);
		if (sizes != NULL)
			sizes[me] = p->in.bytes;
		return c->outs.list != NULL && sizes != NULL;
	case GOMPI_ALLTOALL:
		c->ins.base = p->ins[0].at;
		return (c->outs.list = list_outs(m, p->outs, n, me, p->ins[me].at)) != NULL;
	case GOMPI_GATHERV:
	case GOMPI_SCATTERV:
	case GOMPI_ALLTOALLV:
		break;
	default: // reductions
		return true;
	}
	const bool sends_all = all_to_all || (root && s->kind == GOMPI_SCATTERV),
		   receives_all = all_to_all || (root && s->kind == GOMPI_GATHERV);
	struct gompi_pair_block *one = gompi_call_alloc(m, sizeof *one);
	if (one == NULL)
		return false;
	const struct gompi_span *span = s->kind == GOMPI_GATHERV ? &p->in : &p->out;
	*one = (struct gompi_pair_block){a->root, {.at = span->at, .size = (int64_t)span->bytes}};
	c->to = sends_all ? list_pairs(m, p->ins, n, me) : one;
	c->from = receives_all ? list_pairs(m, p->outs, n, me) : one;
	c->send_count = sends_all ? n : s->kind == GOMPI_GATHERV && !root;
	c->recv_count = receives_all ? n : s->kind == GOMPI_SCATTERV && !root;
	return c->to != NULL && c->from != NULL;
}

// Passes a call to Go. The argument `agreed` is NULL if the members have not compared their calls.
static int run_in_go(const struct gompi_collective *a, bool uses_shm, const struct gompi_agreed *agreed) {
	struct gompi_collective call = *a;
	call.uses_shm = uses_shm;
	call.agreed = agreed;
	return gompi_go_callbacks.run_collective(&call);
}

// Returns true if messages must run a reduction over nodes. The leaders reduce the operands of each node first. An
// operation that is not commutative permits this only if the ranks of each node are consecutive.
static bool needs_rank_order(const struct gompi_hierarchy *h, const struct gompi_collective *a) {
	const struct gompi_user_op *u = gompi_user_op_get((MPI_Op)a->op);
	return (a->kind == GOMPI_REDUCE || a->kind == GOMPI_ALLREDUCE) && u != NULL && !u->is_commutative &&
	       !h->is_regular;
}

int gompi_collective_slow_path(const struct gompi_collective *a) {
	const struct gompi_comm *comm = gompi_comm_usable((MPI_Comm)a->comm);
	struct gompi_shm_coll *t = gompi_shm_coll_for((MPI_Comm)a->comm, a->kind);
	struct gompi_hierarchy *h = comm != NULL && gompi_hierarchy_supports(a->kind) ? comm->hierarchy : NULL;
	struct gompi_call_memory memory;
	struct gompi_coll_call c;
	bool use_messages;
	if (t == NULL && (h == NULL || needs_rank_order(h, a)))
		return run_in_go(a, false, NULL);
	memory.blocks = NULL, memory.used = 0;
	struct gompi_nbc_op *s = gompi_nbc_op_new(comm, a, &memory, &use_messages);
	if (s == NULL || !describe_call(&c, &memory, s, a, comm->size, comm->rank)) {
		gompi_call_memory_free(&memory);
		return run_in_go(a, true, NULL);
	}
	gompi_nbc_op_pack(s);
	int rc = t != NULL ? gompi_shm_run(t, &c) : gompi_hierarchy_run(h, &c);
	struct gompi_error_status error;
	error.class = s->argument_error.class;
	if (__builtin_expect(error.class != MPI_SUCCESS, 0))
		error = s->argument_error;
	if (rc == GOMPI_COLL_DONE)
		gompi_nbc_op_unpack(s);
	gompi_call_memory_free(&memory);
	if (rc == GOMPI_COLL_USE_MESSAGES) {
		struct gompi_agreed agreed = {c.bytes, gompi_coll_mismatch(&c) ? &c.mismatch : NULL};
		return run_in_go(a, false, &agreed);
	}
	if (rc != GOMPI_COLL_DONE)
		return gompi_shm_raise(rc, &c, (MPI_Comm)a->comm);
	return error.class == MPI_SUCCESS
		       ? MPI_SUCCESS
		       : gompi_return_error(error.class, a->name, error.text, GOMPI_ON_COMM, a->comm);
}
