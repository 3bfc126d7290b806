// The functions of communicators', windows' and datatypes' attributes differ in the type of the handle only, and all
// handles are pointers.
#include "attr.h"

#include "cross.h"

struct gompi_comm_attributes gompi_comm_attributes;

struct gompi_attr_copied gompi_attr_call_copy(uintptr_t function, uintptr_t object, int keyval, uintptr_t extra,
					      uintptr_t value) {
	void *copy = NULL;
	struct gompi_attr_copied r = {0, 0, MPI_SUCCESS};
	bool was = gompi_leave_go();
	r.code = ((int (*)(void *, int, void *, void *, void *, int *))function)((void *)object, keyval, (void *)extra,
										 (void *)value, &copy, &r.keep);
	gompi_back_to_go(was);
	r.value = (uintptr_t)copy;
	return r;
}

int gompi_attr_call_delete(uintptr_t function, uintptr_t object, int keyval, uintptr_t value, uintptr_t extra) {
	bool was = gompi_leave_go();
	int code =
		((int (*)(void *, int, void *, void *))function)((void *)object, keyval, (void *)value, (void *)extra);
	gompi_back_to_go(was);
	return code;
}
