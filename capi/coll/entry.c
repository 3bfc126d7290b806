#include "coll/entry.h"

#include "datatype/user_op.h"

int gompi_shm_raise(int rc, const struct gompi_coll_call *c, MPI_Comm comm) {
	if (rc == GOMPI_COLL_MISMATCH)
		return gompi_go_callbacks.raise_mismatch((uintptr_t)comm, c->name, &c->mismatch);
	if (rc < 0)
		rc = MPI_ERR_INTERN;
	return gompi_return_error(rc, c->name, gompi_shm_error_text(rc), GOMPI_ON_COMM, (uintptr_t)comm);
}

int gompi_collective_in_go(const char *name, int kind, struct gompi_collective_side send,
			   struct gompi_collective_side recv, bool wide, MPI_Op op, int root, MPI_Comm comm) {
	struct gompi_collective a = {.name = name,
				     .kind = kind,
				     .root = root,
				     .op = (uintptr_t)op,
				     .comm = (uintptr_t)comm,
				     .send = send,
				     .recv = recv,
				     .is_large = wide};
	return gompi_go_callbacks.run_collective(&a);
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
