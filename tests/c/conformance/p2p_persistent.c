/* Proves: persistent sends of all modes and receives are inactive until started, complete like other requests, and
 *   can be started again. Covers MPI_Startall, small and large messages, and MPI_Request_free of inactive and
 *   active requests. Starting twice, or starting a request that is not persistent, is an error. MPI-5.0 3.9
 * np: 2 3
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"

enum { TIMES = 20, MOST = 30000 };

static int out[4][MOST], in[4][MOST];

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size, flag;
	static char space[sizeof out + 10 * MPI_BSEND_OVERHEAD];
	MPI_Buffer_attach(space, sizeof space);
	const int counts[] = {0, 7, 2000, MOST};
	for (int k = 0; k < 4; k++) {
		int n = counts[k];
		MPI_Request r[8];
		MPI_Status s[8];
		MPI_Send_init(out[0], n, MPI_INT, right, 0, MPI_COMM_WORLD, &r[0]);
		MPI_Ssend_init(out[1], n, MPI_INT, right, 1, MPI_COMM_WORLD, &r[1]);
		MPI_Bsend_init(out[2], n, MPI_INT, right, 2, MPI_COMM_WORLD, &r[2]);
		MPI_Rsend_init(out[3], n, MPI_INT, right, 3, MPI_COMM_WORLD, &r[3]);
		for (int i = 0; i < 4; i++)
			MPI_Recv_init(in[i], n, MPI_INT, i % 2 ? left : MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &r[4 + i]);
		MPI_Test(&r[0], &flag, &s[0]);
		CHECK(flag && s[0].MPI_SOURCE == MPI_ANY_SOURCE && s[0].MPI_TAG == MPI_ANY_TAG,
		      "status of an inactive request: %d, source %d, tag %d", flag, s[0].MPI_SOURCE, s[0].MPI_TAG);
		MPI_Waitall(8, r, s);
		for (int time = 0; time < TIMES; time++) {
			for (int i = 0; i < 4; i++)
				for (int j = 0; j < n; j++) {
					out[i][j] = check_rank * 1000000 + time * 10000 + i * 1000 + j;
					in[i][j] = -1;
				}
			MPI_Startall(4, r + 4);
			MPI_Barrier(MPI_COMM_WORLD); /* a ready send needs a posted receive */
			if (time % 2)
				MPI_Startall(4, r);
			else
				for (int i = 3; i >= 0; i--)
					MPI_Start(&r[i]);
			MPI_Waitall(8, r, s);
			for (int i = 0; i < 4; i++) {
				int got;
				MPI_Get_count(&s[4 + i], MPI_INT, &got);
				CHECK(r[i] != MPI_REQUEST_NULL && r[4 + i] != MPI_REQUEST_NULL,
				      "a persistent request became null");
				CHECK(got == n && s[4 + i].MPI_SOURCE == left && s[4 + i].MPI_TAG == i,
				      "%d ints: %d from %d with tag %d", n, got, s[4 + i].MPI_SOURCE, s[4 + i].MPI_TAG);
				for (int j = 0; j < n; j++)
					if (in[i][j] != left * 1000000 + time * 10000 + i * 1000 + j) {
						CHECK(0, "message %d, time %d: element %d is %d", i, time, j, in[i][j]);
						break;
					}
			}
		}
		/* the send request is freed while active; the message still arrives */
		MPI_Start(&r[4]);
		MPI_Start(&r[0]);
		MPI_Request_free(&r[0]);
		CHECK(r[0] == MPI_REQUEST_NULL, "a freed request is not null");
		MPI_Wait(&r[4], MPI_STATUS_IGNORE);
		for (int i = 1; i < 8; i++)
			MPI_Request_free(&r[i]);
	}
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Request r;
	int x;
	MPI_Irecv(&x, 1, MPI_INT, left, 9, MPI_COMM_WORLD, &r);
	CHECK_CLASS(MPI_Start(&r), MPI_ERR_REQUEST);
	MPI_Send(&right, 1, MPI_INT, right, 9, MPI_COMM_WORLD);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	/* starting an active persistent request again is an error */
	MPI_Recv_init(&x, 1, MPI_INT, left, 9, MPI_COMM_WORLD, &r);
	MPI_Start(&r);
	CHECK_CLASS(MPI_Start(&r), MPI_ERR_REQUEST);
	MPI_Send(&right, 1, MPI_INT, right, 9, MPI_COMM_WORLD);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Request_free(&r);
	MPI_Buffer_detach(&(void *){0}, &x);
	return check_end();
}
