// See last_thread.h. The C library calls exit(0) in the last thread of a process (POSIX, pthread_exit). In a process
// with gompirma, the C library would never call exit(0), because it also counts the threads of the Go runtime. So when
// the main thread ends by pthread_exit, a watcher thread starts. The watcher periodically lists the threads of the
// process, and calls exit(0) when only library threads are left. In a program whose main thread does not call
// pthread_exit, no watcher starts.
#define _GNU_SOURCE
#include "runtime/last_thread.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/sanitizer.h"

extern int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg);

// Thread ids (gettid) of the library threads; 0 in a free entry. A thread without an entry counts as an application
// thread. The table has no lock, because a child of fork(2) also reads the table, and could find a lock held
// permanently.
enum { MAX_LIBRARY_THREADS = 256 };
static gompi_ai32 library_threads[MAX_LIBRARY_THREADS];

// Changes the first entry whose value is `from` to `to`. Does nothing if no entry has that value.
static void replace_entry(int32_t from, int32_t to) {
	for (int i = 0; i < MAX_LIBRARY_THREADS; i++) {
		int32_t expected = from;
		if (gompi_load(&library_threads[i]) == from && gompi_cas_strong(&library_threads[i], &expected, to))
			return;
	}
}

static bool is_library_thread(int32_t thread) {
	for (int i = 0; i < MAX_LIBRARY_THREADS; i++)
		if (gompi_load(&library_threads[i]) == thread)
			return true;
	return false;
}

struct start {
	void *(*function)(void *);
	void *arg;
};

static void *run_library_thread(void *arg) {
	struct start start = *(struct start *)arg;
	free(arg);
	replace_entry(0, gettid());
	gompi_tsan_ignore_begin();
	void *result = start.function(start.arg);
	gompi_tsan_ignore_end();
	replace_entry(gettid(), 0);
	return result;
}

int gompi_create_library_thread(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg) {
	struct start *s = malloc(sizeof *s);
	if (s == NULL)
		return EAGAIN;
	*s = (struct start){start, arg};
	int rc = __real_pthread_create(thread, attr, run_library_thread, s);
	if (rc != 0)
		free(s);
	return rc;
}

// Returns true if the main thread is still alive. It has called pthread_exit, but may still run destructors, for
// example.
static bool is_main_alive(void) {
	char path[64], state = 'Z';
	snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return errno != ENOENT;
	char line[256], *end; // the name of the program is in parentheses, and may itself contain parentheses
	if (fgets(line, sizeof line, f) != NULL && (end = strrchr(line, ')')) != NULL && end[1] == ' ')
		state = end[2];
	fclose(f);
	return state != 'Z' && state != 'X';
}

// Calls a function for each thread of the process except the library threads and the calling thread. Returns the number
// of calls that returned true, or -1 if /proc is not readable.
static int count_app_threads(bool (*call)(int32_t thread)) {
	DIR *tasks = opendir("/proc/self/task");
	if (tasks == NULL)
		return -1;
	int n = 0;
	for (struct dirent *e; (e = readdir(tasks)) != NULL;) {
		int thread = atoi(e->d_name);
		if (thread != 0 && thread != gettid() && !is_library_thread(thread))
			n += call(thread);
	}
	closedir(tasks);
	return n;
}

static bool count_any(int32_t thread) { return thread != 0; }
static bool is_not_main(int32_t thread) { return thread != getpid(); }
static bool register_library_thread(int32_t thread) {
	replace_entry(0, thread);
	return true;
}

bool gompi_is_only_thread(void) { return count_app_threads(count_any) == 0; }
void gompi_adopt_threads(void) { count_app_threads(register_library_thread); }

static void *wait_for_app_threads(void *arg) {
	// Requires two consecutive empty scans. One scan may miss a thread if its creator ended after creating it.
	const int max_us = 50000;
	for (int us = 500, empty_scans = 0; empty_scans < 2;) {
		usleep((useconds_t)us);
		empty_scans = count_app_threads(is_not_main) == 0 && !is_main_alive() ? empty_scans + 1 : 0;
		if (empty_scans == 0 && us < max_us)
			us *= 2;
	}
	exit(0);
	return arg;
}

// Starts the watcher thread. The C library calls this destructor of thread-specific data when the main thread ends by
// pthread_exit, but not at exit.
static void on_main_end(void *value) {
	pthread_t thread;
	if (__real_pthread_create(&thread, NULL, wait_for_app_threads, NULL) == 0)
		pthread_detach(thread);
}

static __attribute__((constructor)) void install_main_watch(void) {
	pthread_key_t key;
	if (gettid() == getpid() && pthread_key_create(&key, on_main_end) == 0)
		pthread_setspecific(key, &library_threads);
}
