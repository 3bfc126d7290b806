#include "transport/bounce.h"

#include "base/abi.h"
#include "base/mutex.h"
#include "transport/rma_request.h"
#include "transport/ring.h"

// A bit that is set in each name of a bounce buffer (gompi_bounce_address). No user-space address has this bit.
#define BOUNCE_NAME_BIT ((uint64_t)1 << 63)

_Static_assert(GOMPI_RING_SIZE + (size_t)GOMPI_BOUNCE_COUNT * sizeof(struct gompi_bounce) <= 576 << 10,
	       "core/shm's OperationRingSize");

static struct gompi_bounce *bounces_of(int process) {
	return (struct gompi_bounce *)(gompi_node.operation_rings + (size_t)process * gompi_node.operation_stride +
				       GOMPI_RING_SIZE);
}

// The state of this process' bounce buffers. A use is the time from the acquisition of a buffer to its release; uses
// are numbered from 0 and acquire the buffers cyclically.
static struct {
	struct gompi_mutex mutex;
	gompi_a64 first, next; // uses first to next - 1 are in progress; use i has buffer i % GOMPI_BOUNCE_COUNT
	int unreported_error;  // class of the last error that no call has returned yet; 0 if none
	struct use {
		enum { USE_FREE, USE_TAKEN, USE_SENT, USE_DONE } state;
		int peer;
		uint64_t number, bytes;
		void *to;
		struct gompi_rma_request *rma_request;
	} use[GOMPI_BOUNCE_COUNT];
} bounce_state;

void gompi_bounce_open(void) { memset(&bounce_state, 0, sizeof bounce_state); }

static struct use *use_at(uint64_t i) { return &bounce_state.use[i % GOMPI_BOUNCE_COUNT]; }

static void complete_use(struct use *u) {
	struct gompi_bounce *b = &bounces_of(gompi_node.local_index)[u - bounce_state.use];
	struct gompi_error_detail error_detail = b->error_detail;
	bool succeeded = __builtin_expect(error_detail.class == MPI_SUCCESS, 1);
	if (succeeded && u->to != NULL)
		gompi_copy_in(u->to, b->data, u->bytes);
	if (u->rma_request != NULL) {
		gompi_rma_request_end_part(u->rma_request, succeeded ? NULL : &error_detail);
	} else if (!succeeded) {
		gompi_store_error_detail(&error_detail);
		bounce_state.unreported_error = error_detail.class;
	}
	u->state = USE_DONE;
}

// Completes the uses whose packets have been acknowledged, and frees their buffers in the order in which they were
// acquired. If all buffers are then free and the cores are near, the next use acquires the first buffer again, because
// its data is still in the caches: a put of 8 KiB with a flush then takes 1.0 us instead of 1.9 us. The stores between
// distant cores bypass the caches, so there the oldest buffer is better. The caller holds the mutex.
static void collect(void) {
	uint64_t first = gompi_load(&bounce_state.first), next = gompi_load(&bounce_state.next);
	for (uint64_t i = first; i != next; i++) {
		struct use *u = use_at(i);
		// Acquire: makes the target's stores to the buffer visible. Pairs with the release in apply_packets
		// (ring.c).
		if (u->state == USE_SENT &&
		    (int64_t)(gompi_load_acquire(&gompi_my_cell()->completed_ops[gompi_local_index(u->peer)]) -
			      u->number) >= 0)
			complete_use(u);
		if (i == first && u->state == USE_DONE) {
			u->state = USE_FREE;
			first++;
		}
	}
	if (first == next && !gompi_load(&gompi_cores_are_distant)) {
		first = 0;
		gompi_store(&bounce_state.next, 0);
	}
	gompi_store(&bounce_state.first, first);
}

bool gompi_bounce_is_idle(void) { return gompi_load(&bounce_state.first) == gompi_load(&bounce_state.next); }

int gompi_bounce_acquire(int *peer, uint64_t *number) {
	gompi_mutex_lock(&bounce_state.mutex);
	uint64_t next = gompi_load(&bounce_state.next);
	if (next - gompi_load(&bounce_state.first) == GOMPI_BOUNCE_COUNT)
		collect();
	struct use *u = use_at(gompi_load(&bounce_state.first));
	*peer = u->state == USE_SENT ? u->peer : -1;
	*number = u->number;
	int buffer = -1;
	if (next - gompi_load(&bounce_state.first) < GOMPI_BOUNCE_COUNT) {
		buffer = (int)(next % GOMPI_BOUNCE_COUNT);
		bounce_state.use[buffer] = (struct use){.state = USE_TAKEN};
		bounces_of(gompi_node.local_index)[buffer].error_detail.class = MPI_SUCCESS;
		gompi_store(&bounce_state.next, next + 1);
	}
	gompi_mutex_unlock(&bounce_state.mutex);
	return buffer;
}

char *gompi_bounce_data(int buffer) { return bounces_of(gompi_node.local_index)[buffer].data; }

void *gompi_bounce_address(int buffer) { return (void *)(uintptr_t)(BOUNCE_NAME_BIT | (uint64_t)buffer); }

static void set_use(int buffer, struct use use) {
	gompi_mutex_lock(&bounce_state.mutex);
	bounce_state.use[buffer] = use;
	gompi_mutex_unlock(&bounce_state.mutex);
}

void gompi_bounce_sent(int buffer, int peer, uint64_t number, void *to, uint64_t bytes,
		       struct gompi_rma_request *rma_request) {
	set_use(buffer, (struct use){.state = USE_SENT,
				     .peer = peer,
				     .number = number,
				     .to = to,
				     .bytes = bytes,
				     .rma_request = rma_request});
}

void gompi_bounce_release(int buffer) { set_use(buffer, (struct use){.state = USE_DONE}); }

bool gompi_bounce_pending_result(int peer, uint64_t *number) {
	uint64_t i = gompi_load(&bounce_state.first);
	if (i == gompi_load(&bounce_state.next))
		return false;
	gompi_mutex_lock(&bounce_state.mutex);
	const struct use *u = NULL;
	for (i = gompi_load(&bounce_state.first); u == NULL && i != gompi_load(&bounce_state.next); i++)
		if (use_at(i)->state == USE_SENT && use_at(i)->peer == peer && use_at(i)->to != NULL)
			u = use_at(i);
	if (u != NULL)
		*number = u->number;
	gompi_mutex_unlock(&bounce_state.mutex);
	return u != NULL;
}

void gompi_bounce_poll(void) {
	if (gompi_bounce_is_idle())
		return;
	gompi_mutex_lock(&bounce_state.mutex);
	collect();
	gompi_mutex_unlock(&bounce_state.mutex);
}

int gompi_bounce_collect(void) {
	if (gompi_bounce_is_idle())
		return MPI_SUCCESS;
	gompi_mutex_lock(&bounce_state.mutex);
	collect();
	int class = bounce_state.unreported_error;
	bounce_state.unreported_error = MPI_SUCCESS;
	gompi_mutex_unlock(&bounce_state.mutex);
	return class;
}

// Returns the buffer that a packet of process `peer` names. Returns NULL if the name is invalid.
static struct gompi_bounce *find_named(int peer, uint64_t address) {
	int process = gompi_local_index(peer);
	uint64_t buffer = address & ~BOUNCE_NAME_BIT;
	return process >= 0 && (address & BOUNCE_NAME_BIT) && buffer < GOMPI_BOUNCE_COUNT ? &bounces_of(process)[buffer]
											  : NULL;
}

bool gompi_bounce_move(int peer, uint64_t address, void *local, uint64_t bytes, bool write) {
	struct gompi_bounce *b = find_named(peer, address);
	if (b == NULL || bytes > GOMPI_BOUNCE_BYTES)
		return false;
	if (write)
		gompi_copy_out_stream(b->data, local, bytes);
	else
		gompi_copy_in(local, b->data, bytes);
	return true;
}

void gompi_bounce_store_error(int peer, uint64_t address, int class) {
	struct gompi_bounce *b = find_named(peer, address);
	if (b != NULL)
		b->error_detail = gompi_consume_error_detail(class);
}
