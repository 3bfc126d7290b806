/* Proves: handlers without SA_ONSTACK may use 200 KiB of the stack. This holds even if they interrupt code that runs on
 *   another stack than the thread's, as the library's Go code does. It also holds on many threads that are in MPI
 *   calls.
 * np: 2
 * args: other_stack threads
 * ref: none (no other library runs code on a stack of its own)
 * timeout: 60
 */
#define _GNU_SOURCE
#include "../calls.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t caught, elsewhere;
static char *stack_from, *stack_to; /* bounds of the main thread's stack */

static void on_signal(int sig) {
	char here;
	uintptr_t at = (uintptr_t)&here;
	caught++;
	if (at < (uintptr_t)stack_from || at >= (uintptr_t)stack_to)
		elsewhere++;
	if (sig <= 0 || use_stack(200 << 10) == 1)
		_exit(9);
}

static void tick(int us) {
	struct itimerval t = {{0, us}, {0, us}};
	setitimer(ITIMER_REAL, &t, NULL);
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
	enum { ENOUGH = 50, THREADS = 4 };
	const char *arg = argc > 1 ? argv[1] : "";
	struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	pthread_attr_t attributes;
	size_t size;
	void *from;
	check_begin_threads(&argc, &argv);
	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &from, &size);
	stack_from = from;
	stack_to = stack_from + size;
	CHECK(sigaction(SIGALRM, &a, NULL) == 0, "sigaction");
	tick(500);
	if (strcmp(arg, "other_stack") == 0) {
		int all = 0;
		for (int i = 0; !all; i++) {
			for (int k = 0; k < 20; k++) { /* calls that run Go code, on its own stack */
				MPI_Comm copy;
				MPI_Win win;
				CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &copy));
				CHECK_OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, copy, &win));
				CHECK_OK(MPI_Win_free(&win));
				CHECK_OK(MPI_Comm_free(&copy));
			}
			calls_round(i);
			int enough = elsewhere >= ENOUGH;
			CHECK_OK(MPI_Allreduce(&enough, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
		}
	} else {
		/* Sends signals to each thread, since a signal for the process may arrive at any thread. */
		pthread_t threads[THREADS];
		MPI_Comm comms[THREADS];
		for (int i = 0; i < THREADS; i++)
			MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
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
		CHECK(caught > 0, "no signal");
	}
	tick(0);
	return check_end();
}
