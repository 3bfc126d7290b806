// The threads of the process: which are the library's own, and whether the application has one only.
#ifndef GOMPI_THREADS_H
#define GOMPI_THREADS_H

#include <pthread.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// What a thread of the library's own starts with instead of start(arg): it is known from then on until it ends. NULL:
// there is no memory.
void *gompi_own_thread(void *(*start)(void *), void *arg);
void *gompi_own_thread_start(void *);

// Has gompi_alone see forks from now on.
void gompi_watch_forks(void);

// Whether the calling thread is the application's only one. A thread that just begins or ends counts as the
// application's.
bool gompi_only_thread(void);
// And the process has not forked since gompi_watch_forks.
bool gompi_alone(void);

#pragma GCC visibility pop
#endif
