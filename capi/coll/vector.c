// The blocking collectives with blocks of different sizes that go through slots: MPI_Allgatherv, MPI_Reduce_scatter and
// MPI_Reduce_scatter_block (MPI-5.0 6.7, 6.10). What is not taken here goes to Go before anything is changed.
#include "coll/entry.h"
#include "coll/z_calls.h"

// Members of a communicator whose blocks are described on the stack; larger ones go to Go.
enum { MOST_HERE = 64 };

// An array of int or, if wide, of 64-bit integers.
struct numbers {
	const void *at;
	bool wide;
};

static inline int64_t number_at(struct numbers a, int i) {
	return a.wide ? ((const int64_t *)a.at)[i] : ((const int *)a.at)[i];
}

static struct gompi_side vector_side(const void *buf, struct numbers counts, struct numbers displs, MPI_Datatype type) {
	return (struct gompi_side){.buf = (uintptr_t)buf,
				   .type = (uintptr_t)type,
				   .counts = (uintptr_t)counts.at,
				   .displs = (uintptr_t)displs.at};
}

// Where each member's block lies and how long it is. false: not each lies together, somewhere in memory.
static bool blocks_lie_together(int n, char *buf, struct numbers counts, struct numbers displs, MPI_Datatype type,
				uintptr_t at[], uint64_t size[]) {
	const struct gompi_type *t = gompi_type_get(type);
	if (t == NULL || counts.at == NULL || displs.at == NULL)
		return false;
	for (int i = 0; i < n; i++) {
		struct gompi_whole block;
		int64_t offset;
		if (__builtin_mul_overflow(number_at(displs, i), t->extent, &offset) ||
		    !gompi_lies_together(&block, (char *)((uintptr_t)buf + (uint64_t)offset), number_at(counts, i),
					 type))
			return false;
		at[i] = (uintptr_t)block.at;
		size[i] = (uint64_t)block.bytes;
	}
	return true;
}

static int allgatherv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
		      struct numbers counts, struct numbers displs, MPI_Datatype recvtype, MPI_Comm comm) {
	struct gompi_slots *t = gompi_slots_for(comm, GOMPI_ALLGATHER);
	uintptr_t at[MOST_HERE];
	uint64_t size[MOST_HERE];
	struct gompi_whole in, mine;
	if (t == NULL || t->n > MOST_HERE || !blocks_lie_together(t->n, recvbuf, counts, displs, recvtype, at, size))
		goto go;
	mine = (struct gompi_whole){(char *)at[t->me], (int64_t)size[t->me]};
	if (sendbuf == MPI_IN_PLACE)
		in = mine;
	else if (!gompi_lies_together(&in, sendbuf, sendcount, sendtype) || !gompi_go_together(&in, &mine, mine.at))
		goto go;
	struct gompi_slots_call c;
	c.kind = GOMPI_ALLGATHER, c.root = 0, c.name = "MPI_Allgatherv", c.bytes = (uint64_t)in.bytes, c.in = in.at,
	c.outs = (struct gompi_blocks){.list = at}, c.sizes = size;
	return gompi_run_slots(t, &c, comm);
go:
	return gompi_collective_to_go("MPI_Allgatherv", GOMPI_ALLGATHERV, gompi_side(sendbuf, sendcount, sendtype),
				      vector_side(recvbuf, counts, displs, recvtype), counts.wide, 0, 0, comm);
}

int gompi_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
		     const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
	return allgatherv(sendbuf, sendcount, sendtype, recvbuf, (struct numbers){recvcounts, false},
			  (struct numbers){displs, false}, recvtype, comm);
}

int gompi_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
		       const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm) {
	return allgatherv(sendbuf, sendcount, sendtype, recvbuf, (struct numbers){recvcounts, true},
			  (struct numbers){displs, true}, recvtype, comm);
}

// Does the reduction of size[i] bytes for each member i. false: Go is to look at it. rc: what the call returns.
static bool scatter_reduced(struct gompi_slots *t, const char *name, const void *sendbuf, void *recvbuf,
			    const uint64_t size[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, int *rc) {
	struct gompi_slots_call c;
	struct gompi_whole in, out;
	if (sendbuf == MPI_IN_PLACE || sendbuf == recvbuf || !gompi_reduction_of(&c.reduction, op, datatype))
		return false;
	uint64_t all = 0;
	for (int i = 0; i < t->n; i++)
		all += size[i];
	const uint64_t element = c.reduction.size;
	if (!gompi_lies_together(&in, sendbuf, (MPI_Count)(all / element), datatype) ||
	    !gompi_lies_together(&out, recvbuf, (MPI_Count)(size[t->me] / element), datatype))
		return false;
	c.kind = GOMPI_REDUCE_SCATTER, c.root = 0, c.name = name, c.bytes = all, c.in = in.at, c.out = out.at;
	c.sizes = size;
	*rc = gompi_run_slots(t, &c, comm);
	return true;
}

// The bytes of count elements. false: there are fewer than none, or more than a block can have.
static inline bool bytes_of_block(const struct gompi_type *t, int64_t count, uint64_t *bytes) {
	int64_t n;
	if (t == NULL || !gompi_type_bytes(t, count, &n) || n > GOMPI_MOST_BLOCK)
		return false;
	*bytes = (uint64_t)n;
	return true;
}

int gompi_reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
				 MPI_Op op, MPI_Comm comm) {
	const char *name = "MPI_Reduce_scatter_block";
	struct gompi_slots *t = gompi_slots_for(comm, GOMPI_REDUCE_SCATTER);
	uint64_t size[MOST_HERE];
	int rc;
	if (t != NULL && t->n <= MOST_HERE && bytes_of_block(gompi_type_get(datatype), recvcount, &size[0])) {
		for (int i = 1; i < t->n; i++)
			size[i] = size[0];
		if (scatter_reduced(t, name, sendbuf, recvbuf, size, datatype, op, comm, &rc))
			return rc;
	}
	return gompi_collective_to_go(name, GOMPI_REDUCE_SCATTER_BLOCK, gompi_side(sendbuf, 0, 0),
				      gompi_side(recvbuf, recvcount, datatype), false, op, 0, comm);
}

static int reduce_scatter(const void *sendbuf, void *recvbuf, struct numbers counts, MPI_Datatype datatype, MPI_Op op,
			  MPI_Comm comm) {
	const char *name = "MPI_Reduce_scatter";
	struct gompi_slots *t = gompi_slots_for(comm, GOMPI_REDUCE_SCATTER);
	const struct gompi_type *type = gompi_type_get(datatype);
	uint64_t size[MOST_HERE];
	int rc, i = 0;
	if (t != NULL && t->n <= MOST_HERE && counts.at != NULL) {
		while (i < t->n && bytes_of_block(type, number_at(counts, i), &size[i]))
			i++;
		if (i == t->n && scatter_reduced(t, name, sendbuf, recvbuf, size, datatype, op, comm, &rc))
			return rc;
	}
	return gompi_collective_to_go(name, GOMPI_REDUCE_SCATTER, gompi_side(sendbuf, 0, 0),
				      vector_side(recvbuf, counts, (struct numbers){NULL, false}, datatype),
				      counts.wide, op, 0, comm);
}

int gompi_reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
			 MPI_Comm comm) {
	return reduce_scatter(sendbuf, recvbuf, (struct numbers){recvcounts, false}, datatype, op, comm);
}

int gompi_reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
			   MPI_Op op, MPI_Comm comm) {
	return reduce_scatter(sendbuf, recvbuf, (struct numbers){recvcounts, true}, datatype, op, comm);
}
