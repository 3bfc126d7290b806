// Committing and freeing datatypes (MPI-5.0 5.1.9). Neither blocks. Errors are raised on MPI_COMM_SELF.
#include "base/up.h"
#include "base/verdict.h"
#include "datatype/facts.h"
#include "datatype/z_calls.h"

int gompi_type_commit(MPI_Datatype *datatype) {
	if (datatype == NULL)
		return gompi_no_place("MPI_Type_commit", GOMPI_ON_NONE, 0);
	if (!gompi_type_commit_handle((uintptr_t)*datatype))
		return gompi_not_a_datatype(*datatype, "MPI_Type_commit");
	return MPI_SUCCESS;
}

// Types that Go knows, or that may have attributes, it frees as well.
int gompi_type_free(MPI_Datatype *datatype) {
	const struct gompi_type *t = datatype != NULL ? gompi_type_live(*datatype) : NULL;
	if (t == NULL || !gompi_type_mortal(t) || gompi_load(&gompi_type_life(t)->number) != 0)
		return gompi_up.free_type((uintptr_t)datatype);
	if (!gompi_type_remove((uintptr_t)*datatype))
		return gompi_not_a_datatype(*datatype, "MPI_Type_free");
	*datatype = MPI_DATATYPE_NULL;
	return MPI_SUCCESS;
}
