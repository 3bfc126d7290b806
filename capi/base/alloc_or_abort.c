#include "base/alloc_or_abort.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/atomics.h"

enum { RESERVE_BYTES = 256 << 10 }; // never written to, so the reserve uses no physical memory

static void *_Atomic reserve; // NULL before its first allocation, and after gompi_alloc_or_abort has freed it

bool gompi_memory_is_low(void) {
	void *expected = NULL, *new_reserve;
	if (gompi_load(&reserve) != NULL)
		return false;
	if ((new_reserve = malloc(RESERVE_BYTES)) == NULL)
		return true;
	if (!gompi_cas_strong(&reserve, &expected, new_reserve))
		free(new_reserve); // another thread has installed its reserve first
	return false;
}

// Writes a limit of the process in KiB, as ulimit prints it.
static void write_limit(int resource, char text[24]) {
	struct rlimit l;
	const bool is_limited = getrlimit((__rlimit_resource_t)resource, &l) == 0 && l.rlim_cur != RLIM_INFINITY;
	if (is_limited)
		snprintf(text, 24, "%llu", (unsigned long long)l.rlim_cur >> 10);
	else
		snprintf(text, 24, "unlimited");
}

const char *gompi_no_memory_text(const char *what) {
	static _Thread_local char text[200];
	char address_space[24], locked[24];
	write_limit(RLIMIT_AS, address_space);
	write_limit(RLIMIT_MEMLOCK, locked);
	snprintf(text, sizeof text, "%s: out of memory (ulimit -v %s; ulimit -l %s, if memory is locked)", what,
		 address_space, locked);
	return text;
}

void gompi_abort_out_of_memory(size_t bytes) {
	char line[100];
	int n = snprintf(line, sizeof line, "gompirma: out of memory for a message (%zu bytes); this process ends\n",
			 bytes);
	if (write(2, line, (size_t)n) < 0) {
		// there is no other way to report the failure
	}
	abort();
}

void *gompi_alloc_or_abort(size_t bytes) {
	void *p = calloc(1, bytes);
	if (p == NULL) {
		free(gompi_swap_seq_cst(&reserve, NULL));
		p = calloc(1, bytes);
	}
	if (p == NULL)
		gompi_abort_out_of_memory(bytes);
	return p;
}
