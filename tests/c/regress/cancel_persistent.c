/* What went wrong: a cancelled persistent receive could not be restarted. A message of a rank to itself that a probe
 * had found was both cancelled and received.
 * Must hold: after MPI_Cancel an operation either is cancelled or completes normally, never both. A persistent request
 * can be restarted in either case. MPI-5.0 3.8.4, 3.9
 * np: 1 4
 * nodes: 2
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	int x[3] = {-1, -1, -1}, flag, to = (check_rank + 1) % check_size,
	    from = (check_rank + check_size - 1) % check_size;
	MPI_Request r[3], s;
	MPI_Status st;
	for (int i = 0; i < 3; i++)
		MPI_Recv_init(&x[i], 1, MPI_INT, i == 2 ? MPI_ANY_SOURCE : from, 50 + i, MPI_COMM_WORLD, &r[i]);
	for (int round = 0; round < 4; round++) {
		CHECK_OK(MPI_Startall(3, r));
		for (int i = 0; i < 3; i++)
			CHECK_OK(MPI_Cancel(&r[i]));
		for (int i = 0; i < 3; i++) {
			CHECK_OK(MPI_Wait(&r[i], &st));
			CHECK_OK(MPI_Test_cancelled(&st, &flag));
			CHECK(flag, "round %d: not cancelled", round);
			CHECK(r[i] != MPI_REQUEST_NULL, "gone");
		}
		MPI_Barrier(MPI_COMM_WORLD);
		CHECK_OK(MPI_Startall(3, r));
		for (int i = 0; i < 3; i++) {
			int y = round * 10 + i;
			CHECK_OK(MPI_Send(&y, 1, MPI_INT, to, 50 + i, MPI_COMM_WORLD));
		}
		for (int i = 0; i < 3; i++) {
			CHECK_OK(MPI_Wait(&r[i], &st));
			CHECK_OK(MPI_Test_cancelled(&st, &flag));
			CHECK(!flag && x[i] == round * 10 + i && st.MPI_SOURCE == from, "round %d: %d", round, x[i]);
		}
	}
	/* r[0] is started, freed while active, and completed by a message; r[1] is cancelled and freed; r[2] is freed
	 * while inactive. */
	CHECK_OK(MPI_Start(&r[0]));
	CHECK_OK(MPI_Request_free(&r[0]));
	int y = 99;
	CHECK_OK(MPI_Send(&y, 1, MPI_INT, to, 50, MPI_COMM_WORLD));
	CHECK_OK(MPI_Start(&r[1]));
	CHECK_OK(MPI_Cancel(&r[1]));
	CHECK_OK(MPI_Request_free(&r[1]));
	CHECK_OK(MPI_Request_free(&r[2]));
	MPI_Barrier(MPI_COMM_WORLD);
	int z;
	CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &z, &st));
	MPI_Send(&y, 1, MPI_INT, to, 60, MPI_COMM_WORLD);
	MPI_Recv(&z, 1, MPI_INT, from, 60, MPI_COMM_WORLD, &st);
	CHECK(x[0] == 99, "freed receive: %d", x[0]);
	/* a synchronous send of a rank to itself, found by a probe and then cancelled */
	CHECK_OK(MPI_Issend(NULL, 0, MPI_BYTE, 0, 123, MPI_COMM_SELF, &s));
	CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &st));
	CHECK(st.MPI_TAG == 123, "probe");
	CHECK_OK(MPI_Cancel(&s));
	CHECK_OK(MPI_Request_get_status(s, &flag, &st));
	int can = 0;
	if (flag)
		MPI_Test_cancelled(&st, &can);
	if (flag && can)
		CHECK_OK(MPI_Request_free(&s));
	else {
		CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 123, MPI_COMM_SELF, &st));
		CHECK_OK(MPI_Wait(&s, &st));
	}
	CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, &st));
	CHECK(!flag, "something is left");
	return check_end();
}
