// See last_thread.h. The C library calls exit(0) in the last thread of a process (POSIX, pthread_exit). Here this would
// never happen, since the C library also counts the threads of the Go runtime. So when the main thread ends by
// pthread_exit, a watcher thread starts. It periodically lists the threads of the process and calls exit(0) when only
// library threads are left. A program whose main thread does not end by pthread_exit has no such thread.
#define _GNU_SOURCE
#include "last_thread.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/order.h"
#include "base/sanitizer.h"

extern int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg);

// Thread ids (gettid) of the library threads; 0 in a free entry. A thread without an entry counts as an application
// thread. No lock, because a child of fork(2) reads the table too.
enum { OWN_THREADS = 256 };
static gompi_ai32 own_threads[OWN_THREADS];

// Changes one entry from `from` to `to`. Does nothing if no entry is `from`.
static void change_entry(int32_t from, int32_t to) {
	for (int i = 0; i < OWN_THREADS; i++) {
		int32_t expected = from;
		if (gompi_load(&own_threads[i]) == from && gompi_change_once(&own_threads[i], &expected, to))
			return;
	}
}

static bool is_own(int32_t thread) {
	for (int i = 0; i < OWN_THREADS; i++)
		if (gompi_load(&own_threads[i]) == thread)
			return true;
	return false;
}

struct start {
	void *(*function)(void *);
	void *arg;
};

static void *run(void *arg) {
	struct start start = *(struct start *)arg;
	free(arg);
	change_entry(0, gettid());
	gompi_tsan_ignore_begin();
	void *result = start.function(start.arg);
	gompi_tsan_ignore_end();
	change_entry(gettid(), 0);
	return result;
}

int gompi_library_thread(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg) {
	struct start *s = malloc(sizeof *s);
	if (s == NULL)
		return EAGAIN;
	*s = (struct start){start, arg};
	int rc = __real_pthread_create(thread, attr, run, s);
	if (rc != 0)
		free(s);
	return rc;
}

// Returns true if the main thread, which has left its start function, is still alive, for example in a destructor.
static bool main_runs(void) {
	char path[64], state = 'Z';
	snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return errno != ENOENT;
	char line[256], *end; // the program's name is in parentheses and may contain parentheses
	if (fgets(line, sizeof line, f) != NULL && (end = strrchr(line, ')')) != NULL && end[1] == ' ')
		state = end[2];
	fclose(f);
	return state != 'Z' && state != 'X';
}

// Calls a function for each thread of the process except the library threads and the calling thread. Returns the number
// of calls that returned true, or -1 if /proc is not readable.
static int for_others(bool (*call)(int32_t thread)) {
	DIR *tasks = opendir("/proc/self/task");
	if (tasks == NULL)
		return -1;
	int n = 0;
	for (struct dirent *e; (e = readdir(tasks)) != NULL;) {
		int thread = atoi(e->d_name);
		if (thread != 0 && thread != gettid() && !is_own(thread))
			n += call(thread);
	}
	closedir(tasks);
	return n;
}

static bool any(int32_t thread) { return thread != 0; }
static bool is_not_main(int32_t thread) { return thread != getpid(); }
static bool adopt(int32_t thread) {
	change_entry(0, thread);
	return true;
}

bool gompi_is_only_thread(void) { return for_others(any) == 0; }
void gompi_adopt_threads(void) { for_others(adopt); }

static void *wait_for_others(void *arg) {
	// Requires two consecutive empty scans. One scan may miss a thread if its creator ended after creating it.
	const int most_us = 50000;
	for (int us = 500, quiet = 0; quiet < 2;) {
		usleep((useconds_t)us);
		quiet = for_others(is_not_main) == 0 && !main_runs() ? quiet + 1 : 0;
		if (quiet == 0 && us < most_us)
			us *= 2;
	}
	exit(0);
	return arg;
}

// Starts the watcher thread. This is the destructor of the main thread's key value: it runs when the main thread ends,
// but not at exit.
static void main_ends(void *value) {
	pthread_t thread;
	if (__real_pthread_create(&thread, NULL, wait_for_others, NULL) == 0)
		pthread_detach(thread);
}

static __attribute__((constructor)) void watch_main(void) {
	pthread_key_t key;
	if (gettid() == getpid() && pthread_key_create(&key, main_ends) == 0)
		pthread_setspecific(key, &own_threads);
}
