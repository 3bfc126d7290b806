/* Proves: a signal handler may store at any time into memory that is shared in place (gompirma_share_in_place). It may
 *   even interrupt the thread that is in MPI_Win_create or MPI_Win_free while the library moves the memory. No store is
 *   lost. MPI-5.0 12.2.1
 * np: 1 2
 * ref: mpich
 * timeout: 60
 */
#define _GNU_SOURCE
#include "../in_place.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

enum { SIZE = 4 << 20, CYCLES = 40 };

static unsigned char *memory;
static volatile sig_atomic_t alarms;

/* Stores into some pages spread over the memory. */
static void on_alarm(int sig) {
	(void)sig;
	alarms++;
	for (size_t at = 100; at < SIZE; at += 16 * PAGE)
		*(volatile unsigned char *)&memory[at] = (unsigned char)alarms;
}

static void install(void) {
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	CHECK(sigaction(SIGALRM, &action, NULL) == 0, "sigaction");
}

int main(int argc, char **argv) {
	struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
	check_begin(&argc, &argv);
	memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(memory, 0, SIZE);
	install();
	for (int i = 0; i < CYCLES; i++) {
		setitimer(ITIMER_REAL, &often, NULL);
		MPI_Win win = in_place_window(memory, SIZE, 1);
		CHECK_SHARED(win, "true");
		MPI_Win_free(&win);
		setitimer(ITIMER_REAL, &never, NULL);
		for (size_t at = 100; at < SIZE; at += 16 * PAGE)
			CHECK(memory[at] == (unsigned char)alarms, "byte %zu: alarm %d has left %d", at, (int)alarms,
			      memory[at]);
	}
	CHECK(alarms > 0, "no alarm");
	munmap(memory, SIZE);
	return check_end();
}
