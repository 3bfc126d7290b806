/* What went wrong: a rank hung if it had created 64 communicators more than a rank on another node. The other rank
 * dropped the messages for communicators that it had not created yet.
 * Must hold: rank 0 may run ahead of the last rank in every call that need not wait for all ranks. In this test the
 * last rank begins later. No message is lost.
 * MPI-5.0 6.1
 * np: 3
 * nodes: 2
 * args: dup create_group split bcast long reduce gather gatherv scatter scatterv scan idup ibcast ireduce send isend
 * args: bsend persistent partitioned put lock accumulate fetch request
 * ref: mpich
 * timeout: 100
 *
 * To run further ahead: GOMPIRMA_TEST_ROUNDS=100000 gompirun -n 2 --nodes 2 PROGRAM dup
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../check.h"

enum { TURNS = 3000, LENGTH = 20000 };

static int rank, n, turns, mine[LENGTH];
static MPI_Group group;
static MPI_Win win;
static long *window;
static MPI_Request repeated;
static int travels;

/* Uses the communicator c once and frees it. */
static void use(MPI_Comm c, int turn) {
	int x = rank == 0 ? turn : -1;
	MPI_Bcast(&x, 1, MPI_INT, 0, c);
	CHECK(x == turn, "communicator %d: %d", turn, x);
	MPI_Comm_free(&c);
}

/* Sends from rank 0 to the last rank, in a mode in which rank 0 does not wait for the receive. */
static void one_sends(const char *what, int turn) {
	static int *words; /* one for each turn: an Isend whose request is freed may use its buffer at any time */
	MPI_Request request;
	if (words == NULL)
		words = calloc((size_t)turns, sizeof *words);
	int *x = &words[turn];
	*x = turn;
	if (rank != 0) {
		MPI_Recv(x, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		CHECK(*x == turn, "turn %d: %d", turn, *x);
	} else if (strcmp(what, "isend") == 0) {
		MPI_Isend(x, 1, MPI_INT, n - 1, turn % 50, MPI_COMM_WORLD, &request);
		MPI_Request_free(&request);
	} else if (strcmp(what, "bsend") == 0) {
		MPI_Bsend(x, 1, MPI_INT, n - 1, turn % 50, MPI_COMM_WORLD);
	} else {
		travels = turn;
		MPI_Start(&repeated);
		MPI_Wait(&repeated, MPI_STATUS_IGNORE);
	}
}

/* Accesses the window of the last rank from rank 0. */
static void one_sided(const char *what, int turn) {
	static long values[1 << 12], one = 1;
	long *x = &values[turn % (1 << 12)], was;
	MPI_Request request;
	MPI_Aint at = turn % 64;
	*x = turn;
	if (strcmp(what, "lock") == 0)
		MPI_Win_lock(turn % 2 == 0 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, n - 1, 0, win);
	if (strcmp(what, "put") == 0 || strcmp(what, "lock") == 0)
		MPI_Put(x, 1, MPI_LONG, n - 1, at, 1, MPI_LONG, win);
	else if (strcmp(what, "accumulate") == 0)
		MPI_Accumulate(&one, 1, MPI_LONG, n - 1, at, 1, MPI_LONG, MPI_SUM, win);
	else if (strcmp(what, "fetch") == 0)
		MPI_Fetch_and_op(&one, &was, MPI_LONG, n - 1, at, MPI_SUM, win);
	else if (MPI_Rput(x, 1, MPI_LONG, n - 1, at, 1, MPI_LONG, win, &request) == MPI_SUCCESS)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (strcmp(what, "lock") == 0)
		MPI_Win_unlock(n - 1, win);
	else if (turn % (1 << 11) == 0) /* completes the puts before the elements of values[] are reused */
		MPI_Win_flush(n - 1, win);
}

static void body(const char *what, int turn) {
	MPI_Comm c;
	MPI_Request request;
	int x = rank == 0 ? turn : -1, all[8] = {0};
	if (strcmp(what, "dup") == 0) {
		MPI_Comm_dup(MPI_COMM_WORLD, &c);
		use(c, turn);
	} else if (strcmp(what, "create_group") == 0) {
		MPI_Comm_create_group(MPI_COMM_WORLD, group, turn % 100, &c);
		use(c, turn);
	} else if (strcmp(what, "split") == 0) {
		MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &c);
		use(c, turn);
	} else if (strcmp(what, "idup") == 0) {
		MPI_Comm_idup(MPI_COMM_WORLD, &c, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		use(c, turn);
	} else if (strcmp(what, "bcast") == 0) {
		MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
		CHECK(x == turn, "turn %d: %d", turn, x);
	} else if (strcmp(what, "ibcast") == 0) {
		MPI_Ibcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		CHECK(x == turn, "turn %d: %d", turn, x);
	} else if (strcmp(what, "long") == 0) {
		const int count = 1 + turn * 7 % LENGTH;
		mine[0] = mine[count - 1] = x;
		MPI_Bcast(mine, count, MPI_INT, 0, MPI_COMM_WORLD);
		CHECK(mine[0] == turn && mine[count - 1] == turn, "turn %d: %d, %d", turn, mine[0], mine[count - 1]);
	} else if (strcmp(what, "reduce") == 0) {
		x = turn;
		MPI_Reduce(&x, all, 1, MPI_INT, MPI_SUM, n - 1, MPI_COMM_WORLD);
		CHECK(rank != n - 1 || all[0] == n * turn, "turn %d: %d", turn, all[0]);
	} else if (strcmp(what, "gather") == 0) {
		x = turn + rank;
		MPI_Gather(&x, 1, MPI_INT, all, 1, MPI_INT, n - 1, MPI_COMM_WORLD);
		CHECK(rank != n - 1 || all[0] == turn, "turn %d: %d", turn, all[0]);
	} else if (strcmp(what, "gatherv") == 0) {
		static const int counts[8] = {1, 1, 1, 1, 1, 1, 1, 1}, displs[8] = {0, 1, 2, 3, 4, 5, 6, 7};
		x = turn + rank;
		MPI_Gatherv(&x, 1, MPI_INT, all, counts, displs, MPI_INT, n - 1, MPI_COMM_WORLD);
		CHECK(rank != n - 1 || all[0] == turn, "turn %d: %d", turn, all[0]);
	} else if (strcmp(what, "scatterv") == 0) {
		static const int counts[8] = {1, 1, 1, 1, 1, 1, 1, 1}, displs[8] = {0, 1, 2, 3, 4, 5, 6, 7};
		for (int i = 0; i < n; i++)
			all[i] = turn + i;
		MPI_Scatterv(all, counts, displs, MPI_INT, &x, 1, MPI_INT, 0, MPI_COMM_WORLD);
		CHECK(x == turn + rank, "turn %d: %d", turn, x);
	} else if (strcmp(what, "scan") == 0) {
		x = turn;
		MPI_Scan(&x, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		CHECK(all[0] == turn * (rank + 1), "turn %d: %d", turn, all[0]);
	} else if (strcmp(what, "ireduce") == 0) {
		x = turn;
		MPI_Ireduce(&x, all, 1, MPI_INT, MPI_SUM, n - 1, MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		CHECK(rank != n - 1 || all[0] == n * turn, "turn %d: %d", turn, all[0]);
	} else if (strcmp(what, "scatter") == 0) {
		for (int i = 0; i < n; i++)
			all[i] = turn + i;
		MPI_Scatter(all, 1, MPI_INT, &x, 1, MPI_INT, 0, MPI_COMM_WORLD);
		CHECK(x == turn + rank, "turn %d: %d", turn, x);
	} else if (strcmp(what, "send") == 0) {
		if (rank == 0)
			for (int i = 1; i < n; i++)
				MPI_Send(&x, 1, MPI_INT, i, turn % 50, MPI_COMM_WORLD);
		else
			MPI_Recv(&x, 1, MPI_INT, 0, turn % 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		CHECK(x == turn, "turn %d: %d", turn, x);
	} else if (rank != 0 && rank != n - 1) {
		return; /* only rank 0 and the last rank take part in the remaining variants */
	} else if (strcmp(what, "isend") == 0 || strcmp(what, "bsend") == 0 || strcmp(what, "persistent") == 0) {
		one_sends(what, turn);
	} else if (strcmp(what, "partitioned") == 0) {
		travels = turn;
		MPI_Start(&repeated);
		if (rank == 0)
			MPI_Pready(0, repeated);
		MPI_Wait(&repeated, MPI_STATUS_IGNORE);
		CHECK(travels == turn, "turn %d: %d", turn, travels);
	} else if (rank == 0) {
		one_sided(what, turn);
	}
}

/* Returns true if the variant consists of accesses of rank 0 to the last rank's window. end_window checks their
 * result. */
static int is_one_sided(const char *what) {
	return strcmp(what, "put") == 0 || strcmp(what, "lock") == 0 || strcmp(what, "accumulate") == 0 ||
	       strcmp(what, "fetch") == 0 || strcmp(what, "request") == 0;
}

static void begin_window(void) {
	MPI_Win_allocate(64 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
	memset(window, 0, 64 * sizeof(long));
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0 && strcmp(check_arg, "lock") != 0)
		MPI_Win_lock(MPI_LOCK_SHARED, n - 1, 0, win);
}

static void end_window(void) {
	if (rank == 0 && strcmp(check_arg, "lock") != 0)
		MPI_Win_unlock(n - 1, win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == n - 1) {
		int sums = strcmp(check_arg, "accumulate") == 0 || strcmp(check_arg, "fetch") == 0;
		long sum = 0;
		for (int i = 0; i < 64; i++)
			sum += window[i];
		if (sums)
			CHECK(sum == turns, "%ld of %d updates", sum, turns);
		else
			for (int turn = turns > 64 ? turns - 64 : 0; turn < turns; turn++)
				CHECK(window[turn % 64] == turn, "turn %d: %ld", turn, window[turn % 64]);
	}
	MPI_Win_free(&win);
}

/* Prepares messages from rank 0 to the last rank: creates the persistent or partitioned request, or attaches the buffer
 * of MPI_Bsend. Does nothing for other variants. */
static void begin_repeated(void) {
	static char buffer[1 << 24];
	if (rank != 0 && rank != n - 1)
		return;
	if (strcmp(check_arg, "persistent") == 0 && rank == 0)
		MPI_Send_init(&travels, 1, MPI_INT, n - 1, 0, MPI_COMM_WORLD, &repeated);
	else if (strcmp(check_arg, "partitioned") == 0 && rank == 0)
		MPI_Psend_init(&travels, 1, 1, MPI_INT, n - 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &repeated);
	else if (strcmp(check_arg, "partitioned") == 0)
		MPI_Precv_init(&travels, 1, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &repeated);
	else if (strcmp(check_arg, "bsend") == 0)
		MPI_Buffer_attach(buffer, sizeof buffer);
}

static void end_repeated(void) {
	int size;
	void *at;
	if (repeated != MPI_REQUEST_NULL)
		MPI_Request_free(&repeated);
	if (strcmp(check_arg, "bsend") == 0)
		MPI_Buffer_detach(&at, &size);
}

static char counter_path[64];

/* Returns a counter that all ranks on rank 0's host share. They map a file named after their common parent process, the
 * launcher, instead of using MPI: the first communication of two ranks must happen later, in the tested calls. */
static _Atomic int *share_counter(void) {
	snprintf(counter_path, sizeof counter_path, "/tmp/rank_ahead.%ld", (long)getppid());
	int file = open(counter_path, O_RDWR | O_CREAT, 0600);
	if (file < 0 || ftruncate(file, sizeof(int)) != 0) {
		perror(counter_path);
		MPI_Abort(MPI_COMM_WORLD, 9);
	}
	void *at = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (at == MAP_FAILED) {
		perror("mmap");
		MPI_Abort(MPI_COMM_WORLD, 9);
	}
	close(file);
	if (rank == 0)
		atomic_store((_Atomic int *)at, 0); /* an aborted job may have left a file with another value */
	return at;
}

/* Sleeps until rank 0 has made all turns or seems to be blocked: it has made some turns, but none in the last 200 ms.
 * Sleeps for one second if this rank does not share rank 0's counter. */
static void let_run_ahead(const _Atomic int *turns_made) {
	for (int ms = 0, idle_ms = 0, last = 0; ms < 1000 && last < turns && idle_ms < 200; ms += 10) {
		usleep(10000);
		int made = atomic_load(turns_made);
		idle_ms = made == last && made > 0 ? idle_ms + 10 : 0;
		last = made;
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	rank = check_rank, n = check_size;
	MPI_Comm_group(MPI_COMM_WORLD, &group);
	const char *times = getenv("GOMPIRMA_TEST_ROUNDS");
	turns = times != NULL ? atoi(times) : TURNS;
	repeated = MPI_REQUEST_NULL;
	begin_repeated();
	if (is_one_sided(check_arg))
		begin_window();
	_Atomic int *turns_made = share_counter();
	if (rank == n - 1)
		let_run_ahead(turns_made);
	for (int turn = 0; turn < turns; turn++) {
		body(check_arg, turn);
		if (rank == 0)
			atomic_store(turns_made, turn + 1);
	}
	if (is_one_sided(check_arg))
		end_window();
	end_repeated();
	MPI_Group_free(&group);
	MPI_Barrier(MPI_COMM_WORLD); /* all ranks have opened the file */
	unlink(counter_path);
	return check_end();
}
