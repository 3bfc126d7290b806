#include "attr.h"

#include "comm/comm.h"
#include "cross.h"
#include "win/win.h"

int gompi_attr_copy(struct gompi_verdict *v, struct gompi_attributes *from, uintptr_t object,
		    struct gompi_attributes **copy) {
	bool was = gompi_leave_go();
	int rc = gompi_attributes_copy(v, GOMPI_KEYVAL_COMM, from, object, (uintptr_t)MPI_COMM_NULL, copy);
	gompi_back_to_go(was);
	return rc;
}

int gompi_attr_delete_all(struct gompi_verdict *v, struct gompi_attributes *t, uintptr_t object) {
	bool was = gompi_leave_go();
	int rc = gompi_attributes_delete(v, t, object);
	gompi_back_to_go(was);
	return rc;
}

struct gompi_attributes *gompi_attr_of_win(uintptr_t handle) {
	struct gompi_win *w = gompi_win_get((MPI_Win)handle);
	return w == NULL ? NULL : gompi_load_acquire(&w->attributes); // pairs with the release in gompi_attributes_make
}
