// Limits of the process under which the Go runtime cannot start or go on: one line that names the limit, where the
// runtime has a page of its own stacks to print.
#define _GNU_SOURCE
#include "rlimit.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/order.h"
#include "last_thread.h"

// What the runtime reserves (600 MB of tables for a heap of 48 bits, arenas of 64 MiB) and the stacks and malloc arenas
// of its first threads. Below 1.9 GB it starts on some days and not on others. Of private memory that can be written it
// takes some 90 MB, most of it never touched.
enum { ADDRESS_SPACE_MB = 1900, DATA_MB = 96 };

__attribute__((noreturn)) static void too_low(const char *what, const char *option, rlim_t limit, long need_mb) {
	char text[300];
	int n = snprintf(text, sizeof text,
			 "gompirma: the limit on %s is too low (ulimit -%s %llu): the library needs %ld KiB beside the "
			 "program's own\n",
			 what, option, (unsigned long long)limit / 1024, need_mb * 1024);
	if (write(2, text, (size_t)n) < 0) {
		// nobody to tell
	}
	_exit(1);
}

static void check(int resource, const char *what, const char *option, long need_mb, int protection) {
	struct rlimit l;
	if (getrlimit((__rlimit_resource_t)resource, &l) != 0 || l.rlim_cur == RLIM_INFINITY)
		return;
	size_t bytes = (size_t)need_mb << 20;
	void *p = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		too_low(what, option, l.rlim_cur, need_mb);
	munmap(p, bytes);
}

// Mappings that are given up for a thread of the runtime that finds none: a program may have as many as it is allowed,
// and a call that fails for that must still return. No memory is in them.
enum { RESERVED_PAGES = 33, PAGE_BYTES = 4096 }; // every other one a mapping of its own
static char *_Atomic reserved_mappings;

static void reserve_mappings(void) {
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	char *p = mmap(NULL, RESERVED_PAGES * PAGE_BYTES, PROT_NONE, flags, -1, 0);
	if (p == MAP_FAILED)
		return;
	for (int i = 1; i < RESERVED_PAGES; i += 2)
		mprotect(p + (long)i * PAGE_BYTES, PAGE_BYTES, PROT_READ);
	char *other = gompi_swap_total(&reserved_mappings, p);
	if (other != NULL)
		munmap(other, RESERVED_PAGES * PAGE_BYTES);
}

// Returns true if there were some.
static bool give_mappings_up(void) {
	char *p = gompi_swap_total(&reserved_mappings, NULL);
	return p != NULL && munmap(p, RESERVED_PAGES * PAGE_BYTES) == 0;
}

void gompi_check_limits(void) {
	check(RLIMIT_AS, "address space", "v", ADDRESS_SPACE_MB, PROT_NONE);
	check(RLIMIT_DATA, "data", "d", DATA_MB, PROT_READ | PROT_WRITE);
	reserve_mappings();
}

// The runtime's way to a thread (main.go: --wrap). It tries for a while and then aborts.
__attribute__((visibility("hidden"))) int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
								void *(*start)(void *), void *arg);

// Returns a resource limit divided by unit, or -1 if it is unlimited.
static long long limit_of(int resource, long long unit) {
	struct rlimit l;
	bool limited = getrlimit((__rlimit_resource_t)resource, &l) == 0 && l.rlim_cur != RLIM_INFINITY;
	return limited ? (long long)l.rlim_cur / unit : -1;
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg) {
	// In a row, of this thread: others may have theirs meanwhile.
	static _Thread_local int failures __attribute__((tls_model("initial-exec")));
	enum { TRIES = 20 }; // of the runtime, which sleeps between them
	int rc = gompi_library_thread(thread, attr, start, arg);
	if (rc == EAGAIN && give_mappings_up())
		rc = gompi_library_thread(thread, attr, start, arg);
	else if (rc == 0 && gompi_load(&reserved_mappings) == NULL)
		reserve_mappings();
	if (rc == 0) {
		failures = 0;
	} else if (rc == EAGAIN && ++failures >= TRIES) {
		char text[400];
		int n = snprintf(text, sizeof text,
				 "gompirma: the library cannot make a thread that it needs: tried 20 times for 0.2 s; "
				 "the limits are %lld threads of this user (ulimit -u), %lld KiB of address space "
				 "(ulimit -v) and %lld KiB of locked memory (ulimit -l), where -1 is none\n",
				 limit_of(RLIMIT_NPROC, 1), limit_of(RLIMIT_AS, 1024), limit_of(RLIMIT_MEMLOCK, 1024));
		if (write(2, text, (size_t)n) < 0) {
			// nobody to tell
		}
		abort();
	}
	return rc;
}
