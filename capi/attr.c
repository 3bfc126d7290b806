#include "attr.h"

#include "comm/comm.h"
#include "cross.h"
#include "win/win.h"

int gompi_attr_copy(struct gompi_error_status *v, struct gompi_attributes *from, uintptr_t object,
		    struct gompi_attributes **copy) {
	bool was_in_go = gompi_leave_go();
	int rc = gompi_attributes_copy(v, GOMPI_KEYVAL_COMM, from, object, (uintptr_t)MPI_COMM_NULL, copy);
	gompi_return_to_go(was_in_go);
	return rc;
}

int gompi_attr_delete_all(struct gompi_error_status *v, struct gompi_attributes *t, uintptr_t object) {
	bool was_in_go = gompi_leave_go();
	int rc = gompi_attributes_delete(v, t, object);
	gompi_return_to_go(was_in_go);
	return rc;
}

struct gompi_attributes *gompi_attr_of_win(uintptr_t handle) {
	struct gompi_win *w = gompi_win_get((MPI_Win)handle);
	return w == NULL ? NULL : gompi_load_acquire(&w->attributes); // pairs with the release in gompi_attributes_make
}
