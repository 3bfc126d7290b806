/* Proves: the request of an operation with MPI_PROC_NULL is complete at once, for every call that completes, queries,
 *   frees or cancels requests. This holds for a single request and for a request in an array of null requests. Covers
 *   sends of all modes, receives, MPI_Imrecv of MPI_MESSAGE_NO_PROC, Isendrecv, persistent, partitioned and one-sided
 *   requests. The status of a receive has MPI_PROC_NULL, MPI_ANY_TAG, 0 elements, not cancelled. MPI-5.0 3.7, 3.8.2,
 *   3.9, 3.11, 4.2, 12.3
 * np: 1 2
 * args: send receive message both persistent partitioned window
 * ref: mpich
 * ref-wrong: receive both persistent partitioned (MPICH 4.0 says source 0, tag 0 after MPI_Irecv, treats persistent
 * requests as inactive, and ends the job in the other variants)
 * timeout: 30
 */
#include "../check.h"

enum { NOBODY = MPI_PROC_NULL, TIMES = 3 };
static const MPI_Comm W = MPI_COMM_WORLD;
static int in = 7, out = 8, last[4], persistent, receives;
static MPI_Win win;

/* Creates request number i of the variant. Returns 0 if the variant has no more requests, else 1. Sets `persistent` if
 * the request is persistent, and `receives` if it receives. */
static int make(int i, MPI_Request *r) {
	MPI_Message m;
	persistent = receives = 0;
	if (strcmp(check_arg, "send") == 0) {
		switch (i) {
		case 0:
			return CHECK_OK(MPI_Isend(&out, 1, MPI_INT, NOBODY, 3, W, r)), 1;
		case 1:
			return CHECK_OK(MPI_Issend(&out, 1, MPI_INT, NOBODY, 3, W, r)), 1;
		case 2:
			return CHECK_OK(MPI_Ibsend(&out, 1, MPI_INT, NOBODY, 3, W, r)), 1;
		case 3:
			return CHECK_OK(MPI_Irsend(&out, 1, MPI_INT, NOBODY, 3, W, r)), 1;
		}
	} else if (strcmp(check_arg, "receive") == 0) {
		receives = 1;
		switch (i) {
		case 0:
			return CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, NOBODY, 3, W, r)), 1;
		case 1:
			return CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, NOBODY, MPI_ANY_TAG, W, r)), 1;
		}
	} else if (strcmp(check_arg, "message") == 0) {
		int flag = 0;
		receives = 1;
		switch (i) {
		case 0:
			CHECK_OK(MPI_Mprobe(NOBODY, 3, W, &m, MPI_STATUS_IGNORE));
			return CHECK_OK(MPI_Imrecv(&in, 1, MPI_INT, &m, r)), 1;
		case 1:
			CHECK_OK(MPI_Improbe(NOBODY, 3, W, &flag, &m, MPI_STATUS_IGNORE));
			CHECK(flag && m == MPI_MESSAGE_NO_PROC, "no message of nobody");
			return CHECK_OK(MPI_Imrecv(&in, 1, MPI_INT, &m, r)), 1;
		case 2:
			m = MPI_MESSAGE_NO_PROC;
			CHECK_OK(MPI_Imrecv(NULL, 0, MPI_INT, &m, r));
			CHECK(m == MPI_MESSAGE_NULL, "a message that was received");
			return 1;
		}
	} else if (strcmp(check_arg, "both") == 0) {
		receives = 1;
		switch (i) {
		case 0:
			return CHECK_OK(MPI_Isendrecv(&out, 1, MPI_INT, NOBODY, 3, &in, 1, MPI_INT, NOBODY, 4, W, r)),
			       1;
		case 1:
			return CHECK_OK(MPI_Isendrecv_replace(&in, 1, MPI_INT, NOBODY, 3, NOBODY, MPI_ANY_TAG, W, r)),
			       1;
		}
	} else if (strcmp(check_arg, "persistent") == 0) {
		persistent = 1;
		switch (i) {
		case 0:
			return CHECK_OK(MPI_Send_init(&out, 1, MPI_INT, NOBODY, 3, W, r)), 1;
		case 1:
			return CHECK_OK(MPI_Ssend_init(&out, 1, MPI_INT, NOBODY, 3, W, r)), 1;
		case 2:
			return CHECK_OK(MPI_Bsend_init(&out, 1, MPI_INT, NOBODY, 3, W, r)), 1;
		case 3:
			return CHECK_OK(MPI_Rsend_init(&out, 1, MPI_INT, NOBODY, 3, W, r)), 1;
		case 4:
			return CHECK_OK(MPI_Recv_init(&in, 1, MPI_INT, NOBODY, 3, W, r)), receives = 1;
		}
	} else if (strcmp(check_arg, "partitioned") == 0) {
		persistent = 1;
		switch (i) {
		case 0:
			return CHECK_OK(MPI_Psend_init(last, 2, 2, MPI_INT, NOBODY, 3, W, MPI_INFO_NULL, r)), 1;
		case 1:
			return CHECK_OK(MPI_Psend_init(last, 0, 2, MPI_INT, NOBODY, 3, W, MPI_INFO_NULL, r)), 1;
		case 2:
			return CHECK_OK(MPI_Precv_init(last, 2, 2, MPI_INT, NOBODY, 3, W, MPI_INFO_NULL, r)),
			       receives = 1;
		case 3:
			return CHECK_OK(MPI_Precv_init(NULL, 0, 0, MPI_INT, NOBODY, 3, W, MPI_INFO_NULL, r)),
			       receives = 1;
		}
	} else {
		switch (i) {
		case 0:
			return CHECK_OK(MPI_Rput(&out, 1, MPI_INT, NOBODY, 0, 1, MPI_INT, win, r)), 1;
		case 1:
			return CHECK_OK(MPI_Rget(&in, 1, MPI_INT, NOBODY, 0, 1, MPI_INT, win, r)), 1;
		case 2:
			return CHECK_OK(MPI_Raccumulate(&out, 1, MPI_INT, NOBODY, 0, 1, MPI_INT, MPI_SUM, win, r)), 1;
		case 3:
			return CHECK_OK(MPI_Rget_accumulate(&out, 1, MPI_INT, &in, 1, MPI_INT, NOBODY, 0, 1, MPI_INT,
							    MPI_SUM, win, r)),
			       1;
		}
	}
	return 0;
}

static void start(int i, MPI_Request *r) {
	int flag = 0;
	if (!persistent)
		return;
	CHECK_OK(MPI_Start(r));
	if (strcmp(check_arg, "partitioned") != 0)
		return;
	if (i == 0)
		CHECK_OK(MPI_Pready_range(0, 1, *r));
	if (i == 2) {
		CHECK_OK(MPI_Parrived(*r, 1, &flag));
		CHECK(flag, "a partition of nobody has not arrived");
	}
}

enum { WAIT, TEST, WAITALL, TESTALL, WAITANY, TESTANY, WAITSOME, TESTSOME, GET_STATUS, CANCEL, FREE, WAYS };
static const char *const name[WAYS] = {"MPI_Wait",
				       "MPI_Test",
				       "MPI_Waitall",
				       "MPI_Testall",
				       "MPI_Waitany",
				       "MPI_Testany",
				       "MPI_Waitsome",
				       "MPI_Testsome",
				       "MPI_Request_get_status",
				       "MPI_Cancel and MPI_Wait",
				       "MPI_Request_free"};

/* Completes *r by the call that `way` selects. */
static void complete(int way, MPI_Request *r, MPI_Status *s) {
	MPI_Request several[3] = {MPI_REQUEST_NULL, *r, MPI_REQUEST_NULL};
	MPI_Status statuses[3];
	int flag = 1, which = 1, number = 1, list[3] = {1};
	memset(statuses, 0x55, sizeof statuses);
	switch (way) {
	case WAIT:
		CHECK_OK(MPI_Wait(r, s));
		return;
	case TEST:
		CHECK_OK(MPI_Test(r, &flag, s));
		break;
	case WAITALL:
		CHECK_OK(MPI_Waitall(3, several, statuses));
		break;
	case TESTALL:
		CHECK_OK(MPI_Testall(3, several, &flag, statuses));
		break;
	case WAITANY:
		CHECK_OK(MPI_Waitany(3, several, &which, &statuses[1]));
		break;
	case TESTANY:
		CHECK_OK(MPI_Testany(3, several, &which, &flag, &statuses[1]));
		break;
	case WAITSOME:
		CHECK_OK(MPI_Waitsome(3, several, &number, list, statuses));
		break;
	case TESTSOME:
		CHECK_OK(MPI_Testsome(3, several, &number, list, statuses));
		break;
	case GET_STATUS:
		CHECK_OK(MPI_Request_get_status(*r, &flag, s));
		CHECK_OK(MPI_Wait(r, &statuses[1]));
		break;
	case CANCEL:
		CHECK_OK(MPI_Cancel(r));
		CHECK_OK(MPI_Wait(r, s));
		break;
	}
	CHECK(flag && which == 1 && number == 1 && list[0] == 1, "flag %d, index %d, %d completed, the first is %d",
	      flag, which, number, list[0]);
	if (way >= WAITALL && way <= TESTSOME) {
		*s = statuses[way < WAITSOME];
		*r = several[1];
	}
}

static void one(int way, int i, MPI_Request *r) {
	MPI_Status s;
	int flag = 7, count = 7;
	memset(&s, 0x55, sizeof s);
	for (int time = 0; time < (persistent ? TIMES : 1); time++) {
		start(i, r);
		if (way == FREE)
			break;
		complete(way, r, &s);
		CHECK((*r == MPI_REQUEST_NULL) == !persistent, "%s: request %d is null or is not", name[way], i);
		if (!receives)
			continue;
		MPI_Test_cancelled(&s, &flag);
		CHECK(!flag, "%s: request %d was cancelled", name[way], i);
		MPI_Get_count(&s, MPI_INT, &count);
		CHECK(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG && count == 0,
		      "%s: request %d: source %d, tag %d, count %d", name[way], i, s.MPI_SOURCE, s.MPI_TAG, count);
	}
	if (persistent || way == FREE)
		CHECK_OK(MPI_Request_free(r));
	CHECK(*r == MPI_REQUEST_NULL, "%s: request %d is not null", name[way], i);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	static char buffer[1000];
	int size;
	MPI_Buffer_attach(buffer, sizeof buffer);
	MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Win_create(last, sizeof last, sizeof last[0], MPI_INFO_NULL, W, &win);
	MPI_Win_lock_all(0, win);
	for (int way = 0; way < WAYS; way++) {
		MPI_Request r = MPI_REQUEST_NULL;
		/* One-sided and partitioned operations cannot be cancelled. In addition, a one-sided request must not
		 * be freed before it is complete. */
		if (strcmp(check_arg, "window") == 0 && way >= CANCEL)
			continue;
		if (strcmp(check_arg, "partitioned") == 0 && way == CANCEL)
			continue;
		for (int i = 0; make(i, &r); i++)
			one(way, i, &r);
	}
	MPI_Win_unlock_all(win);
	CHECK(in == 7 && last[0] == 0, "something came from nobody: %d, %d", in, last[0]);
	MPI_Win_free(&win);
	MPI_Buffer_detach(&(void *){0}, &size);
	return check_end();
}
