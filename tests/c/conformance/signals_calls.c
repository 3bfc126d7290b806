/* What handlers may do beside counting, in a program that is linked to the library: leave a call of MPI by longjmp,
 * call MPI themselves, run on many threads; fork and wait in the program meanwhile. (MPI does not promise the first two
 * of any library.)
 *
 * np: 2
 * args: jump_recv jump_calls send query threads
 * ref: none (leaving a call of MPI by longjmp, and calling MPI in a handler, are erroneous programs)
 * nodes: 1 (a call that is left may be one that has the network)
 * timeout: 60
 */
#define _GNU_SOURCE
#include "../calls.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum { ROUNDS = 100 };

static volatile sig_atomic_t caught;
static volatile sig_atomic_t may_jump;
static sigjmp_buf back;
static MPI_Comm own; /* for calls in handlers */

static void install(void (*handler)(int), int flags) {
	struct sigaction a;
	memset(&a, 0, sizeof a);
	a.sa_handler = handler;
	a.sa_flags = flags;
	sigaction(SIGALRM, &a, NULL);
}

static void tick(int us) {
	struct itimerval t = {{0, us}, {0, us}};
	setitimer(ITIMER_REAL, &t, NULL);
}

static void jump(int sig) {
	(void)sig;
	caught++;
	if (may_jump) {
		may_jump = 0;
		siglongjmp(back, 1);
	}
}

static void count(int sig) {
	(void)sig;
	caught++;
}

/* A message to this very process, which somebody waits for. */
static void send_one(int sig) {
	(void)sig;
	int x = ++caught;
	CHECK_OK(MPI_Send(&x, 1, MPI_INT, 0, 5, own));
	if (caught == ROUNDS)
		tick(0);
}

static void query(int sig) {
	(void)sig;
	int flag, size, count = -1;
	MPI_Status status;
	caught++;
	CHECK_OK(MPI_Initialized(&flag));
	CHECK(flag, "not initialized");
	CHECK_OK(MPI_Type_size(MPI_DOUBLE, &size));
	CHECK(size == 8, "size %d", size);
	CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, own, &flag, &status));
	CHECK(!flag, "a message from nowhere");
	CHECK_OK(MPI_Comm_size(own, &count));
	CHECK(count == 1, "%d processes", count);
}

static void *work(void *arg) {
	MPI_Comm c = *(MPI_Comm *)arg;
	for (int i = 0; i < 2000; i++) {
		int sum = 0, one = 1;
		MPI_Datatype t;
		CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c));
		CHECK(sum == 2, "sum %d", sum);
		CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &t));
		CHECK_OK(MPI_Type_commit(&t));
		CHECK_OK(MPI_Type_free(&t));
	}
	return NULL;
}

int main(int argc, char **argv) {
	const char *arg = argc > 1 ? argv[1] : "";
#define IS(name) (strcmp(arg, name) == 0)
	int provided;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	check_started(argc, argv);
	MPI_Comm_dup(MPI_COMM_SELF, &own);
	int x = 0;
	if (IS("jump_recv")) {
		/* out of a wait for a message that never comes, again and again */
		install(jump, 0);
		for (volatile int i = 0; i < 2 * ROUNDS; i++) {
			/* One at a time: a message of the other one, who has left its wait sooner, would be taken
			 * in just then, and nobody may leave that. */
			if (i % 2 != check_rank) {
				MPI_Recv(&x, 1, MPI_INT, !check_rank, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			} else if (sigsetjmp(back, 1) == 0) {
				struct itimerval once = {{0, 0}, {0, 100 + 400 * (i / 2 % 10)}};
				may_jump = 1; /* first: the timer may end before setitimer returns */
				setitimer(ITIMER_REAL, &once, NULL);
				MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1000 + i, own, MPI_STATUS_IGNORE);
				CHECK(0, "a message from nowhere");
			} else {
				MPI_Send(&x, 1, MPI_INT, !check_rank, 99, MPI_COMM_WORLD);
			}
			calls_round(i);
		}
		CHECK(caught >= ROUNDS, "%d signals", (int)caught);
	} else if (IS("jump_calls")) {
		/* out of calls that do not wait, wherever they are */
		install(jump, 0);
		tick(1000);
		for (volatile int i = 0; caught < ROUNDS; i++) {
			if (sigsetjmp(back, 1) == 0) {
				may_jump = 1;
				for (;;) {
					int size;
					MPI_Datatype t;
					MPI_Type_vector(3, 1, 2, MPI_INT, &t);
					MPI_Type_commit(&t);
					MPI_Type_size(t, &size);
					MPI_Type_free(&t);
				}
			}
		}
		tick(0);
		for (int i = 0; i < ROUNDS; i++)
			calls_round(i);
	} else if (IS("send")) {
		install(send_one, 0);
		tick(1000);
		for (int i = 1; i <= ROUNDS; i++) {
			CHECK_OK(MPI_Recv(&x, 1, MPI_INT, 0, 5, own, MPI_STATUS_IGNORE));
			CHECK(x == i, "message %d is number %d", i, x);
		}
	} else if (IS("query")) {
		install(query, SA_RESTART);
		tick(1000);
		int all = 0;
		for (int i = 0; !all; i++) {
			int enough = caught >= ROUNDS;
			calls_round(i);
			MPI_Allreduce(&enough, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
		}
		tick(0);
	} else if (IS("threads")) {
		/* each thread takes signals of its own, and those of the process go to any */
		enum { THREADS = 4 };
		pthread_t threads[THREADS];
		MPI_Comm comms[THREADS];
		install(count, SA_RESTART);
		for (int i = 0; i < THREADS; i++)
			MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
		tick(500);
		for (int i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, work, &comms[i]);
		for (int i = 0; i < 200; i++) {
			pthread_kill(threads[i % THREADS], SIGALRM);
			usleep(300);
		}
		for (int i = 0; i < THREADS; i++) {
			pthread_join(threads[i], NULL);
			MPI_Comm_free(&comms[i]);
		}
		tick(0);
		CHECK(caught > 0, "no signal");
	}
	MPI_Comm_free(&own);
	return check_end();
}
