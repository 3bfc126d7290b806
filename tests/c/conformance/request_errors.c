/* Proves: the error of a message is raised once, by the call that completes its request, on the communicator of the
 *   receive, with MPI_ERR_TRUNCATE. Calls that complete several requests return MPI_ERR_IN_STATUS, and the statuses
 *   show which requests failed. The error handler receives the error code in the status. The other requests still
 *   complete, and the failed request is freed. MPI-5.0 3.2.5, 3.7.5, 9.3
 * np: 1 2
 * args: wait test waitany testany waitall testall waitsome testsome recv sendrecv mrecv
 * ref: mpich
 * ref-wrong: wait test waitany testany waitall testall waitsome testsome mrecv (MPICH 4.0 raises the errors on
 *   MPI_COMM_WORLD, or passes MPI_ERR_IN_STATUS to the error handler)
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 30
 */
#include "../check.h"

enum { N = 5, BAD = 2, ROOM = 4, ROUNDS = 3 };

static int calls, class_seen;
static MPI_Comm seen;

static void handle(MPI_Comm *comm, int *code, ...) {
	calls++;
	seen = *comm;
	class_seen = check_class(*code);
}

static void elsewhere(MPI_Comm *comm, int *code, ...) {
	(void)comm;
	CHECK(0, "an error of class %d was raised on another communicator", check_class(*code));
}

static void raised(int class, int code, MPI_Comm comm) {
	const int passed = class == MPI_ERR_IN_STATUS ? MPI_ERR_TRUNCATE : class;
	CHECK(calls == 1 && class_seen == passed && check_class(code) == class,
	      "%s: %d errors were raised, the last of class %d, and %d returned, not %d", check_arg, calls, class_seen,
	      check_class(code), class);
	CHECK(comm == MPI_COMM_NULL || seen == comm, "%s: raised on another communicator", check_arg);
	calls = 0;
}

static int many(const char *how) { return strcmp(how + 4, "all") == 0 || strcmp(how + 4, "some") == 0; }

static void one_message(MPI_Comm comm, int other, int size) {
	int *out = calloc((size_t)size, sizeof(int)), in[ROOM], one = 1, code;
	MPI_Request r;
	MPI_Message m;
	if (strcmp(check_arg, "sendrecv") == 0) {
		code = MPI_Sendrecv(out, size, MPI_INT, other, 3, in, ROOM, MPI_INT, other, 3, comm, MPI_STATUS_IGNORE);
	} else {
		MPI_Isend(out, size, MPI_INT, other, 3, comm, &r);
		if (strcmp(check_arg, "recv") == 0) {
			code = MPI_Recv(in, ROOM, MPI_INT, other, 3, comm, MPI_STATUS_IGNORE);
		} else {
			MPI_Mprobe(other, 3, comm, &m, MPI_STATUS_IGNORE);
			code = MPI_Mrecv(in, ROOM, MPI_INT, &m, MPI_STATUS_IGNORE);
			CHECK(m == MPI_MESSAGE_NULL, "the message is there still");
		}
		raised(MPI_ERR_TRUNCATE, code, comm);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		MPI_Sendrecv(&one, 1, MPI_INT, other, 4, in, ROOM, MPI_INT, other, 4, comm, MPI_STATUS_IGNORE);
		free(out);
		return;
	}
	raised(MPI_ERR_TRUNCATE, code, comm);
	free(out);
}

static void several(MPI_Comm comm, int other, int size) {
	int *out = calloc((size_t)size, sizeof(int)), in[N][ROOM], code, which, flag, number = 0, list[N], errors = 0;
	MPI_Request sends[N], r[N];
	MPI_Status s[N];
	const char *how = check_arg;
	for (int i = 0; i < N; i++)
		MPI_Irecv(in[i], ROOM, MPI_INT, other, i, comm, &r[i]);
	for (int i = 0; i < N; i++)
		MPI_Isend(out, i == BAD ? size : ROOM, MPI_INT, other, i, comm, &sends[i]);
	MPI_Waitall(N, sends, MPI_STATUSES_IGNORE); /* the standard does not say if the sender gets an error */
	calls = 0;
	if (strcmp(how, "wait") == 0 || strcmp(how, "test") == 0) {
		for (int i = 0; i < N; i++) {
			if (*how == 'w')
				code = MPI_Wait(&r[i], &s[i]);
			else
				for (flag = 0, code = MPI_SUCCESS; !flag && code == MPI_SUCCESS;)
					code = MPI_Test(&r[i], &flag, &s[i]);
			if (i == BAD)
				raised(MPI_ERR_TRUNCATE, code, comm);
			CHECK(i == BAD || code == MPI_SUCCESS, "request %d: class %d", i, check_class(code));
		}
	} else if (!many(how)) {
		for (int k = 0; k < N;) {
			flag = 1, which = -7;
			code = *how == 'w' ? MPI_Waitany(N, r, &which, &s[0]) : MPI_Testany(N, r, &which, &flag, &s[0]);
			if (code != MPI_SUCCESS) {
				raised(MPI_ERR_TRUNCATE, code, comm);
				CHECK(which == BAD, "index %d", which);
				errors++;
			} else if (!flag) {
				continue;
			}
			k++;
		}
		CHECK(errors == 1, "%d errors", errors);
	} else if (strcmp(how + 4, "all") == 0) {
		for (int i = 0; i < N; i++)
			s[i].MPI_ERROR = -5;
		if (*how == 'w')
			code = MPI_Waitall(N, r, s);
		else
			for (flag = 0, code = MPI_SUCCESS; !flag && code == MPI_SUCCESS;)
				code = MPI_Testall(N, r, &flag, s);
		raised(MPI_ERR_IN_STATUS, code, MPI_COMM_NULL);
		for (int i = 0; i < N; i++) {
			int class = check_class(s[i].MPI_ERROR);
			CHECK(i == BAD ? class == MPI_ERR_TRUNCATE : class == MPI_SUCCESS || class == MPI_ERR_PENDING,
			      "%s: status %d has class %d", how, i, class);
			if (class == MPI_ERR_PENDING)
				CHECK_OK(MPI_Wait(&r[i], MPI_STATUS_IGNORE));
		}
	} else {
		for (int done = 0; done < N;) {
			for (int i = 0; i < N; i++)
				s[i].MPI_ERROR = -5;
			number = -7;
			code = *how == 'w' ? MPI_Waitsome(N, r, &number, list, s)
					   : MPI_Testsome(N, r, &number, list, s);
			CHECK(number >= 0 && number <= N - done, "%d are complete", number);
			if (number < 0)
				break;
			done += number;
			int bad = 0;
			for (int k = 0; k < number; k++)
				bad += list[k] == BAD;
			if (bad)
				raised(MPI_ERR_IN_STATUS, code, MPI_COMM_NULL);
			else
				CHECK(code == MPI_SUCCESS, "class %d", check_class(code));
			for (int k = 0; bad && k < number; k++)
				CHECK(check_class(s[k].MPI_ERROR) == (list[k] == BAD ? MPI_ERR_TRUNCATE : MPI_SUCCESS),
				      "status of %d: class %d", list[k], check_class(s[k].MPI_ERROR));
		}
	}
	CHECK(calls == 0, "%d more errors", calls);
	for (int i = 0; i < N; i++)
		CHECK(r[i] == MPI_REQUEST_NULL, "%s: request %d is there still", how, i);
	free(out);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Errhandler ours, others;
	MPI_Comm comm;
	MPI_Comm_create_errhandler(handle, &ours);
	MPI_Comm_create_errhandler(elsewhere, &others);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_set_errhandler(comm, ours);
	int whole = strlen(check_arg) > 4 && strlen(check_arg) < 9 && many(check_arg);
	/* Sets the handler on all communicators, since the standard does not say where MPI_ERR_IN_STATUS is raised: the
	 * requests may belong to several communicators. */
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, whole ? ours : others);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, whole ? ours : others);
	static const int sizes[] = {ROOM + 1, 3000, 20000, 500000};
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < 4; i++)
			for (int other = 0; other < check_size; other++) {
				if ((check_rank ^ other) >= check_size)
					continue;
				if (strcmp(check_arg, "recv") == 0 || strcmp(check_arg, "sendrecv") == 0 ||
				    strcmp(check_arg, "mrecv") == 0)
					one_message(comm, check_rank ^ other, sizes[i]);
				else
					several(comm, check_rank ^ other, sizes[i]);
			}
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
	MPI_Errhandler_free(&ours);
	MPI_Errhandler_free(&others);
	MPI_Comm_free(&comm);
	return check_end();
}
