// Writes records into the open frame of a peer.
#include <sched.h>
#include <string.h>

#include "base/abi.h"
#include "base/call_name.h"
#include "base/alloc_or_abort.h"
#include "base/wait.h"
#include "fabric/doorbell.h"
#include "fabric/peer.h"

// Returns true if a wait for space can end: no frame to the peer waits, or the peer has failed.
static bool has_room(void *arg) {
	struct gompi_peer *p = arg;
	return gompi_load_seq_cst(&p->blocked) == 0 || gompi_load(&p->has_failed) != 0;
}

static int wait_for_room(struct gompi_peer *p) {
	const char *call = gompi_current_call();
	const struct gompi_wait_desc what = {.call = call != NULL ? call : "", .peer = p->rank, .object = 0};
	return gompi_await(&p->room_waiters, has_room, p, &what);
}

static inline size_t record_bytes(size_t length) { return sizeof(struct gompi_record_head) + GOMPI_ALIGN8(length); }

// Returns true if the open frame cannot hold `need` more bytes, or the peer has failed. The caller holds the peer's
// lock.
static inline bool lacks_room(struct gompi_peer *p, size_t need) {
	return p->open_frame == NULL || p->open_frame->used_bytes + need > GOMPI_FRAME_BYTES ||
	       gompi_load(&p->has_failed) != 0;
}

// Begins a record in the open frame, which has space for it. Returns the address for the record's data.
static inline char *begin_record(struct gompi_peer *p, enum gompi_port port, size_t length) {
	struct gompi_frame *f = p->open_frame;
	p->record_offset = f->used_bytes;
	char *record = f->bytes + f->used_bytes;
	if (length % 8 != 0)
		// clears the record's last 8 bytes, which contain the padding, so that no old data of the buffer is
		// sent
		memset(record + record_bytes(length) - 8, 0, 8);
	*(struct gompi_record_head *)(void *)record = (struct gompi_record_head){.port = (uint16_t)port};
	return record + sizeof(struct gompi_record_head);
}

// Reserves a record. Creates the peer or opens a frame if necessary. If there is no space, waits for space
// (FABRIC_WAIT), or fails and notes that the port must be notified of space (FABRIC_TRY).
static char *reserve_or_wait(int peer, enum gompi_port port, size_t length, enum gompi_fabric_wait wait, int *class) {
	struct gompi_peer *p = gompi_peer_get(peer, class);
	if (p == NULL)
		return NULL;
	gompi_mutex_lock(&p->lock);
	while (lacks_room(p, record_bytes(length))) {
		int rc = MPI_ERR_PROC_ABORTED;
		if (gompi_load(&p->has_failed) == 0)
			rc = gompi_peer_open_frame(p, wait);
		if (rc == MPI_SUCCESS)
			continue;
		if (rc == MPI_ERR_PENDING && wait == FABRIC_TRY)
			gompi_or_seq_cst(&p->ports_waiting, 1u << port);
		gompi_mutex_unlock(&p->lock);
		if (rc == MPI_ERR_PENDING && wait == FABRIC_WAIT)
			rc = wait_for_room(p);
		if (rc != MPI_SUCCESS) {
			*class = rc;
			return NULL;
		}
		gompi_mutex_lock(&p->lock);
	}
	return begin_record(p, port, length);
}

// Reserves a record. For a reply (FABRIC_ANSWER), retries when out of memory: the lack of memory may be temporary, and
// without the reply the peer would wait forever. Ends the process after TRIES failures.
static __attribute__((noinline)) char *reserve_with_retries(int peer, enum gompi_port port, size_t length,
							    enum gompi_fabric_wait wait, int *class) {
	enum { TRIES = 1000 };
	for (int i = 0;; i++) {
		char *at = reserve_or_wait(peer, port, length, wait, class);
		if (__builtin_expect(at != NULL || wait != FABRIC_ANSWER || *class != MPI_ERR_NO_MEM, 1))
			return at;
		if (i == TRIES)
			gompi_abort_out_of_memory(sizeof(struct gompi_frame));
		sched_yield();
	}
}

char *gompi_fabric_reserve(int peer, enum gompi_port port, size_t length, enum gompi_fabric_wait wait, int *class) {
	struct gompi_peer *p = gompi_peer_find(peer);
	if (__builtin_expect(p == NULL || !gompi_mutex_trylock(&p->lock), 0))
		return reserve_with_retries(peer, port, length, wait, class);
	if (__builtin_expect(!lacks_room(p, record_bytes(length)), 1))
		return begin_record(p, port, length);
	gompi_mutex_unlock(&p->lock);
	return reserve_with_retries(peer, port, length, wait, class);
}

// --- Sending

// List of the peers with queued records. A removal always removes the whole list.
static struct gompi_peer *_Atomic pending_list;

void gompi_records_reset(void) { gompi_store(&pending_list, NULL); }

// Puts p on the list of peers with queued records. The caller holds p's lock.
static void enqueue_pending(struct gompi_peer *p) {
	if (gompi_load_acquire(&p->on_pending_list) != 0) // pairs with the store of 0 in gompi_fabric_flush
		return;
	gompi_store(&p->on_pending_list, 1);
	struct gompi_peer *first = gompi_load(&pending_list);
	do
		p->next_pending = first;
	while (!gompi_cas_weak_seq_cst(&pending_list, &first, p));
	gompi_net_wake_if_armed();
}

bool gompi_peers_have_work(void) { return gompi_load_seq_cst(&pending_list) != NULL || gompi_peers_have_retries(); }

// 1 if records that were committed with FABRIC_AFTER_BATCH are queued.
static gompi_a32 batch_records_queued;

void gompi_fabric_commit(int peer, size_t length, enum gompi_urgency urgency) {
	struct gompi_peer *p = gompi_peer_find(peer);
	struct gompi_frame *f = p->open_frame;
	struct gompi_record_head *r = (struct gompi_record_head *)(void *)(f->bytes + p->record_offset);
	r->length = (uint32_t)length;
	f->used_bytes = (uint32_t)(p->record_offset + sizeof *r + GOMPI_ALIGN8(length));
	if (urgency == FABRIC_NOW) {
		p->flush_requested = true;
		gompi_peer_send(p);
	} else {
		enqueue_pending(p);
		if (urgency == FABRIC_AFTER_BATCH)
			gompi_store(&batch_records_queued, 1);
	}
	gompi_mutex_unlock(&p->lock);
}

void gompi_fabric_flush_batch(void) {
	if (gompi_load(&batch_records_queued) == 0)
		return;
	gompi_store_seq_cst(&batch_records_queued, 0);
	gompi_fabric_flush(-1);
}

static void flush_peer(struct gompi_peer *p) {
	gompi_mutex_lock(&p->lock);
	p->flush_requested = true;
	gompi_peer_send(p);
	gompi_mutex_unlock(&p->lock);
}

void gompi_fabric_flush(int peer) {
	if (peer >= 0) {
		struct gompi_peer *p = gompi_peer_find(peer);
		if (p != NULL)
			flush_peer(p);
		return;
	}
	if (gompi_load(&pending_list) == NULL)
		return;
	struct gompi_peer *p = gompi_swap_seq_cst(&pending_list, NULL);
	while (p != NULL) {
		struct gompi_peer *next = p->next_pending;
		// This store precedes flush_peer, which acquires the lock. So a record that is committed afterwards
		// puts p on the list again (enqueue_pending).
		gompi_store_seq_cst(&p->on_pending_list, 0);
		flush_peer(p);
		p = next;
	}
}
