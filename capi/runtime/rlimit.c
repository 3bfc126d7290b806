// Checks the process limits that the Go runtime needs. If a limit is too low, prints one line that names it, instead of
// the runtime's page of stack traces.
#define _GNU_SOURCE
#include "runtime/rlimit.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/atomics.h"
#include "runtime/last_thread.h"

// ADDRESS_SPACE_MB: the runtime's reservations (600 MB of tables for a 48-bit heap, arenas of 64 MiB), and the stacks
// and malloc arenas of its first threads. Below 1.9 GB the runtime does not always start. DATA_MB: the runtime maps
// about 90 MB of private writable memory, most of which it never touches.
enum { ADDRESS_SPACE_MB = 1900, DATA_MB = 96 };

__attribute__((noreturn)) static void exit_limit_too_low(const char *what, const char *option, rlim_t limit,
							 long need_mb) {
	char text[300];
	int n = snprintf(text, sizeof text,
			 "gompirma: the limit on %s is too low (ulimit -%s %llu): raise it; the library needs %ld KiB "
			 "in addition to the memory of the program\n",
			 what, option, (unsigned long long)limit / 1024, need_mb * 1024);
	if (write(2, text, (size_t)n) < 0) {
		// standard error does not work, so the message is lost
	}
	_exit(1);
}

static void check_limit(int resource, const char *what, const char *option, long need_mb, int protection) {
	struct rlimit l;
	if (getrlimit((__rlimit_resource_t)resource, &l) != 0 || l.rlim_cur == RLIM_INFINITY)
		return;
	size_t bytes = (size_t)need_mb << 20;
	void *p = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		exit_limit_too_low(what, option, l.rlim_cur, need_mb);
	munmap(p, bytes);
}

// Reserved mappings, released when the runtime cannot map memory for itself or for a new thread. The number of mappings
// of a process is limited, and a program may use up all of them. An MPI call that fails for this reason must return an
// error instead of aborting the process. The mappings use no memory.
enum { RESERVED_PAGES = 33, PAGE_BYTES = 4096 }; // adjacent pages have different protections, so each page is a mapping
static char *_Atomic reserved_mappings;

static void reserve_mappings(void) {
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	char *p = mmap(NULL, RESERVED_PAGES * PAGE_BYTES, PROT_NONE, flags, -1, 0);
	if (p == MAP_FAILED)
		return;
	for (int i = 1; i < RESERVED_PAGES; i += 2)
		mprotect(p + (long)i * PAGE_BYTES, PAGE_BYTES, PROT_READ);
	char *previous = gompi_swap_seq_cst(&reserved_mappings, p);
	if (previous != NULL)
		munmap(previous, RESERVED_PAGES * PAGE_BYTES);
}

// Releases the reserved mappings. Returns true if there were any.
static bool release_mappings(void) {
	char *p = gompi_swap_seq_cst(&reserved_mappings, NULL);
	return p != NULL && munmap(p, RESERVED_PAGES * PAGE_BYTES) == 0;
}

// Replaces the function with which the Go runtime maps memory (--wrap in runtime.go). It returns an address or, if the
// mapping fails, the value of errno. At ENOMEM the runtime would abort the process. So this function releases the
// reserved mappings and tries again. A later successful call reserves mappings again.
extern uintptr_t __real_x_cgo_mmap(void *at, uintptr_t length, int32_t protection, int32_t flags, int32_t fd,
				   uint32_t offset);
__attribute__((visibility("hidden"))) uintptr_t __wrap_x_cgo_mmap(void *at, uintptr_t length, int32_t protection,
								  int32_t flags, int32_t fd, uint32_t offset);

uintptr_t __wrap_x_cgo_mmap(void *at, uintptr_t length, int32_t protection, int32_t flags, int32_t fd,
			    uint32_t offset) {
	uintptr_t mapped = __real_x_cgo_mmap(at, length, protection, flags, fd, offset);
	if (mapped == ENOMEM && release_mappings())
		mapped = __real_x_cgo_mmap(at, length, protection, flags, fd, offset);
	else if (mapped >= PAGE_BYTES && gompi_load(&reserved_mappings) == NULL)
		reserve_mappings();
	return mapped;
}

void gompi_check_limits(void) {
	check_limit(RLIMIT_AS, "address space", "v", ADDRESS_SPACE_MB, PROT_NONE);
	check_limit(RLIMIT_DATA, "the data segment", "d", DATA_MB, PROT_READ | PROT_WRITE);
	reserve_mappings();
}

// Replaces pthread_create for the Go runtime (--wrap in runtime.go), and registers each new thread as a library thread.
// If the creation fails with EAGAIN, releases the reserved mappings and tries again. If the second attempt fails too,
// the runtime sleeps and calls the function again. After TRIES failed calls the runtime would abort the process with a
// page of stack traces. So the last of these calls itself aborts the process, with one line.
__attribute__((visibility("hidden"))) int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
								void *(*start)(void *), void *arg);

// Returns a resource limit divided by `unit`, or -1 if it is unlimited.
static long long limit_of(int resource, long long unit) {
	struct rlimit l;
	bool limited = getrlimit((__rlimit_resource_t)resource, &l) == 0 && l.rlim_cur != RLIM_INFINITY;
	return limited ? (long long)l.rlim_cur / unit : -1;
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg) {
	// Number of consecutive failures on this thread. It is thread-local, because other threads may succeed
	// meanwhile.
	static _Thread_local int failures __attribute__((tls_model("initial-exec")));
	enum { TRIES = 20 }; // number of attempts of the runtime, which sleeps between attempts
	int rc = gompi_create_library_thread(thread, attr, start, arg);
	if (rc == EAGAIN && release_mappings())
		rc = gompi_create_library_thread(thread, attr, start, arg);
	else if (rc == 0 && gompi_load(&reserved_mappings) == NULL)
		reserve_mappings();
	if (rc == 0) {
		failures = 0;
	} else if (rc == EAGAIN && ++failures >= TRIES) {
		char text[400];
		int n = snprintf(text, sizeof text,
				 "gompirma: the library cannot create a thread that it needs (20 attempts in 0.2 s); "
				 "the limits are %lld threads of this user (ulimit -u), %lld KiB of address space "
				 "(ulimit -v) and %lld KiB of locked memory (ulimit -l); -1 means no limit\n",
				 limit_of(RLIMIT_NPROC, 1), limit_of(RLIMIT_AS, 1024), limit_of(RLIMIT_MEMLOCK, 1024));
		if (write(2, text, (size_t)n) < 0) {
			// standard error does not work, so the message is lost
		}
		abort();
	}
	return rc;
}
