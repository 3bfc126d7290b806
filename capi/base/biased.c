#include "base/biased.h"

#include <sched.h>
#include <unistd.h>

#include "base/node.h"

enum gompi_bias {
	TO_NOBODY, // no lock has been taken yet
	ENDING,    // a thread is in membarrier(2)
	TO_NONE,   // all are mutexes
};

// Where the program has had membarrier(2) forbidden meanwhile: every store of the other thread has left its core by
// then.
enum { END_US = 10000 };

_Atomic uintptr_t gompi_biased_to;

// Returns true if the locks are biased to this thread now; else they are mutexes.
static bool bias_to(uintptr_t me) {
	for (;;) {
		uintptr_t to = gompi_load_acquire(&gompi_biased_to); // pairs with the release below
		if (to == TO_NONE || to == me)
			return to == me;
		if (to == ENDING)
			sched_yield();
		else if (to == TO_NOBODY)
			gompi_change_once(&gompi_biased_to, &to, gompi_has_membarrier ? me : TO_NONE);
		else if (gompi_change_once(&gompi_biased_to, &to, ENDING)) {
			// From here on the thread takes mutexes; if it has got through before, inside tells.
			if (!gompi_process_barrier())
				usleep(END_US);
			gompi_store_release(&gompi_biased_to, TO_NONE); // pairs with the acquire above
		}
	}
}

void gompi_biased_wait(struct gompi_biased *l, uintptr_t me) {
	if (bias_to(me)) {
		gompi_biased_take(l);  // which comes here again if that has ended meanwhile
		gompi_signals_go_on(); // signals have been stopped twice
		return;
	}
	gompi_mutex_take(&l->mutex);
	while (gompi_load_acquire(&l->inside) != 0) // pairs with the release in gompi_biased_give
		sched_yield();
	l->biased = false;
}
