// Ends the process when the last thread of the application has ended.
#ifndef GOMPI_LAST_THREAD_H
#define GOMPI_LAST_THREAD_H

#include <pthread.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// Creates a thread like pthread_create(3) and registers it as a library thread. Library threads do not keep the process
// alive.
int gompi_create_library_thread(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg);

// gompi_is_only_thread returns true if the process has no thread except library threads and the calling thread.
// gompi_adopt_threads registers all threads except the calling thread as library threads. Call gompi_is_only_thread
// before another library (libpmix, a provider of libfabric) starts threads. If it returned true, call
// gompi_adopt_threads afterwards: all new threads then belong to that library.
bool gompi_is_only_thread(void);
void gompi_adopt_threads(void);

#pragma GCC visibility pop

#endif
