// The process ends when the application's last thread has ended.
#ifndef GOMPI_LAST_THREAD_H
#define GOMPI_LAST_THREAD_H

#include <pthread.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// Creates a thread as pthread_create(3) does. It is the library's: the process does not go on for it.
int gompi_library_thread(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg);

// Around what has other libraries start threads (libpmix, providers of libfabric). Returns true if the calling thread
// is the application's only one: then all threads besides it that gompi_adopt_threads finds afterwards are libraries'.
bool gompi_is_only_thread(void);
void gompi_adopt_threads(void);

#pragma GCC visibility pop

#endif
