// The queue of completions that cq_read has not reported yet. Each operation reserves its entry in the queue when it
// starts, so that adding its completion never allocates memory.
#include <stdlib.h>
#include <string.h>

#include "tcp/link.h"

static struct {
	struct gompi_tcp_completion *ring;
	size_t first, count, capacity; // capacity is a power of 2
	size_t reserved;               // entries reserved by operations that have not completed
} completion_queue;

bool gompi_completion_reserve(void) {
	if (completion_queue.count + completion_queue.reserved == completion_queue.capacity) {
		const size_t capacity = completion_queue.capacity == 0 ? 256 : 2 * completion_queue.capacity;
		struct gompi_tcp_completion *ring = malloc(capacity * sizeof *ring);
		if (ring == NULL)
			return false;
		for (size_t i = 0; i < completion_queue.count; i++)
			ring[i] = completion_queue.ring[(completion_queue.first + i) & (completion_queue.capacity - 1)];
		free(completion_queue.ring);
		completion_queue.ring = ring;
		completion_queue.capacity = capacity;
		completion_queue.first = 0;
	}
	completion_queue.reserved++;
	return true;
}

void gompi_completion_unreserve(void) { completion_queue.reserved--; }

void gompi_completion_add(void *context, size_t length, int error) {
	completion_queue.reserved--;
	completion_queue.ring[(completion_queue.first + completion_queue.count++) & (completion_queue.capacity - 1)] =
		(struct gompi_tcp_completion){context, length, error};
}

const struct gompi_tcp_completion *gompi_completion_first(void) {
	return completion_queue.count == 0 ? NULL : &completion_queue.ring[completion_queue.first];
}

const struct gompi_tcp_completion *gompi_completion_next(void) {
	completion_queue.first = (completion_queue.first + 1) & (completion_queue.capacity - 1);
	completion_queue.count--;
	return gompi_completion_first();
}

void gompi_completions_clear(void) {
	free(completion_queue.ring);
	memset(&completion_queue, 0, sizeof completion_queue);
}
