/* Proves: a window has no name at first. MPI_Win_get_name returns the name that was set for that window, including the
 *   longest allowed. The group of a window has the ranks of the communicator in order. Tests every window kind.
 *   MPI-5.0 7.8, 12.2.6
 * np: 1 2 4
 * ref: mpich
 * timeout: 60
 */
#include "../windows.h"

static void body(struct window *w) {
	char name[MPI_MAX_OBJECT_NAME], longest[MPI_MAX_OBJECT_NAME], *other;
	int len = -1, n, rank, result;
	MPI_Group group, of_comm;
	MPI_Win second;
	MPI_Win_get_name(w->win, name, &len);
	CHECK(len == 0 && name[0] == 0, "%s window: the name at first is '%s', length %d", w->name, name, len);
	MPI_Win_set_name(w->win, "field of potentials");
	MPI_Win_get_name(w->win, name, &len);
	CHECK(strcmp(name, "field of potentials") == 0 && len == 19, "%s window: the name is '%s', length %d", w->name,
	      name, len);
	memset(longest, 'x', sizeof longest);
	longest[MPI_MAX_OBJECT_NAME - 1] = 0;
	MPI_Win_set_name(w->win, longest);
	MPI_Win_get_name(w->win, name, &len);
	CHECK(strcmp(name, longest) == 0 && len == MPI_MAX_OBJECT_NAME - 1, "%s window: the longest name has length %d",
	      w->name, len);

	MPI_Win_allocate(16, 1, MPI_INFO_NULL, w->comm, &other, &second);
	MPI_Win_set_name(second, "second");
	MPI_Win_set_name(w->win, "");
	MPI_Win_get_name(w->win, name, &len);
	CHECK(len == 0 && name[0] == 0, "%s window: the empty name is '%s'", w->name, name);
	MPI_Win_get_name(second, name, &len);
	CHECK(strcmp(name, "second") == 0, "the second window's name is '%s'", name);

	MPI_Win_get_group(w->win, &group);
	MPI_Comm_group(w->comm, &of_comm);
	MPI_Group_size(group, &n);
	MPI_Group_rank(group, &rank);
	MPI_Group_compare(group, of_comm, &result);
	CHECK(n == w->n && rank == w->rank, "%s window: rank %d of %d, not %d of %d", w->name, rank, n, w->rank, w->n);
	CHECK(result == MPI_IDENT, "%s window: its group is not its communicator's", w->name);
	MPI_Win_free(&second);
	CHECK(second == MPI_WIN_NULL, "MPI_Win_free leaves the handle");
	MPI_Group_size(group, &n); /* the group is valid after its window is freed */
	CHECK(n == w->n, "the group changed");
	MPI_Group_free(&group);
	MPI_Group_free(&of_comm);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm reversed;
	MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &reversed);
	windows_each(32, 1, MPI_COMM_WORLD, body);
	windows_each(32, 1, reversed, body);
	MPI_Comm_free(&reversed);
	return check_end();
}
