// Attributes of communicators (MPI-5.0 7.7.2), the predefined ones (9.1), and the deprecated names of the calls.
// Only the application's callbacks may block or communicate.
#include "comm/attributes.h"

#include "comm/comm.h"
#include "comm/z_calls.h"
#include "errors/codes.h"

struct gompi_comm_predefined gompi_comm_predefined;

// Returns the address of a predefined attribute's value, or NULL if keyval is not predefined. Sets *set to true if the
// attribute has a value.
static inline int *predefined(int keyval, bool *set) {
	struct gompi_comm_predefined *a = &gompi_comm_predefined;
	*set = true;
	if (keyval >= GOMPI_KEYVAL_FIRST)
		return NULL;
	switch (keyval) {
	case MPI_TAG_UB:
		return &a->tag_ub;
	case MPI_HOST:
		return &a->host;
	case MPI_IO:
		return &a->io;
	case MPI_WTIME_IS_GLOBAL:
		return &a->wtime_is_global;
	case MPI_APPNUM:
		*set = a->has_appnum;
		return &a->appnum;
	case MPI_UNIVERSE_SIZE:
		*set = a->universe_size > 0;
		return &a->universe_size;
	case MPI_LASTUSEDCODE:
		return &gompi_last_used_code;
	case MPIX_FT:
		a->fault_tolerant = gompi_node.is_fault_tolerant;
		return &a->fault_tolerant;
	}
	return NULL;
}

static int raise_attribute_error(const char *call, MPI_Comm comm, const struct gompi_error_status *v) {
	return gompi_return_error(v->class, call, v->text, GOMPI_ON_COMM, (uintptr_t)comm);
}

// Gets an attribute with a keyval that the application created. Not inlined, so that the path of predefined attributes
// needs no stack frame.
static __attribute__((noinline)) int get_user_attribute(const char *call, struct gompi_comm *c, int keyval, void *value,
							int *flag) {
	struct gompi_error_status v;
	int rc = gompi_attribute_get(&v, GOMPI_KEYVAL_COMM, gompi_load_acquire(&c->attributes), keyval, value, flag);
	return rc == MPI_SUCCESS ? rc : raise_attribute_error(call, (MPI_Comm)c->handle, &v);
}

static inline int get_attr(const char *call, MPI_Comm comm, int keyval, void *value, int *flag) {
	struct gompi_comm *c = gompi_comm_get(comm);
	bool set;
	if (c == NULL)
		return gompi_raise_invalid_comm(comm, call);
	if (value == NULL || flag == NULL)
		return gompi_null_argument_error(call, "attribute_val or flag", GOMPI_ON_COMM, (uintptr_t)comm);
	int *at = predefined(keyval, &set);
	if (at == NULL)
		return get_user_attribute(call, c, keyval, value, flag);
	if (set)
		*(void **)value = at;
	*flag = set;
	return MPI_SUCCESS;
}

int gompi_comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag) {
	return get_attr("MPI_Comm_get_attr", comm, comm_keyval, attribute_val, flag);
}
GOMPI_ENTRY(MPI_Comm_get_attr, gompi_comm_get_attr);

int gompi_attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag) {
	return get_attr("MPI_Attr_get", comm, keyval, attribute_val, flag);
}
GOMPI_ENTRY(MPI_Attr_get, gompi_attr_get);

static int set_attr(const char *call, MPI_Comm comm, int keyval, void *value) {
	struct gompi_error_status v;
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_raise_invalid_comm(comm, call);
	int rc = gompi_attribute_set(&v, GOMPI_KEYVAL_COMM, gompi_attributes_ensure(&c->attributes), (uintptr_t)comm,
				     keyval, value);
	return rc == MPI_SUCCESS ? rc : raise_attribute_error(call, comm, &v);
}

int gompi_comm_set_attr(MPI_Comm comm, int comm_keyval, void *attribute_val) {
	return set_attr("MPI_Comm_set_attr", comm, comm_keyval, attribute_val);
}
GOMPI_ENTRY(MPI_Comm_set_attr, gompi_comm_set_attr);

int gompi_attr_put(MPI_Comm comm, int keyval, void *attribute_val) {
	return set_attr("MPI_Attr_put", comm, keyval, attribute_val);
}
GOMPI_ENTRY(MPI_Attr_put, gompi_attr_put);

static int delete_attr(const char *call, MPI_Comm comm, int keyval) {
	struct gompi_error_status v;
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_raise_invalid_comm(comm, call);
	int rc = gompi_attribute_delete(&v, GOMPI_KEYVAL_COMM, gompi_load_acquire(&c->attributes), (uintptr_t)comm,
					keyval);
	return rc == MPI_SUCCESS ? rc : raise_attribute_error(call, comm, &v);
}

int gompi_comm_delete_attr(MPI_Comm comm, int comm_keyval) {
	return delete_attr("MPI_Comm_delete_attr", comm, comm_keyval);
}
GOMPI_ENTRY(MPI_Comm_delete_attr, gompi_comm_delete_attr);

int gompi_attr_delete(MPI_Comm comm, int keyval) { return delete_attr("MPI_Attr_delete", comm, keyval); }
GOMPI_ENTRY(MPI_Attr_delete, gompi_attr_delete);
