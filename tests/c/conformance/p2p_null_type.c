/* Proves: a message of no elements needs no datatype. Every send and receive accepts MPI_DATATYPE_NULL with count 0, to
 *   and from MPI_PROC_NULL, this rank and other ranks. MPI_DATATYPE_NULL with another count is MPI_ERR_TYPE, and
 *   nothing is sent. Programs rely on this; the standard does not say which datatype a message without elements must
 *   have
 * np: 1 2 3
 * args: nobody somebody elements
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"

#define NONE NULL, 0, MPI_DATATYPE_NULL
static const MPI_Comm W = MPI_COMM_WORLD;
static int left, right;

static void check_status(const MPI_Status *s, const char *call) {
	int count = -1;
	MPI_Get_count(s, MPI_INT, &count);
	CHECK(s->MPI_SOURCE == left && s->MPI_TAG == 1 && count == 0, "%s: source %d, tag %d, count %d", call,
	      s->MPI_SOURCE, s->MPI_TAG, count);
}

/* Makes every send and receive call with the ranks left and right, which may be MPI_PROC_NULL. */
static void calls(void) {
	MPI_Request r[8];
	MPI_Status s;
	MPI_Message m;
	int flag = 0;
	static int (*const send[])(const void *, int, MPI_Datatype, int, int, MPI_Comm) = {MPI_Send, MPI_Ssend,
											   MPI_Bsend, MPI_Rsend};
	static int (*const isend[])(const void *, int, MPI_Datatype, int, int, MPI_Comm,
				    MPI_Request *) = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
	static int (*const init[])(const void *, int, MPI_Datatype, int, int, MPI_Comm,
				   MPI_Request *) = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init, MPI_Rsend_init};
	char buffer[1000];
	int size = sizeof buffer;
	MPI_Buffer_attach(buffer, size);
	for (int mode = 0; mode < 4; mode++) {
		CHECK_OK(MPI_Irecv(NONE, left, 1, W, &r[0]));
		MPI_Barrier(W); /* a ready send needs a posted receive */
		CHECK_OK(send[mode](NONE, right, 1, W));
		CHECK_OK(MPI_Wait(&r[0], &s));
		if (left >= 0)
			check_status(&s, "MPI_Irecv");
		CHECK_OK(MPI_Recv_init(NONE, left, MPI_ANY_TAG, W, &r[0]));
		CHECK_OK(init[mode](NONE, right, 1, W, &r[1]));
		CHECK_OK(MPI_Start(&r[0]));
		MPI_Barrier(W);
		CHECK_OK(MPI_Start(&r[1]));
		CHECK_OK(MPI_Wait(&r[0], &s));
		CHECK_OK(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
		if (left >= 0)
			check_status(&s, "MPI_Recv_init");
		MPI_Request_free(&r[0]);
		MPI_Request_free(&r[1]);
		MPI_Barrier(W);
		if (mode == 3)
			break;
		CHECK_OK(isend[mode](NONE, right, 1, W, &r[0]));
		CHECK_OK(MPI_Recv(NONE, left, 1, W, &s));
		CHECK_OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
		if (left >= 0)
			check_status(&s, "MPI_Recv");
		CHECK_OK(isend[mode](NONE, right, 1, W, &r[0]));
		CHECK_OK(MPI_Mprobe(left, 1, W, &m, MPI_STATUS_IGNORE));
		CHECK_OK(MPI_Mrecv(NONE, &m, &s));
		CHECK_OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
		if (left >= 0)
			check_status(&s, "MPI_Mrecv");
		CHECK_OK(isend[mode](NONE, right, 1, W, &r[0]));
		do
			CHECK_OK(MPI_Improbe(left, 1, W, &flag, &m, MPI_STATUS_IGNORE));
		while (!flag);
		CHECK_OK(MPI_Imrecv(NONE, &m, &r[1]));
		CHECK_OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
		CHECK_OK(MPI_Wait(&r[1], &s));
		if (left >= 0)
			check_status(&s, "MPI_Imrecv");
	}
	CHECK_OK(MPI_Sendrecv(NONE, right, 1, NONE, left, 1, W, &s));
	if (left >= 0)
		check_status(&s, "MPI_Sendrecv");
	CHECK_OK(MPI_Sendrecv_replace(NONE, right, 1, left, 1, W, &s));
	if (left >= 0)
		check_status(&s, "MPI_Sendrecv_replace");
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1) /* MPICH 4.0 aborts in these calls */
	CHECK_OK(MPI_Isendrecv(NONE, right, 1, NONE, left, 1, W, &r[0]));
	CHECK_OK(MPI_Wait(&r[0], &s));
	if (left >= 0)
		check_status(&s, "MPI_Isendrecv");
	CHECK_OK(MPI_Psend_init(NULL, 2, 0, MPI_DATATYPE_NULL, right, 2, W, MPI_INFO_NULL, &r[0]));
	CHECK_OK(MPI_Precv_init(NULL, 2, 0, MPI_DATATYPE_NULL, left, 2, W, MPI_INFO_NULL, &r[1]));
	CHECK_OK(MPI_Startall(2, r));
	CHECK_OK(MPI_Pready_range(0, 1, r[0]));
	CHECK_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
#endif
	MPI_Buffer_detach(&(void *){0}, &size);
}

static void elements(void) {
	int x[4] = {1, 2, 3, 4}, nobody = MPI_PROC_NULL;
	MPI_Datatype N = MPI_DATATYPE_NULL;
	MPI_Request r = MPI_REQUEST_NULL;
	MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
	for (int i = 0; i < 2; i++) {
		int to = i == 0 ? nobody : right;
		CHECK_CLASS(MPI_Send(x, 1, N, to, 1, W), MPI_ERR_TYPE);
		CHECK_CLASS(MPI_Isend(x, 4, N, to, 1, W, &r), MPI_ERR_TYPE);
		CHECK_CLASS(MPI_Send_init(x, 1, N, to, 1, W, &r), MPI_ERR_TYPE);
		CHECK_CLASS(MPI_Recv(x, 1, N, to, 1, W, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
		CHECK_CLASS(MPI_Irecv(x, 1, N, to, 1, W, &r), MPI_ERR_TYPE);
		CHECK_CLASS(MPI_Sendrecv(NONE, to, 1, x, 1, N, to, 1, W, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
	}
	CHECK(r == MPI_REQUEST_NULL, "a refused call made a request");
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	left = right = MPI_PROC_NULL;
	if (strcmp(check_arg, "nobody") != 0) {
		left = (check_rank + check_size - 1) % check_size;
		right = (check_rank + 1) % check_size;
	}
	if (strcmp(check_arg, "elements") == 0)
		elements();
	else
		calls();
	return check_end();
}
