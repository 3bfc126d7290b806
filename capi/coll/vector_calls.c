// Blocking shared-memory collectives with blocks of individual sizes: MPI_Allgatherv, MPI_Reduce_scatter,
// MPI_Reduce_scatter_block, MPI_Gatherv, MPI_Scatterv, MPI_Alltoallv and MPI_Alltoallw (MPI-5.0 6.5 to 6.8, 6.10), and
// neighborhood collectives (8.6). C runs calls with valid arguments on communicators whose members share memory, up to
// GOMPI_PAIRWISE_MAX_RANKS members. It passes all other calls to Go before any state has changed. The entry points are
// generated (z_collectives.c).
#include "coll/blocks.h"

#include <stdlib.h>

static int run_allgatherv(const struct gompi_collective *a) {
	struct gompi_shm_coll *t = gompi_shm_coll_for((MPI_Comm)a->comm, GOMPI_ALLGATHER);
	struct gompi_pair_block from[GOMPI_PAIRWISE_MAX_RANKS];
	uintptr_t at[GOMPI_PAIRWISE_MAX_RANKS];
	uint64_t size[GOMPI_PAIRWISE_MAX_RANKS];
	struct gompi_buffer in;
	if (t == NULL || t->n > GOMPI_PAIRWISE_MAX_RANKS ||
	    !gompi_pair_blocks_init(from, t->n, NULL, a, SHAPE_VECTOR, &a->recv))
		return gompi_collective_slow_path(a);
	for (int i = 0; i < t->n; i++) {
		if (from[i].buf.type != NULL)
			return gompi_collective_slow_path(a);
		at[i] = (uintptr_t)from[i].buf.at;
		size[i] = (uint64_t)from[i].buf.size;
	}
	const struct gompi_buffer *mine = &from[t->me].buf;
	if (gompi_is_in_place(a->send.buf))
		in = *mine;
	else if (!gompi_is_contiguous_side(&in, &a->send) || !gompi_self_block_matches(&in, mine, mine->at))
		return gompi_collective_slow_path(a);
	struct gompi_coll_call c;
	c.kind = GOMPI_ALLGATHER, c.root = 0, c.name = a->name, c.bytes = (uint64_t)in.size, c.in = in.at,
	c.outs = (struct gompi_blocks){.list = at}, c.sizes = size;
	return gompi_shm_run_or_raise(t, &c, (MPI_Comm)a->comm);
}

// Runs a reduction with size[i] bytes for each member i. Returns false if Go must run the call. Otherwise stores the
// return value of the MPI call in *rc.
static bool reduce_blocks(struct gompi_shm_coll *t, const struct gompi_collective *a, const uint64_t size[], int *rc) {
	const MPI_Datatype datatype = (MPI_Datatype)a->recv.type;
	const void *recvbuf = (const void *)a->recv.buf, *sendbuf = (const void *)a->send.buf;
	struct gompi_coll_call c;
	struct gompi_buffer in, out;
	// With MPI_IN_PLACE the result must not overwrite this member's operand before all members have read it.
	if (gompi_is_in_place(a->send.buf) || sendbuf == recvbuf)
		return false;
	if (!gompi_reduction_of(&c.reduction, (MPI_Op)a->op, datatype))
		return false;
	uint64_t all = 0;
	for (int i = 0; i < t->n; i++)
		all += size[i];
	const uint64_t element = c.reduction.size;
	if (!gompi_is_contiguous(&in, sendbuf, (MPI_Count)(all / element), datatype) ||
	    !gompi_is_contiguous(&out, recvbuf, (MPI_Count)(size[t->me] / element), datatype))
		return false;
	c.kind = GOMPI_REDUCE_SCATTER, c.root = 0, c.name = a->name, c.bytes = all, c.in = in.at, c.out = out.at;
	c.sizes = size;
	*rc = gompi_shm_run_or_raise(t, &c, (MPI_Comm)a->comm);
	return true;
}

// Computes the bytes of count elements of type t. Returns false if t is NULL, count is negative or the bytes exceed
// GOMPI_MAX_BLOCK_BYTES.
static inline bool get_block_bytes(const struct gompi_type *t, int64_t count, uint64_t *bytes) {
	int64_t n;
	if (t == NULL || !gompi_type_bytes(t, count, &n) || n > GOMPI_MAX_BLOCK_BYTES)
		return false;
	*bytes = (uint64_t)n;
	return true;
}

// Runs MPI_Reduce_scatter and MPI_Reduce_scatter_block.
static int run_reduce_scatter(const struct gompi_collective *a) {
	struct gompi_shm_coll *t = gompi_shm_coll_for((MPI_Comm)a->comm, GOMPI_REDUCE_SCATTER);
	const struct gompi_type *type = gompi_type_get((MPI_Datatype)a->recv.type);
	const bool has_counts = a->kind == GOMPI_REDUCE_SCATTER;
	uint64_t size[GOMPI_PAIRWISE_MAX_RANKS];
	int rc, i = 0;
	if (t == NULL || t->n > GOMPI_PAIRWISE_MAX_RANKS || (has_counts && a->recv.counts == 0))
		return gompi_collective_slow_path(a);
	while (i < t->n &&
	       get_block_bytes(type, has_counts ? gompi_array_element(a->recv.counts, a->is_large, i) : a->recv.count,
			       &size[i]))
		i++;
	return i == t->n && reduce_blocks(t, a, size, &rc) ? rc : gompi_collective_slow_path(a);
}

// --- Collectives in which only the sender and the receiver of a block know its length

// Returns true if the blocks that this member sends to itself and receives from itself have the same length and
// different addresses.
static inline bool is_self_pair_valid(const struct gompi_pair_block *to, const struct gompi_pair_block *from) {
	return to->buf.size == from->buf.size && (to->buf.at != from->buf.at || to->buf.size == 0);
}

// Runs MPI_Alltoallv and MPI_Alltoallw.
static int run_alltoallv(const struct gompi_collective *a) {
	struct gompi_shm_coll *t = gompi_shm_coll_for((MPI_Comm)a->comm, a->kind);
	struct gompi_pair_block to[GOMPI_PAIRWISE_MAX_RANKS], from[GOMPI_PAIRWISE_MAX_RANKS];
	if (t == NULL || !gompi_pair_blocks_init(from, t->n, NULL, a, SHAPE_VECTOR, &a->recv))
		return gompi_collective_slow_path(a);
	struct gompi_coll_call c;
	c.kind = a->kind, c.root = 0, c.name = a->name, c.send_count = c.recv_count = t->n, c.from = from;
	c.in_place = gompi_is_in_place(a->send.buf);
	if (c.in_place)
		c.to = from, from[t->me].member = -1; // this member's block is already in place
	else if (gompi_pair_blocks_init(to, t->n, NULL, a, SHAPE_VECTOR, &a->send) &&
		 is_self_pair_valid(&to[t->me], &from[t->me]))
		c.to = to;
	else
		return gompi_collective_slow_path(a);
	return gompi_shm_run_or_raise(t, &c, (MPI_Comm)a->comm);
}

// Runs MPI_Gatherv and MPI_Scatterv: the root has a block for each member, and every member has one block on the other
// side.
static int run_rooted(const struct gompi_collective *a) {
	const bool is_gather = a->kind == GOMPI_GATHERV;
	const struct gompi_collective_side *all_side = is_gather ? &a->recv : &a->send,
					   *one_side = is_gather ? &a->send : &a->recv;
	struct gompi_shm_coll *t = gompi_shm_coll_for((MPI_Comm)a->comm, a->kind);
	struct gompi_pair_block one, all[GOMPI_PAIRWISE_MAX_RANKS];
	if (t == NULL || (unsigned)a->root >= (unsigned)t->n || t->n > GOMPI_PAIRWISE_MAX_RANKS)
		return gompi_collective_slow_path(a);
	const bool root = t->me == a->root, in_place = root && gompi_is_in_place(one_side->buf);
	if (root && !gompi_pair_blocks_init(all, t->n, NULL, a, SHAPE_VECTOR, all_side))
		return gompi_collective_slow_path(a);
	if (in_place)
		all[a->root].member = -1;
	else if (gompi_is_in_place(one_side->buf) ||
		 !gompi_pair_block_init(&one, a->root, one_side->buf, one_side->count,
					gompi_type_get((MPI_Datatype)one_side->type)) ||
		 (root && !is_self_pair_valid(&one, &all[a->root])))
		return gompi_collective_slow_path(a);
	const int one_count = in_place ? 0 : 1, all_count = root ? t->n : 0;
	struct gompi_coll_call c;
	c.kind = a->kind, c.root = a->root, c.name = a->name, c.in_place = false;
	c.to = is_gather ? &one : all, c.send_count = is_gather ? one_count : all_count;
	c.from = is_gather ? all : &one, c.recv_count = is_gather ? all_count : one_count;
	return gompi_shm_run_or_raise(t, &c, (MPI_Comm)a->comm);
}

static int run_neighborhood(const struct gompi_collective *a) {
	const struct gompi_comm *c = gompi_comm_usable((MPI_Comm)a->comm);
	struct gompi_pair_block stack[2 * GOMPI_PAIRWISE_MAX_RANKS], *memory = stack;
	if (c == NULL || c->shm_coll == NULL || c->topology.kind == 0)
		return gompi_collective_slow_path(a);
	const int sources = c->topology.sources, destinations = c->topology.destinations,
		  blocks = sources + destinations;
	if (blocks > 2 * GOMPI_PAIRWISE_MAX_RANKS)
		memory = malloc((size_t)blocks * sizeof *memory);
	struct gompi_pair_block *from = memory, *to = memory + sources;
	int rc;
	if (memory == NULL ||
	    !gompi_pair_blocks_init(from, sources, c->topology.ranks, a, gompi_recv_shape(a->kind), &a->recv) ||
	    !gompi_pair_blocks_init(to, destinations, c->topology.ranks + sources, a, gompi_send_shape(a->kind),
				    &a->send)) {
		rc = gompi_collective_slow_path(a);
		goto out;
	}
	// In each dimension of a Cartesian topology, a member sends first to its lower and then to its upper neighbor.
	// The lower neighbor receives this data as data from its own upper neighbor, and vice versa. So swap the two
	// receives of each dimension. This matters if both neighbors are the same process: then only the order of the
	// blocks distinguishes them (edge_index).
	for (int i = 0; c->topology.kind == MPI_CART && i + 1 < sources; i += 2) {
		struct gompi_pair_block before = from[i];
		from[i] = from[i + 1];
		from[i + 1] = before;
	}
	struct gompi_coll_call call;
	call.kind = a->kind, call.root = 0, call.name = a->name, call.in_place = false;
	call.to = to, call.send_count = destinations, call.from = from, call.recv_count = sources;
	rc = gompi_shm_run_or_raise(c->shm_coll, &call, (MPI_Comm)a->comm);
out:
	if (memory != stack)
		free(memory);
	return rc;
}

int gompi_collective_run(const struct gompi_collective *a) {
	switch (a->kind) {
	case GOMPI_ALLGATHERV:
		return run_allgatherv(a);
	case GOMPI_REDUCE_SCATTER:
	case GOMPI_REDUCE_SCATTER_BLOCK:
		return run_reduce_scatter(a);
	case GOMPI_GATHERV:
	case GOMPI_SCATTERV:
		return run_rooted(a);
	case GOMPI_ALLTOALLV:
	case GOMPI_ALLTOALLW:
		return run_alltoallv(a);
	}
	return run_neighborhood(a);
}
