#include "file/types.h"

#include "datatype/recipe.h"
#include "datatype/type_props.h"
#include "datatype/z_calls.h"

static bool is_permanent(MPI_Datatype type) { return gompi_type_is_library_owned(gompi_type_props_get(type)); }

int gompi_file_type_copy(MPI_Datatype type, MPI_Datatype *copy, struct gompi_error_status *v) {
	*copy = type;
	if (is_permanent(type))
		return MPI_SUCCESS;
	const struct gompi_recipe r = {
		.call = "MPI_Type_dup", .combiner = MPI_COMBINER_DUP, .type_count = 1, .types = &type};
	uintptr_t handle;
	int class = gompi_recipe_new(&r, &handle, v);
	*copy = (MPI_Datatype)handle;
	return class;
}

void gompi_file_type_free(MPI_Datatype *type) {
	if (*type != 0 && *type != MPI_DATATYPE_NULL && !is_permanent(*type))
		gompi_type_free(type);
}
