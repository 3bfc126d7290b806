#include "message/attached.h"

#include <stdlib.h>

#include "message/request.h"

struct gompi_biased gompi_attached_lock;

// Inserts k into the list by address, after below, or first if below is NULL.
static void place_above(struct gompi_bsend_buffer *a, struct gompi_bsend_message *k, char *data,
			struct gompi_bsend_message *below) {
	k->placed = true;
	k->data = data;
	k->below = below;
	k->above = below != NULL ? below->above : a->lowest;
	*(below != NULL ? &below->above : &a->lowest) = k;
	*(k->above != NULL ? &k->above->below : &a->highest) = k;
}

// Places k in a gap of the application's memory: after the highest message, else in the first gap. Returns false if
// there is no gap.
static bool place_message(struct gompi_bsend_buffer *a, struct gompi_bsend_message *k) {
	struct gompi_bsend_message *below = a->highest;
	char *at = below != NULL ? below->data + below->size : a->addr;
	if (gompi_is_automatic(a) || k->size == 0)
		return false;
	if (a->addr + a->size - at >= k->size) {
		place_above(a, k, at, below);
		return true;
	}
	below = NULL;
	at = a->addr;
	for (struct gompi_bsend_message *n = a->lowest; n != NULL; below = n, n = n->above) {
		if (n->data - at >= k->size) {
			place_above(a, k, at, below);
			return true;
		}
		at = n->data + n->size;
	}
	return false;
}

// Adds k, which fits by count, to the messages. Returns false if out of memory.
static bool add_message(struct gompi_bsend_buffer *a, struct gompi_bsend_message *k) {
	gompi_mutex_take(&a->lock);
	bool fine = place_message(a, k) || k->size == 0 || (k->data = malloc((size_t)k->size)) != NULL;
	if (fine) {
		k->number = ++a->messages;
		k->before = a->last;
		*(a->last != NULL ? &a->last->after : &a->first) = k;
		a->last = k;
		gompi_store(&a->oldest, a->first->number);
		gompi_store(&a->room, gompi_load(&a->room) - (uint64_t)k->size - MPI_BSEND_OVERHEAD);
	}
	gompi_mutex_give(&a->lock);
	return fine;
}

struct gompi_bsend_message *gompi_attached_put(struct gompi_bsend_buffer *a, int64_t size, struct gompi_verdict *v) {
	struct gompi_bsend_message *k = calloc(1, sizeof *k);
	if (k == NULL) {
		gompi_error(v, MPI_ERR_NO_MEM, "out of memory for a message of %lld bytes", (long long)size);
		return NULL;
	}
	k->in = a;
	k->size = size;
	gompi_biased_take(&gompi_attached_lock);
	uint64_t room = gompi_load(&a->room);
	bool fits = gompi_attached_fits(a, size), fine = fits && add_message(a, k);
	int64_t all = a->size;
	gompi_biased_give(&gompi_attached_lock);
	if (fine)
		return k;
	free(k);
	if (fits)
		gompi_error(v, MPI_ERR_NO_MEM, "out of memory for a message of %lld bytes", (long long)size);
	else if (room == 0)
		gompi_error(v, MPI_ERR_BUFFER,
			    "a buffered send of %lld bytes needs a buffer: call MPI_Buffer_attach first",
			    (long long)size);
	else
		gompi_error(v, MPI_ERR_BUFFER,
			    "a buffered send needs %lld + %d bytes, but %lld of the %lld bytes of the attached "
			    "buffer are in use",
			    (long long)size, MPI_BSEND_OVERHEAD, (long long)(all - (int64_t)room + 1), (long long)all);
	return NULL;
}

void gompi_attached_left(struct gompi_bsend_message *k) {
	struct gompi_bsend_buffer *a = k->in;
	gompi_mutex_take(&a->lock);
	*(k->before != NULL ? &k->before->after : &a->first) = k->after;
	*(k->after != NULL ? &k->after->before : &a->last) = k->before;
	if (k->placed) {
		*(k->below != NULL ? &k->below->above : &a->lowest) = k->above;
		*(k->above != NULL ? &k->above->below : &a->highest) = k->below;
	}
	gompi_store(&a->room, gompi_load(&a->room) + (uint64_t)k->size + MPI_BSEND_OVERHEAD);
	uint64_t oldest = a->first != NULL ? a->first->number : 0;
	for (struct gompi_request *r; (r = a->flushes) != NULL && (oldest == 0 || oldest > r->flush.number);) {
		a->flushes = r->flush.next;
		gompi_store_release(&r->state, REQUEST_COMPLETE); // pairs with the acquire in gompi_is_complete
	}
	// pairs with the acquire in gompi_attached_end, which does not hold a->lock
	gompi_store_release(&a->oldest, oldest);
	gompi_mutex_give(&a->lock);
	if (!k->placed)
		free(k->data);
	free(k);
}
