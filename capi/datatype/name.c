// The names of datatypes (MPI-5.0 7.8).
#include "attribute/name.h"

#include <string.h>

#include "datatype/attributes.h"
#include "datatype/facts.h"
#include "datatype/z_calls.h"

static struct { char name[31], length; } predefined_names[GOMPI_TYPE_PREDEFINED]; // set by Go

void gompi_type_predefined_name(uintptr_t handle, const char *name, int length) {
	uintptr_t i = handle - GOMPI_TYPE_FIRST;
	if (length < (int)sizeof predefined_names[i].name) {
		memcpy(predefined_names[i].name, name, (size_t)length);
		predefined_names[i].length = (char)length;
	}
}

int gompi_type_name(uintptr_t handle, char *name) {
	uintptr_t i = handle - GOMPI_TYPE_FIRST;
	struct gompi_unnamed unnamed = GOMPI_UNNAMED("");
	if (i < GOMPI_TYPE_PREDEFINED)
		unnamed = (struct gompi_unnamed){predefined_names[i].name, predefined_names[i].length};
	return gompi_name_get(gompi_type_attributes_of(handle), unnamed, name);
}

int gompi_type_set_name(MPI_Datatype datatype, const char *type_name) {
	static const char call[] = "MPI_Type_set_name";
	struct gompi_verdict v;
	if (gompi_facts_get(datatype) == NULL)
		return gompi_not_a_datatype(datatype, call);
	int rc = gompi_name_set(&v, gompi_type_attributes_open((uintptr_t)datatype), type_name);
	return rc == MPI_SUCCESS ? rc : gompi_refuse(rc, call, v.text, GOMPI_ON_NONE, 0);
}
GOMPI_ENTRY(MPI_Type_set_name, gompi_type_set_name);

int gompi_type_get_name(MPI_Datatype datatype, char *type_name, int *resultlen) {
	static const char call[] = "MPI_Type_get_name";
	bool null = datatype == MPI_DATATYPE_NULL, place = type_name != NULL && resultlen != NULL;
	if (gompi_facts_get(datatype) == NULL && !(null && place))
		return gompi_not_a_datatype(datatype, call);
	if (!place)
		return gompi_no_place(call, GOMPI_ON_NONE, 0);
	*resultlen = null ? gompi_name_get(NULL, GOMPI_UNNAMED("MPI_DATATYPE_NULL"), type_name)
			  : gompi_type_name((uintptr_t)datatype, type_name);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Type_get_name, gompi_type_get_name);
