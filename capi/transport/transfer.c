// Reads and writes of the registered memory of a stream's member through the network.
#include <stdlib.h>

#include "transport/ongoing.h"
#include "transport/stream_send.h"

// A transfer that may outlive its call. Cached in a free list.
struct remote_transfer {
	struct gompi_transfer transfer;
	struct gompi_stream *s;
	struct remote_transfer *next;
	gompi_a32 *over; // if the call waits: receives the error class + 1; else NULL
	struct gompi_ongoing *ongoing;
};

enum { TRANSFERS_MOST = 1024, TRANSFERS_AT_ONCE = 64 };

static struct {
	struct gompi_mutex mu;
	struct remote_transfer *free;
	unsigned made;
	gompi_a32 given; // incremented each time a transfer returns to the free list
} transfers;

static void transfer_done(struct gompi_transfer *t, int class) {
	struct remote_transfer *a = (struct remote_transfer *)t;
	struct gompi_stream *s = a->s;
	uint32_t none = 0;
	if (a->over != NULL) {
		// the transfer is on the stack of the call: it must not be used after this store
		gompi_store_release(a->over, (uint32_t) class + 1);
	} else {
		if (a->ongoing != NULL)
			gompi_ongoing_part_over(a->ongoing,
						class == MPI_SUCCESS ? NULL : &(struct gompi_reason){.class = class});
		else if (class != MPI_SUCCESS)
			gompi_change_once(&s->class, &none, (uint32_t) class);
		gompi_mutex_take(&transfers.mu);
		a->next = transfers.free;
		transfers.free = a;
		gompi_mutex_give(&transfers.mu);
		gompi_add_total(&transfers.given, 1);
		gompi_sub_total(&s->transfers, 1); // Release: the data has been stored before; pairs with transferred.
	}
	gompi_wake(&gompi_my_cell()->wait);
}

static bool transfer_given(void *arg) { return gompi_load_acquire(&transfers.given) != *(uint32_t *)arg; }
static bool transfer_over(void *arg) { return gompi_load_acquire((gompi_a32 *)arg) != 0; }

// Returns a free transfer; blocks until one is free if the maximum number is in use. Returns NULL on error, and sets
// *class.
static struct remote_transfer *take_transfer(struct gompi_stream *s, const char *call, int *class) {
	*class = MPI_SUCCESS;
	for (;;) {
		uint32_t given = gompi_load_total(&transfers.given);
		gompi_mutex_take(&transfers.mu);
		struct remote_transfer *a = transfers.free;
		if (a == NULL && transfers.made < TRANSFERS_MOST &&
		    (a = calloc(TRANSFERS_AT_ONCE, sizeof *a)) != NULL) {
			transfers.made += TRANSFERS_AT_ONCE;
			for (int i = 0; i < TRANSFERS_AT_ONCE - 1; i++)
				a[i].next = &a[i + 1];
		}
		unsigned made = transfers.made;
		if (a != NULL)
			transfers.free = a->next;
		gompi_mutex_give(&transfers.mu);
		if (a != NULL)
			return a;
		struct gompi_waiting what = {.call = call, .peer = s->peer, .object = s->w->handle};
		*class =
			made == 0 ? MPI_ERR_NO_MEM : gompi_await(&gompi_my_cell()->wait, transfer_given, &given, &what);
		if (*class != MPI_SUCCESS)
			return NULL;
	}
}

int gompi_stream_transfer(struct gompi_stream *s, const struct gompi_operation *operation, uint64_t offset, char *local,
			  uint64_t bytes, bool write, bool stays) {
	const char *call = operation->call;
	struct gompi_ongoing *ongoing = NULL;
	if (stays && operation->requests) {
		ongoing = gompi_ongoing_of(s->w, operation);
		stays = ongoing != NULL;
	}
	struct gompi_win *w = s->w;
	const struct gompi_win_remote *there = &w->remote[s->rank];
	if (offset > there->size || bytes > there->size - offset)
		return MPI_ERR_RMA_RANGE;
	int rc = gompi_stream_await_lock(s, call);
	if (rc != MPI_SUCCESS)
		return rc;
	struct remote_transfer mine, *a = stays ? take_transfer(s, call, &rc) : &mine;
	if (a == NULL)
		return rc;
	gompi_a32 over = 0;
	*a = (struct remote_transfer){.transfer = {.done = transfer_done,
						   .local = local,
						   .bytes = bytes,
						   .region = there->region,
						   .offset = offset,
						   .peer = s->peer,
						   .write = write},
				      .s = s,
				      .over = stays ? NULL : &over,
				      .ongoing = ongoing};
	if (!(gompi_load(&w->flush_more) & FLUSH_SENT))
		gompi_or(&w->flush_more, FLUSH_SENT);
	if (stays)
		gompi_add_total(&s->transfers, 1);
	if (a->ongoing != NULL)
		gompi_ongoing_by_transfer(a->ongoing);
	gompi_fabric_transfer(&a->transfer);
	if (stays)
		return MPI_SUCCESS;
	struct gompi_waiting what = {.call = call, .peer = s->peer, .object = w->handle};
	// The network may use the local memory until done is called, even after an error: so this waits until then.
	while (gompi_load_acquire(&over) == 0 &&
	       gompi_await(&gompi_my_cell()->wait, transfer_over, &over, &what) != MPI_SUCCESS)
		gompi_fabric_progress();
	return (int)gompi_load_acquire(&over) - 1;
}
