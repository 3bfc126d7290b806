// Blocking neighborhood collectives (MPI-5.0 8.6) among members that share memory. All other calls go to Go before
// anything has changed.
#include "coll/blocks.h"
#include "coll/z_calls.h"

// One side of a call: one block of count elements for all, one for each neighbor, or the blocks of a vector.
enum edge_shape { ONE_FOR_ALL, EQUAL, VECTOR };

struct edge_side {
	enum edge_shape shape;
	int64_t count;
	struct gompi_vector v;
};

static bool edge_blocks(struct gompi_pair_block b[], int n, const int32_t ranks[], const struct edge_side *s) {
	const struct gompi_vector *v = &s->v;
	if (v->buf == MPI_IN_PLACE || (s->shape == VECTOR && (v->counts.at == NULL || v->displs.at == NULL)))
		return false;
	for (int i = 0; i < n; i++) {
		int64_t count = s->shape == VECTOR ? gompi_int_array_at(v->counts, i) : s->count, offset = 0;
		MPI_Datatype type = v->types == NULL ? v->type : count == 0 ? MPI_BYTE : v->types[i];
		const struct gompi_type *t = gompi_type_get(type);
		if (t == NULL || count < 0)
			return false;
		if (s->shape == VECTOR)
			offset = gompi_int_array_at(v->displs, i);
		else if (s->shape == EQUAL && __builtin_mul_overflow((int64_t)i, count, &offset))
			return false;
		if (v->types == NULL && __builtin_mul_overflow(offset, t->extent, &offset))
			return false;
		if (ranks[i] < 0)
			b[i] = (struct gompi_pair_block){.member = -1};
		else if (!gompi_pair_block_init(&b[i], ranks[i], (const void *)((uintptr_t)v->buf + (uint64_t)offset),
						count, t))
			return false;
	}
	return true;
}

static struct gompi_collective_side side_of_edges(const struct edge_side *s) {
	struct gompi_collective_side side = gompi_vector_side(&s->v);
	side.count = s->count;
	return side;
}

static int run_neighbor_call(const char *name, int kind, const struct edge_side *send, const struct edge_side *recv,
			     MPI_Comm comm) {
	struct gompi_comm *c = gompi_comm_get(comm);
	struct gompi_pair_block to[GOMPI_PAIRWISE_MAX_RANKS], from[GOMPI_PAIRWISE_MAX_RANKS];
	if (c == NULL || c->shm_coll == NULL || c->topology.kind == 0 ||
	    c->topology.sources > GOMPI_PAIRWISE_MAX_RANKS || c->topology.destinations > GOMPI_PAIRWISE_MAX_RANKS ||
	    !edge_blocks(from, c->topology.sources, c->topology.ranks, recv) ||
	    !edge_blocks(to, c->topology.destinations, c->topology.ranks + c->topology.sources, send))
		return gompi_collective_in_go(name, kind, side_of_edges(send), side_of_edges(recv), recv->v.counts.wide,
					      0, 0, comm);
	// The data sent to the neighbor before arrives as that from the neighbor after, so their receives are swapped.
	// If both are one process, the order distinguishes them.
	for (int i = 0; c->topology.kind == MPI_CART && i + 1 < c->topology.sources; i += 2) {
		struct gompi_pair_block before = from[i];
		from[i] = from[i + 1];
		from[i + 1] = before;
	}
	struct gompi_coll_call call;
	call.kind = kind, call.root = 0, call.name = name, call.in_place = false;
	call.to = to, call.send_count = c->topology.destinations, call.from = from,
	call.recv_count = c->topology.sources;
	return gompi_shm_run_or_raise(c->shm_coll, &call, comm);
}

static struct edge_side equal_blocks(enum edge_shape shape, const void *buf, int64_t count, MPI_Datatype type) {
	return (struct edge_side){.shape = shape, .count = count, .v = {.buf = buf, .type = type}};
}

int gompi_neighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
			       MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
	struct edge_side send = equal_blocks(ONE_FOR_ALL, sendbuf, sendcount, sendtype);
	struct edge_side recv = equal_blocks(EQUAL, recvbuf, recvcount, recvtype);
	return run_neighbor_call("MPI_Neighbor_allgather", GOMPI_NEIGHBOR_ALLGATHER, &send, &recv, comm);
}
GOMPI_ENTRY(MPI_Neighbor_allgather_c, gompi_neighbor_allgather_c);

int gompi_neighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
			      MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
	struct edge_side send = equal_blocks(EQUAL, sendbuf, sendcount, sendtype);
	struct edge_side recv = equal_blocks(EQUAL, recvbuf, recvcount, recvtype);
	return run_neighbor_call("MPI_Neighbor_alltoall", GOMPI_NEIGHBOR_ALLTOALL, &send, &recv, comm);
}
GOMPI_ENTRY(MPI_Neighbor_alltoall_c, gompi_neighbor_alltoall_c);

static int neighbor_allgatherv(struct edge_side send, struct gompi_vector recv, MPI_Comm comm) {
	struct edge_side to = {VECTOR, 0, recv};
	return run_neighbor_call("MPI_Neighbor_allgatherv", GOMPI_NEIGHBOR_ALLGATHERV, &send, &to, comm);
}

int gompi_neighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
			      const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
	struct gompi_vector recv = {recvbuf, {recvcounts, false}, {displs, false}, recvtype, NULL};
	return neighbor_allgatherv(equal_blocks(ONE_FOR_ALL, sendbuf, sendcount, sendtype), recv, comm);
}
GOMPI_ENTRY(MPI_Neighbor_allgatherv, gompi_neighbor_allgatherv);

int gompi_neighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
				const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
				MPI_Comm comm) {
	struct gompi_vector recv = {recvbuf, {recvcounts, true}, {displs, true}, recvtype, NULL};
	return neighbor_allgatherv(equal_blocks(ONE_FOR_ALL, sendbuf, sendcount, sendtype), recv, comm);
}
GOMPI_ENTRY(MPI_Neighbor_allgatherv_c, gompi_neighbor_allgatherv_c);

static int neighbor_alltoallv(const char *name, int kind, struct gompi_vector send, struct gompi_vector recv,
			      MPI_Comm comm) {
	struct edge_side from = {VECTOR, 0, send}, to = {VECTOR, 0, recv};
	return run_neighbor_call(name, kind, &from, &to, comm);
}

int gompi_neighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
			     void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
			     MPI_Comm comm) {
	struct gompi_vector send = {sendbuf, {sendcounts, false}, {sdispls, false}, sendtype, NULL};
	struct gompi_vector recv = {recvbuf, {recvcounts, false}, {rdispls, false}, recvtype, NULL};
	return neighbor_alltoallv("MPI_Neighbor_alltoallv", GOMPI_NEIGHBOR_ALLTOALLV, send, recv, comm);
}
GOMPI_ENTRY(MPI_Neighbor_alltoallv, gompi_neighbor_alltoallv);

int gompi_neighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
			       MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
			       const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
	struct gompi_vector send = {sendbuf, {sendcounts, true}, {sdispls, true}, sendtype, NULL};
	struct gompi_vector recv = {recvbuf, {recvcounts, true}, {rdispls, true}, recvtype, NULL};
	return neighbor_alltoallv("MPI_Neighbor_alltoallv", GOMPI_NEIGHBOR_ALLTOALLV, send, recv, comm);
}
GOMPI_ENTRY(MPI_Neighbor_alltoallv_c, gompi_neighbor_alltoallv_c);

static int neighbor_alltoallw(struct gompi_vector send, struct gompi_vector recv, MPI_Comm comm) {
	const char *name = "MPI_Neighbor_alltoallw";
	if (send.types == NULL || recv.types == NULL)
		return gompi_collective_in_go(name, GOMPI_NEIGHBOR_ALLTOALLW, gompi_vector_side(&send),
					      gompi_vector_side(&recv), recv.counts.wide, 0, 0, comm);
	return neighbor_alltoallv(name, GOMPI_NEIGHBOR_ALLTOALLW, send, recv, comm);
}

int gompi_neighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
			     const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
			     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
	struct gompi_vector send = {sendbuf, {sendcounts, false}, {sdispls, true}, 0, sendtypes};
	struct gompi_vector recv = {recvbuf, {recvcounts, false}, {rdispls, true}, 0, recvtypes};
	return neighbor_alltoallw(send, recv, comm);
}
GOMPI_ENTRY(MPI_Neighbor_alltoallw, gompi_neighbor_alltoallw);

int gompi_neighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
			       const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
			       const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
	struct gompi_vector send = {sendbuf, {sendcounts, true}, {sdispls, true}, 0, sendtypes};
	struct gompi_vector recv = {recvbuf, {recvcounts, true}, {rdispls, true}, 0, recvtypes};
	return neighbor_alltoallw(send, recv, comm);
}
GOMPI_ENTRY(MPI_Neighbor_alltoallw_c, gompi_neighbor_alltoallw_c);
