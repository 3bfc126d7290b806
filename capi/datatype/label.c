#include "datatype/label.h"

#include <stdio.h>

#include "datatype/attributes.h"
#include "datatype/op.h"

const char *gompi_type_label(MPI_Datatype datatype, char text[GOMPI_LABEL]) {
	const uintptr_t handle = (uintptr_t)datatype;
	char name[MPI_MAX_OBJECT_NAME];
	int n = gompi_type_get_any(datatype) != NULL ? gompi_type_name(handle, name) : 0;
	if (datatype == MPI_DATATYPE_NULL)
		snprintf(text, GOMPI_LABEL, "MPI_DATATYPE_NULL");
	else if (n == 0)
		snprintf(text, GOMPI_LABEL, "%#lx", (unsigned long)handle);
	else if (handle - GOMPI_TYPE_FIRST < GOMPI_TYPE_PREDEFINED)
		snprintf(text, GOMPI_LABEL, "%.*s", n, name);
	else
		snprintf(text, GOMPI_LABEL, "'%.*s' (%#lx)", n, name, (unsigned long)handle);
	return text;
}

const char *gompi_op_label(MPI_Op op, char text[GOMPI_LABEL]) {
	const uintptr_t i = (uintptr_t)op - GOMPI_OP_FIRST;
	if (op == MPI_OP_NULL)
		snprintf(text, GOMPI_LABEL, "MPI_OP_NULL");
	else if (i < GOMPI_OP_HANDLES && gompi_op_name[i] != NULL)
		snprintf(text, GOMPI_LABEL, "%s", gompi_op_name[i]);
	else
		snprintf(text, GOMPI_LABEL, "%#lx", (unsigned long)(uintptr_t)op);
	return text;
}

const char *gompi_address_label(const void *address, char text[20]) {
	snprintf(text, 20, address != NULL ? "%p" : "NULL", address);
	return text;
}

int gompi_type_unusable(struct gompi_error_status *v, const char *what, MPI_Datatype datatype) {
	char label[GOMPI_LABEL];
	gompi_type_label(datatype, label);
	if (datatype == MPI_DATATYPE_NULL)
		return gompi_set_error(v, MPI_ERR_TYPE, "%s is %s", what, label);
	if (gompi_type_get_any(datatype) != NULL)
		return gompi_set_error(v, MPI_ERR_TYPE, "%s %s is not committed: call MPI_Type_commit first", what,
				       label);
	return gompi_set_error(v, MPI_ERR_TYPE, "%s %s is not a datatype, or has been freed", what, label);
}

int gompi_bad_buffer(struct gompi_error_status *v, const char *what, const void *at, int64_t bytes, int64_t lo) {
	if (at == NULL && lo == 0)
		return gompi_set_error(v, MPI_ERR_BUFFER, "%s is NULL, but the call accesses %lld bytes of it", what,
				       (long long)bytes);
	return gompi_set_error(v, MPI_ERR_BUFFER,
			       "%s at %p is not valid memory: its %lld bytes of data, from offset %+lld, begin below "
			       "address 4096",
			       what, at, (long long)bytes, (long long)lo);
}
