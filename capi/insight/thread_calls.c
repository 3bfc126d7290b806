// Interposed functions of the C library that create, join and synchronize threads.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "insight/threads.h"

#define EXPORTED __attribute__((visibility("default")))

// Arguments of a thread that is being created.
struct thread_start {
	void *(*routine)(void *);
	int (*routine_c11)(void *);
	void *argument;
	struct gompi_threads_fork fork;
};

// Returns true if an address is in MPI, or in a runtime library that synchronizes its threads by means that are not
// interposed.
static bool is_in_runtime(void *address) {
	static const char *const libraries[] = {"libgompirma", "libmpi_abi", "libgomp.",  "libomp",
						"libiomp",     "libtbb",     "libfabric", "libpmix"};
	Dl_info info;
	if (dladdr(address, &info) == 0 || info.dli_fname == NULL)
		return false;
	const char *slash = strrchr(info.dli_fname, '/'), *name = slash != NULL ? slash + 1 : info.dli_fname;
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
		if (strncmp(name, libraries[i], strlen(libraries[i])) == 0)
			return true;
	return false;
}

// Returns the start arguments of a new thread. Returns NULL if the thread is not to be tracked.
static struct thread_start *new_thread_start(void *argument, void *caller) {
	if (!gompi_threads_enable() || is_in_runtime(caller))
		return NULL;
	struct thread_start *s = calloc(1, sizeof *s);
	if (s == NULL)
		return NULL;
	s->argument = argument;
	gompi_add(&gompi_threads_extra_count, 1);
	gompi_threads_fork(&s->fork, gompi_threads_new_object());
	return s;
}

static void drop_thread_start(struct thread_start *s) {
	gompi_sub(&gompi_threads_extra_count, 1);
	gompi_threads_drop(s->fork.object);
	free(s);
}

static struct thread_start begin_thread(void *start) {
	struct thread_start s = *(struct thread_start *)start;
	free(start);
	gompi_threads_self.is_tracked = true;
	gompi_threads_enter(&s.fork, true);
	// orders this thread after an ended one with the same pthread_t
	gompi_threads_acquire((uintptr_t)pthread_self());
	return s;
}

// Records the end of the thread. A thread that joins it is ordered after this record.
static void end_thread(void *unused) {
	(void)unused;
	gompi_threads_end_thread((uintptr_t)pthread_self());
}

static void *run_thread(void *start) {
	struct thread_start s = begin_thread(start);
	void *result;
	pthread_cleanup_push(end_thread, NULL);
	result = s.routine(s.argument);
	pthread_cleanup_pop(1);
	return result;
}

static int run_thread_c11(void *start) {
	struct thread_start s = begin_thread(start);
	int result;
	pthread_cleanup_push(end_thread, NULL);
	result = s.routine_c11(s.argument);
	pthread_cleanup_pop(1);
	return result;
}

EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *), void *argument) {
	struct thread_start *s = new_thread_start(argument, __builtin_return_address(0));
	if (s == NULL)
		return GOMPI_REAL(pthread_create, NULL)(thread, attr, routine, argument);
	s->routine = routine;
	int rc = GOMPI_REAL(pthread_create, NULL)(thread, attr, run_thread, s);
	if (rc != 0)
		drop_thread_start(s);
	return rc;
}

EXPORTED int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument) {
	struct thread_start *s = new_thread_start(argument, __builtin_return_address(0));
	if (s == NULL)
		return GOMPI_REAL(thrd_create, NULL)(thread, routine, argument);
	s->routine_c11 = routine;
	int rc = GOMPI_REAL(thrd_create, NULL)(thread, run_thread_c11, s);
	if (rc != thrd_success)
		drop_thread_start(s);
	return rc;
}

static void release_object(const void *object) {
	if (gompi_threads_is_watched())
		gompi_threads_release((uintptr_t)object);
}

static void acquire_object(const void *object) {
	if (gompi_threads_is_watched())
		gompi_threads_acquire((uintptr_t)object);
}

// Defines an interposed function. Records an acquire of the object if the real function returns success_value.
#define ACQUIRES(name, version, object, success_value, parameters, ...) \
	EXPORTED int name parameters {                                  \
		int result = GOMPI_REAL(name, version)(__VA_ARGS__);    \
		if (result == (success_value))                          \
			acquire_object((const void *)(object));         \
		return result;                                          \
	}
// Defines an interposed function. Records a release of the object before the real function is called.
#define RELEASES(name, version, object, parameters, ...)       \
	EXPORTED int name parameters {                         \
		release_object((const void *)(object));        \
		return GOMPI_REAL(name, version)(__VA_ARGS__); \
	}

#define JOINS(name, joined, parameters, ...)                      \
	EXPORTED int name parameters {                            \
		int rc = GOMPI_REAL(name, NULL)(__VA_ARGS__);     \
		if (rc == (joined) && gompi_threads_is_watched()) \
			gompi_threads_join(thread);               \
		return rc;                                        \
	}
JOINS(pthread_join, 0, (pthread_t thread, void **result), thread, result)
JOINS(pthread_tryjoin_np, 0, (pthread_t thread, void **result), thread, result)
JOINS(pthread_timedjoin_np, 0, (pthread_t thread, void **result, const struct timespec *until), thread, result, until)
JOINS(pthread_clockjoin_np, 0, (pthread_t thread, void **result, clockid_t clock, const struct timespec *until), thread,
      result, clock, until)
JOINS(thrd_join, thrd_success, (thrd_t thread, int *result), thread, result)

ACQUIRES(pthread_mutex_lock, NULL, m, 0, (pthread_mutex_t * m), m)
ACQUIRES(pthread_mutex_trylock, NULL, m, 0, (pthread_mutex_t * m), m)
ACQUIRES(pthread_mutex_timedlock, NULL, m, 0, (pthread_mutex_t * m, const struct timespec *until), m, until)
ACQUIRES(pthread_mutex_clocklock, NULL, m, 0, (pthread_mutex_t * m, clockid_t clock, const struct timespec *until), m,
	 clock, until)
RELEASES(pthread_mutex_unlock, NULL, m, (pthread_mutex_t * m), m)
ACQUIRES(mtx_lock, NULL, m, thrd_success, (mtx_t * m), m)
ACQUIRES(mtx_trylock, NULL, m, thrd_success, (mtx_t * m), m)
ACQUIRES(mtx_timedlock, NULL, m, thrd_success, (mtx_t * m, const struct timespec *until), m, until)
RELEASES(mtx_unlock, NULL, m, (mtx_t * m), m)

ACQUIRES(pthread_spin_lock, NULL, m, 0, (pthread_spinlock_t * m), m)
ACQUIRES(pthread_spin_trylock, NULL, m, 0, (pthread_spinlock_t * m), m)
RELEASES(pthread_spin_unlock, NULL, m, (pthread_spinlock_t * m), m)

ACQUIRES(sem_wait, NULL, s, 0, (sem_t * s), s)
ACQUIRES(sem_trywait, NULL, s, 0, (sem_t * s), s)
ACQUIRES(sem_timedwait, NULL, s, 0, (sem_t * s, const struct timespec *until), s, until)
ACQUIRES(sem_clockwait, NULL, s, 0, (sem_t * s, clockid_t clock, const struct timespec *until), s, clock, until)
RELEASES(sem_post, NULL, s, (sem_t * s), s)

// A wait for a condition variable releases the mutex and acquires it again, also if it fails or times out.
#define COND_VERSION "GLIBC_2.3.2" // the library also has older versions of the symbols
#define COND_WAITS(name, version, parameters, ...)               \
	EXPORTED int name parameters {                           \
		release_object(m);                               \
		int rc = GOMPI_REAL(name, version)(__VA_ARGS__); \
		acquire_object(m);                               \
		acquire_object(c);                               \
		return rc;                                       \
	}
COND_WAITS(pthread_cond_wait, COND_VERSION, (pthread_cond_t * c, pthread_mutex_t *m), c, m)
COND_WAITS(pthread_cond_timedwait, COND_VERSION, (pthread_cond_t * c, pthread_mutex_t *m, const struct timespec *until),
	   c, m, until)
COND_WAITS(pthread_cond_clockwait, NULL,
	   (pthread_cond_t * c, pthread_mutex_t *m, clockid_t clock, const struct timespec *until), c, m, clock, until)
COND_WAITS(cnd_wait, NULL, (cnd_t * c, mtx_t *m), c, m)
COND_WAITS(cnd_timedwait, NULL, (cnd_t * c, mtx_t *m, const struct timespec *until), c, m, until)
RELEASES(pthread_cond_signal, COND_VERSION, c, (pthread_cond_t * c), c)
RELEASES(pthread_cond_broadcast, COND_VERSION, c, (pthread_cond_t * c), c)
RELEASES(cnd_signal, NULL, c, (cnd_t * c), c)
RELEASES(cnd_broadcast, NULL, c, (cnd_t * c), c)

// Returns the object that readers of a read-write lock release: the address of the lock's second byte. A reader is
// ordered after earlier writers; a writer is ordered after earlier readers and writers. So readers and writers release
// different objects.
static const char *reader_object(const pthread_rwlock_t *l) { return (const char *)l + 1; }

static int acquire_if_read_locked(int rc, pthread_rwlock_t *l) {
	if (rc == 0)
		acquire_object(l);
	return rc;
}

static int acquire_if_write_locked(int rc, pthread_rwlock_t *l) {
	if (rc == 0 && gompi_threads_is_watched()) {
		acquire_object(l);
		acquire_object(reader_object(l));
		gompi_threads_set_writer((uintptr_t)l);
	}
	return rc;
}

EXPORTED int pthread_rwlock_rdlock(pthread_rwlock_t *l) {
	return acquire_if_read_locked(GOMPI_REAL(pthread_rwlock_rdlock, NULL)(l), l);
}
EXPORTED int pthread_rwlock_tryrdlock(pthread_rwlock_t *l) {
	return acquire_if_read_locked(GOMPI_REAL(pthread_rwlock_tryrdlock, NULL)(l), l);
}
EXPORTED int pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *until) {
	return acquire_if_read_locked(GOMPI_REAL(pthread_rwlock_timedrdlock, NULL)(l, until), l);
}
EXPORTED int pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t clock, const struct timespec *until) {
	return acquire_if_read_locked(GOMPI_REAL(pthread_rwlock_clockrdlock, NULL)(l, clock, until), l);
}
EXPORTED int pthread_rwlock_wrlock(pthread_rwlock_t *l) {
	return acquire_if_write_locked(GOMPI_REAL(pthread_rwlock_wrlock, NULL)(l), l);
}
EXPORTED int pthread_rwlock_trywrlock(pthread_rwlock_t *l) {
	return acquire_if_write_locked(GOMPI_REAL(pthread_rwlock_trywrlock, NULL)(l), l);
}
EXPORTED int pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *until) {
	return acquire_if_write_locked(GOMPI_REAL(pthread_rwlock_timedwrlock, NULL)(l, until), l);
}
EXPORTED int pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock, const struct timespec *until) {
	return acquire_if_write_locked(GOMPI_REAL(pthread_rwlock_clockwrlock, NULL)(l, clock, until), l);
}
EXPORTED int pthread_rwlock_unlock(pthread_rwlock_t *l) {
	if (gompi_threads_is_watched()) {
		if (gompi_threads_clear_writer((uintptr_t)l))
			release_object(l);
		else
			release_object(reader_object(l));
	}
	return GOMPI_REAL(pthread_rwlock_unlock, NULL)(l);
}

EXPORTED int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attr, unsigned count) {
	if (gompi_threads_is_checked())
		gompi_threads_set_barrier((uintptr_t)b, count);
	return GOMPI_REAL(pthread_barrier_init, NULL)(b, attr, count);
}

EXPORTED int pthread_barrier_wait(pthread_barrier_t *b) {
	uintptr_t round = gompi_threads_is_checked() ? gompi_threads_barrier_round((uintptr_t)b) : 0;
	release_object((void *)round);
	int rc = GOMPI_REAL(pthread_barrier_wait, NULL)(b);
	acquire_object((void *)round);
	return rc;
}

// pthread_once and call_once run the routine in a wrapper, which releases the control object before other threads
// continue.
static _Thread_local struct {
	void (*routine)(void);
	void *control;
} once_self __attribute__((tls_model("initial-exec")));

static void run_once(void) {
	void *control = once_self.control;
	void (*routine)(void) = once_self.routine;
	routine();
	release_object(control);
}

static __typeof__(once_self) begin_once(void *control, void (*routine)(void)) {
	__typeof__(once_self) outer = once_self;
	once_self.routine = routine;
	once_self.control = control;
	return outer;
}

EXPORTED int pthread_once(pthread_once_t *control, void (*routine)(void)) {
	if (!gompi_threads_is_watched())
		return GOMPI_REAL(pthread_once, NULL)(control, routine);
	__typeof__(once_self) outer = begin_once(control, routine);
	int rc = GOMPI_REAL(pthread_once, NULL)(control, run_once);
	once_self = outer;
	acquire_object(control);
	return rc;
}

EXPORTED void call_once(once_flag *control, void (*routine)(void)) {
	if (!gompi_threads_is_watched()) {
		GOMPI_REAL(call_once, NULL)(control, routine);
		return;
	}
	__typeof__(once_self) outer = begin_once(control, routine);
	GOMPI_REAL(call_once, NULL)(control, run_once);
	once_self = outer;
	acquire_object(control);
}
