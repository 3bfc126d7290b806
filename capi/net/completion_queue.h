// A queue of completions that `poll` has not reported yet. Each operation reserves its entry in the queue when it
// starts, so that adding its completion never allocates memory.
#ifndef GOMPI_NET_COMPLETION_QUEUE_H
#define GOMPI_NET_COMPLETION_QUEUE_H

#include "net/net_ops.h"

#pragma GCC visibility push(hidden)

struct gompi_completion_queue {
	struct gompi_net_completion *ring;
	size_t first, count, capacity; // capacity is a power of 2
	size_t reserved;               // entries reserved by operations that have not completed
};

// Reserves an entry for an operation's completion. Returns false if out of memory; then the operation must not start.
bool gompi_completion_reserve(struct gompi_completion_queue *q);
// Releases the entry of an operation that has not started.
void gompi_completion_unreserve(struct gompi_completion_queue *q);
// Adds the completion of an operation, for which the operation reserved an entry when it started.
void gompi_completion_add(struct gompi_completion_queue *q, struct gompi_net_completion c);
// Removes at most `capacity` completions, oldest first, and stores them at `to`. Returns their number.
int gompi_completions_take(struct gompi_completion_queue *q, struct gompi_net_completion *to, int capacity);
// Drops all completions and reserved entries, because the endpoint is closed.
void gompi_completions_clear(struct gompi_completion_queue *q);

#pragma GCC visibility pop
#endif
