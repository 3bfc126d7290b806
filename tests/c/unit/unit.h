/* Common part of the unit tests of capi/: CHECK (check.h); a node, windows and predefined types in plain memory;
 * threads; and gompi_go_callbacks, which a test may change. The unit tests call neither MPI nor Go.
 *
 * A test must not depend on time. Two system functions are therefore wrapped (--wrap in CMakeLists.txt):
 *   syscall         If unit_sleep_forever is true, a futex wait has no time limit. A lost wake-up then causes
 *                   a hang, which ctest reports, instead of a delay of 200 ms.
 *   clock_gettime   If unit_hurry is true, each call advances the clock by one millisecond. A thread that polls
 *                   then sleeps at once, and a wait with a time limit times out soon.
 * Set these flags only while no other thread runs.
 *
 * ThreadSanitizer ignores memory fences. Each word that one of the library's few fences orders is atomic, or is also
 * ordered by a release and an acquire. So ThreadSanitizer reports no false race. */
#ifndef UNIT_H
#define UNIT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../types.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/node.h"
#include "base/go_callbacks.h"
#include "base/wait.h"
#include "datatype/atomic.h"
#include "datatype/datatype.h"
#include "datatype/predefined.h"
#include "win/win_table.h"

/* Scales the number of repetitions n of a test. With the thread sanitizer it is a third, because a program then takes 5
 * to 20 times as long. */
#ifdef __SANITIZE_THREAD__
#define UNIT_REPEATS(n) ((n) / 3)
#else
#define UNIT_REPEATS(n) (n)
#endif

/* --- System functions */

static bool unit_sleep_forever, unit_hurry;
static gompi_a64 unit_sleeps; /* number of times that a thread was put to sleep on a futex */
static gompi_a32 unit_asleep; /* number of threads that are asleep */
static gompi_a32 unit_membarriers;

long __real_syscall(long number, long a, long b, long c, void *d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, void *d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, void *d, long e, long f) {
	if (number == SYS_futex && (b == FUTEX_WAIT || b == FUTEX_WAIT_BITSET)) {
		gompi_add(&unit_sleeps, 1);
		gompi_add(&unit_asleep, 1);
		long rc = __real_syscall(number, a, b, c, unit_sleep_forever ? NULL : d, e, f);
		gompi_sub(&unit_asleep, 1);
		return rc;
	}
	if (number == SYS_membarrier)
		gompi_add(&unit_membarriers, 1);
	return __real_syscall(number, a, b, c, d, e, f);
}

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t) {
	static gompi_a64 looks;
	if (!unit_hurry)
		return __real_clock_gettime(clock, t);
	uint64_t ms = gompi_add(&looks, 1) + 1;
	*t = (struct timespec){(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
	return 0;
}

/* --- Callbacks of gompi_go_callbacks */

static gompi_a32 unit_raised; /* class of the last error that was raised */
static gompi_a32 unit_errors;

static int unit_raise(int class, const char *call, const char *text, int kind, uintptr_t object) {
	(void)call, (void)text, (void)kind, (void)object;
	gompi_store(&unit_raised, (uint32_t) class);
	gompi_add(&unit_errors, 1);
	return class;
}
static void unit_nothing(void) {}

/* --- Memory */

/* Returns zeroed memory shared with forked children, between two inaccessible guard pages. */
static char *unit_memory(size_t bytes) {
	size_t page = 4096, all = (bytes + page - 1) / page * page + 2 * page;
	char *m = mmap(NULL, all, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (m == MAP_FAILED || mprotect(m + page, all - 2 * page, PROT_READ | PROT_WRITE) != 0)
		abort();
	return m + page;
}

/* Creates the table of n processes. node_of[i] is the node of process i, and index[i] its index on the node. If node_of
 * is NULL, all processes are on this node. This process is number 0. */
static struct gompi_processes *unit_processes(int n, const int32_t *node_of, const int32_t *index) {
	static struct gompi_processes *kept[1024]; /* keeps references to all tables for the leak checker */
	static int number;
	struct gompi_processes *t = kept[number++] = gompi_processes_new();
	if (t == NULL || gompi_processes_add(t, 0, n, node_of, index) != 0)
		abort();
	return t;
}

/* Creates a new node of n processes. This process is number 0. */
static void unit_node(int n) {
	size_t cell = (sizeof(struct gompi_cell) + 8 * (size_t)n + 4095) / 4096 * 4096, ring = 196 << 10,
	       cells = 4096 + (size_t)n * cell;
	char *control = unit_memory(cells + (size_t)n * ring);
	gompi_node_open(&(struct gompi_node){.control = control,
					     .n = n,
					     .processes = unit_processes(n, NULL, NULL),
					     .policy = gompi_wait_policy_for(false),
					     .cell_stride = cell,
					     .operation_rings = control + cells,
					     .operation_stride = ring});
	gompi_store(&gompi_node_header()->process_count, (uint32_t)n);
	for (int i = 0; i < n; i++)
		gompi_store(&gompi_cell(i)->pid, i == 0 ? (int32_t)getpid() : -1);
	gompi_go_callbacks = (struct gompi_go_callbacks){.raise_error = unit_raise, .find_failed = unit_nothing};
}

/* Returns the size of a window's control memory with `lines` member entries, for n members on this node. */
static size_t unit_control(int lines, int n) {
	size_t pairs = (size_t)n * (size_t)n;
	return sizeof(struct gompi_win_member) * (size_t)lines + GOMPI_BARRIER_SIZE(n) +
	       (gompi_node.is_fault_tolerant ? (pairs + 3) / 4 * 4 + 4 * pairs : pairs);
}

/* Creates a window of n members with size bytes each. This process is member 0. The memory of member i begins at base +
 * i * size. If `direct` is true, this process may access the memory of all members by loads and stores. */
enum { UNIT_WINDOW = 0x1001 };
static struct gompi_win *unit_window(int n, char *base, size_t size, bool direct) {
	static uintptr_t handle = UNIT_WINDOW;
	struct gompi_member_plan members[64];
	for (int i = 0; i < n; i++)
		members[i] = (struct gompi_member_plan){.base = (uintptr_t)(base + (size_t)i * size),
							.address = (uintptr_t)(base + (size_t)i * size),
							.size = size,
							.rank = i,
							.peer = i < gompi_node.n ? i : 0,
							.disp_unit = 1,
							.direct = direct};
	struct gompi_win_plan plan = {.handle = handle++,
				      .shared = (uintptr_t)unit_memory(unit_control(n, n)),
				      .flavor = MPI_WIN_FLAVOR_ALLOCATE,
				      .n = n,
				      .local_size = n,
				      .group = {.n = n, .stride = 1}};
	if (!gompi_win_open(&plan, members))
		abort();
	return gompi_win_get((MPI_Win)plan.handle);
}

/* --- Predefined types: those of types.h, installed in types.c */

void unit_types(void); /* installs the predefined types */
int unit_types_count(void);
const struct type *unit_type(int i);

/* --- Threads */

enum { UNIT_THREADS = 32 };

/* unit_threads calls f(i) for each i < n, each call in a new thread and all at the same time, and waits for the
 * threads. */
struct unit_thread {
	void (*f)(int);
	int i;
	pthread_barrier_t *begin;
	pthread_t thread;
};

static void *unit_run(void *arg) {
	struct unit_thread *t = arg;
	pthread_barrier_wait(t->begin);
	t->f(t->i);
	return NULL;
}

static void unit_threads(int n, void (*f)(int)) {
	struct unit_thread t[UNIT_THREADS];
	pthread_barrier_t begin;
	pthread_barrier_init(&begin, NULL, (unsigned)n);
	for (int i = 0; i < n; i++) {
		t[i] = (struct unit_thread){.f = f, .i = i, .begin = &begin};
		if (pthread_create(&t[i].thread, NULL, unit_run, &t[i]) != 0)
			abort();
	}
	for (int i = 0; i < n; i++)
		pthread_join(t[i].thread, NULL);
	pthread_barrier_destroy(&begin);
}

#ifdef UNIT_ONE_THREAD /* set in CMakeLists.txt if the first comment of the program says "(one thread)" */
int __wrap_pthread_create(void);
int __wrap_pthread_create(void) {
	fprintf(stderr, "FAIL: a program 'sanitizer: address (one thread)' starts another one\n");
	abort();
}
#endif

/* Delays the calling thread by about `us` microseconds. Sleeps instead of calling sched_yield: if other processes are
 * busy, each yield may take a full time slice, so that a test of seconds would take hours. */
static void unit_late(unsigned us) {
	if (us > 0)
		usleep(us);
}

/* Yields the core in a polling loop. *begun must be 0 before the loop; the function stores the time when the loop
 * began. After 100 us it sleeps instead of yielding, because the scheduler prefers a thread that wakes to busy
 * processes. */
static void unit_idle(int64_t *begun) {
	struct timespec t;
	__real_clock_gettime(CLOCK_MONOTONIC, &t);
	int64_t now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
	if (*begun == 0)
		*begun = now;
	if (now - *begun < 100000)
		sched_yield();
	else
		unit_late(20);
}

/* Polls until `cond` is true, with unit_idle between the polls. */
#define UNIT_UNTIL(cond)                       \
	for (int64_t unit_begun = 0; !(cond);) \
	unit_idle(&unit_begun)

/* Prints the result. Returns the exit status of main. */
static int unit_end(void) { return check_print_result(check_errors); }

#endif
