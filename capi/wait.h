// Waiting in C: poll, give the core away, sleep; the protocol of core/shm/wait.go.
#ifndef GOMPI_WAIT_H
#define GOMPI_WAIT_H

#include "node.h"

// Orders every store before it with every load after it. On x86 a locked instruction on the stack is cheaper than
// mfence.
static inline void gompi_full_fence(void) {
#if defined(__x86_64__)
	__asm__ __volatile__("lock orl $0, -8(%%rsp)" ::: "memory", "cc");
#else
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

static inline void gompi_pause(void) {
#if defined(__x86_64__)
	__asm__ __volatile__("pause");
#elif defined(__aarch64__)
	__asm__ __volatile__("yield");
#endif
}

// Monotonic time.
int64_t gompi_now_ns(void);

void gompi_wake_sleepers(struct gompi_waitword *w);

// Wakes whoever sleeps on w. The caller has made their condition true and has passed a full barrier since.
static inline void gompi_wake(struct gompi_waitword *w) {
	if (__builtin_expect(atomic_load_explicit(&w->sleeping, memory_order_relaxed) != 0, 0))
		gompi_wake_sleepers(w);
}

// What a wait is for, for the launcher's report on a hang: name of the function that the application called, number on
// this node of the process waited for
// (-1: not one), handle.
struct gompi_waiting {
	const char *call;
	int32_t process;
	uint64_t object;
};

// Returns 0 as soon as done(arg) is true, MPI_ERR_PROC_ABORTED if a process of the node died meanwhile. Sleeps on w,
// which must be woken by whoever makes the condition true. While it polls, this thread serves the rings of its process.
int gompi_await(struct gompi_waitword *w, bool (*done)(void *), void *arg, const struct gompi_waiting *what);

// Serves what has arrived for this process once; whether there was anything.
bool gompi_serve(void);

// Wakes the agent of process i if it sleeps, unless somebody there polls. The caller has passed a full barrier since it
// put something into i's ring.
void gompi_ring_doorbell(int i);

// The agent's loop: serves until gompi_agent_stop; sleeps while there is nothing. Called by one goroutine.
void gompi_agent_run(void);
void gompi_agent_stop(void);

#endif
