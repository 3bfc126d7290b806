// Commit, duplication and release of datatypes (MPI-5.0 5.1.9 and 5.1.10). No function blocks. Errors are raised on
// MPI_COMM_SELF.
#include "base/error_status.h"
#include "datatype/attributes.h"
#include "datatype/type_props.h"
#include "datatype/recipe.h"
#include "datatype/z_calls.h"

int gompi_type_commit(MPI_Datatype *datatype) {
	if (datatype == NULL)
		return gompi_null_argument_error("MPI_Type_commit", "datatype", GOMPI_ON_NONE, 0);
	if (!gompi_type_commit_handle((uintptr_t)*datatype))
		return gompi_not_a_datatype(*datatype, "MPI_Type_commit");
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Type_commit, gompi_type_commit);

static int raise_type_free(const struct gompi_error_status *v) {
	return gompi_return_error(v->class, "MPI_Type_free", v->text, GOMPI_ON_NONE, 0);
}

int gompi_type_free(MPI_Datatype *datatype) {
	struct gompi_error_status v;
	if (datatype == NULL)
		return gompi_null_argument_error("MPI_Type_free", "datatype", GOMPI_ON_NONE, 0);
	uintptr_t handle = (uintptr_t)*datatype;
	const struct gompi_type_props *f = gompi_type_props_get(*datatype);
	if (f == NULL)
		return gompi_not_a_datatype(*datatype, "MPI_Type_free");
	if (gompi_type_is_library_owned(f)) {
		char name[MPI_MAX_OBJECT_NAME];
		gompi_type_name(handle, name);
		gompi_set_error(&v, MPI_ERR_TYPE, "%s (%#llx) is a predefined datatype and cannot be freed", name,
				(unsigned long long)handle);
		return raise_type_free(&v);
	}
	if (gompi_type_attributes_of(handle) != NULL && gompi_type_attributes_delete(&v, handle) != MPI_SUCCESS)
		return raise_type_free(&v);
	if (!gompi_type_remove(handle))
		return gompi_not_a_datatype(*datatype, "MPI_Type_free");
	*datatype = MPI_DATATYPE_NULL;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Type_free, gompi_type_free);

int gompi_type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype) {
	static const char call[] = "MPI_Type_dup";
	const struct gompi_recipe r = {.call = call, .combiner = MPI_COMBINER_DUP, .type_count = 1, .types = &oldtype};
	struct gompi_error_status v;
	MPI_Datatype made = MPI_DATATYPE_NULL;
	int rc = gompi_type_construct(&r, newtype != NULL ? &made : NULL);
	if (made == MPI_DATATYPE_NULL)
		return rc;
	if (gompi_type_attributes_copy(&v, (uintptr_t)oldtype, (uintptr_t)made) != MPI_SUCCESS) {
		*newtype = MPI_DATATYPE_NULL; // MPI_Comm_dup stores a null handle after an error, too
		gompi_type_free(&made);
		return gompi_return_error(v.class, call, v.text, GOMPI_ON_NONE, 0);
	}
	*newtype = made;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Type_dup, gompi_type_dup);
