// Attributes of windows (MPI-5.0 7.7.3 and 12.2.6). The predefined attributes are in the window descriptor. Only the
// application's copy and delete functions may block or communicate.
#include "attribute/attribute.h"

#include "win/win.h"
#include "win/z_calls.h"

int gompi_win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag) {
	static const char call[] = "MPI_Win_get_attr";
	struct gompi_error_status v;
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, call);
	if (attribute_val == NULL || flag == NULL)
		return gompi_win_error(win, call, MPI_ERR_ARG, "%s is NULL", flag == NULL ? "flag" : "attribute_val");
	// MPI_WIN_BASE is the base itself; the other predefined attributes are addresses of the values.
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
		int rc = gompi_attribute_get(&v, GOMPI_KEYVAL_WIN, gompi_load_acquire(&w->attributes), win_keyval,
					     value, flag);
		return rc == MPI_SUCCESS ? rc : gompi_win_raise(win, call, &v);
	}
	}
	*flag = 1;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Win_get_attr, gompi_win_get_attr);

int gompi_win_set_attr(MPI_Win win, int win_keyval, void *attribute_val) {
	struct gompi_error_status v;
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_set_attr");
	int rc = gompi_attribute_set(&v, GOMPI_KEYVAL_WIN, gompi_attributes_ensure(&w->attributes), (uintptr_t)win,
				     win_keyval, attribute_val);
	return rc == MPI_SUCCESS ? rc : gompi_win_raise(win, "MPI_Win_set_attr", &v);
}
GOMPI_ENTRY(MPI_Win_set_attr, gompi_win_set_attr);

int gompi_win_delete_attr(MPI_Win win, int win_keyval) {
	struct gompi_error_status v;
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_delete_attr");
	int rc = gompi_attribute_delete(&v, GOMPI_KEYVAL_WIN, gompi_load_acquire(&w->attributes), (uintptr_t)win,
					win_keyval);
	return rc == MPI_SUCCESS ? rc : gompi_win_raise(win, "MPI_Win_delete_attr", &v);
}
GOMPI_ENTRY(MPI_Win_delete_attr, gompi_win_delete_attr);

int gompi_win_get_group(MPI_Win win, MPI_Group *group) {
	static const char call[] = "MPI_Win_get_group";
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, call);
	if (group == NULL)
		return gompi_null_argument_error(call, "group", GOMPI_ON_WIN, (uintptr_t)win);
	int class = gompi_group_acquire(&w->group, &w->members, group);
	return class == MPI_SUCCESS ? class : gompi_raise_no_group_memory(call, GOMPI_ON_WIN, (uintptr_t)win);
}
GOMPI_ENTRY(MPI_Win_get_group, gompi_win_get_group);
