/* Proves: MPI_Win_create does not change the kind of the program's memory, even if other ranks use the window often.
 *   The memory stays private and is not mapped from a file. MADV_DONTNEED clears it and MADV_FREE frees it. No other
 *   process sees the stores of a child process, whether created by fork, _Fork, or the system calls fork and clone. If
 *   the program maps new memory at the same address, the new memory receives later puts. The SIGSEGV handler does not
 *   change. MPI-5.0 12.2.1
 * np: 2 3
 * args: advice map children
 * ref: mpich
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define _GNU_SOURCE
#include "../in_place.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MADV_FREE
#define MADV_FREE 8
#endif

enum { SIZE = 64 * PAGE, WORDS = SIZE / 8, OPERATIONS = 100000 };

static int64_t *memory;
static MPI_Win win;
static struct sigaction handler; /* the SIGSEGV handler before the first window exists */

/* Makes OPERATIONS operations in total from the other ranks on rank 0's memory, while rank 0 waits in a barrier. */
static void use(void) {
	int64_t one = 1, got;
	if (check_rank != 0) {
		MPI_Win_lock_all(0, win);
		for (int i = 0; i < OPERATIONS / (check_size - 1); i++) {
			MPI_Aint at = i % WORDS;
			if (i % 2)
				MPI_Get(&got, 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, win);
			else
				MPI_Accumulate(&one, 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, MPI_SUM, win);
			MPI_Win_flush(0, win);
		}
		MPI_Win_unlock_all(win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void check_private(const char *when) {
	struct sigaction now;
	sigaction(SIGSEGV, NULL, &now);
	CHECK(now.sa_handler == handler.sa_handler, "%s SIGSEGV has another handler", when);
	for (int i = 0; i < SIZE; i += PAGE) {
		const char *mode = in_place_mode((char *)memory + i, NULL);
		unsigned long file = in_place_file((char *)memory + i);
		CHECK(strcmp(mode, "rw-p") == 0 && file == 0, "%s page %d is mapped %s, of file %lu", when, i / PAGE,
		      mode, file);
	}
}

static void try_advice(void) {
	CHECK(madvise(memory, SIZE, MADV_FREE) == 0, "MADV_FREE");
	memset(memory, 7, SIZE);
	CHECK(madvise(memory, SIZE, MADV_DONTNEED) == 0, "MADV_DONTNEED");
	for (int i = 0; i < WORDS; i++)
		CHECK(memory[i] == 0, "after MADV_DONTNEED word %d is %lld", i, (long long)memory[i]);
}

static void try_map(void) {
	CHECK(mmap(memory, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == memory,
	      "MAP_FIXED");
}

static pid_t by_fork(void) { return fork(); }
static pid_t by_libc(void) {
#if __GLIBC_PREREQ(2, 34)
	return _Fork();
#else
	return fork();
#endif
}
#ifdef SYS_fork
static pid_t by_call(void) { return (pid_t)syscall(SYS_fork); }
#endif
static pid_t by_clone(void) { return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }

/* Checks that a child and its parent, which store to the same word, each read back their own value. */
static void try_child(const char *how, pid_t (*make)(void)) {
	int to_child[2], to_parent[2], status = -1;
	char byte = 0;
	memory[17] = 1;
	CHECK(pipe(to_child) == 0 && pipe(to_parent) == 0, "no pipe");
	fflush(NULL);
	pid_t child = make();
	if (child == 0) {
		int wrong = read(to_child[0], &byte, 1) != 1 || memory[17] != 1;
		memory[17] = 3;
		wrong += write(to_parent[1], &byte, 1) != 1 || read(to_child[0], &byte, 1) != 1 || memory[17] != 3;
		_exit(wrong);
	}
	memory[17] = 2;
	CHECK(write(to_child[1], &byte, 1) == 1 && read(to_parent[0], &byte, 1) == 1, "%s: no pipe", how);
	CHECK(memory[17] == 2, "%s: the parent sees %lld", how, (long long)memory[17]);
	CHECK(write(to_child[1], &byte, 1) == 1, "%s: no pipe", how);
	CHECK(waitpid(child, &status, 0) == child && status == 0, "%s: the child sees its parent's store, status %#x",
	      how, (unsigned)status);
	for (int i = 0; i < 2; i++) {
		close(to_child[i]);
		close(to_parent[i]);
	}
}

/* Puts to every word of rank 0 from one of the other ranks, and checks the words. */
static void check_puts(void) {
	static int64_t values[WORDS];
	MPI_Win_fence(0, win);
	for (int i = 0; i < WORDS && check_rank != 0; i++) {
		values[i] = 1000 + i;
		if (i % (check_size - 1) == check_rank - 1)
			MPI_Put(&values[i], 1, MPI_INT64_T, 0, i, 1, MPI_INT64_T, win);
	}
	MPI_Win_fence(0, win);
	for (int i = 0; i < WORDS && check_rank == 0; i++)
		CHECK(memory[i] == 1000 + i, "word %d is %lld", i, (long long)memory[i]);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(memory, 0, SIZE);
	sigaction(SIGSEGV, NULL, &handler);
	MPI_Win_create(memory, SIZE, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	use();
	if (check_rank == 0) {
		check_private("after all that use");
		if (strcmp(check_arg, "advice") == 0) {
			try_advice();
		} else if (strcmp(check_arg, "map") == 0) {
			try_map();
		} else {
			try_child("fork", by_fork);
			try_child("_Fork", by_libc);
#ifdef SYS_fork
			try_child("the system call fork", by_call);
#endif
			try_child("the system call clone", by_clone);
		}
	}
	MPI_Barrier(MPI_COMM_WORLD);
	check_puts();
	if (check_rank == 0)
		check_private("after more puts");
	MPI_Win_free(&win);
	munmap(memory, SIZE);
	return check_end();
}
