// MPI_Comm_get_attr and its deprecated name (MPI-5.0 7.7.2, 9.1): the predefined attributes are here, but for
// MPI_LASTUSEDCODE, which changes; that and those of the application's keyvals are Go's.
#include "attr.h"
#include "base/verdict.h"
#include "comm/comm.h"
#include "z_entry.h"

// What a predefined attribute points to. NULL: keyval is none that is told here.
static int *predefined(int keyval, bool *set) {
	struct gompi_comm_attributes *a = &gompi_comm_attributes;
	*set = true;
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
	}
	return NULL;
}

// go is what Go has for the rest.
static inline int get_attr(const char *call, int (*go)(uintptr_t, int, uintptr_t, uintptr_t), MPI_Comm comm, int keyval,
			   void *value, int *flag) {
	bool set;
	if (gompi_comm_get(comm) == NULL)
		return gompi_not_a_communicator(comm, call);
	if (value == NULL || flag == NULL)
		return gompi_no_place(call, GOMPI_ON_COMM, (uintptr_t)comm);
	int *at = predefined(keyval, &set);
	if (at == NULL) {
		const char *outer = gompi_enter(call);
		int rc = go((uintptr_t)comm, keyval, (uintptr_t)value, (uintptr_t)flag);
		gompi_leave(outer);
		return rc < 0 ? gompi_raise(rc) : rc;
	}
	if (set)
		*(void **)value = at;
	*flag = set;
	return MPI_SUCCESS;
}

int gompi_comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag) {
	return get_attr("MPI_Comm_get_attr", gompi_comm_user_attr, comm, comm_keyval, attribute_val, flag);
}

int gompi_attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag) {
	return get_attr("MPI_Attr_get", gompi_user_attr, comm, keyval, attribute_val, flag);
}
