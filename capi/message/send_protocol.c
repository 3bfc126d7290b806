// Chooses between the eager and the rendezvous protocol for sends. This file is separate from send_calls.c because
// call.c, which send_calls.c needs, starts persistent sends.
#include "base/tuning.h"
#include "message/call.h"

// The protocol of sends. The constants below are sizes in bytes.
//
// While the receiver's inbox has space, a nonblocking send is eager, like a blocking one. With 64 posted sends of 8
// KiB, an eager send takes 0.6 us, and a send by process_vm_readv 3.0 us (32 KiB: 2.1 us and 4.1 us).
//
// A send of more than MAX_QUEUED_BYTES bytes that finds no space does not wait for space. If the receiver can read the
// data by process_vm_readv, the send leaves its data in place until it is matched. Two processes that both send before
// they receive fill both inboxes. Then a message of 8 KiB takes 7.4 us if the send waits for space, and 3.9 us with
// process_vm_readv.
//
// A nonblocking send of more than GOMPI_MAX_BOTH_WAYS_BYTES bytes leaves its data in place while messages for this
// process arrive. If two processes both send 64 messages of 32 KiB, a message each way takes 4.0 us this way. With
// eager sends, which fill both inboxes, it takes 8.3 us.
//
// A synchronous send of more than MAX_DOUBLE_COPY_BYTES bytes to a process of this node leaves its data in place even
// if there is space. For this, the receiver must be able to read the data there (gompi_may_use_rendezvous). A send to
// another node is eager whenever its data fits into a record.
//
// A blocking send of at most RECORD_MAX_DATA bytes never leaves its data in place, because programs rely on its
// completion before the receive. Longer data stays in place if the receiver can read it there.
enum { MAX_QUEUED_BYTES = 1024, MAX_DOUBLE_COPY_BYTES = 4096 };

bool gompi_may_use_rendezvous(const struct gompi_link *p, const struct gompi_request *r, int64_t max_eager_bytes) {
	return r->buf.size > max_eager_bytes && !r->vci->messages->no_cma && gompi_load(&p->cma_state) != CMA_REFUSED;
}

// Returns true if polling for space in the receiver's inbox may soon succeed. Returns false if processes share cores,
// if other output is pending, or if the receiver asks senders to keep their data. Also returns false if polling has
// already failed since the head of the inbox last moved.
static inline bool may_find_space(const struct gompi_link *p, uint64_t head) {
	return !gompi_node.policy.is_oversubscribed && gompi_load(&p->pending_count) == 0 &&
	       gompi_load(&p->inbox->flow) == FLOW_EAGER && head != gompi_load(&p->full_head);
}

// Tries to send data eagerly to a process of this node. While the inbox of the receiver is full, handles the records in
// this process' own inbox. So if both sides send first, each makes space for the other.
static bool try_eager_polling(struct gompi_link *p, const struct gompi_request *r) {
	if (r->buf.size > GOMPI_MAX_BOTH_WAYS_BYTES && (r->buf.size > RECORD_MAX_DATA || gompi_vci_has_work(r->vci)))
		return false;
	if (gompi_try_eager_any(p, r))
		return true;
	uint64_t head = gompi_load(&p->inbox->head);
	for (int polls = may_find_space(p, head) ? GOMPI_INBOX_FULL_POLLS : 1; polls > 0; polls--) {
		if (gompi_vci_has_work(r->vci))
			gompi_vci_progress(r->vci);
		else
			gompi_pause();
		if (gompi_try_eager_any(p, r))
			return true;
	}
	gompi_store(&p->full_head, head);
	return false;
}

bool gompi_isend_try_complete(struct gompi_request *r) {
	if (r->world == r->vci->messages->node.self)
		return gompi_send_self_eager(r->vci, r);
	struct gompi_link *p = gompi_link_to(r->vci, r->world);
	if (gompi_is_remote(p) || r->mode == MODE_SYNCHRONOUS) {
		r->use_rendezvous = gompi_may_use_rendezvous(p, r, MAX_DOUBLE_COPY_BYTES);
		return !r->use_rendezvous && gompi_try_eager_any(p, r);
	}
	if (try_eager_polling(p, r))
		return true;
	r->use_rendezvous = gompi_may_use_rendezvous(p, r, MAX_QUEUED_BYTES);
	return false;
}
