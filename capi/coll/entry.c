#include "coll/blocks.h"

#include "datatype/user_op.h"

int gompi_shm_raise(int rc, const struct gompi_coll_call *c, MPI_Comm comm) {
	if (rc == GOMPI_COLL_MISMATCH)
		return gompi_go_callbacks.raise_mismatch((uintptr_t)comm, c->name, &c->mismatch);
	if (rc < 0)
		rc = MPI_ERR_INTERN;
	return gompi_return_error(rc, c->name, gompi_shm_error_text(rc), GOMPI_ON_COMM, (uintptr_t)comm);
}

enum gompi_shape gompi_send_shape(int kind) {
	switch (kind) {
	case GOMPI_BARRIER:
	case GOMPI_BCAST:
		return SHAPE_NONE;
	case GOMPI_SCATTER:
	case GOMPI_ALLTOALL:
	case GOMPI_NEIGHBOR_ALLTOALL:
		return SHAPE_EQUAL;
	case GOMPI_SCATTERV:
	case GOMPI_ALLTOALLV:
	case GOMPI_ALLTOALLW:
	case GOMPI_NEIGHBOR_ALLTOALLV:
	case GOMPI_NEIGHBOR_ALLTOALLW:
		return SHAPE_VECTOR;
	}
	return SHAPE_ONE;
}

enum gompi_shape gompi_recv_shape(int kind) {
	switch (kind) {
	case GOMPI_BARRIER:
		return SHAPE_NONE;
	case GOMPI_GATHER:
	case GOMPI_ALLGATHER:
	case GOMPI_ALLTOALL:
	case GOMPI_NEIGHBOR_ALLGATHER:
	case GOMPI_NEIGHBOR_ALLTOALL:
		return SHAPE_EQUAL;
	case GOMPI_GATHERV:
	case GOMPI_ALLGATHERV:
	case GOMPI_ALLTOALLV:
	case GOMPI_ALLTOALLW:
	case GOMPI_NEIGHBOR_ALLGATHERV:
	case GOMPI_NEIGHBOR_ALLTOALLV:
	case GOMPI_NEIGHBOR_ALLTOALLW:
		return SHAPE_VECTOR;
	}
	return SHAPE_ONE;
}

bool gompi_user_reduction(struct gompi_reduction *r, MPI_Op op, MPI_Datatype datatype) {
	const struct gompi_user_op *u = gompi_user_op_get(op);
	const struct gompi_type *t = gompi_type_get(datatype);
	if (u == NULL || t == NULL || (t->flags & GOMPI_TYPE_CONTIGUOUS) == 0 || t->origin != 0 || t->size <= 0 ||
	    t->size != t->extent)
		return false;
	*r = (struct gompi_reduction){
		.size = (uint64_t)t->size, .function = u->function, .large = u->is_large, .type = (uintptr_t)datatype};
	return true;
}
