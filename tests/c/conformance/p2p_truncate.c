/* Proves: a message longer than its receive gives MPI_ERR_TRUNCATE, from receive, wait, waitall (MPI_ERR_IN_STATUS)
 *   and test. Nothing is written after the buffer, and later messages are received normally. Covers small and large,
 *   expected and unexpected messages. MPI-5.0 3.2.5, 3.7.5
 * np: 2 4
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"

enum { ROOM = 10 };

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	static const int lengths[] = {ROOM + 1, 1000, 300000, 2000000};
	int me = check_rank, other = me ^ 1, *big = calloc(2000000, sizeof(int)), in[ROOM + 4], value, flag, token = 0;
	for (int i = 0; i < 4; i++)
		for (int how = 0; how < 6; how++) {
			int early = how % 2; /* the receive is posted before the message is sent */
			if (me % 2 == 0) {
				if (early)
					MPI_Recv(&token, 1, MPI_INT, other, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				MPI_Request sends[2];
				value = 1000 + i;
				MPI_Isend(big, lengths[i], MPI_INT, other, 1, MPI_COMM_WORLD, &sends[0]);
				MPI_Isend(&value, 1, MPI_INT, other, 2, MPI_COMM_WORLD, &sends[1]);
				MPI_Waitall(2, sends, MPI_STATUSES_IGNORE); /* the sender may see an error, too */
				continue;
			}
			MPI_Request r[2];
			MPI_Status statuses[2];
			for (int k = 0; k < ROOM + 4; k++)
				in[k] = -7;
			value = 0;
			if (!early)
				MPI_Probe(other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* both messages have arrived */
			if (how < 2) {
				if (early)
					MPI_Send(&token, 1, MPI_INT, other, 9, MPI_COMM_WORLD);
				CHECK_CLASS(MPI_Recv(in, ROOM, MPI_INT, other, 1, MPI_COMM_WORLD, &statuses[0]),
					    MPI_ERR_TRUNCATE);
			} else {
				MPI_Irecv(in, ROOM, MPI_INT, other, 1, MPI_COMM_WORLD, &r[0]);
				if (early)
					MPI_Send(&token, 1, MPI_INT, other, 9, MPI_COMM_WORLD);
				if (how < 4) {
					int code = MPI_SUCCESS;
					for (flag = 0; !flag && code == MPI_SUCCESS;)
						code = MPI_Test(&r[0], &flag, &statuses[0]);
					CHECK(check_class(code) == MPI_ERR_TRUNCATE, "test gave class %d",
					      check_class(code));
				} else {
					MPI_Irecv(&value, 1, MPI_INT, other, 2, MPI_COMM_WORLD, &r[1]);
					CHECK_CLASS(MPI_Waitall(2, r, statuses), MPI_ERR_IN_STATUS);
					CHECK(check_class(statuses[0].MPI_ERROR) == MPI_ERR_TRUNCATE,
					      "the status's error is of class %d", check_class(statuses[0].MPI_ERROR));
					if (check_class(statuses[1].MPI_ERROR) == MPI_ERR_PENDING)
						MPI_Wait(&r[1], MPI_STATUS_IGNORE);
				}
			}
			if (how < 4)
				CHECK_OK(MPI_Recv(&value, 1, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
			CHECK(value == 1000 + i, "the next message is %d, not %d", value, 1000 + i);
			for (int k = ROOM; k < ROOM + 4; k++)
				CHECK(in[k] == -7, "%d ints: written behind the buffer", lengths[i]);
		}
	free(big);
	return check_end();
}
