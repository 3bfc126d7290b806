/* Proves: memory of a window that was used much, which the library may have moved to where origins address it
 *   directly, is as ordinary as before: children of fork() have the values of that moment and keep their stores to
 *   themselves, threads that begin later read and write it, also while MPI_Win_free is at work; afterwards it can be
 *   freed, given to realloc and mremap, protected, unmapped, and be the memory of a window again. So with malloc,
 *   static and automatic memory. With the info key gompirma_share_in_place false, with other threads or after a fork
 *   the library leaves it where it is. A signal handler may store into it at any time. MPI-5.0 12.2.1
 * np: 2 3
 * nodes: 1 (nothing gets hot where there is a network)
 * args: fork threads free again static stack refused signals
 * ref: none (other libraries' networks forbid fork, some)
 * timeout: 60
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../in_place.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 256 << 10, OPERATIONS = 3 * (1024 + SIZE / 256), MOST_ROUNDS = 50 };

static MPI_Win create(void *memory, const char *how) {
	MPI_Info info = MPI_INFO_NULL;
	MPI_Win win;
	if (how != NULL) {
		MPI_Info_create(&info);
		MPI_Info_set(info, "gompirma_share_in_place", how);
	}
	CHECK_OK(MPI_Win_create(memory, SIZE, 1, info, MPI_COMM_WORLD, &win));
	if (how != NULL)
		MPI_Info_free(&info);
	return win;
}

/* Uses the right neighbour's memory, changing nothing, until all members' is shared, or for long enough if it cannot
 * be. wanted: what the library, if it knows the key, must tell at the end. */
static void heat(MPI_Win win, const char *wanted) {
	int right = (check_rank + 1) % check_size, all = 0;
	for (int round = 0; round < (wanted[0] == 't' ? MOST_ROUNDS : 3) && !all; round++) {
		MPI_Win_lock_all(0, win);
		for (int i = 0; i < OPERATIONS; i++) {
			char byte;
			MPI_Get(&byte, 1, MPI_CHAR, right, i % SIZE, 1, MPI_CHAR, win);
			MPI_Win_flush(right, win);
		}
		MPI_Win_unlock_all(win);
		MPI_Barrier(MPI_COMM_WORLD);
		const char *told = in_place_told(win);
		int mine = told == NULL || strncmp(told, "true", 4) == 0;
		MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	}
	CHECK_SHARED(win, wanted);
}

/* Puts to the right, and looks at what came from the left. */
static void exchange(MPI_Win win, unsigned char *memory, int round) {
	int right = (check_rank + 1) % check_size;
	unsigned char *from = malloc(SIZE);
	in_place_fill(from, SIZE, right, round);
	MPI_Win_fence(0, win);
	MPI_Put(from, SIZE, MPI_BYTE, right, 0, SIZE, MPI_BYTE, win);
	MPI_Win_fence(0, win);
	CHECK_FILLED(memory, SIZE, check_rank, round, "what the left neighbour has put");
	free(from);
}

static void try_fork(MPI_Win win, unsigned char *memory) {
	int status, to_child[2];
	char byte = 0;
	in_place_fill(memory, SIZE, check_rank, 1);
	CHECK(pipe(to_child) == 0, "no pipe");
	MPI_Barrier(MPI_COMM_WORLD);
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		int wrong = read(to_child[0], &byte, 1) != 1;
		for (size_t i = 0; i < SIZE; i++)
			wrong += memory[i] != in_place_byte(check_rank, i, 1);
		memset(memory, 0xff, SIZE);
		_exit(wrong != 0);
	}
	exchange(win, memory, 2);
	CHECK(write(to_child[1], &byte, 1) == 1, "no pipe");
	CHECK(waitpid(child, &status, 0) == child && status == 0, "the child found wrong bytes: status %#x",
	      (unsigned)status);
	CHECK_FILLED(memory, SIZE, check_rank, 2, "after the child's stores");
	MPI_Barrier(MPI_COMM_WORLD);
	close(to_child[0]);
	close(to_child[1]);
}

static atomic_int stop;
static unsigned char *worked_on;

/* Counts in its own byte of each page, and reads from a pipe into another one. */
static void *count(void *arg) {
	size_t mine = (size_t)(intptr_t)arg;
	unsigned char n = 0;
	int ends[2];
	CHECK(pipe(ends) == 0, "no pipe");
	for (size_t page = 0; page < SIZE / PAGE; page++)
		worked_on[page * PAGE + mine] = 0;
	while (!atomic_load(&stop)) {
		for (size_t page = 0; page < SIZE / PAGE; page++) {
			unsigned char *at = &worked_on[page * PAGE + mine];
			if (*(volatile unsigned char *)at != n)
				CHECK(0, "page %zu: the last store was %d, there is %d", page, n, *at);
			*(volatile unsigned char *)at = (unsigned char)(n + 1);
		}
		n++;
		if (write(ends[1], &n, 1) != 1 || read(ends[0], &worked_on[2 * PAGE + mine + 64], 1) != 1)
			CHECK(0, "the kernel could not store into the memory");
	}
	close(ends[0]);
	close(ends[1]);
	return NULL;
}

/* Threads that begin when the memory is shared, and go on when the window is freed. */
static void try_threads(MPI_Win win, unsigned char *memory) {
	pthread_t threads[2];
	worked_on = memory;
	for (intptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, count, (void *)(i * 512 + 8));
	heat(win, "true");
	MPI_Win_free(&win);
	usleep(1000);
	atomic_store(&stop, 1);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* What can be done with memory that malloc has returned. */
static void try_free(unsigned char *memory) {
	in_place_fill(memory, SIZE, check_rank, 4);
	unsigned char *larger = realloc(memory, 4 * SIZE);
	CHECK_FILLED(larger, SIZE, check_rank, 4, "after realloc");
	memset(larger, 1, 4 * SIZE);
	larger = realloc(larger, SIZE / 2);
	free(larger);
	unsigned char *fresh = calloc(1, SIZE);
	for (size_t i = 0; i < SIZE; i++)
		CHECK(fresh[i] == 0, "byte %zu of new memory is %d", i, fresh[i]);
	free(fresh);
}

static void try_mapping(unsigned char *memory) {
	in_place_fill(memory, SIZE, check_rank, 5);
	unsigned char *moved = mremap(memory, SIZE, 2 * SIZE, MREMAP_MAYMOVE);
	CHECK(moved != MAP_FAILED, "mremap");
	CHECK_FILLED(moved, SIZE, check_rank, 5, "after mremap");
	memset(moved + SIZE, 1, SIZE);
	CHECK(madvise(moved, PAGE, MADV_DONTNEED) == 0 && moved[0] == 0 && moved[PAGE - 1] == 0,
	      "MADV_DONTNEED does not clear the memory");
	CHECK(mprotect(moved, SIZE, PROT_READ) == 0 && mprotect(moved, SIZE, PROT_READ | PROT_WRITE) == 0, "mprotect");
	moved[1] = 7;
	CHECK(munmap(moved, 2 * SIZE) == 0, "munmap");
}

static void ordinary(void *memory) {
	const char *mode = in_place_mode(memory, NULL);
	CHECK(strcmp(mode, "rw-p") == 0, "after MPI_Win_free the memory is mapped %s", mode);
}

static unsigned char statics[SIZE] __attribute__((aligned(PAGE)));

static void one(unsigned char *memory) {
	in_place_fill(memory, SIZE, check_rank, 0);
	MPI_Win win = create(memory, NULL);
	heat(win, "true");
	CHECK_FILLED(memory, SIZE, check_rank, 0, "when it is shared");
	exchange(win, memory, 3);
	if (strcmp(check_arg, "fork") == 0)
		try_fork(win, memory);
	if (strcmp(check_arg, "threads") == 0) {
		try_threads(win, memory);
		return;
	}
	MPI_Win_free(&win);
	ordinary(memory);
}

static __attribute__((noinline)) void on_the_stack(void) {
	unsigned char memory[SIZE] __attribute__((aligned(PAGE)));
	one(memory);
}

static void *sleeper(void *arg) {
	pause();
	return arg;
}

/* Where it is asked not to be, or must not be, it is not shared. */
static void try_refused(unsigned char *memory) {
	const char *mode;
	MPI_Win win = create(memory, "false");
	heat(win, "");
	mode = in_place_mode(memory, NULL);
	CHECK(strcmp(mode, "rw-p") == 0, "with the key false it is mapped %s", mode);
	exchange(win, memory, 1);
	MPI_Win_free(&win);
	pthread_t thread;
	pthread_create(&thread, NULL, sleeper, NULL);
	win = create(memory, NULL);
	heat(win, "false: ");
	exchange(win, memory, 2);
	MPI_Win_free(&win);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	win = create(memory, NULL);
	fflush(NULL);
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	heat(win, "false: ");
	exchange(win, memory, 3);
	MPI_Win_free(&win);
	win = create(memory, "true");
	CHECK_SHARED(win, "true");
	exchange(win, memory, 4);
	MPI_Win_free(&win);
}

static unsigned char *alarmed;
static volatile sig_atomic_t alarms;

/* Stores into every page of the window. */
static void on_alarm(int sig) {
	(void)sig;
	alarms++;
	for (size_t at = 100; at < SIZE; at += PAGE)
		*(volatile unsigned char *)&alarmed[at] = (unsigned char)alarms;
}

/* A handler that stores into memory which is being moved, on the thread that moves it. */
static void try_signals(unsigned char *memory) {
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	alarmed = memory;
	sigaction(SIGALRM, &action, NULL);
	for (int i = 0; i < 10; i++) {
		MPI_Win win = create(memory, NULL);
		setitimer(ITIMER_REAL, &often, NULL);
		heat(win, "true");
		MPI_Win_free(&win);
		setitimer(ITIMER_REAL, &never, NULL);
		for (size_t at = 100; at < SIZE; at += PAGE)
			CHECK(memory[at] == (unsigned char)alarms, "alarm %d has left %d", (int)alarms, memory[at]);
	}
	CHECK(alarms > 0, "no alarm");
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	unsigned char *memory = malloc(SIZE), *aligned = aligned_alloc(PAGE, SIZE);
	unsigned char *mapped = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (strcmp(check_arg, "static") == 0) {
		one(statics);
	} else if (strcmp(check_arg, "stack") == 0) {
		for (int i = 0; i < 3; i++)
			on_the_stack();
	} else if (strcmp(check_arg, "refused") == 0) {
		try_refused(aligned);
	} else if (strcmp(check_arg, "signals") == 0) {
		try_signals(mapped);
	} else {
		for (int i = 0; i < (strcmp(check_arg, "again") == 0 ? 4 : 1); i++) {
			one(mapped);
			if (strcmp(check_arg, "threads") != 0 && strcmp(check_arg, "fork") != 0)
				one(aligned);
		}
	}
	if (strcmp(check_arg, "free") == 0) {
		one(memory);
		try_free(memory);
		try_mapping(mapped);
	} else {
		free(memory);
		munmap(mapped, SIZE);
	}
	free(aligned);
	return check_end();
}
