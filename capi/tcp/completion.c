// The queue of what is complete and has not been told yet.
#include <stdlib.h>

#include "base/must_have.h"
#include "tcp/link.h"

static struct {
	struct gompi_tcp_completion *ring;
	size_t first, n, room; // room is a power of 2
} done;

void gompi_complete(void *context, size_t length, int error) {
	if (done.n == done.room) {
		const size_t room = done.room == 0 ? 256 : 2 * done.room;
		struct gompi_tcp_completion *ring = gompi_must_have(room * sizeof *ring); // or it would never be told
		for (size_t i = 0; i < done.n; i++)
			ring[i] = done.ring[(done.first + i) & (done.room - 1)];
		free(done.ring);
		done.ring = ring;
		done.room = room;
		done.first = 0;
	}
	done.ring[(done.first + done.n++) & (done.room - 1)] = (struct gompi_tcp_completion){context, length, error};
}

const struct gompi_tcp_completion *gompi_completion_first(void) { return done.n == 0 ? NULL : &done.ring[done.first]; }

const struct gompi_tcp_completion *gompi_completion_next(void) {
	done.first = (done.first + 1) & (done.room - 1);
	done.n--;
	return gompi_completion_first();
}
