// Messages between processes: matching, the eager and rendezvous protocols, and their requests.
//
// Small messages are eager: their data is in the record (record.h), which goes through the receiver's inbox (inbox.h).
// The data of a large message stays at the sender until the message is matched (rendezvous). Then the receiver copies
// it directly from the sender's memory with process_vm_readv. If that is not possible, or the data has too many
// segments, the receiver asks the sender to send it in fragments. The copy is done by the receiver's progress thread,
// or by any thread of the receiver inside an MPI call. Between nodes the network carries the same records (remote.h),
// and the receiver reads the data of large messages over the network.
//
// Each section of this header declares the functions of one file. A section calls only the sections above it. The
// parameters r (request) and m (message) belong to the VCI l. The caller holds the lock of l unless a comment says
// otherwise.
#ifndef GOMPI_MESSAGE_MESSAGES_H
#define GOMPI_MESSAGE_MESSAGES_H

#include "base/minmax.h"
#include "base/poll.h"
#include "message/vci.h"

#pragma GCC visibility push(hidden)

// Output of records (record.c). The request r describes the send. The caller has filled in all fields except those that
// only the holder of the VCI's lock may access.

// Tries to send a small message without a lock or a request. Returns false if the message is not eager, if pending
// output or flow control prevents it, or if there is no space. gompi_try_eager sends to a peer on this node,
// gompi_try_eager_remote to a peer on another node.
bool gompi_try_eager(struct gompi_link *p, const struct gompi_request *r);
bool gompi_try_eager_remote(struct gompi_link *p, const struct gompi_request *r);
// Does what gompi_try_eager does, for contiguous data of at least INBOX_MIN_CHUNKED_BYTES bytes: the receiver can copy
// the first chunks before the last ones are written. A send takes 20 % longer if the receiver copies other messages.
bool gompi_try_eager_chunks(struct gompi_link *p, const struct gompi_request *r);
// Calls gompi_try_eager or gompi_try_eager_remote.
static inline bool gompi_try_eager_any(struct gompi_link *p, const struct gompi_request *r) {
	return gompi_is_remote(p) ? gompi_try_eager_remote(p, r) : gompi_try_eager(p, r);
}
// Publishes the record in reserved space. The caller has written all fields except the valid flag and the word.
void gompi_record_publish(struct gompi_link *p, struct gompi_reservation space, uint64_t word,
			  enum gompi_notify_mode mode);
// Sends a record. If the record can never be sent, completes w->send with an error. Returns false if there is no space.
bool gompi_pending_try_send(struct gompi_vci *l, struct gompi_link *p, struct gompi_pending *w);
// Assigns an id to a send, unless it has one. The receiver's answers carry this id.
static inline void gompi_send_assign_id(struct gompi_vci *l, struct gompi_request *r) {
	if (r->id != 0)
		return;
	r->id = gompi_id_add(&l->send_ids, r);
	r->peer_link->unacked_sends++;
	r->peer_link->needs_reminder = true;
}
// Completes a send and releases its id.
void gompi_send_complete(struct gompi_vci *l, struct gompi_request *r, int class);

// Pending output: records and fragments that wait for space (backlog.c).

// Sends a record now, or appends it to the link's pending records until there is space.
void gompi_post_record(struct gompi_vci *l, struct gompi_link *p, const struct gompi_pending *r);
// Removes the record of a send from the pending records. Returns true if it was among them.
bool gompi_unqueue_record(struct gompi_vci *l, struct gompi_request *r);
// Sends RECORD_CANCEL with these flags: asks the receiver of a send to drop its message.
void gompi_post_cancel(struct gompi_vci *l, const struct gompi_request *r, unsigned flags);
// Answers the sender of a message by RECORD_ACK (the message is matched, or its data has been read or cannot be read)
// or by RECORD_DROPPED. If doorbell is set, notifies the sender's progress thread. Otherwise the waiting thread of the
// sender finds the record by polling.
void gompi_send_answer(struct gompi_vci *l, int32_t to, enum gompi_record_kind kind, uint64_t id, bool doorbell,
		       int class);
// Starts the queued remote reads, and sends pending output to all peers. Returns true if a read was started or anything
// has been sent. Releases the lock temporarily.
bool gompi_flush_pending(struct gompi_vci *l);
// Sends pending output to one peer.
void gompi_flush_link(struct gompi_vci *l, struct gompi_link *p);
// Handles RECORD_CTS: the receiver asks for the data, which is then sent in fragments.
void gompi_handle_cts(struct gompi_vci *l, const struct gompi_record *h);

// Unexpected messages: those that arrive before their receive (unexpected.c).

// Returns a cleared message descriptor, from the free list or new. gompi_message_release returns it to the free list.
struct gompi_message *gompi_message_alloc(struct gompi_vci *l);
void gompi_message_release(struct gompi_vci *l, struct gompi_message *m);
// Replaces the data buffer of m by a buffer of at least n bytes. Returns false if out of memory; then the message has
// failed, and its receive raises the error.
bool gompi_message_grow(struct gompi_message *m, int64_t n);
static inline bool gompi_message_reserve(struct gompi_message *m, int64_t n) {
	return __builtin_expect(n <= m->data_capacity, 1) || gompi_message_grow(m, n);
}
// Appends m to the unexpected messages of q. gompi_remove_unexpected removes it. Both update flow control.
void gompi_add_unexpected(struct gompi_vci *l, struct gompi_queue *q, struct gompi_message *m);
void gompi_remove_unexpected(struct gompi_vci *l, struct gompi_queue *q, struct gompi_message *m);
// Handles RECORD_FLOW: a peer on another node asks this process to keep the data of its messages (FLOW_RENDEZVOUS), or
// to send eagerly again.
void gompi_handle_flow(struct gompi_vci *l, const struct gompi_record *h);
// Asks a peer on another node to keep the data of its messages, unless this process has already asked it.
void gompi_throttle_peer(struct gompi_vci *l, int32_t peer);
// Returns MPI_ERR_TRUNCATE if a message of size bytes does not fit into the buffer of r, else MPI_SUCCESS.
static inline int gompi_truncated(const struct gompi_request *r, int64_t size) {
	return __builtin_expect(size > r->buf.size, 0) ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}
// Completes r with a message of `size` bytes. The data is in the receive buffer, as far as it fits.
static inline void gompi_receive_copied(struct gompi_vci *l, struct gompi_request *r, int32_t source, int32_t tag,
					int64_t size) {
	r->size_or_receive_id = (uint64_t)size;
	r->result.source = source;
	r->result.tag = tag;
	r->result.cancelled = false;
	r->result.bytes = gompi_min_i64(size, r->buf.size);
	gompi_complete(l, r, gompi_truncated(r, size));
}
// Completes r with a message whose data is in memory of this process.
static inline void gompi_receive_data(struct gompi_vci *l, struct gompi_request *r, int32_t source, int32_t tag,
				      const char *data, int64_t size) {
	gompi_buffer_unpack(&r->buf, 0, data, gompi_min_i64(size, r->buf.size));
	gompi_receive_copied(l, r, source, tag, size);
}
// Completes r with an unexpected message whose data is in this process, and frees the message.
void gompi_deliver_unexpected(struct gompi_vci *l, struct gompi_request *r, struct gompi_message *m);

// Large messages (rendezvous.c).

// Starts the transfer of the data of m to the receive r.
void gompi_start_rendezvous(struct gompi_vci *l, struct gompi_request *r, struct gompi_message *m);
// Copies the data of the message that r has matched from the sender's memory, and completes r. If process_vm_readv does
// not work, asks the sender for fragments instead. Releases the lock during the copy.
void gompi_copy_matched(struct gompi_vci *l, struct gompi_request *r);
// Handles RECORD_FRAGMENT: a fragment of the data that this process has asked for.
void gompi_handle_fragment(struct gompi_vci *l, const struct gompi_record *h, const char *payload);

// Receiving (recv.c).

// Matches r with an unexpected message, or posts it.
void gompi_receive_locked(struct gompi_vci *l, struct gompi_request *r);
// Removes r from the posted receives.
void gompi_unpost_receive(struct gompi_vci *l, struct gompi_request *r);
// Handles RECORD_EAGER and RECORD_RTS: matches the message with a posted receive, or keeps it as unexpected.
void gompi_handle_message(struct gompi_vci *l, const struct gompi_record *h, const char *payload);
// Extracts a message from the unexpected messages of a context; then only gompi_receive_message can receive it.
void gompi_message_extract(struct gompi_vci *l, uint64_t context, struct gompi_message *m);
// Returns the message that a receive with this source and tag would match, or NULL.
struct gompi_message *gompi_probe_locked(struct gompi_vci *l, uint64_t context, int32_t source, int32_t tag);
// Receives into r a message that a matched probe has extracted.
void gompi_receive_message(struct gompi_vci *l, struct gompi_request *r, struct gompi_message *m);
// Copies chunks of the next record in the inbox into the receive r, while their sender writes the following chunks.
// Completes r if the record is a message that matches r. Does nothing if another thread holds the lock.
void gompi_vci_receive_chunks(struct gompi_vci *l, struct gompi_request *r);
// Handles RECORD_REMINDER: the sender waits until its earlier messages are received. Usually an MPI call that only
// starts an operation, such as MPI_Irecv, leaves the copies in the work list to a later call. After a reminder,
// gompi_vci_unlock_started performs these copies, so that the sender need not wait for a later call. This includes the
// copies of earlier messages that receives match only after the reminder.
void gompi_handle_reminder(struct gompi_vci *l, const struct gompi_record *h);

// Sending (send.c).

// Starts a send, which completes immediately or later.
void gompi_send_locked(struct gompi_vci *l, struct gompi_request *r);
// Handles RECORD_ACK: completes the send.
void gompi_handle_ack(struct gompi_vci *l, const struct gompi_record *h);
// Delivers a message to this process itself without a request. Returns true if the message is small and need not wait
// for its receive. Acquires the lock.
bool gompi_send_self_eager(struct gompi_vci *l, const struct gompi_request *r);
// Tries to send a small message to any process without a request. Returns true if it has been sent. The caller does not
// hold the lock.
static inline bool gompi_try_send(const struct gompi_request *s) {
	return s->world == s->vci->messages->node.self ? gompi_send_self_eager(s->vci, s)
						       : gompi_try_eager_any(gompi_link_to(s->vci, s->world), s);
}

// Cancellation (cancel.c); messages when a communicator is freed, and in MPI_Finalize (finish.c).

// Requests the cancellation of an active send or receive. A matched operation continues (cancel.c).
void gompi_cancel_locked(struct gompi_vci *l, struct gompi_request *r);
// Cancels a send. If the receiver knows of the message, sends a RECORD_CANCEL with these `flags` to the receiver.
void gompi_cancel_send(struct gompi_vci *l, struct gompi_request *r, unsigned flags);
// Removes the message that RECORD_CANCEL names from the unexpected messages, and sends RECORD_DROPPED to its sender.
// If a matched probe has extracted the message, fetches its data instead, so that the send completes.
void gompi_withdraw(struct gompi_vci *l, const struct gompi_record *h);
// Discards a message: frees m without receiving it. If its sender waits for an answer, reports this to the sender
// (RECORD_DROPPED or, for a send of this process to itself, gompi_send_dropped).
void gompi_message_drop(struct gompi_vci *l, struct gompi_message *m);
// Completes an active send to another process with an error class, and forgets it. Answers of the receiver are ignored
// afterwards.
void gompi_send_abandon(struct gompi_vci *l, struct gompi_request *r, int class);
struct gompi_comm;
// Revokes a communicator at all members (MPIX_Comm_revoke).
void gompi_revoke(struct gompi_comm *c);
// Handles RECORD_REVOKE: revokes the communicator, and forwards the record to all its members.
void gompi_handle_revoke(struct gompi_vci *l, const struct gompi_record *h);
// Handles RECORD_DROPPED: the receiver has discarded the message of send r without receiving it, because the sender has
// cancelled the send or the receiver has freed the communicator.
void gompi_send_dropped(struct gompi_vci *l, struct gompi_request *r);
// Handles RECORD_CANCEL: calls gompi_withdraw. If the sender is in MPI_Finalize and this process is not, this process
// calls gompi_withdraw only in MPI_Finalize, because the program may still receive the message.
void gompi_handle_cancel(struct gompi_vci *l, const struct gompi_record *h);
// Closes the queues of the n contexts from `context` on, whose communicator is being freed. Drops their unexpected
// messages, but keeps posted receives. Acquires the lock. gompi_close_context_locked closes the queues of one context;
// the caller holds the lock.
void gompi_close_contexts(struct gompi_messages *m, uint64_t context, int n);
void gompi_close_context_locked(struct gompi_vci *l, uint64_t context);
// Returns true if this process has no pending output, no unacknowledged send and no data to copy. MPI_Finalize repeats
// the call until it returns true. The call also cancels unacknowledged sends, so that messages that are never received
// do not keep this process in MPI_Finalize. A message may be dropped only after its receiver has entered MPI_Finalize:
// until then a call may still receive it. So for a receiver on this node, this process waits for that before it cancels
// the send. A receiver on another node itself defers the cancellation until it is in MPI_Finalize.
bool gompi_messages_flushed(struct gompi_messages *m);

// Progress (progress.c).

// Makes progress: handles records that have arrived, sends pending output, copies data of matched messages. Returns
// true if there was anything to do. Does not block: if another thread holds the lock, that thread makes the progress
// for this thread too. gompi_vci_progress serves one VCI, the other two functions serve all VCIs.
// gompi_messages_progress checks each VCI without the lock, and skips a VCI that has no work.
bool gompi_vci_progress(struct gompi_vci *l);
// Makes progress until the request r of the VCI is complete. Later records then stay in the inbox, so that their data
// need not be copied to unexpected messages.
void gompi_vci_progress_until(struct gompi_vci *l, const struct gompi_request *r);
bool gompi_messages_progress(struct gompi_messages *m);     // VCIs that may have work
bool gompi_messages_progress_all(struct gompi_messages *m); // all VCIs: required before a thread sleeps
// Makes progress on a VCI whose lock the caller holds. Releases the lock temporarily while it copies, and between
// fragments that it sends.
bool gompi_progress_locked(struct gompi_vci *l);
// Handles all records in the inbox, under the lock. Returns true if there were any.
bool gompi_vci_drain(struct gompi_vci *l);

// Handles records in the inbox until r, a receive that has just been started, has its data.
void gompi_vci_drain_until(struct gompi_vci *l, const struct gompi_request *r);
// Performs the action that a record asks for, under the lock. gompi_handle_record is for records from this node, and
// checks the rank of the sender. gompi_dispatch_record is for any record whose sender the caller has checked.
void gompi_handle_record(struct gompi_vci *l, const struct gompi_record *h, const char *payload);
void gompi_dispatch_record(struct gompi_vci *l, const struct gompi_record *h, const char *payload);
// Starts a receive, before any thread waits for its completion. A small receive leaves its message in the inbox. A
// later wait or test drains the whole inbox at once, which costs less than a drain in each call. A larger receive
// drains the inbox immediately, because its data would fill the inbox. If the message is only announced (RECORD_RTS),
// its data can then be read early.
static inline void gompi_irecv_locked(struct gompi_vci *l, struct gompi_request *r) {
	enum { DRAIN_THRESHOLD_BYTES = 1024 };
	int64_t size = r->buf.size;
	gompi_receive_locked(l, r);
	if (size > DRAIN_THRESHOLD_BYTES)
		gompi_vci_drain_until(l, r);
}
// Starts the send or receive that r describes.
static inline void gompi_start_locked(struct gompi_vci *l, struct gompi_request *r) {
	if (r->receive) {
		gompi_irecv_locked(l, r);
	} else {
		gompi_send_locked(l, r);
	}
}

// The messages of a process (messages.c). The caller holds no lock.

// Creates the message layer of the process that `node` describes. If no_cma is set, the message layer never uses
// process_vm_readv. Returns NULL, with errno set, if out of memory or if the system denies random bytes.
struct gompi_messages *gompi_messages_open(const struct gompi_node *node, bool no_cma);
// Frees the message layer. No thread may use it any longer.
void gompi_messages_close(struct gompi_messages *m);

// Returns the error class of the first damaged inbox, or MPI_SUCCESS if no inbox is damaged.
int gompi_messages_inbox_error(const struct gompi_messages *m);

// Makes m the message layer of the application, and registers it as a service of every wait.
void gompi_messages_attach(struct gompi_messages *m);
// Detaches the message layer from the application; waits no longer serve it.
void gompi_messages_detach(void);
// Reports that a package has requests that its own service advances (in_use is true), or has no such request any more.
// While any package has such requests, calls that test for requests also run the services.
void gompi_messages_use_services(bool in_use);

// Advances plans. Returns true if there was something to do.
bool gompi_messages_run_plans(struct gompi_messages *m);
// Notifies the receivers of all pending sends that this process waits for these sends. The receivers' progress threads
// then match and copy, even if their application threads compute. Waking a progress thread at each message would cost
// more than most messages do.
void gompi_messages_remind(struct gompi_messages *m);
// Makes progress for a call that must not wait. Returns false if there was nothing to do, so that no state has changed.
bool gompi_test_progress(void);
// Counts an unsuccessful call, such as MPI_Test, that programs repeat until it succeeds. A thread that repeats the call
// may be waiting. So one in GOMPI_TESTS_PER_LONG_WAIT unsuccessful calls of a thread reminds the receivers.
static inline void gompi_test_unsuccessful(void) {
	gompi_poll_idle();
	if (__builtin_expect(++gompi_poll.idle_tests % GOMPI_TESTS_PER_LONG_WAIT == 0, 0))
		gompi_messages_remind(gompi_load(&gompi_app_messages));
}

#pragma GCC visibility pop
#endif
