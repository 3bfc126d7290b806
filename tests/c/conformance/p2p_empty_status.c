/* Proves: every call that completes or queries a null or inactive request stores all fields of the empty status:
 *   MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS in MPI_ERROR, 0 elements of any type, not cancelled. Covers every kind of
 *   persistent request. Neither a blocking receive nor a call that completes an active request writes MPI_ERROR of the
 *   status. MPI-5.0 3.2.5, 3.7.3, 3.7.5, 3.7.6
 * np: 1 2
 * args: null inactive active
 * ref: none (MPICH leaves MPI_ERROR of the empty status as it was)
 * timeout: 30
 */
#include "../check.h"

enum { KINDS = 9, UNTOUCHED = 0x55555555 };
static const MPI_Comm W = MPI_COMM_WORLD;
static int it[8], me;

static void check_empty(const MPI_Status *s, const char *call, int kind) {
	int count = -1, elements = -1, flag = -1;
	MPI_Get_count(s, MPI_DOUBLE, &count);
	MPI_Get_elements(s, MPI_2INT, &elements);
	MPI_Test_cancelled(s, &flag);
	CHECK(s->MPI_SOURCE == MPI_ANY_SOURCE && s->MPI_TAG == MPI_ANY_TAG && s->MPI_ERROR == MPI_SUCCESS &&
		      count == 0 && elements == 0 && flag == 0,
	      "%s, request %d: source %d, tag %d, error %#x, count %d, elements %d, cancelled %d", call, kind,
	      s->MPI_SOURCE, s->MPI_TAG, (unsigned)s->MPI_ERROR, count, elements, flag);
}

static MPI_Status dirty(void) {
	MPI_Status s;
	memset(&s, 0x55, sizeof s);
	return s;
}

/* Returns an inactive request of this kind. */
static MPI_Request idle(int kind) {
	MPI_Request r = MPI_REQUEST_NULL;
	if (strcmp(check_arg, "inactive") != 0)
		return r;
	switch (kind) {
	case 0:
		MPI_Send_init(it, 1, MPI_INT, me, 0, W, &r);
		break;
	case 1:
		MPI_Ssend_init(it, 1, MPI_INT, me, 0, W, &r);
		break;
	case 2:
		MPI_Bsend_init(it, 1, MPI_INT, me, 0, W, &r);
		break;
	case 3:
		MPI_Recv_init(it, 1, MPI_INT, me, 0, W, &r);
		break;
	case 4:
		MPI_Recv_init(it, 1, MPI_INT, MPI_PROC_NULL, 0, W, &r);
		break;
	case 5:
		MPI_Barrier_init(W, MPI_INFO_NULL, &r);
		break;
	case 6:
		MPI_Bcast_init(it, 8, MPI_INT, 0, W, MPI_INFO_NULL, &r);
		break;
	case 7:
		MPI_Psend_init(it, 2, 2, MPI_INT, me, 1, W, MPI_INFO_NULL, &r);
		break;
	default:
		MPI_Precv_init(it, 2, 2, MPI_INT, me, 1, W, MPI_INFO_NULL, &r);
		break;
	}
	return r;
}

static void nothing(int kind, MPI_Request *r) {
	MPI_Request several[2] = {*r, MPI_REQUEST_NULL};
	MPI_Status s[2];
	int flag = 0, which = 7, list[2];
	s[0] = dirty();
	CHECK_OK(MPI_Wait(r, s));
	check_empty(s, "MPI_Wait", kind);
	s[0] = dirty();
	CHECK_OK(MPI_Test(r, &flag, s));
	CHECK(flag, "MPI_Test, request %d: not complete", kind);
	check_empty(s, "MPI_Test", kind);
	s[0] = dirty();
	flag = 0;
	CHECK_OK(MPI_Request_get_status(*r, &flag, s));
	CHECK(flag, "MPI_Request_get_status, request %d: not complete", kind);
	check_empty(s, "MPI_Request_get_status", kind);
	s[0] = dirty();
	CHECK_OK(MPI_Waitany(2, several, &which, s));
	CHECK(which == MPI_UNDEFINED, "MPI_Waitany, request %d: index %d", kind, which);
	check_empty(s, "MPI_Waitany", kind);
	s[0] = dirty();
	flag = 0, which = 7;
	CHECK_OK(MPI_Testany(2, several, &which, &flag, s));
	CHECK(flag && which == MPI_UNDEFINED, "MPI_Testany, request %d: flag %d, index %d", kind, flag, which);
	check_empty(s, "MPI_Testany", kind);
	s[0] = s[1] = dirty();
	CHECK_OK(MPI_Waitall(2, several, s));
	check_empty(&s[0], "MPI_Waitall", kind);
	check_empty(&s[1], "MPI_Waitall", -1);
	s[0] = s[1] = dirty();
	flag = 0;
	CHECK_OK(MPI_Testall(2, several, &flag, s));
	CHECK(flag, "MPI_Testall, request %d: not complete", kind);
	check_empty(&s[0], "MPI_Testall", kind);
	check_empty(&s[1], "MPI_Testall", -1);
	s[0] = dirty();
	which = 7;
	CHECK_OK(MPI_Waitsome(2, several, &which, list, s));
	CHECK(which == MPI_UNDEFINED && s[0].MPI_ERROR == UNTOUCHED,
	      "MPI_Waitsome, request %d: %d completed, a status is written", kind, which);
	which = 7;
	CHECK_OK(MPI_Testsome(2, several, &which, list, s));
	CHECK(which == MPI_UNDEFINED && s[0].MPI_ERROR == UNTOUCHED,
	      "MPI_Testsome, request %d: %d completed, a status is written", kind, which);
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
	s[0] = s[1] = dirty();
	flag = 0;
	CHECK_OK(MPI_Request_get_status_all(2, several, &flag, s));
	CHECK(flag, "MPI_Request_get_status_all, request %d: not complete", kind);
	check_empty(&s[0], "MPI_Request_get_status_all", kind);
	check_empty(&s[1], "MPI_Request_get_status_all", -1);
	s[0] = dirty();
	flag = 0, which = 7;
	CHECK_OK(MPI_Request_get_status_any(2, several, &which, &flag, s));
	CHECK(flag && which == MPI_UNDEFINED, "MPI_Request_get_status_any, request %d: flag %d, index %d", kind, flag,
	      which);
	check_empty(s, "MPI_Request_get_status_any", kind);
#endif
	if (*r != MPI_REQUEST_NULL)
		MPI_Request_free(r);
}

static void check_kept(const MPI_Status *s, const char *call) {
	CHECK(s->MPI_ERROR == UNTOUCHED && s->MPI_SOURCE == me && s->MPI_TAG == 3, "%s: source %d, tag %d, error %#x",
	      call, s->MPI_SOURCE, s->MPI_TAG, (unsigned)s->MPI_ERROR);
}

/* Sends one message to this rank itself and returns the request of its receive. */
static MPI_Request one(void) {
	MPI_Request r;
	MPI_Irecv(it, 1, MPI_INT, me, 3, W, &r);
	MPI_Send(&it[1], 1, MPI_INT, me, 3, W);
	return r;
}

static void something(void) {
	MPI_Request r[2];
	MPI_Status s[2];
	int flag, which, list[2];
	r[0] = one();
	s[0] = dirty();
	CHECK_OK(MPI_Wait(r, s));
	check_kept(s, "MPI_Wait");
	r[0] = one();
	s[0] = dirty();
	for (flag = 0; !flag;)
		CHECK_OK(MPI_Request_get_status(*r, &flag, s));
	check_kept(s, "MPI_Request_get_status");
	s[0] = dirty();
	CHECK_OK(MPI_Test(r, &flag, s));
	check_kept(s, "MPI_Test");
	r[0] = MPI_REQUEST_NULL, r[1] = one();
	s[0] = dirty();
	CHECK_OK(MPI_Waitany(2, r, &which, s));
	check_kept(s, "MPI_Waitany");
	r[1] = one();
	s[0] = dirty();
	for (flag = 0; !flag;)
		CHECK_OK(MPI_Testany(2, r, &which, &flag, s));
	check_kept(s, "MPI_Testany");
	r[1] = one();
	s[0] = s[1] = dirty();
	CHECK_OK(MPI_Waitall(2, r, s));
	check_empty(&s[0], "MPI_Waitall", -1);
	check_kept(&s[1], "MPI_Waitall");
	r[1] = one();
	s[0] = s[1] = dirty();
	for (flag = 0; !flag;)
		CHECK_OK(MPI_Testall(2, r, &flag, s));
	check_empty(&s[0], "MPI_Testall", -1);
	check_kept(&s[1], "MPI_Testall");
	r[1] = one();
	s[0] = dirty();
	CHECK_OK(MPI_Waitsome(2, r, &which, list, s));
	check_kept(s, "MPI_Waitsome");
	MPI_Send(&it[1], 1, MPI_INT, MPI_PROC_NULL, 3, W);
	MPI_Isend(&it[1], 1, MPI_INT, me, 3, W, r);
	s[0] = s[1] = dirty();
	CHECK_OK(MPI_Probe(me, 3, W, s));
	check_kept(s, "MPI_Probe");
	CHECK_OK(MPI_Recv(it, 1, MPI_INT, me, 3, W, &s[1]));
	check_kept(&s[1], "MPI_Recv");
	MPI_Wait(r, MPI_STATUS_IGNORE);
	s[0] = dirty();
	CHECK_OK(MPI_Recv(it, 1, MPI_INT, MPI_PROC_NULL, 3, W, s));
	CHECK(s[0].MPI_ERROR == UNTOUCHED, "MPI_Recv of nobody: error %#x", (unsigned)s[0].MPI_ERROR);
}

int main(int argc, char **argv) {
	static char buffer[1000];
	int size;
	check_begin(&argc, &argv);
	me = check_rank;
	MPI_Buffer_attach(buffer, sizeof buffer);
	if (strcmp(check_arg, "active") == 0)
		something();
	else
		for (int kind = 0; kind < (strcmp(check_arg, "inactive") == 0 ? KINDS : 1); kind++) {
			MPI_Request r = idle(kind);
			nothing(kind, &r);
		}
	MPI_Buffer_detach(&(void *){0}, &size);
	return check_end();
}
