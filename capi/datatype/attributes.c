#include "datatype/attributes.h"

#include "datatype/type_props.h"
#include "datatype/z_calls.h"

struct gompi_table gompi_type_attributes[2] = {{.entries = &gompi_table_empty}, {.entries = &gompi_table_empty}};

struct gompi_attributes *gompi_type_attributes_make(uintptr_t handle) {
	struct gompi_attributes *_Atomic made = NULL;
	if (gompi_attributes_make(&made) == NULL)
		return NULL;
	struct gompi_attributes *t = gompi_table_put(gompi_type_attributes_table(handle), handle, made);
	if (t != made)
		gompi_attributes_free(made);
	return t;
}

int gompi_type_attributes_copy(struct gompi_error_status *v, uintptr_t from, uintptr_t to) {
	struct gompi_attributes *t = gompi_type_attributes_of(from);
	if (t == NULL)
		return MPI_SUCCESS;
	int rc = gompi_attributes_copy(v, GOMPI_KEYVAL_TYPE, t, from, to, &t);
	if (rc == MPI_SUCCESS && t != NULL && gompi_table_put(gompi_type_attributes_table(to), to, t) != t) {
		gompi_attributes_free(t);
		rc = gompi_set_error(v, MPI_ERR_NO_MEM, "out of memory for the attributes of a datatype");
	}
	return rc;
}

int gompi_type_attributes_delete(struct gompi_error_status *v, uintptr_t handle) {
	struct gompi_attributes *t = gompi_type_attributes_of(handle);
	if (t == NULL)
		return MPI_SUCCESS;
	int rc = gompi_attributes_delete(v, t, handle);
	if (rc == MPI_SUCCESS)
		gompi_attributes_free(gompi_table_remove(gompi_type_attributes_table(handle), handle));
	return rc;
}

static int raise_type_attribute(const char *call, const struct gompi_error_status *v) {
	return gompi_return_error(v->class, call, v->text, GOMPI_ON_NONE, 0);
}

int gompi_type_get_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag) {
	static const char call[] = "MPI_Type_get_attr";
	struct gompi_error_status v;
	if (gompi_type_props_get(datatype) == NULL)
		return gompi_not_a_datatype(datatype, call);
	if (attribute_val == NULL || flag == NULL)
		return gompi_null_argument_error(call, "attribute_val or flag", GOMPI_ON_NONE, 0);
	int rc = gompi_attribute_get(&v, GOMPI_KEYVAL_TYPE, gompi_type_attributes_of((uintptr_t)datatype), type_keyval,
				     attribute_val, flag);
	return rc == MPI_SUCCESS ? rc : raise_type_attribute(call, &v);
}
GOMPI_ENTRY(MPI_Type_get_attr, gompi_type_get_attr);

int gompi_type_set_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val) {
	static const char call[] = "MPI_Type_set_attr";
	struct gompi_error_status v;
	if (gompi_type_props_get(datatype) == NULL)
		return gompi_not_a_datatype(datatype, call);
	int rc = gompi_attribute_set(&v, GOMPI_KEYVAL_TYPE, gompi_type_attributes_ensure((uintptr_t)datatype),
				     (uintptr_t)datatype, type_keyval, attribute_val);
	return rc == MPI_SUCCESS ? rc : raise_type_attribute(call, &v);
}
GOMPI_ENTRY(MPI_Type_set_attr, gompi_type_set_attr);

int gompi_type_delete_attr(MPI_Datatype datatype, int type_keyval) {
	static const char call[] = "MPI_Type_delete_attr";
	struct gompi_error_status v;
	if (gompi_type_props_get(datatype) == NULL)
		return gompi_not_a_datatype(datatype, call);
	int rc = gompi_attribute_delete(&v, GOMPI_KEYVAL_TYPE, gompi_type_attributes_of((uintptr_t)datatype),
					(uintptr_t)datatype, type_keyval);
	return rc == MPI_SUCCESS ? rc : raise_type_attribute(call, &v);
}
GOMPI_ENTRY(MPI_Type_delete_attr, gompi_type_delete_attr);
