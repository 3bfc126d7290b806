// The names of datatypes (MPI-5.0 7.8).
#include "attribute/name.h"

#include <string.h>

#include "datatype/attributes.h"
#include "datatype/type_props.h"
#include "datatype/z_calls.h"

static struct { char name[31], length; } predefined_names[GOMPI_TYPE_PREDEFINED]; // set by Go

void gompi_type_set_default_name(uintptr_t handle, const char *name, int length) {
	uintptr_t i = handle - GOMPI_TYPE_FIRST;
	if (length < (int)sizeof predefined_names[i].name) {
		memcpy(predefined_names[i].name, name, (size_t)length);
		predefined_names[i].length = (char)length;
	}
}

int gompi_type_name(uintptr_t handle, char *name) {
	uintptr_t i = handle - GOMPI_TYPE_FIRST;
	struct gompi_default_name unnamed = GOMPI_DEFAULT_NAME("");
	if (i < GOMPI_TYPE_PREDEFINED)
		unnamed = (struct gompi_default_name){predefined_names[i].name, predefined_names[i].length};
	return gompi_name_get(gompi_type_attributes_of(handle), unnamed, name);
}

int gompi_type_set_name(MPI_Datatype datatype, const char *type_name) {
	static const char call[] = "MPI_Type_set_name";
	struct gompi_error_status v;
	if (gompi_type_props_get(datatype) == NULL)
		return gompi_not_a_datatype(datatype, call);
	int rc = gompi_name_set(&v, gompi_type_attributes_ensure((uintptr_t)datatype), type_name);
	return rc == MPI_SUCCESS ? rc : gompi_return_error(rc, call, v.text, GOMPI_ON_NONE, 0);
}
GOMPI_ENTRY(MPI_Type_set_name, gompi_type_set_name);

int gompi_type_get_name(MPI_Datatype datatype, char *type_name, int *resultlen) {
	static const char call[] = "MPI_Type_get_name";
	bool null = datatype == MPI_DATATYPE_NULL, has_results = type_name != NULL && resultlen != NULL;
	if (gompi_type_props_get(datatype) == NULL && !(null && has_results))
		return gompi_not_a_datatype(datatype, call);
	if (!has_results)
		return gompi_null_argument_error(call, "type_name or resultlen", GOMPI_ON_NONE, 0);
	*resultlen = null ? gompi_name_get(NULL, GOMPI_DEFAULT_NAME("MPI_DATATYPE_NULL"), type_name)
			  : gompi_type_name((uintptr_t)datatype, type_name);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Type_get_name, gompi_type_get_name);
