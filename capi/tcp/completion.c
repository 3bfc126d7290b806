// The queue of completions that cq_read has not reported yet. Each operation reserves its entry when it starts, so that
// a completion never needs to allocate memory.
#include <stdlib.h>
#include <string.h>

#include "tcp/link.h"

static struct {
	struct gompi_tcp_completion *ring;
	size_t first, n, room; // room is a power of 2
	size_t promised;       // entries reserved by operations that have not completed
} done;

bool gompi_completion_promise(void) {
	if (done.n + done.promised == done.room) {
		const size_t room = done.room == 0 ? 256 : 2 * done.room;
		struct gompi_tcp_completion *ring = malloc(room * sizeof *ring);
		if (ring == NULL)
			return false;
		for (size_t i = 0; i < done.n; i++)
			ring[i] = done.ring[(done.first + i) & (done.room - 1)];
		free(done.ring);
		done.ring = ring;
		done.room = room;
		done.first = 0;
	}
	done.promised++;
	return true;
}

void gompi_completion_withdraw(void) { done.promised--; }

void gompi_complete(void *context, size_t length, int error) {
	done.promised--;
	done.ring[(done.first + done.n++) & (done.room - 1)] = (struct gompi_tcp_completion){context, length, error};
}

const struct gompi_tcp_completion *gompi_completion_first(void) { return done.n == 0 ? NULL : &done.ring[done.first]; }

const struct gompi_tcp_completion *gompi_completion_next(void) {
	done.first = (done.first + 1) & (done.room - 1);
	done.n--;
	return gompi_completion_first();
}

void gompi_completions_drop(void) {
	free(done.ring);
	memset(&done, 0, sizeof done);
}
