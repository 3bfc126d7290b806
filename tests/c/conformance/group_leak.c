/* Proves: a program may request the group of a communicator and of a window more often than the library has handles,
 *   without freeing them. Each group is usable until it has been freed as often as it was returned. Other groups do not
 *   change. MPI-5.0 7.3.2, 12.2.6
 * np: 1 2
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	enum { MANY = 1100000 };
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Win win;
	MPI_Group group = MPI_GROUP_NULL, first, second, kept;
	int size = -1, failed = 0;
	char *base;
	MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	for (int i = 0; i < MANY && !failed; i++)
		failed = MPI_Win_get_group(win, &group) != MPI_SUCCESS;
	CHECK(!failed, "MPI_Win_get_group failed");
	CHECK_OK(MPI_Group_size(group, &size));
	CHECK(size == check_size, "%d members, not %d", size, check_size);
	for (int i = 0; i < MANY && !failed; i++)
		failed = MPI_Comm_group(MPI_COMM_WORLD, &group) != MPI_SUCCESS;
	CHECK(!failed, "MPI_Comm_group failed");

	MPI_Comm copy;
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	CHECK_OK(MPI_Comm_group(copy, &first));
	CHECK_OK(MPI_Comm_group(copy, &second));
	kept = second;
	CHECK_OK(MPI_Group_free(&first));
	CHECK(first == MPI_GROUP_NULL, "a freed group is not null");
	CHECK_OK(MPI_Comm_free(&copy));
	CHECK_OK(MPI_Group_size(kept, &size));
	CHECK(size == check_size, "%d members, not %d", size, check_size);
	CHECK_OK(MPI_Group_free(&second));
	MPI_Win_free(&win);
	return check_end();
}
