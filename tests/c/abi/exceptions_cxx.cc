/* Proves: error handlers of communicators and windows may throw C++ exceptions. Calls that wait, calls executed in Go,
 * and calls executed only in C raise the errors. The library stays usable, as if the handler had returned. The test
 * repeats each call, also in another thread, and makes valid calls after the errors. */
#include <mpi.h>

#include <cstdio>
#include <functional>
#include <thread>

struct thrown {
	int code;
};

static void of_comm(MPI_Comm *, int *code, ...) { throw thrown{*code}; }
static void of_win(MPI_Win *, int *code, ...) { throw thrown{*code}; }

static int errors;

static void expect(const char *what, int error_class, const std::function<void()> &call) {
	int got = -1;
	try {
		call();
		got = MPI_SUCCESS;
	} catch (const thrown &t) {
		MPI_Error_class(t.code, &got);
	}
	if (got != error_class) {
		std::fprintf(stderr, "%s: class %d came, not %d\n", what, got, error_class);
		errors++;
	}
}

static void all(MPI_Comm comm, MPI_Win win) {
	int a[4] = {1, 2, 3, 4}, b[4] = {0, 0, 0, 0};
	expect("send", MPI_ERR_RANK, [&] { MPI_Send(a, 1, MPI_INT, 7, 0, comm); });
	expect("count", MPI_ERR_COUNT, [&] { MPI_Send(a, -1, MPI_INT, 0, 0, comm); });
	expect("truncated", MPI_ERR_TRUNCATE, [&] {
		MPI_Sendrecv(a, 4, MPI_INT, 0, 1, b, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
	});
	expect("wait", MPI_ERR_TRUNCATE, [&] {
		MPI_Request r;
		MPI_Irecv(b, 1, MPI_INT, 0, 2, comm, &r);
		MPI_Send(a, 4, MPI_INT, 0, 2, comm);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	});
	// The handler receives the code in the status, not MPI_ERR_IN_STATUS (MPI-5.0 9.3.1).
	expect("waitall", MPI_ERR_TRUNCATE, [&] {
		MPI_Request r[2];
		MPI_Status s[2];
		MPI_Irecv(b, 1, MPI_INT, 0, 3, comm, &r[0]);
		MPI_Irecv(b, 4, MPI_INT, 0, 3, comm, &r[1]);
		MPI_Send(a, 4, MPI_INT, 0, 3, comm);
		MPI_Send(a, 4, MPI_INT, 0, 3, comm);
		MPI_Waitall(2, r, s);
	});
	expect("bcast", MPI_ERR_ROOT, [&] { MPI_Bcast(a, 1, MPI_INT, 5, comm); });
	expect("split", MPI_ERR_ARG, [&] {
		MPI_Comm c;
		MPI_Comm_split(comm, -5, 0, &c);
	});
	expect("cart", MPI_ERR_TOPOLOGY, [&] {
		int at;
		MPI_Cart_rank(comm, a, &at);
	});
	expect("window", MPI_ERR_SIZE, [&] {
		MPI_Win w;
		MPI_Win_create(a, -8, 1, MPI_INFO_NULL, comm, &w);
	});
	expect("put", MPI_ERR_RANK, [&] { MPI_Put(a, 1, MPI_INT, 9, 0, 1, MPI_INT, win); });
	expect("range", MPI_ERR_RMA_RANGE, [&] { MPI_Put(a, 1, MPI_INT, 0, 1000, 1, MPI_INT, win); });
	expect("flush", MPI_ERR_RANK, [&] { MPI_Win_flush(3, win); });
	expect("unlock", MPI_ERR_RANK, [&] { MPI_Win_unlock(-9, win); });
	// Valid calls work.
	expect("right put", MPI_SUCCESS, [&] {
		MPI_Put(a, 4, MPI_INT, 0, 0, 4, MPI_INT, win);
		MPI_Win_flush(0, win);
		MPI_Get(b, 4, MPI_INT, 0, 0, 4, MPI_INT, win);
		MPI_Win_flush(0, win);
		MPI_Barrier(comm);
	});
	if (b[3] != 4) {
		std::fprintf(stderr, "the window has %d, not 4\n", b[3]);
		errors++;
	}
}

int main(int argc, char **argv) {
	int provided;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Errhandler c, w;
	MPI_Comm_create_errhandler(of_comm, &c);
	MPI_Win_create_errhandler(of_win, &w);
	MPI_Comm comm;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_set_errhandler(comm, c);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, c); // handles the errors of calls without a communicator or window
	int *base;
	MPI_Win win;
	MPI_Win_allocate(4 * sizeof *base, sizeof *base, MPI_INFO_NULL, comm, &base, &win);
	MPI_Win_set_errhandler(win, w);
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < 3; i++) {
		all(comm, win);
		expect("type", MPI_ERR_COUNT, [] { // has no communicator or window
			MPI_Datatype t;
			MPI_Type_vector(-1, 1, 1, MPI_INT, &t);
		});
		std::thread(all, comm, win).join();
	}
	expect("called by hand", MPI_ERR_OTHER, [&] { MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER); });
	expect("of a window", MPI_ERR_OTHER, [&] { MPI_Win_call_errhandler(win, MPI_ERR_OTHER); });
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Comm_free(&comm);
	MPI_Errhandler_free(&c);
	MPI_Errhandler_free(&w);
	MPI_Finalize();
	return errors != 0;
}
