#include "message/bsend_buffer.h"

#include <stdlib.h>

#include "message/request.h"

struct gompi_biased_mutex gompi_bsend_lock;

// Inserts message k, whose data is at `data`, into the list that is sorted by address: after the message `below`, or as
// the first message if `below` is NULL.
static void insert_by_address(struct gompi_bsend_buffer *a, struct gompi_bsend_message *k, char *data,
			      struct gompi_bsend_message *below) {
	k->in_user_memory = true;
	k->data = data;
	k->below = below;
	k->above = below != NULL ? below->above : a->lowest;
	*(below != NULL ? &below->above : &a->lowest) = k;
	*(k->above != NULL ? &k->above->below : &a->highest) = k;
}

// Places k in a gap of the application's memory: after the highest message, else in the first gap that is large enough.
// Returns false if there is no such gap, if k has no data, or if the buffer is MPI_BUFFER_AUTOMATIC.
static bool place_message(struct gompi_bsend_buffer *a, struct gompi_bsend_message *k) {
	struct gompi_bsend_message *below = a->highest;
	char *at = below != NULL ? below->data + below->size : a->addr;
	if (gompi_is_automatic(a) || k->size == 0)
		return false;
	if (a->addr + a->size - at >= k->size) {
		insert_by_address(a, k, at, below);
		return true;
	}
	below = NULL;
	at = a->addr;
	for (struct gompi_bsend_message *n = a->lowest; n != NULL; below = n, n = n->above) {
		if (n->data - at >= k->size) {
			insert_by_address(a, k, at, below);
			return true;
		}
		at = n->data + n->size;
	}
	return false;
}

// Adds k to the messages of the buffer. The caller has checked that k fits. Returns false if out of memory.
static bool add_message(struct gompi_bsend_buffer *a, struct gompi_bsend_message *k) {
	gompi_mutex_lock(&a->lock);
	bool fine = place_message(a, k) || k->size == 0 || (k->data = malloc((size_t)k->size)) != NULL;
	if (fine) {
		k->seq = ++a->last_seq;
		k->prev = a->last;
		*(a->last != NULL ? &a->last->next : &a->first) = k;
		a->last = k;
		gompi_store(&a->oldest_seq, a->first->seq);
		gompi_store(&a->free_bytes_plus_1,
			    gompi_load(&a->free_bytes_plus_1) - (uint64_t)k->size - MPI_BSEND_OVERHEAD);
	}
	gompi_mutex_unlock(&a->lock);
	return fine;
}

struct gompi_bsend_message *gompi_bsend_reserve(struct gompi_bsend_buffer *a, int64_t size,
						struct gompi_error_status *v) {
	struct gompi_bsend_message *k = calloc(1, sizeof *k);
	if (k == NULL) {
		gompi_set_error(v, MPI_ERR_NO_MEM, "out of memory for a message of %lld bytes", (long long)size);
		return NULL;
	}
	k->buffer = a;
	k->size = size;
	gompi_biased_lock(&gompi_bsend_lock);
	uint64_t free_bytes_plus_1 = gompi_load(&a->free_bytes_plus_1);
	bool fits = gompi_bsend_fits(a, size), fine = fits && add_message(a, k);
	int64_t buffer_bytes = a->size;
	gompi_biased_unlock(&gompi_bsend_lock);
	if (fine)
		return k;
	free(k);
	if (fits)
		gompi_set_error(v, MPI_ERR_NO_MEM, "out of memory for a message of %lld bytes", (long long)size);
	else if (free_bytes_plus_1 == 0)
		gompi_set_error(v, MPI_ERR_BUFFER,
				"a buffered send of %lld bytes needs a buffer: call MPI_Buffer_attach first",
				(long long)size);
	else
		gompi_set_error(v, MPI_ERR_BUFFER,
				"a buffered send of %lld bytes needs %lld bytes (with MPI_BSEND_OVERHEAD), but only "
				"%lld of the %lld bytes of the attached buffer are free",
				(long long)size, (long long)size + MPI_BSEND_OVERHEAD, (long long)free_bytes_plus_1 - 1,
				(long long)buffer_bytes);
	return NULL;
}

void gompi_bsend_release(struct gompi_bsend_message *k) {
	struct gompi_bsend_buffer *a = k->buffer;
	gompi_mutex_lock(&a->lock);
	*(k->prev != NULL ? &k->prev->next : &a->first) = k->next;
	*(k->next != NULL ? &k->next->prev : &a->last) = k->prev;
	if (k->in_user_memory) {
		*(k->below != NULL ? &k->below->above : &a->lowest) = k->above;
		*(k->above != NULL ? &k->above->below : &a->highest) = k->below;
	}
	gompi_store(&a->free_bytes_plus_1, gompi_load(&a->free_bytes_plus_1) + (uint64_t)k->size + MPI_BSEND_OVERHEAD);
	uint64_t oldest = a->first != NULL ? a->first->seq : 0;
	for (struct gompi_request *r; (r = a->flush_requests) != NULL && (oldest == 0 || oldest > r->flush.last_seq);) {
		a->flush_requests = r->flush.next;
		gompi_store_release(&r->state, REQUEST_COMPLETE); // pairs with the acquire in gompi_is_complete
	}
	// pairs with the acquire in gompi_bsend_try_detach, which does not hold a->lock
	gompi_store_release(&a->oldest_seq, oldest);
	gompi_mutex_unlock(&a->lock);
	if (!k->in_user_memory)
		free(k->data);
	free(k);
}
