// MPI_Op_commutative (MPI-5.0 6.9.7). Operations of the application are Go's.
#include "datatype/op.h"
#include "z_entry.h"

int gompi_op_commutative(MPI_Op op, int *commute) {
	uintptr_t h = (uintptr_t)op;
	if (h - GOMPI_OP_FIRST < GOMPI_OP_HANDLES && gompi_op_row[h - GOMPI_OP_FIRST] != 0 && commute != NULL) {
		*commute = op != MPI_REPLACE && op != MPI_NO_OP;
		return MPI_SUCCESS;
	}
	const char *outer = gompi_enter("MPI_Op_commutative");
	int rc = gompi_op_user_commutative(h, (uintptr_t)commute);
	gompi_leave(outer);
	return rc < 0 ? gompi_raise(rc) : rc;
}
