// Sends (MPI-5.0 3.2, 3.4, 3.7, 3.9). Buffered sends: buffered.c.
#include "base/tuning.h"
#include "message/call.h"
#include "message/z_calls.h"

// Tries to send a message of the common kind to this process, which completes immediately. Returns true if it has been
// sent.
static bool self_quick(const struct gompi_envelope *e, enum gompi_mode mode) {
	struct gompi_request r;
	if (e->peer < 0 || e->tag < 0 ||
	    !gompi_call_quick_receive(&r, (void *)(uintptr_t)e->at, e->count, e->type, e->peer, e->tag, e->comm))
		return false;
	const struct gompi_comm *c = gompi_comm_get(e->comm);
	r.source = c->rank;
	r.mode = (uint8_t)mode;
	return gompi_ranks_at(&c->peers, e->peer) == r.lane->home->node.self && gompi_give_self(r.lane, &r);
}

// Handles all cases that send_as does not: an error, a message to this process or to MPI_PROC_NULL, a derived datatype,
// or a large message.
static __attribute__((noinline)) int send_closer(const struct gompi_envelope *e, enum gompi_mode mode) {
	if (self_quick(e, mode))
		return MPI_SUCCESS;
	struct gompi_request r = {0};
	struct gompi_verdict v;
	if (gompi_call_check(&r, e, false, &v) != MPI_SUCCESS)
		return gompi_call_refuse(&v, e->call, e->comm);
	if (e->peer == MPI_PROC_NULL)
		return MPI_SUCCESS;
	r.mode = (uint8_t)mode;
	r.blocking = true;
	if (r.world != r.lane->home->node.self && gompi_eager_anywhere(gompi_link_to(r.lane, r.world), &r))
		return MPI_SUCCESS;
	return gompi_send_blocking(&r, e->call);
}

static inline int send_as(const char *call, enum gompi_mode mode, const void *buf, int64_t count, MPI_Datatype datatype,
			  int dest, int tag, MPI_Comm comm) {
	struct gompi_request r;
	struct gompi_link *p = gompi_call_quick(&r, buf, count, datatype, dest, tag, comm);
	r.mode = (uint8_t)mode;
	if (__builtin_expect(p != NULL && gompi_eager(p, &r), 1))
		return MPI_SUCCESS;
	return send_closer(&(struct gompi_envelope){call, buf, count, datatype, dest, tag, comm}, mode);
}

// Protocol of nonblocking sends. Sizes in bytes.
//
// While the receiver's inbox has space, a nonblocking send is eager, like a blocking one. With 64 sends posted, one of
// 8 KiB takes 0.6 us that way and 3.0 us by process_vm_readv (16 KiB: 0.85 us and 3.6 us).
//
// A send of more than MOST_THAT_WAITS bytes that finds no space does not wait for space. It leaves its data in place
// until it is matched, if the receiver can read it there. Where both sides send first, and so fill both inboxes,
// waiting took 7.4 us for each message of 8 KiB, and reading 3.9 us.
//
// A send to another node or a synchronous send of more than MOST_COPIED_TWICE bytes leaves its data in place if the
// receiver can read it there (stays), even if there is space. Blocking sends of eager size never do, since programs
// rely on their completion before the receive.
enum { MOST_THAT_WAITS = 1024, MOST_COPIED_TWICE = 4096 };

static inline bool stays(const struct gompi_link *p, const struct gompi_request *r, int64_t most) {
	return r->buf.size > most && !r->lane->home->no_cma && gompi_load(&p->reads) != READS_REFUSED;
}

// Returns true if polling for space may soon succeed. Returns false if processes share cores, if other output is
// pending, if the receiver wants no data, or if polling at this head has already been unsuccessful.
static inline bool may_find_room(const struct gompi_link *p, uint64_t head) {
	return !gompi_node.policy.oversubscribed && gompi_load(&p->waiting) == 0 &&
	       gompi_load(&p->box->flow) == FLOW_ALONG && head != gompi_load(&p->full_at);
}

// Tries to send data eagerly to a process of this node, if necessary after handling the records that have arrived.
// Where both sides send first, each makes space for the other this way.
static bool goes_along(struct gompi_link *p, const struct gompi_request *r) {
	if (gompi_eager(p, r))
		return true;
	if (r->buf.size > RECORD_MOST_DATA)
		return false;
	uint64_t head = gompi_load(&p->box->head);
	for (int looks = may_find_room(p, head) ? GOMPI_ROOM_LOOKS : 1; looks > 0; looks--) {
		if (gompi_lane_ready(r->lane))
			gompi_lane_progress(r->lane);
		else
			gompi_pause();
		if (gompi_eager(p, r))
			return true;
	}
	gompi_store(&p->full_at, head);
	return false;
}

bool gompi_isend_over(struct gompi_request *r) {
	if (r->world == r->lane->home->node.self)
		return gompi_give_self(r->lane, r);
	struct gompi_link *p = gompi_link_to(r->lane, r->world);
	if (gompi_is_remote(p) || r->mode == MODE_SYNCHRONOUS) {
		r->stays = stays(p, r, MOST_COPIED_TWICE);
		return !r->stays && gompi_eager_anywhere(p, r);
	}
	if (goes_along(p, r))
		return true;
	r->stays = stays(p, r, MOST_THAT_WAITS);
	return false;
}

static __attribute__((noinline)) int isend_closer(const struct gompi_envelope *e, enum gompi_mode mode, bool persistent,
						  MPI_Request *request) {
	if (!persistent && request != NULL && self_quick(e, mode)) {
		*request = GOMPI_REQUEST_DONE;
		return MPI_SUCCESS;
	}
	struct gompi_request r = {0};
	struct gompi_verdict v;
	int class = gompi_call_check(&r, e, false, &v);
	if (class == MPI_SUCCESS && request == NULL)
		class = gompi_error(&v, MPI_ERR_ARG, "request is NULL");
	if (class != MPI_SUCCESS)
		return gompi_call_refuse(&v, e->call, e->comm);
	r.mode = (uint8_t)mode;
	bool over = e->peer == MPI_PROC_NULL;
	if (persistent) {
		r.persistent = true;
		gompi_store(&r.state, REQUEST_INACTIVE);
		over = false;
	} else if (!over) {
		over = gompi_isend_over(&r);
	}
	if (over) {
		*request = GOMPI_REQUEST_DONE;
		return MPI_SUCCESS;
	}
	return gompi_start_request(&r, e->call, request);
}

static inline int isend_as(const char *call, enum gompi_mode mode, const void *buf, int64_t count,
			   MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
	struct gompi_request r;
	struct gompi_link *p = gompi_call_quick(&r, buf, count, datatype, dest, tag, comm);
	r.mode = (uint8_t)mode;
	if (__builtin_expect(p != NULL && request != NULL && gompi_eager(p, &r), 1)) {
		*request = GOMPI_REQUEST_DONE;
		return MPI_SUCCESS;
	}
	return isend_closer(&(struct gompi_envelope){call, buf, count, datatype, dest, tag, comm}, mode, false,
			    request);
}

static int send_init(const char *call, enum gompi_mode mode, const void *buf, int64_t count, MPI_Datatype datatype,
		     int dest, int tag, MPI_Comm comm, MPI_Request *request) {
	if (gompi_init_quick(buf, count, datatype, dest, tag, comm, false, mode, request))
		return MPI_SUCCESS;
	return isend_closer(&(struct gompi_envelope){call, buf, count, datatype, dest, tag, comm}, mode, true, request);
}

int gompi_send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
	return send_as("MPI_Send", MODE_STANDARD, buf, count, datatype, dest, tag, comm);
}
GOMPI_ENTRY(MPI_Send_c, gompi_send_c);

int gompi_ssend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
	return send_as("MPI_Ssend", MODE_SYNCHRONOUS, buf, count, datatype, dest, tag, comm);
}
GOMPI_ENTRY(MPI_Ssend_c, gompi_ssend_c);

int gompi_rsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
	return send_as("MPI_Rsend", MODE_READY, buf, count, datatype, dest, tag, comm);
}
GOMPI_ENTRY(MPI_Rsend_c, gompi_rsend_c);

int gompi_isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
		  MPI_Request *request) {
	return isend_as("MPI_Isend", MODE_STANDARD, buf, count, datatype, dest, tag, comm, request);
}
GOMPI_ENTRY(MPI_Isend_c, gompi_isend_c);

int gompi_issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
		   MPI_Request *request) {
	return isend_as("MPI_Issend", MODE_SYNCHRONOUS, buf, count, datatype, dest, tag, comm, request);
}
GOMPI_ENTRY(MPI_Issend_c, gompi_issend_c);

int gompi_irsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
		   MPI_Request *request) {
	return isend_as("MPI_Irsend", MODE_READY, buf, count, datatype, dest, tag, comm, request);
}
GOMPI_ENTRY(MPI_Irsend_c, gompi_irsend_c);

int gompi_send_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
		      MPI_Request *request) {
	return send_init("MPI_Send_init", MODE_STANDARD, buf, count, datatype, dest, tag, comm, request);
}
GOMPI_ENTRY(MPI_Send_init_c, gompi_send_init_c);

int gompi_ssend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
		       MPI_Request *request) {
	return send_init("MPI_Ssend_init", MODE_SYNCHRONOUS, buf, count, datatype, dest, tag, comm, request);
}
GOMPI_ENTRY(MPI_Ssend_init_c, gompi_ssend_init_c);

int gompi_bsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
		       MPI_Request *request) {
	return send_init("MPI_Bsend_init", MODE_BUFFERED, buf, count, datatype, dest, tag, comm, request);
}
GOMPI_ENTRY(MPI_Bsend_init_c, gompi_bsend_init_c);

int gompi_rsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
		       MPI_Request *request) {
	return send_init("MPI_Rsend_init", MODE_READY, buf, count, datatype, dest, tag, comm, request);
}
GOMPI_ENTRY(MPI_Rsend_init_c, gompi_rsend_init_c);
