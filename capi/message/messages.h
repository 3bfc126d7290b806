// Messages between processes: matching, the eager and the rendezvous protocol, the requests they make.
//
// Small messages travel inside records (record.h), which go through the receiver's inbox (inbox.h). The data of large
// ones stays where it is until the message is matched; then the receiver copies it straight from the sender's memory,
// with process_vm_readv, or, where that is not possible or the data is in too many places, asks for it in pieces. Who
// copies is any thread of the receiver inside a call, or its progress thread. Processes on other nodes get the same
// records by the network (remote.h), and the data of large messages is read through it.
//
// Each part below calls those above it only. r and m are of l, whose lock is held unless something else is said.
#ifndef GOMPI_MESSAGE_MESSAGES_H
#define GOMPI_MESSAGE_MESSAGES_H

#include "base/poll.h"
#include "message/lane.h"

#pragma GCC visibility push(hidden)

// Records on their way out (record.c). r describes the send; all but the lock's part is filled in.

// Sends a small message without any lock or request, if nothing is in its way. Returns true if it has. gompi_eager:
// to a process of this node.
bool gompi_eager(struct gompi_link *p, const struct gompi_request *r);
bool gompi_eager_remote(struct gompi_link *p, const struct gompi_request *r);
static inline bool gompi_eager_anywhere(struct gompi_link *p, const struct gompi_request *r) {
	return gompi_is_remote(p) ? gompi_eager_remote(p, r) : gompi_eager(p, r);
}
// Sends the record in room that has been reserved; all but its seal and its word has been written.
void gompi_publish(struct gompi_link *p, struct gompi_room room, uint64_t word, enum gompi_notice notice);
// Sends a record, or ends the send that it is of because it never can be sent; false: there is no room.
bool gompi_put_record(struct gompi_lane *l, struct gompi_link *p, struct gompi_pending *w);
// Gives a send the number that its answers come to.
static inline void gompi_send_number(struct gompi_lane *l, struct gompi_request *r) {
	if (r->id != 0)
		return;
	r->id = gompi_number_add(&l->sends, r);
	r->to->unanswered++;
	r->to->unreminded = true;
}
// Completes a send, whose number is used no longer.
void gompi_send_finish(struct gompi_lane *l, struct gompi_request *r, int class);

// What waits for room (backlog.c).

// Sends a record, now or as soon as there is room, after all that waits for it already.
void gompi_post(struct gompi_lane *l, struct gompi_link *p, const struct gompi_pending *r);
// Takes the record of a send out of those that wait. Returns true if it was there.
bool gompi_unpost_record(struct gompi_lane *l, struct gompi_request *r);
// Asks the receiver of a send to give its message back, with flags of RECORD_CANCEL.
void gompi_post_cancel(struct gompi_lane *l, const struct gompi_request *r, unsigned flags);
// Tells the sender of a message that it is matched, that its data has been taken or could not be, or that it is gone;
// call says that its process is to look at once. Else who waits for an acknowledgement looks by itself.
void gompi_answer(struct gompi_lane *l, int32_t to, enum gompi_record_kind kind, uint64_t id, bool call, int class);
// Sends what waits for room, to all peers. Returns true if anything has left. It gives the lock away from time to
// time.
bool gompi_flush_behind(struct gompi_lane *l);
// The same to one.
void gompi_flush_link(struct gompi_lane *l, struct gompi_link *p);
// The receiver asks for the data, which goes out in pieces.
void gompi_clear_to_send(struct gompi_lane *l, const struct gompi_record *h);

// Messages that have come before their receive (unexpected.c).

struct gompi_message *gompi_message_take(struct gompi_lane *l);
void gompi_message_give(struct gompi_lane *l, struct gompi_message *m);
// Makes room for n bytes of data. Returns false if there is no memory: the message has failed, which its receive
// raises.
bool gompi_message_widen(struct gompi_message *m, int64_t n);
static inline bool gompi_message_room(struct gompi_message *m, int64_t n) {
	return __builtin_expect(n <= m->room, 1) || gompi_message_widen(m, n);
}
void gompi_keep_unexpected(struct gompi_lane *l, struct gompi_queue *q, struct gompi_message *m);
void gompi_take_unexpected(struct gompi_lane *l, struct gompi_queue *q, struct gompi_message *m);
// RECORD_FLOW: a peer on another node asks for its messages to be kept, or no longer.
void gompi_flow_asked(struct gompi_lane *l, const struct gompi_record *h);
// Asks a peer on another node for that, unless it has been asked.
void gompi_flow_ask(struct gompi_lane *l, int32_t peer);
// MPI_ERR_TRUNCATE for a message of size bytes that does not fit.
static inline int gompi_truncated(const struct gompi_request *r, int64_t size) {
	return __builtin_expect(size > r->buf.size, 0) ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}
// Completes r with a message whose data is here.
static inline void gompi_take_data(struct gompi_lane *l, struct gompi_request *r, int32_t source, int32_t tag,
				   const char *data, int64_t size) {
	int64_t n = size < r->buf.size ? size : r->buf.size;
	gompi_buffer_unpack(&r->buf, 0, data, n);
	r->full = (uint64_t)size;
	r->result.source = source;
	r->result.tag = tag;
	r->result.cancelled = false;
	r->result.bytes = n;
	gompi_complete(l, r, gompi_truncated(r, size));
}
// The same with a message that is kept, which goes.
void gompi_deliver_kept(struct gompi_lane *l, struct gompi_request *r, struct gompi_message *m);

// Large messages (rendezvous.c).

// Begins to move the data of m to the receive r.
void gompi_rendezvous(struct gompi_lane *l, struct gompi_request *r, struct gompi_message *m);
// Copies the data of a matched message. It gives the lock away meanwhile.
void gompi_pull_pieces(struct gompi_lane *l, struct gompi_request *r);
// A part of the data that has been asked for.
void gompi_piece(struct gompi_lane *l, const struct gompi_record *h, const char *payload);

// Receiving (recv.c).

// Matches r with a message that is there, or posts it.
void gompi_receive_locked(struct gompi_lane *l, struct gompi_request *r);
void gompi_unpost(struct gompi_lane *l, struct gompi_request *r);
void gompi_arrive(struct gompi_lane *l, const struct gompi_record *h, const char *payload);
// Probing: the message that a receive of that pattern would take, NULL if there is none; take: it is taken out, and
// will be received by gompi_receive_message only.
struct gompi_message *gompi_probe_locked(struct gompi_lane *l, uint64_t context, int32_t source, int32_t tag,
					 bool take);
void gompi_receive_message(struct gompi_lane *l, struct gompi_request *r, struct gompi_message *m);
// Handles RECORD_LOOK: a process waits for all of its sends that have arrived. The caller copies those that are
// matched, even if its call only starts something.
void gompi_wanted(struct gompi_lane *l, const struct gompi_record *h);

// Sending (send.c).

// Starts a send: it is complete at once, or later.
void gompi_send_locked(struct gompi_lane *l, struct gompi_request *r);
void gompi_acknowledged(struct gompi_lane *l, const struct gompi_record *h);
// Gives a message to this process itself without a request. Returns true if it was small, and need not wait for its
// receive. It takes the lock.
bool gompi_give_self(struct gompi_lane *l, const struct gompi_request *r);
// Sends a small message to anybody without a request, if nothing is in its way. Returns true if it has.
static inline bool gompi_send_at_once(const struct gompi_request *s) {
	return s->world == s->lane->home->node.self ? gompi_give_self(s->lane, s)
						    : gompi_eager_anywhere(gompi_link_to(s->lane, s->world), s);
}

// Cancelling (cancel.c), and the end of a communicator's messages and of a process' (finish.c).

void gompi_cancel_locked(struct gompi_lane *l, struct gompi_request *r);
// The same of a send, with flags of the record that asks for it.
void gompi_cancel_send(struct gompi_lane *l, struct gompi_request *r, unsigned flags);
// Takes the message that a record is about out of the unexpected ones for its sender.
void gompi_withdraw(struct gompi_lane *l, const struct gompi_record *h);
// Tells the sender of a message that this process no longer has it, and drops it.
void gompi_drop(struct gompi_lane *l, struct gompi_message *m);
// The receiver of a send no longer has its message: because it was asked to, or because it has freed the communicator.
void gompi_lost(struct gompi_lane *l, struct gompi_request *r);
// The sender of a message does not want it to be received any longer.
void gompi_unwanted(struct gompi_lane *l, const struct gompi_record *h);
// Ends the queues of n contexts of one communicator, which is freed. Their messages are dropped, their receives stay.
// It takes the lock; gompi_forget_locked: of one context, under the lock.
void gompi_messages_forget(struct gompi_messages *m, uint64_t context, int n);
void gompi_forget_locked(struct gompi_lane *l, uint64_t context);
enum { FINISHING = 2 }; // core/shm.State
// Returns true if nothing that this process has to send is left here. What nobody has received by the time that its
// receiver is in MPI_Finalize too is taken back.
bool gompi_messages_flushed(struct gompi_messages *m);

// Progress (progress.c).

// Takes what has arrived, sends what could not be sent before, copies data of matched messages. Returns true if there
// was anything to do. It does not block: if another thread is at it, that one does this thread's part as well.
bool gompi_lane_progress(struct gompi_lane *l);
bool gompi_messages_progress(struct gompi_messages *m);     // of the lanes that seem to have something to do
bool gompi_messages_progress_all(struct gompi_messages *m); // of all: before a thread sleeps
// The same of a lane whose lock the caller has. It gives that away while it copies, and between the pieces that it
// sends.
bool gompi_progress_locked(struct gompi_lane *l);
// Takes what has arrived, under the lock. Returns true if there was anything.
bool gompi_lane_drain(struct gompi_lane *l);

// The same for a receive that has just been started: until it has its data.
void gompi_lane_receive(struct gompi_lane *l, const struct gompi_request *r);
// Does what a record of another process of this node asks for, under the lock; gompi_do_record: of any, whose rank has
// been checked.
void gompi_handle_record(struct gompi_lane *l, const struct gompi_record *h, const char *payload);
void gompi_do_record(struct gompi_lane *l, const struct gompi_record *h, const char *payload);
// Starts a receive that nobody waits for yet. Few bytes are left in the inbox until somebody waits or tests: that takes
// in all that there are at once, which costs less than one at each call. More would fill it, and what is only announced
// can be fetched meanwhile.
static inline void gompi_irecv_locked(struct gompi_lane *l, struct gompi_request *r) {
	enum { FEW_BYTES = 1024 };
	int64_t size = r->buf.size;
	gompi_receive_locked(l, r);
	if (size > FEW_BYTES)
		gompi_lane_receive(l, r);
}
// Starts the send or receive that r describes.
static inline void gompi_start_locked(struct gompi_lane *l, struct gompi_request *r) {
	if (r->receive) {
		gompi_irecv_locked(l, r);
	} else {
		gompi_send_locked(l, r);
	}
}

// All messages of a process (messages.c), without any lock.

// Makes the messages of the process that node describes. NULL: there is no memory.
struct gompi_messages *gompi_messages_open(const struct gompi_node *node, bool no_cma);
void gompi_messages_close(struct gompi_messages *m);

// Makes them the application's, and part of every wait.
void gompi_messages_enter(struct gompi_messages *m);
void gompi_messages_leave(void);
// A room has requests under way that a service of its advances, or no longer: calls that test for requests serve, too,
// as long as one has.
void gompi_messages_watch(bool on);

// Lets operations of several messages go on. Returns true if there was something to do.
bool gompi_messages_step(struct gompi_messages *m);
// Reminds the receivers of all sends under way that this process waits for them, so that the progress threads of
// those that compute match and copy. To wake them with each message would cost more than most messages.
void gompi_messages_remind(struct gompi_messages *m);
// Makes progress for a call that must not wait. Returns false if there was nothing to do: all is as it was before.
bool gompi_message_progress(void);
// A call that programs repeat until it succeeds found nothing: it may be a wait.
static inline void gompi_message_polled(void) {
	gompi_polled();
	if (__builtin_expect(++gompi_poll.tests % GOMPI_TESTS_TO_WAIT == 0, 0))
		gompi_messages_remind(gompi_load(&gompi_messages_here));
}

#pragma GCC visibility pop
#endif
