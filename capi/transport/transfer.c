// Reads and writes the registered memory of a stream's member through the network.
#include <stdlib.h>

#include "transport/rma_request.h"
#include "transport/stream_origin.h"

// A transfer. A transfer that may outlive its call comes from a free list. Any other transfer is on the call's stack.
struct remote_transfer {
	struct gompi_transfer transfer;
	struct gompi_stream *s;
	struct remote_transfer *next;
	gompi_a32 *result; // receives the error class + 1 when the transfer ends; NULL if the call does not wait
	struct gompi_rma_request *rma_request;
};

enum { MAX_TRANSFERS = 1024, TRANSFERS_PER_ALLOC = 64 };

static struct {
	struct gompi_mutex mu;
	struct remote_transfer *free;
	unsigned allocated;
	// incremented when a transfer returns to the free list; acquire_transfer waits for a change
	gompi_a32 release_count;
} transfers;

static void transfer_done(struct gompi_transfer *t, int class) {
	struct remote_transfer *a = (struct remote_transfer *)t;
	struct gompi_stream *s = a->s;
	uint32_t none = 0;
	if (a->result != NULL) {
		// The transfer is on the stack of the waiting call, so it must not be used after this store.
		gompi_store_release(a->result, (uint32_t) class + 1);
	} else {
		if (a->rma_request != NULL)
			gompi_rma_request_end_part(a->rma_request,
						   class == MPI_SUCCESS ? NULL
									: &(struct gompi_error_detail){.class = class});
		else if (class != MPI_SUCCESS)
			gompi_cas_strong(&s->error_class, &none, (uint32_t) class);
		gompi_mutex_lock(&transfers.mu);
		a->next = transfers.free;
		transfers.free = a;
		gompi_mutex_unlock(&transfers.mu);
		gompi_add_seq_cst(&transfers.release_count, 1);
		gompi_sub_seq_cst(&s->transfer_count,
				  1); // Release: the data has been stored before; pairs with transfers_done.
	}
	gompi_wake(&gompi_my_cell()->wait);
}

static bool transfer_released(void *arg) { return gompi_load_acquire(&transfers.release_count) != *(uint32_t *)arg; }
static bool transfer_completed(void *arg) { return gompi_load_acquire((gompi_a32 *)arg) != 0; }

// Returns a transfer from the free list. Blocks if the maximum number of transfers is in use. On error returns NULL and
// sets *class.
static struct remote_transfer *acquire_transfer(struct gompi_stream *s, const char *call, int *class) {
	*class = MPI_SUCCESS;
	for (;;) {
		uint32_t releases = gompi_load_seq_cst(&transfers.release_count);
		gompi_mutex_lock(&transfers.mu);
		struct remote_transfer *a = transfers.free;
		if (a == NULL && transfers.allocated < MAX_TRANSFERS &&
		    (a = calloc(TRANSFERS_PER_ALLOC, sizeof *a)) != NULL) {
			transfers.allocated += TRANSFERS_PER_ALLOC;
			for (int i = 0; i < TRANSFERS_PER_ALLOC - 1; i++)
				a[i].next = &a[i + 1];
		}
		unsigned allocated = transfers.allocated;
		if (a != NULL)
			transfers.free = a->next;
		gompi_mutex_unlock(&transfers.mu);
		if (a != NULL)
			return a;
		struct gompi_wait_desc waiting = {.call = call, .peer = s->peer, .object = s->w->handle};
		*class = allocated == 0 ? MPI_ERR_NO_MEM
					: gompi_await(&gompi_my_cell()->wait, transfer_released, &releases, &waiting);
		if (*class != MPI_SUCCESS)
			return NULL;
	}
}

int gompi_stream_transfer(struct gompi_stream *s, const struct gompi_operation *operation, uint64_t offset, char *local,
			  uint64_t bytes, bool write, bool may_stay_pending) {
	const char *call = operation->call;
	struct gompi_rma_request *rma_request = NULL;
	if (may_stay_pending && operation->returns_request) {
		rma_request = gompi_rma_request_get(s->w, operation);
		may_stay_pending = rma_request != NULL;
	}
	struct gompi_win *w = s->w;
	const struct gompi_win_remote *member = &w->remote[s->rank];
	if (offset > member->size || bytes > member->size - offset)
		return MPI_ERR_RMA_RANGE;
	int rc = gompi_stream_await_lock(s, call);
	if (rc != MPI_SUCCESS)
		return rc;
	struct remote_transfer stack_transfer, *a = may_stay_pending ? acquire_transfer(s, call, &rc) : &stack_transfer;
	if (a == NULL)
		return rc;
	gompi_a32 result = 0;
	*a = (struct remote_transfer){.transfer = {.done = transfer_done,
						   .local = local,
						   .bytes = bytes,
						   .region = member->region,
						   .offset = offset,
						   .peer = s->peer,
						   .is_write = write},
				      .s = s,
				      .result = may_stay_pending ? NULL : &result,
				      .rma_request = rma_request};
	if (!(gompi_load(&w->flush_flags) & FLUSH_SENT))
		gompi_or(&w->flush_flags, FLUSH_SENT);
	if (may_stay_pending)
		gompi_add_seq_cst(&s->transfer_count, 1);
	if (a->rma_request != NULL)
		gompi_rma_request_add_rdma(a->rma_request);
	gompi_fabric_transfer(&a->transfer);
	if (may_stay_pending)
		return MPI_SUCCESS;
	struct gompi_wait_desc waiting = {.call = call, .peer = s->peer, .object = w->handle};
	// The network may use the local memory until it calls the callback `done`, so wait for the callback even after
	// an error.
	while (gompi_load_acquire(&result) == 0 &&
	       gompi_await(&gompi_my_cell()->wait, transfer_completed, &result, &waiting) != MPI_SUCCESS)
		gompi_fabric_progress();
	return (int)gompi_load_acquire(&result) - 1;
}
