#define _GNU_SOURCE
#include "threads.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/order.h"

// Thread ids of the library's own threads, 0: free. What finds no place is taken for the application's, which is safe.
enum { MOST_OWN = 1024 };
static gompi_a32 own[MOST_OWN];

struct begin {
	void *(*start)(void *);
	void *arg;
};

void *gompi_own_thread(void *(*start)(void *), void *arg) {
	struct begin *b = malloc(sizeof *b);
	if (b != NULL)
		*b = (struct begin){start, arg};
	return b;
}

static gompi_a32 *enter(void) {
	uint32_t me = (uint32_t)syscall(SYS_gettid);
	for (int i = 0; i < MOST_OWN; i++) {
		uint32_t nobody = 0;
		if (gompi_change_once(&own[i], &nobody, me))
			return &own[i];
	}
	return NULL;
}

void *gompi_own_thread_start(void *begin) {
	struct begin b = *(struct begin *)begin;
	free(begin);
	gompi_a32 *place = enter();
	void *result = b.start(b.arg); // the runtime's threads return
	if (place != NULL)
		gompi_store_total(place, 0);
	return result;
}

static bool is_own(uint32_t thread) {
	for (int i = 0; i < MOST_OWN; i++)
		if (gompi_load_total(&own[i]) == thread)
			return true;
	return false;
}

static gompi_a32 forked;
static void has_forked(void) { gompi_store_total(&forked, 1); }

void gompi_watch_forks(void) {
	static atomic_flag once = ATOMIC_FLAG_INIT;
	if (!gompi_flag_take(&once) && pthread_atfork(NULL, has_forked, has_forked) != 0)
		has_forked();
}

bool gompi_alone(void) { return gompi_load_total(&forked) == 0 && gompi_only_thread(); }

bool gompi_only_thread(void) {
	uint32_t me = (uint32_t)syscall(SYS_gettid);
	DIR *tasks;
	if (is_own(me) || (tasks = opendir("/proc/self/task")) == NULL)
		return false;
	bool found = false, alone = true;
	for (struct dirent *d; alone && (d = readdir(tasks)) != NULL;) {
		uint32_t thread = (uint32_t)strtoul(d->d_name, NULL, 10);
		found = found || thread == me;
		alone = thread == 0 || thread == me || is_own(thread);
	}
	closedir(tasks);
	return alone && found;
}
