#include "base/biased.h"

#include <sched.h>
#include <unistd.h>

#include "base/node.h"

// Where the program has had membarrier(2) forbidden meanwhile: every store of the other thread has left its core by
// then.
enum { END_US = 10000 };

gompi_a32 gompi_bias;

// Returns true if the locks are biased to this thread now; else they are mutexes.
static bool is_biased_here(void) {
	for (;;) {
		uint32_t to = gompi_load_acquire(&gompi_bias); // pairs with the release below
		if (to == GOMPI_BIAS_OVER)
			return false;
		if (to == GOMPI_BIAS_ON && gompi_signals.biased)
			return true;
		if (to == GOMPI_BIAS_ENDING) {
			sched_yield();
		} else if (to == GOMPI_BIAS_UNDECIDED) {
			bool on = gompi_has_membarrier;
			if (gompi_change_once(&gompi_bias, &to, on ? GOMPI_BIAS_ON : GOMPI_BIAS_OVER))
				gompi_signals.biased = on;
		} else if (gompi_change_once(&gompi_bias, &to, GOMPI_BIAS_ENDING)) {
			// From here on the thread takes mutexes; if it has got through before, inside tells.
			if (!gompi_process_barrier())
				usleep(END_US);
			gompi_store_release(&gompi_bias, GOMPI_BIAS_OVER); // pairs with the acquire above
		}
	}
}

void gompi_biased_wait(struct gompi_biased *l) {
	if (is_biased_here()) {
		gompi_biased_take(l);  // which comes here again if that has ended meanwhile
		gompi_signals_go_on(); // signals have been stopped twice
		return;
	}
	gompi_mutex_take(&l->mutex);
	while (gompi_load_acquire(&l->inside) != 0) // pairs with the release in gompi_biased_give
		sched_yield();
	l->biased = false;
}
