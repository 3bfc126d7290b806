/* Proves: MPI_Win_free while an epoch is open is MPI_ERR_RMA_SYNC and changes nothing. Handle, attributes, name and
 *   epoch are as before; no delete function is called. The window can be freed after the epoch is closed. If a delete
 *   function returns an error, MPI_Win_free returns that error. The window then exists until a later MPI_Win_free, in
 *   which the delete function succeeds. Tests every window kind. MPI-5.0 12.2.5, 7.7
 * np: 1 2 4
 * ref: none (other libraries free the window, or delete its attributes, before they see the epoch)
 * timeout: 60
 */
#include "../windows.h"

static int deleted, refuse;

static int delete_function(MPI_Win win, int keyval, void *value, void *extra) {
	(void)win;
	(void)keyval;
	(void)extra;
	deleted++;
	if (refuse) {
		refuse = 0;
		return (int)(intptr_t)value;
	}
	return MPI_SUCCESS;
}

static MPI_Win make(struct window *w) {
	MPI_Win win;
	void *mem;
	if (w->kind == KIND_SHARED)
		MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, w->comm, &mem, &win);
	else if (w->kind == KIND_ALLOCATE)
		MPI_Win_allocate(64, 4, MPI_INFO_NULL, w->comm, &mem, &win);
	else
		MPI_Win_create(w->mem, 64, 4, MPI_INFO_NULL, w->comm, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	return win;
}

enum { LOCK, LOCK_ALL, FENCE, START, POST, EPOCHS };
static const char *const epoch_name[] = {"lock", "lock_all", "fence", "start", "post"};

static void body(struct window *w) {
	MPI_Group all, right, left;
	int r = (w->rank + 1) % w->n, l = (w->rank + w->n - 1) % w->n, one = 1, keyval, flag, len;
	char name[MPI_MAX_OBJECT_NAME];
	void *value;
	MPI_Comm_group(w->comm, &all);
	MPI_Group_incl(all, 1, &r, &right);
	MPI_Group_incl(all, 1, &l, &left);
	MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_function, &keyval, NULL);
	for (int epoch = 0; epoch < EPOCHS; epoch++) {
		MPI_Win win = make(w), same = win;
		MPI_Win_set_attr(win, keyval, (void *)(intptr_t)MPI_ERR_OTHER);
		MPI_Win_set_name(win, "kept");
		deleted = refuse = 0;
		switch (epoch) {
		case LOCK:
			MPI_Win_lock(MPI_LOCK_SHARED, r, 0, win);
			break;
		case LOCK_ALL:
			MPI_Win_lock_all(0, win);
			break;
		case FENCE:
			MPI_Win_fence(0, win);
			MPI_Put(&one, 1, MPI_INT, r, 0, 1, MPI_INT, win);
			break;
		case START:
			MPI_Win_post(left, 0, win);
			MPI_Win_start(right, 0, win);
			break;
		case POST:
			MPI_Win_post(left, 0, win);
			MPI_Win_start(right, 0, win);
			MPI_Win_complete(win);
		}
		CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
		CHECK(win == same, "%s window, %s: the refused call changed the handle", w->name, epoch_name[epoch]);
		CHECK(deleted == 0, "%s window, %s: %d delete functions were called", w->name, epoch_name[epoch],
		      deleted);
		MPI_Win_get_attr(win, keyval, &value, &flag);
		CHECK(flag && value == (void *)(intptr_t)MPI_ERR_OTHER, "%s window, %s: the attribute is gone", w->name,
		      epoch_name[epoch]);
		CHECK_OK(MPI_Win_get_name(win, name, &len));
		CHECK(strcmp(name, "kept") == 0, "%s window, %s: the name is '%s'", w->name, epoch_name[epoch], name);
		int put = 40 + w->rank;
		switch (epoch) { /* the epoch is still open */
		case LOCK:
			CHECK_OK(MPI_Put(&put, 1, MPI_INT, r, 1, 1, MPI_INT, win));
			CHECK_OK(MPI_Win_unlock(r, win));
			break;
		case LOCK_ALL:
			CHECK_OK(MPI_Put(&put, 1, MPI_INT, r, 1, 1, MPI_INT, win));
			CHECK_OK(MPI_Win_unlock_all(win));
			break;
		case FENCE:
			CHECK_OK(MPI_Put(&put, 1, MPI_INT, r, 1, 1, MPI_INT, win));
			CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
			break;
		case START:
			CHECK_OK(MPI_Put(&put, 1, MPI_INT, r, 1, 1, MPI_INT, win));
			CHECK_OK(MPI_Win_complete(win));
			CHECK_OK(MPI_Win_wait(win));
			break;
		case POST:
			CHECK_OK(MPI_Win_wait(win));
		}
		refuse = 1;
		CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_OTHER);
		CHECK(win == same && deleted == 1, "%s window, %s: %d delete functions, handle %s", w->name,
		      epoch_name[epoch], deleted, win == same ? "kept" : "changed");
		CHECK_OK(MPI_Win_free(&win));
		CHECK(win == MPI_WIN_NULL && deleted == 2, "%s window, %s: %d delete functions", w->name,
		      epoch_name[epoch], deleted);
	}
	MPI_Win_free_keyval(&keyval);
	MPI_Group_free(&all);
	MPI_Group_free(&right);
	MPI_Group_free(&left);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(64, 4, MPI_COMM_WORLD, body);
	return check_end();
}
