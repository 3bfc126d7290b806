// Entry points of blocking collectives with equal blocks (MPI-5.0 6.4 to 6.11), with fast paths for contiguous data of
// members that share memory (shm_coll.h). All other calls, including erroneous ones, take the slow path (slow_path.c)
// before any state has changed.
#include "coll/entry.h"
#include "coll/z_calls.h"

static __attribute__((noinline)) int bcast_slow_path(void *buffer, MPI_Count count, MPI_Datatype datatype, int root,
						     MPI_Comm comm) {
	const struct gompi_collective a = {.name = "MPI_Bcast",
					   .kind = GOMPI_BCAST,
					   .root = root,
					   .comm = (uintptr_t)comm,
					   .recv = gompi_collective_side(buffer, count, datatype)};
	return gompi_collective_slow_path(&a);
}

int gompi_bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
	struct gompi_shm_coll *t = gompi_shm_coll_for(comm, GOMPI_BCAST);
	struct gompi_buffer r;
	if (t == NULL || (unsigned)root >= (unsigned)t->n || !gompi_is_contiguous(&r, buffer, count, datatype))
		return bcast_slow_path(buffer, count, datatype, root, comm);
	struct gompi_coll_call c;
	c.kind = GOMPI_BCAST, c.root = root, c.name = "MPI_Bcast", c.bytes = (uint64_t)r.size, c.out = r.at;
	return gompi_shm_run_or_raise(t, &c, comm);
}
GOMPI_ENTRY(MPI_Bcast_c, gompi_bcast_c);

// Fills in *c for rank `me` and contiguous data, except the field c->reduction. Returns false if the slow path must run
// the call.
static inline __attribute__((always_inline)) bool reduction_sides(struct gompi_coll_call *c, int me, const char *name,
								  int kind, const void *sendbuf, void *recvbuf,
								  MPI_Count count, MPI_Datatype datatype, int root) {
	struct gompi_buffer in, out;
	bool receives = kind == GOMPI_REDUCE ? me == root : kind != GOMPI_EXSCAN || me > 0;
	bool can_be_in_place = kind != GOMPI_REDUCE || receives; // MPI_IN_PLACE is allowed
	bool in_place = sendbuf == MPI_IN_PLACE;
	if (in_place && !can_be_in_place)
		return false;
	if (!gompi_is_contiguous(&in, in_place ? recvbuf : sendbuf, count, datatype))
		return false;
	out.at = recvbuf;
	if (receives && !in_place && (!gompi_is_contiguous(&out, recvbuf, count, datatype) || sendbuf == recvbuf))
		return false;
	c->kind = kind, c->root = root, c->name = name, c->bytes = (uint64_t)in.size, c->in = in.at, c->out = out.at;
	return true;
}

// Runs reductions with user-defined operations, and those that no fast path accepts.
static __attribute__((noinline)) int reduction_slow_path(const char *name, int kind, const void *sendbuf, void *recvbuf,
							 MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
							 MPI_Comm comm) {
	struct gompi_shm_coll *t = gompi_shm_coll_for(comm, kind);
	struct gompi_coll_call c;
	if (t != NULL && (unsigned)root < (unsigned)t->n && gompi_user_reduction(&c.reduction, op, datatype) &&
	    reduction_sides(&c, t->me, name, kind, sendbuf, recvbuf, count, datatype, root))
		return gompi_shm_run_or_raise(t, &c, comm);
	const struct gompi_collective a = {.name = name,
					   .kind = kind,
					   .root = root,
					   .op = (uintptr_t)op,
					   .comm = (uintptr_t)comm,
					   .send = gompi_collective_side(sendbuf, 0, 0),
					   .recv = gompi_collective_side(recvbuf, count, datatype)};
	return gompi_collective_slow_path(&a);
}

// Runs a reduction. The argument `root` is 0 for collectives without a root.
static __attribute__((noinline)) int reduction(const char *name, int kind, const void *sendbuf, void *recvbuf,
					       MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
					       MPI_Comm comm) {
	struct gompi_shm_coll *t = gompi_shm_coll_for(comm, kind);
	if (t == NULL || (unsigned)root >= (unsigned)t->n)
		return reduction_slow_path(name, kind, sendbuf, recvbuf, count, datatype, op, root, comm);
	struct gompi_coll_call c;
	// The kernel is looked up first, because the compiler then knows that the datatype is predefined.
	gompi_kernel kernel = gompi_op_kernel(op, datatype);
	if (kernel == NULL || op == MPI_REPLACE || op == MPI_NO_OP ||
	    !reduction_sides(&c, t->me, name, kind, sendbuf, recvbuf, count, datatype, root))
		return reduction_slow_path(name, kind, sendbuf, recvbuf, count, datatype, op, root, comm);
	c.reduction.size = (uint64_t)gompi_type_get(datatype)->size;
	c.reduction.kernel = kernel;
	return gompi_shm_run_or_raise(t, &c, comm);
}

int gompi_reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
		   MPI_Comm comm) {
	return reduction("MPI_Reduce", GOMPI_REDUCE, sendbuf, recvbuf, count, datatype, op, root, comm);
}
GOMPI_ENTRY(MPI_Reduce_c, gompi_reduce_c);

int gompi_allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
		      MPI_Comm comm) {
	return reduction("MPI_Allreduce", GOMPI_ALLREDUCE, sendbuf, recvbuf, count, datatype, op, 0, comm);
}
GOMPI_ENTRY(MPI_Allreduce_c, gompi_allreduce_c);

int gompi_scan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
	return reduction("MPI_Scan", GOMPI_SCAN, sendbuf, recvbuf, count, datatype, op, 0, comm);
}
GOMPI_ENTRY(MPI_Scan_c, gompi_scan_c);

int gompi_exscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
		   MPI_Comm comm) {
	return reduction("MPI_Exscan", GOMPI_EXSCAN, sendbuf, recvbuf, count, datatype, op, 0, comm);
}
GOMPI_ENTRY(MPI_Exscan_c, gompi_exscan_c);

static __attribute__((noinline)) int rows_slow_path(const char *name, int kind, struct gompi_collective_side send,
						    struct gompi_collective_side recv, int root, MPI_Comm comm) {
	const struct gompi_collective a = {
		.name = name, .kind = kind, .root = root, .comm = (uintptr_t)comm, .send = send, .recv = recv};
	return gompi_collective_slow_path(&a);
}

// Runs MPI_Gather, MPI_Scatter or MPI_Allgather. On one side of the call, every member has one block. On the other
// side, the root (in an allgather: each member) has a block for every member.
static inline __attribute__((always_inline)) int gather_or_scatter(const char *name, int kind, const void *sendbuf,
								   MPI_Count sendcount, MPI_Datatype sendtype,
								   void *recvbuf, MPI_Count recvcount,
								   MPI_Datatype recvtype, int root, MPI_Comm comm) {
	const bool is_scatter = kind == GOMPI_SCATTER;
	const struct gompi_collective_side send = gompi_collective_side(sendbuf, sendcount, sendtype),
					   recv = gompi_collective_side(recvbuf, recvcount, recvtype),
					   one_side = is_scatter ? recv : send, all_side = is_scatter ? send : recv;
	struct gompi_shm_coll *t = gompi_shm_coll_for(comm, kind);
	struct gompi_buffer one, all;
	if (t == NULL || (unsigned)root >= (unsigned)t->n)
		goto slow;
	struct gompi_coll_call c;
	c.kind = kind, c.root = root, c.name = name;
	if (kind == GOMPI_ALLGATHER || t->me == root) {
		if (!gompi_is_contiguous_side(&all, &all_side))
			goto slow;
		char *mine = all.at + (int64_t)t->me * all.size;
		if (gompi_is_in_place(one_side.buf))
			one = (struct gompi_buffer){.at = mine, .size = all.size};
		else if (!gompi_is_contiguous_side(&one, &one_side) || !gompi_self_block_matches(&one, &all, mine))
			goto slow;
		*(is_scatter ? &c.ins : &c.outs) = (struct gompi_blocks){all.at, (uint64_t)all.size, NULL};
	} else if (!gompi_is_contiguous_side(&one, &one_side)) {
		goto slow;
	}
	c.bytes = (uint64_t)one.size;
	if (is_scatter)
		c.out = one.at;
	else
		c.in = one.at;
	if (kind == GOMPI_ALLGATHER)
		c.sizes = NULL;
	return gompi_shm_run_or_raise(t, &c, comm);
slow:
	return rows_slow_path(name, kind, send, recv, root, comm);
}

int gompi_gather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
		   MPI_Datatype recvtype, int root, MPI_Comm comm) {
	return gather_or_scatter("MPI_Gather", GOMPI_GATHER, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
				 root, comm);
}
GOMPI_ENTRY(MPI_Gather_c, gompi_gather_c);

int gompi_scatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
		    MPI_Datatype recvtype, int root, MPI_Comm comm) {
	return gather_or_scatter("MPI_Scatter", GOMPI_SCATTER, sendbuf, sendcount, sendtype, recvbuf, recvcount,
				 recvtype, root, comm);
}
GOMPI_ENTRY(MPI_Scatter_c, gompi_scatter_c);

int gompi_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
		      MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
	return gather_or_scatter("MPI_Allgather", GOMPI_ALLGATHER, sendbuf, sendcount, sendtype, recvbuf, recvcount,
				 recvtype, 0, comm);
}
GOMPI_ENTRY(MPI_Allgather_c, gompi_allgather_c);

int gompi_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
		     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
	struct gompi_shm_coll *t = gompi_shm_coll_for(comm, GOMPI_ALLTOALL);
	struct gompi_buffer in, out;
	if (t == NULL || !gompi_is_contiguous(&out, recvbuf, recvcount, recvtype))
		goto slow;
	if (sendbuf == MPI_IN_PLACE)
		in = out;
	else if (!gompi_is_contiguous(&in, sendbuf, sendcount, sendtype) ||
		 !gompi_self_block_matches(&in, &out, out.at))
		goto slow;
	struct gompi_coll_call c;
	c.kind = GOMPI_ALLTOALL, c.root = 0, c.name = "MPI_Alltoall", c.bytes = (uint64_t)in.size;
	c.ins = (struct gompi_blocks){in.at, (uint64_t)in.size, NULL};
	c.outs = (struct gompi_blocks){out.at, (uint64_t)out.size, NULL};
	return gompi_shm_run_or_raise(t, &c, comm);
slow:
	return rows_slow_path("MPI_Alltoall", GOMPI_ALLTOALL, gompi_collective_side(sendbuf, sendcount, sendtype),
			      gompi_collective_side(recvbuf, recvcount, recvtype), 0, comm);
}
GOMPI_ENTRY(MPI_Alltoall_c, gompi_alltoall_c);
