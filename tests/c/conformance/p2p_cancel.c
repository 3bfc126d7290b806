/* Proves: a receive without a matching message can be cancelled. MPI_Test_cancelled is true only for such a receive.
 *   The next receive gets the message that would have matched the cancelled receive. A receive that is already matched
 *   completes. MPI_Request_get_status reports completion without completing the request. Requests freed while active
 *   still receive. MPI-5.0 3.7.3, 3.7.6, 3.8.4
 * np: 1 2
 * ref: mpich
 * nodes: 2
 * timeout: 30
 */
#include "../check.h"

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int other = check_size - 1 - check_rank, x = -1, y = -1, flag, n;
	MPI_Request r, s;
	MPI_Status st;
	MPI_Irecv(&x, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &r);
	MPI_Request_get_status(r, &flag, &st);
	CHECK(!flag, "complete before its message");
	MPI_Cancel(&r);
	MPI_Wait(&r, &st);
	MPI_Test_cancelled(&st, &flag);
	CHECK(flag && r == MPI_REQUEST_NULL, "not cancelled");
	MPI_Barrier(MPI_COMM_WORLD);

	MPI_Irecv(&y, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &r);
	MPI_Isend(&check_rank, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &s);
	do
		MPI_Request_get_status(r, &flag, &st);
	while (!flag);
	MPI_Get_count(&st, MPI_INT, &n);
	CHECK(r != MPI_REQUEST_NULL && st.MPI_SOURCE == other && n == 1 && y == other,
	      "status before completion: %d from %d", n, st.MPI_SOURCE);
	MPI_Cancel(&r);
	MPI_Wait(&r, &st);
	MPI_Test_cancelled(&st, &flag);
	CHECK(!flag && x == -1, "cancelled though it was complete");
	MPI_Wait(&s, MPI_STATUS_IGNORE);

	r = MPI_REQUEST_NULL;
	MPI_Request_get_status(r, &flag, &st);
	MPI_Get_count(&st, MPI_INT, &n);
	CHECK(flag && st.MPI_SOURCE == MPI_ANY_SOURCE && st.MPI_TAG == MPI_ANY_TAG && n == 0,
	      "status of no request: %d, source %d, tag %d, %d elements", flag, st.MPI_SOURCE, st.MPI_TAG, n);

	int z = -1;
	MPI_Irecv(&z, 1, MPI_INT, other, 2, MPI_COMM_WORLD, &r);
	MPI_Request_free(&r);
	MPI_Sendrecv(&check_rank, 1, MPI_INT, other, 2, NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	MPI_Sendrecv(&check_rank, 1, MPI_INT, other, 3, &x, 1, MPI_INT, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	CHECK(*(volatile int *)&z == other, "a freed receive got %d", z);
	return check_end();
}
