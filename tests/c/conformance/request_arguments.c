/* Proves: every call on requests refuses a negative count, a null address of requests, and a request that cannot be
 *   started. Null requests cannot be started, cancelled or freed. Each refusal raises one error of the standard's class
 *   and changes nothing. If the error handler sets the code to MPI_SUCCESS, the call returns MPI_SUCCESS. Active
 *   requests complete afterwards. MPI-5.0 3.7.3, 3.7.5, 3.8.4, 3.9, 9.3
 * np: 1
 * args: returns mends
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"

enum { N = 3, UNTOUCHED = -77 };

static int calls, seen, mends;

static void handle(MPI_Comm *comm, int *code, ...) {
	(void)comm;
	calls++;
	seen = check_class(*code);
	if (mends)
		*code = MPI_SUCCESS;
}

static void refused(const char *what, int code, int class) {
	CHECK(calls == 1 && seen == class, "%s: %d errors, the last of class %d, not %d", what, calls, seen, class);
	CHECK(check_class(code) == (mends ? MPI_SUCCESS : class), "%s returned class %d", what, check_class(code));
	calls = 0;
}
#define REFUSED(call, class) refused(#call, call, class)

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm W = MPI_COMM_WORLD;
	MPI_Errhandler ours;
	MPI_Comm_create_errhandler(handle, &ours);
	MPI_Comm_set_errhandler(W, ours);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, ours);
	mends = strcmp(check_arg, "mends") == 0;
	int in[N], index = UNTOUCHED, flag = UNTOUCHED, number = UNTOUCHED, list[N] = {UNTOUCHED}, one = 5;
	MPI_Request r[N], was[N], null = MPI_REQUEST_NULL;
	MPI_Status s[N];
	for (int i = 0; i < N; i++)
		CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, 0, i, W, &r[i]));
	memcpy(was, r, sizeof r);
	static const int counts[] = {-1, -2, -2147483647 - 1};
	for (int i = 0; i < 3; i++) {
		int n = counts[i];
		REFUSED(MPI_Waitall(n, r, s), MPI_ERR_COUNT);
		REFUSED(MPI_Testall(n, r, &flag, s), MPI_ERR_COUNT);
		REFUSED(MPI_Waitany(n, r, &index, s), MPI_ERR_COUNT);
		REFUSED(MPI_Testany(n, r, &index, &flag, s), MPI_ERR_COUNT);
		REFUSED(MPI_Waitsome(n, r, &number, list, s), MPI_ERR_COUNT);
		REFUSED(MPI_Testsome(n, r, &number, list, s), MPI_ERR_COUNT);
		REFUSED(MPI_Startall(n, r), MPI_ERR_COUNT);
#if MPI_VERSION >= 5
		REFUSED(MPI_Request_get_status_all(n, r, &flag, s), MPI_ERR_COUNT);
		REFUSED(MPI_Request_get_status_any(n, r, &index, &flag, s), MPI_ERR_COUNT);
		REFUSED(MPI_Request_get_status_some(n, r, &number, list, s), MPI_ERR_COUNT);
#endif
	}
	REFUSED(MPI_Waitall(N, NULL, s), MPI_ERR_ARG);
	REFUSED(MPI_Testall(N, NULL, &flag, s), MPI_ERR_ARG);
	REFUSED(MPI_Waitany(N, NULL, &index, s), MPI_ERR_ARG);
	REFUSED(MPI_Testsome(N, NULL, &number, list, s), MPI_ERR_ARG);
	REFUSED(MPI_Start(&null), MPI_ERR_REQUEST);
	REFUSED(MPI_Cancel(&null), MPI_ERR_REQUEST);
	REFUSED(MPI_Request_free(&null), MPI_ERR_REQUEST);
	REFUSED(MPI_Start(&r[0]), MPI_ERR_REQUEST); /* refused: r[0] is not persistent */
	CHECK(index == UNTOUCHED && flag == UNTOUCHED && number == UNTOUCHED && list[0] == UNTOUCHED,
	      "a refused call wrote %d %d %d %d", index, flag, number, list[0]);
	CHECK(memcmp(r, was, sizeof r) == 0 && null == MPI_REQUEST_NULL, "a refused call changed a request");
	for (int i = 0; i < N; i++)
		CHECK_OK(MPI_Send(&one, 1, MPI_INT, 0, i, W));
	CHECK_OK(MPI_Waitall(N, r, s));
	for (int i = 0; i < N; i++)
		CHECK(in[i] == one && s[i].MPI_TAG == i && r[i] == MPI_REQUEST_NULL, "request %d: %d", i, in[i]);
	CHECK(calls == 0, "%d more errors", calls);
	MPI_Comm_set_errhandler(W, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
	MPI_Errhandler_free(&ours);
	return check_end();
}
