// Blocking shared-memory collectives with blocks of individual sizes: MPI_Allgatherv, MPI_Reduce_scatter,
// MPI_Reduce_scatter_block, MPI_Gatherv, MPI_Scatterv, MPI_Alltoallv and MPI_Alltoallw (MPI-5.0 6.5 to 6.8, 6.10). All
// other calls go to Go before anything has changed.
#include "coll/blocks.h"
#include "coll/z_calls.h"

#include <stdlib.h>

// Maximum members whose blocks are described on the stack; larger communicators go to Go.
enum { MAX_STACK_RANKS = 64 };

// Stores the address and the length of each member's block. Returns false if one is not contiguous at a valid address.
static bool blocks_are_contiguous(int n, char *buf, struct gompi_int_array counts, struct gompi_int_array displs,
				  MPI_Datatype type, uintptr_t at[], uint64_t size[]) {
	const struct gompi_type *t = gompi_type_get(type);
	if (t == NULL || counts.at == NULL || displs.at == NULL)
		return false;
	for (int i = 0; i < n; i++) {
		struct gompi_buffer block;
		int64_t offset;
		if (__builtin_mul_overflow(gompi_int_array_at(displs, i), t->extent, &offset) ||
		    !gompi_is_contiguous(&block, (char *)((uintptr_t)buf + (uint64_t)offset),
					 gompi_int_array_at(counts, i), type))
			return false;
		at[i] = (uintptr_t)block.at;
		size[i] = (uint64_t)block.size;
	}
	return true;
}

static int allgatherv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
		      struct gompi_int_array counts, struct gompi_int_array displs, MPI_Datatype recvtype,
		      MPI_Comm comm) {
	struct gompi_shm_coll *t = gompi_shm_coll_for(comm, GOMPI_ALLGATHER);
	uintptr_t at[MAX_STACK_RANKS];
	uint64_t size[MAX_STACK_RANKS];
	struct gompi_buffer in, mine;
	if (t == NULL || t->n > MAX_STACK_RANKS ||
	    !blocks_are_contiguous(t->n, recvbuf, counts, displs, recvtype, at, size))
		goto go;
	mine = (struct gompi_buffer){.at = (char *)at[t->me], .size = (int64_t)size[t->me]};
	if (sendbuf == MPI_IN_PLACE)
		in = mine;
	else if (!gompi_is_contiguous(&in, sendbuf, sendcount, sendtype) ||
		 !gompi_self_block_matches(&in, &mine, mine.at))
		goto go;
	struct gompi_coll_call c;
	c.kind = GOMPI_ALLGATHER, c.root = 0, c.name = "MPI_Allgatherv", c.bytes = (uint64_t)in.size, c.in = in.at,
	c.outs = (struct gompi_blocks){.list = at}, c.sizes = size;
	return gompi_shm_run_or_raise(t, &c, comm);
go:
	return gompi_collective_in_go("MPI_Allgatherv", GOMPI_ALLGATHERV,
				      gompi_collective_side(sendbuf, sendcount, sendtype),
				      gompi_arrays_side(recvbuf, counts, displs, recvtype), counts.wide, 0, 0, comm);
}

int gompi_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
		     const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
	return allgatherv(sendbuf, sendcount, sendtype, recvbuf, (struct gompi_int_array){recvcounts, false},
			  (struct gompi_int_array){displs, false}, recvtype, comm);
}
GOMPI_ENTRY(MPI_Allgatherv, gompi_allgatherv);

int gompi_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
		       const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm) {
	return allgatherv(sendbuf, sendcount, sendtype, recvbuf, (struct gompi_int_array){recvcounts, true},
			  (struct gompi_int_array){displs, true}, recvtype, comm);
}
GOMPI_ENTRY(MPI_Allgatherv_c, gompi_allgatherv_c);

// Runs a reduction with size[i] bytes for each member i. Returns false if the call must go through Go; else stores what
// the MPI call returns in *rc.
static bool run_reduce_scatter(struct gompi_shm_coll *t, const char *name, const void *sendbuf, void *recvbuf,
			       const uint64_t size[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, int *rc) {
	struct gompi_coll_call c;
	struct gompi_buffer in, out;
	bool in_place = sendbuf == MPI_IN_PLACE;
	if (in_place)
		sendbuf = recvbuf;
	else if (sendbuf == recvbuf)
		return false;
	if (!gompi_reduction_of(&c.reduction, op, datatype))
		return false;
	uint64_t all = 0;
	for (int i = 0; i < t->n; i++)
		all += size[i];
	const uint64_t element = c.reduction.size;
	if (!gompi_is_contiguous(&in, sendbuf, (MPI_Count)(all / element), datatype) ||
	    !gompi_is_contiguous(&out, recvbuf, (MPI_Count)(size[t->me] / element), datatype))
		return false;
	c.kind = GOMPI_REDUCE_SCATTER, c.root = 0, c.name = name, c.bytes = all, c.in = in.at, c.out = out.at;
	c.sizes = size;
	if (!in_place) {
		*rc = gompi_shm_run_or_raise(t, &c, comm);
		return true;
	}
	// Data to be sent must not change until the end.
	char stack_buffer[GOMPI_SHM_SMALL_BYTES];
	c.out = size[t->me] <= sizeof stack_buffer ? stack_buffer : malloc(size[t->me]);
	if (c.out == NULL)
		return false;
	char *result = c.out;
	int shm_rc = gompi_shm_run(t, &c);
	if (shm_rc == GOMPI_COLL_DONE)
		gompi_copy_in(out.at, result, size[t->me]);
	if (result != stack_buffer)
		free(result);
	*rc = shm_rc == GOMPI_COLL_DONE ? MPI_SUCCESS : gompi_shm_raise(shm_rc, &c, comm);
	return true;
}

// Computes the bytes of count elements. Returns false if count is negative or the bytes exceed the maximum of a block.
static inline bool get_block_bytes(const struct gompi_type *t, int64_t count, uint64_t *bytes) {
	int64_t n;
	if (t == NULL || !gompi_type_bytes(t, count, &n) || n > GOMPI_MAX_BLOCK_BYTES)
		return false;
	*bytes = (uint64_t)n;
	return true;
}

int gompi_reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
				 MPI_Op op, MPI_Comm comm) {
	const char *name = "MPI_Reduce_scatter_block";
	struct gompi_shm_coll *t = gompi_shm_coll_for(comm, GOMPI_REDUCE_SCATTER);
	uint64_t size[MAX_STACK_RANKS];
	int rc;
	if (t != NULL && t->n <= MAX_STACK_RANKS && get_block_bytes(gompi_type_get(datatype), recvcount, &size[0])) {
		for (int i = 1; i < t->n; i++)
			size[i] = size[0];
		if (run_reduce_scatter(t, name, sendbuf, recvbuf, size, datatype, op, comm, &rc))
			return rc;
	}
	return gompi_collective_in_go(name, GOMPI_REDUCE_SCATTER_BLOCK, gompi_collective_side(sendbuf, 0, 0),
				      gompi_collective_side(recvbuf, recvcount, datatype), false, op, 0, comm);
}
GOMPI_ENTRY(MPI_Reduce_scatter_block_c, gompi_reduce_scatter_block_c);

static int reduce_scatter(const void *sendbuf, void *recvbuf, struct gompi_int_array counts, MPI_Datatype datatype,
			  MPI_Op op, MPI_Comm comm) {
	const char *name = "MPI_Reduce_scatter";
	struct gompi_shm_coll *t = gompi_shm_coll_for(comm, GOMPI_REDUCE_SCATTER);
	const struct gompi_type *type = gompi_type_get(datatype);
	uint64_t size[MAX_STACK_RANKS];
	int rc, i = 0;
	if (t != NULL && t->n <= MAX_STACK_RANKS && counts.at != NULL) {
		while (i < t->n && get_block_bytes(type, gompi_int_array_at(counts, i), &size[i]))
			i++;
		if (i == t->n && run_reduce_scatter(t, name, sendbuf, recvbuf, size, datatype, op, comm, &rc))
			return rc;
	}
	return gompi_collective_in_go(
		name, GOMPI_REDUCE_SCATTER, gompi_collective_side(sendbuf, 0, 0),
		gompi_arrays_side(recvbuf, counts, (struct gompi_int_array){NULL, false}, datatype), counts.wide, op, 0,
		comm);
}

int gompi_reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
			 MPI_Comm comm) {
	return reduce_scatter(sendbuf, recvbuf, (struct gompi_int_array){recvcounts, false}, datatype, op, comm);
}
GOMPI_ENTRY(MPI_Reduce_scatter, gompi_reduce_scatter);

int gompi_reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
			   MPI_Op op, MPI_Comm comm) {
	return reduce_scatter(sendbuf, recvbuf, (struct gompi_int_array){recvcounts, true}, datatype, op, comm);
}
GOMPI_ENTRY(MPI_Reduce_scatter_c, gompi_reduce_scatter_c);

// --- Lengths that only the sender and the receiver know

// Returns true if the block that a member sends to itself has the length of the one that it receives, and another
// address.
static inline bool is_self_pair_valid(const struct gompi_pair_block *to, const struct gompi_pair_block *from) {
	return to->buf.size == from->buf.size && (to->buf.at != from->buf.at || to->buf.size == 0);
}

static int alltoall_pairwise(const char *name, int kind, const struct gompi_vector *send,
			     const struct gompi_vector *recv, MPI_Comm comm) {
	struct gompi_shm_coll *t = gompi_shm_coll_for(comm, kind);
	struct gompi_pair_block to[GOMPI_PAIRWISE_MAX_RANKS], from[GOMPI_PAIRWISE_MAX_RANKS];
	if (t == NULL || !gompi_pair_blocks_init(from, t->n, recv))
		goto go;
	struct gompi_coll_call c;
	c.kind = kind, c.root = 0, c.name = name, c.send_count = c.recv_count = t->n, c.from = from;
	c.in_place = send->buf == MPI_IN_PLACE;
	if (c.in_place)
		c.to = from, from[t->me].member = -1; // its block is in place already
	else if (gompi_pair_blocks_init(to, t->n, send) && is_self_pair_valid(&to[t->me], &from[t->me]))
		c.to = to;
	else
		goto go;
	return gompi_shm_run_or_raise(t, &c, comm);
go:
	return gompi_collective_in_go(name, kind, gompi_vector_side(send), gompi_vector_side(recv), recv->counts.wide,
				      0, 0, comm);
}

int gompi_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
		    void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
	struct gompi_vector send = {sendbuf, {sendcounts, false}, {sdispls, false}, sendtype, NULL};
	struct gompi_vector recv = {recvbuf, {recvcounts, false}, {rdispls, false}, recvtype, NULL};
	return alltoall_pairwise("MPI_Alltoallv", GOMPI_ALLTOALLV, &send, &recv, comm);
}
GOMPI_ENTRY(MPI_Alltoallv, gompi_alltoallv);

int gompi_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
		      MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
		      MPI_Datatype recvtype, MPI_Comm comm) {
	struct gompi_vector send = {sendbuf, {sendcounts, true}, {sdispls, true}, sendtype, NULL};
	struct gompi_vector recv = {recvbuf, {recvcounts, true}, {rdispls, true}, recvtype, NULL};
	return alltoall_pairwise("MPI_Alltoallv", GOMPI_ALLTOALLV, &send, &recv, comm);
}
GOMPI_ENTRY(MPI_Alltoallv_c, gompi_alltoallv_c);

static int alltoallw(struct gompi_vector send, struct gompi_vector recv, MPI_Comm comm) {
	if (recv.types == NULL || (send.types == NULL && send.buf != MPI_IN_PLACE))
		return gompi_collective_in_go("MPI_Alltoallw", GOMPI_ALLTOALLW, gompi_vector_side(&send),
					      gompi_vector_side(&recv), recv.counts.wide, 0, 0, comm);
	return alltoall_pairwise("MPI_Alltoallw", GOMPI_ALLTOALLW, &send, &recv, comm);
}

int gompi_alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
		    void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
		    MPI_Comm comm) {
	return alltoallw((struct gompi_vector){sendbuf, {sendcounts, false}, {sdispls, false}, 0, sendtypes},
			 (struct gompi_vector){recvbuf, {recvcounts, false}, {rdispls, false}, 0, recvtypes}, comm);
}
GOMPI_ENTRY(MPI_Alltoallw, gompi_alltoallw);

int gompi_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
		      const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
		      const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
	return alltoallw((struct gompi_vector){sendbuf, {sendcounts, true}, {sdispls, true}, 0, sendtypes},
			 (struct gompi_vector){recvbuf, {recvcounts, true}, {rdispls, true}, 0, recvtypes}, comm);
}
GOMPI_ENTRY(MPI_Alltoallw_c, gompi_alltoallw_c);

static int gatherv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, const struct gompi_vector *recv,
		   int root, MPI_Comm comm) {
	struct gompi_shm_coll *t = gompi_shm_coll_for(comm, GOMPI_GATHERV);
	struct gompi_pair_block mine, from[GOMPI_PAIRWISE_MAX_RANKS];
	if (t == NULL || (unsigned)root >= (unsigned)t->n || t->n > GOMPI_PAIRWISE_MAX_RANKS)
		goto go;
	struct gompi_coll_call c;
	c.kind = GOMPI_GATHERV, c.root = root, c.name = "MPI_Gatherv", c.send_count = 1, c.recv_count = 0,
	c.in_place = false;
	c.to = &mine, c.from = from;
	if (t->me == root) {
		if (!gompi_pair_blocks_init(from, t->n, recv))
			goto go;
		c.recv_count = t->n;
	}
	if (sendbuf == MPI_IN_PLACE && t->me == root)
		c.send_count = 0, from[root].member = -1;
	else if (sendbuf == MPI_IN_PLACE ||
		 !gompi_pair_block_init(&mine, root, sendbuf, sendcount, gompi_type_get(sendtype)) ||
		 (t->me == root && !is_self_pair_valid(&mine, &from[root])))
		goto go;
	return gompi_shm_run_or_raise(t, &c, comm);
go:
	return gompi_collective_in_go("MPI_Gatherv", GOMPI_GATHERV, gompi_collective_side(sendbuf, sendcount, sendtype),
				      gompi_vector_side(recv), recv->counts.wide, 0, root, comm);
}

int gompi_gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
		  const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
	struct gompi_vector recv = {recvbuf, {recvcounts, false}, {displs, false}, recvtype, NULL};
	return gatherv(sendbuf, sendcount, sendtype, &recv, root, comm);
}
GOMPI_ENTRY(MPI_Gatherv, gompi_gatherv);

int gompi_gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
		    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
		    MPI_Comm comm) {
	struct gompi_vector recv = {recvbuf, {recvcounts, true}, {displs, true}, recvtype, NULL};
	return gatherv(sendbuf, sendcount, sendtype, &recv, root, comm);
}
GOMPI_ENTRY(MPI_Gatherv_c, gompi_gatherv_c);

static int scatterv(const struct gompi_vector *send, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
		    int root, MPI_Comm comm) {
	struct gompi_shm_coll *t = gompi_shm_coll_for(comm, GOMPI_SCATTERV);
	struct gompi_pair_block mine, to[GOMPI_PAIRWISE_MAX_RANKS];
	if (t == NULL || (unsigned)root >= (unsigned)t->n)
		goto go;
	struct gompi_coll_call c;
	c.kind = GOMPI_SCATTERV, c.root = root, c.name = "MPI_Scatterv", c.send_count = 0, c.recv_count = 1;
	c.in_place = false, c.to = to, c.from = &mine;
	if (t->me == root) {
		if (!gompi_pair_blocks_init(to, t->n, send))
			goto go;
		c.send_count = t->n;
	}
	if (recvbuf == MPI_IN_PLACE && t->me == root)
		c.recv_count = 0, to[root].member = -1;
	else if (recvbuf == MPI_IN_PLACE ||
		 !gompi_pair_block_init(&mine, root, recvbuf, recvcount, gompi_type_get(recvtype)) ||
		 (t->me == root && !is_self_pair_valid(&to[root], &mine)))
		goto go;
	return gompi_shm_run_or_raise(t, &c, comm);
go:
	return gompi_collective_in_go("MPI_Scatterv", GOMPI_SCATTERV, gompi_vector_side(send),
				      gompi_collective_side(recvbuf, recvcount, recvtype), send->counts.wide, 0, root,
				      comm);
}

int gompi_scatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
		   void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
	struct gompi_vector send = {sendbuf, {sendcounts, false}, {displs, false}, sendtype, NULL};
	return scatterv(&send, recvbuf, recvcount, recvtype, root, comm);
}
GOMPI_ENTRY(MPI_Scatterv, gompi_scatterv);

int gompi_scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype,
		     void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
	struct gompi_vector send = {sendbuf, {sendcounts, true}, {displs, true}, sendtype, NULL};
	return scatterv(&send, recvbuf, recvcount, recvtype, root, comm);
}
GOMPI_ENTRY(MPI_Scatterv_c, gompi_scatterv_c);
