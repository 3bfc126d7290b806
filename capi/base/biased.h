// A lock for what programs do in loops and by one thread nearly always: the first thread of the process that takes any
// lock of this kind takes and gives all of them by plain stores. As soon as another thread takes one, membarrier(2)
// ends that for good, and they are struct gompi_mutex. Where there is no membarrier(2) they are from the beginning.
//
// The application's signal handlers wait while the thread has such a lock, so that none finds it taken, or leaves with
// it.
#ifndef GOMPI_BIASED_H
#define GOMPI_BIASED_H

#include "base/mutex.h"
#include "base/signals.h"

struct gompi_biased {
	gompi_a32 inside; // 1: the thread that the locks are biased to has it
	bool biased;      // whoever has it is that thread
	struct gompi_mutex mutex;
};

// Whom the locks are biased to.
enum gompi_bias {
	GOMPI_BIAS_UNDECIDED, // no lock has been taken yet
	GOMPI_BIAS_ON,        // to the thread whose gompi_signals.biased is set
	GOMPI_BIAS_ENDING,    // a thread is in membarrier(2)
	GOMPI_BIAS_OVER,      // to nobody: all are mutexes
};
extern gompi_a32 gompi_bias __attribute__((visibility("hidden")));

#pragma GCC visibility push(hidden)

__attribute__((cold)) void gompi_biased_wait(struct gompi_biased *l);

static inline void gompi_biased_take(struct gompi_biased *l) {
	gompi_signals_stop();
	if (__builtin_expect(gompi_signals.biased, 1)) {
		gompi_store(&l->inside, 1);
		gompi_compiler_fence(); // the processor's part of this fence is the membarrier in gompi_biased_wait
		if (__builtin_expect(gompi_load(&gompi_bias) == GOMPI_BIAS_ON, 1)) {
			l->biased = true;
			return;
		}
		gompi_store(&l->inside, 0);
	}
	gompi_biased_wait(l);
}

static inline void gompi_biased_give(struct gompi_biased *l) {
	if (__builtin_expect(l->biased, 1))
		gompi_store_release(&l->inside, 0); // pairs with the acquire in gompi_biased_wait
	else
		gompi_mutex_give(&l->mutex);
	gompi_signals_go_on();
}

#pragma GCC visibility pop
#endif
