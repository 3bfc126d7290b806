/* Proves: every call refuses a copy of the handle of a completed or freed request with MPI_ERR_REQUEST, and does not
 *   change its outputs. This holds however many requests are created later: thousands at once, and many more one after
 *   another. MPI-5.0 3.7
 * np: 1 2
 * ref: none (MPICH reuses the handle for another request)
 * timeout: 60
 */
#include "../check.h"

enum { MANY = 3000, AFTER = 50000, KEPT = 300 };

static void refused(MPI_Request old) {
	MPI_Request copy = old, two[2] = {MPI_REQUEST_NULL, old};
	MPI_Status s[2];
	int flag = -5, index = -5, list[2] = {-5, -5};
	CHECK_CLASS(MPI_Wait(&copy, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Test(&copy, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Request_get_status(copy, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Cancel(&copy), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Start(&copy), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Startall(1, &copy), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Request_free(&copy), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Waitall(2, two, s), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Testall(2, two, &flag, s), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Waitany(2, two, &index, s), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Testany(2, two, &index, &flag, s), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Waitsome(2, two, &index, list, s), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Testsome(2, two, &index, list, s), MPI_ERR_REQUEST);
	CHECK(flag == -5 && index == -5 && list[0] == -5, "outputs %d, %d, %d", flag, index, list[0]);
	CHECK(copy == old && two[1] == old, "the handle was changed");
}

int main(int argc, char **argv) {
	check_begin_return_errors(&argc, &argv);
	static MPI_Request live[MANY], old[KEPT];
	int value = 3, got[2], other = check_rank ^ 1, kept = 0, flag;
	if (other >= check_size)
		other = check_rank;
	static int large[20000], in[20000];
	MPI_Request r;
	for (int i = 0; i < KEPT; i++) {
		switch (i % 5) {
		case 0:
			MPI_Irecv(got, 1, MPI_INT, other, 7, MPI_COMM_WORLD, &r);
			old[kept++] = r;
			MPI_Send(&value, 1, MPI_INT, other, 7, MPI_COMM_WORLD);
			MPI_Wait(&r, MPI_STATUS_IGNORE);
			break;
		case 1:
			MPI_Irecv(in, 20000, MPI_INT, other, 7, MPI_COMM_WORLD, &live[0]);
			MPI_Isend(large, 20000, MPI_INT, other, 7, MPI_COMM_WORLD, &r);
			old[kept++] = i % 2 ? r : live[0];
			MPI_Wait(&r, MPI_STATUS_IGNORE);
			MPI_Wait(&live[0], MPI_STATUS_IGNORE);
			break;
		case 2:
			MPI_Recv_init(got, 1, MPI_INT, other, 7, MPI_COMM_WORLD, &r);
			old[kept++] = r;
			MPI_Request_free(&r);
			break;
		case 3: /* no rank sends a matching message */
			MPI_Irecv(got, 1, MPI_INT, other, 8, MPI_COMM_WORLD, &r);
			old[kept++] = r;
			MPI_Cancel(&r);
			for (flag = 0; !flag;)
				MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
			break;
		case 4:
			MPI_Issend(&value, 1, MPI_INT, other, 7, MPI_COMM_WORLD, &r);
			old[kept++] = r;
			MPI_Request_free(&r);
			MPI_Recv(got, 1, MPI_INT, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			break;
		}
		CHECK(r == MPI_REQUEST_NULL, "the request is there still");
		refused(old[kept - 1]);
		if (check_errors)
			break;
	}
	/* The request table grows, and then its entries are reused many times. */
	for (int i = 0; i < MANY; i++)
		MPI_Irecv(got, 1, MPI_INT, other, 100 + i, MPI_COMM_WORLD, &live[i]);
	for (int i = 0; i < kept; i++)
		refused(old[i]);
	for (int i = 0; i < AFTER; i++) {
		MPI_Irecv(got, 1, MPI_INT, other, 8, MPI_COMM_WORLD, &r);
		MPI_Cancel(&r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	}
	for (int i = 0; i < kept; i++)
		refused(old[i]);
	for (int i = 0; i < MANY; i++) {
		flag = 1;
		CHECK_OK(MPI_Request_get_status(live[i], &flag, MPI_STATUS_IGNORE));
		CHECK(!flag, "request %d is complete", i);
		MPI_Cancel(&live[i]);
	}
	CHECK_OK(MPI_Waitall(MANY, live, MPI_STATUSES_IGNORE));
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	return check_end();
}
