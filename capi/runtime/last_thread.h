// Ends the process when the last thread of the application has ended.
#ifndef GOMPI_LAST_THREAD_H
#define GOMPI_LAST_THREAD_H

#include <pthread.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// Creates a thread like pthread_create(3) and registers it as a library thread. Library threads do not keep the process
// alive.
int gompi_create_library_thread(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg);

// Returns true if the application has no thread but the calling one. Then every other thread belongs to a library, and
// gompi_adopt_threads registers all of them as library threads. Call the two functions before and after code in which
// other libraries (libpmix, providers of libfabric) start threads.
bool gompi_is_only_thread(void);
void gompi_adopt_threads(void);

#pragma GCC visibility pop

#endif
