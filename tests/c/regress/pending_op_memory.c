/* Proves: a process uses no more private memory for pending operations between nodes than docs/CLUSTER.md states,
 * however many operations are pending. The data of pending operations stays in the application's buffers.
 * np: 2 8
 * args: put get accumulate get_accumulate pieces small message
 * ref: none (the figure is gompirma's)
 * nodes: 2
 * timeout: 120
 */
#include "../check.h"
#include "../private_memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { BYTES = 24 << 20, DOUBLES = BYTES / sizeof(double), MIB = (1 << 20) / sizeof(double), SMALL = 100000 };

/* Returns the limit of private memory in bytes ("A process keeps" in docs/CLUSTER.md). The terms are arriving data,
 * data to other nodes, and an operation whose origin type has gaps. The last 500,000 bytes allow for rounding by
 * malloc. */
static long allowed(void) {
	MPI_Comm node;
	int near;
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Comm_size(node, &near);
	MPI_Comm_free(&node);
	long far = check_size - near, each = 6300000 * far, all = 17000000 + 1100000 * far;
	return 3500000 + (each < all ? each : all) + MIB * (long)sizeof(double) + 500000;
}

static int is(const char *name) { return strcmp(check_arg, name) == 0; }

static atomic_long most;
static atomic_int over;

static void *look(void *unused) {
	while (!atomic_load(&over)) {
		long now = resident();
		if (now > atomic_load(&most))
			atomic_store(&most, now);
		struct timespec pause = {0, 1000000};
		nanosleep(&pause, NULL);
	}
	return unused;
}

static double *mine, *result, *theirs;
static MPI_Win win;
static MPI_Datatype every, comb; /* comb: one double in the extent of two */

static void operation(int target, int count) {
	if (is("put") || is("small"))
		MPI_Put(mine, count, MPI_DOUBLE, target, 0, count, MPI_DOUBLE, win);
	else if (is("get"))
		MPI_Get(result, count, MPI_DOUBLE, target, 0, count, MPI_DOUBLE, win);
	else if (is("accumulate"))
		MPI_Accumulate(mine, count, MPI_DOUBLE, target, 0, count, MPI_DOUBLE, MPI_SUM, win);
	else if (is("get_accumulate"))
		MPI_Get_accumulate(mine, count, MPI_DOUBLE, result, count, MPI_DOUBLE, target, 0, count, MPI_DOUBLE,
				   MPI_SUM, win);
	else if (is("pieces"))
		MPI_Put(mine, count / 2, comb, target, 0, count / 2, comb, win);
}

static void windows(int count, int times) {
	for (int i = 0; i < times; i++)
		for (int r = 1; r < check_size; r++)
			operation((check_rank + r) % check_size, count);
	MPI_Win_flush_all(win);
}

static void messages(int count, int times) {
	MPI_Request *requests = malloc(sizeof *requests * 2 * times);
	for (int r = 1; r < check_size; r++) {
		int to = (check_rank + r) % check_size, from = (check_rank + check_size - r) % check_size;
		for (int i = 0; i < times; i++)
			MPI_Irecv(result + (size_t)i * count, count, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &requests[i]);
		for (int i = 0; i < times; i++)
			MPI_Isend(mine + (size_t)i * count, count, MPI_DOUBLE, to, 0, MPI_COMM_WORLD,
				  &requests[times + i]);
		MPI_Waitall(2 * times, requests, MPI_STATUSES_IGNORE);
	}
	free(requests);
}

static void traffic(int count, int times) {
	if (is("message"))
		messages(count, times);
	else
		windows(count, times);
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	mine = malloc(BYTES), result = malloc(BYTES);
	memset(mine, 1, BYTES);
	memset(result, 1, BYTES);
	MPI_Win_allocate(BYTES, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &theirs, &win);
	memset(theirs, 1, BYTES);
	MPI_Type_contiguous(1, MPI_DOUBLE, &every);
	MPI_Type_create_resized(every, 0, 2 * sizeof(double), &comb);
	MPI_Type_commit(&comb);
	MPI_Win_lock_all(0, win);
	int little = is("small");
	int count = little ? 1 : is("message") ? DOUBLES / 4 : MIB, times = little ? SMALL : is("message") ? 4 : 96;
	traffic(1, 1);

	long before = resident();
	atomic_store(&most, before);
	pthread_t looker;
	pthread_create(&looker, NULL, look, NULL);
	traffic(count, times);
	traffic(count, times);
	atomic_store(&over, 1);
	pthread_join(looker, NULL);
	long grown = atomic_load(&most) - before;
	long most_allowed = allowed();
	CHECK(grown <= most_allowed, "%ld bytes more while much was under way, %ld are allowed", grown, most_allowed);

	MPI_Win_unlock_all(win);
	MPI_Type_free(&comb);
	MPI_Type_free(&every);
	MPI_Win_free(&win);
	free(mine);
	free(result);
	return check_end();
}
