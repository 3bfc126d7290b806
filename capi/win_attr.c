// MPI_Win_get_attr (MPI-5.0 7.7.3 and 12.2.6): the predefined attributes are in the slot, those of the application's
// keyvals are Go's.
#include "win/epoch.h"
#include "z_entry.h"

int gompi_win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag) {
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_get_attr");
	if (attribute_val == NULL || flag == NULL)
		return gompi_win_error(win, "MPI_Win_get_attr", MPI_ERR_ARG, "%s is NULL",
				       flag == NULL ? "flag" : "attribute_val");
	// The base itself, the address of everything else.
	void **value = attribute_val;
	switch (win_keyval) {
	case MPI_WIN_BASE:
		*value = w->base;
		break;
	case MPI_WIN_SIZE:
		*value = &w->size;
		break;
	case MPI_WIN_DISP_UNIT:
		*value = &w->disp_unit;
		break;
	case MPI_WIN_CREATE_FLAVOR:
		*value = &w->flavor;
		break;
	case MPI_WIN_MODEL:
		*value = &w->model;
		break;
	default: {
		int rc = gompi_win_user_attr((uintptr_t)win, win_keyval, (uintptr_t)attribute_val, (uintptr_t)flag);
		return rc < 0 ? gompi_raise(rc) : rc;
	}
	}
	*flag = 1;
	return MPI_SUCCESS;
}
