#include "net/completion_queue.h"

#include <stdlib.h>

bool gompi_completion_reserve(struct gompi_completion_queue *q) {
	if (q->count + q->reserved == q->capacity) {
		const size_t capacity = q->capacity == 0 ? 256 : 2 * q->capacity;
		struct gompi_net_completion *ring = malloc(capacity * sizeof *ring);
		if (ring == NULL)
			return false;
		for (size_t i = 0; i < q->count; i++)
			ring[i] = q->ring[(q->first + i) & (q->capacity - 1)];
		free(q->ring);
		q->ring = ring;
		q->capacity = capacity;
		q->first = 0;
	}
	q->reserved++;
	return true;
}

void gompi_completion_unreserve(struct gompi_completion_queue *q) { q->reserved--; }

void gompi_completion_add(struct gompi_completion_queue *q, struct gompi_net_completion c) {
	q->reserved--;
	q->ring[(q->first + q->count++) & (q->capacity - 1)] = c;
}

int gompi_completions_take(struct gompi_completion_queue *q, struct gompi_net_completion *to, int capacity) {
	int n = 0;
	for (; n < capacity && q->count > 0; q->count--) {
		to[n++] = q->ring[q->first];
		q->first = (q->first + 1) & (q->capacity - 1);
	}
	return n;
}

void gompi_completions_clear(struct gompi_completion_queue *q) {
	free(q->ring);
	*q = (struct gompi_completion_queue){0};
}
