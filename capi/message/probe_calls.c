// Probes, and receives of messages that a matched probe has extracted (MPI-5.0 3.8).
#include "base/objects.h"
#include "base/poll.h"
#include "message/call.h"
#include "message/z_calls.h"

// The handles of extracted messages. They refer to struct gompi_message, which the lanes own.
static struct gompi_objects handed_out = GOMPI_OBJECTS(GOMPI_KIND_MESSAGE, struct gompi_message);

struct probe {
	struct gompi_lane *lane;
	uint64_t context, seen; // seen: value of lane->arrived at the last check
	int32_t source, tag;
	bool found, take;
	struct gompi_message *message; // the extracted message
	uintptr_t comm;
	MPI_Status *status;
};

// Checks for a message, but only if one has arrived since the last check: nothing else can change the result.
static bool look(struct probe *p) {
	uint64_t arrived = gompi_load_total(&p->lane->arrived);
	if (p->found || arrived == p->seen)
		return p->found;
	p->seen = arrived;
	if (gompi_load(&p->lane->kept) == 0)
		return false;
	gompi_lane_take(p->lane);
	struct gompi_message *m = gompi_probe_locked(p->lane, p->context, p->source, p->tag, p->take);
	if (m != NULL) {
		p->found = true;
		if (p->take) {
			p->message = m;
			m->comm = p->comm;
		}
		gompi_status_fill(p->status, m->entry.source, m->entry.tag, m->size, 0);
	}
	gompi_lane_end(p->lane);
	return p->found;
}

static bool look_and_serve(void *arg) {
	struct probe *p = arg;
	if (look(p))
		return true;
	if (gompi_lane_ready(p->lane))
		gompi_lane_progress(p->lane);
	return look(p) || gompi_load(&p->lane->broken) != 0;
}

// Checks the arguments. Returns true if the call is complete; then *rc is what it returns.
static bool over_already(const char *call, int source, int tag, MPI_Comm comm, struct probe *p, int *rc) {
	struct gompi_request r = {0};
	struct gompi_verdict v;
	struct gompi_envelope e = {call, NULL, 0, MPI_BYTE, source, tag, comm};
	if (gompi_call_check(&r, &e, true, &v) != MPI_SUCCESS) {
		*rc = gompi_call_refuse(&v, call, comm);
		return true;
	}
	p->lane = r.lane;
	p->context = r.context;
	p->source = source;
	p->tag = tag;
	p->seen = UINT64_MAX;
	if (source != MPI_PROC_NULL)
		return false;
	gompi_status_fill(p->status, MPI_PROC_NULL, MPI_ANY_TAG, 0, 0);
	p->found = true;
	*rc = MPI_SUCCESS;
	return true;
}

// Creates a handle for the message that has been found, or stores MPI_MESSAGE_NO_PROC if it is from MPI_PROC_NULL.
// Returns what the call returns.
static int hand_out(const struct probe *p, const char *call, MPI_Comm comm, MPI_Message *message) {
	if (p->message == NULL) {
		*message = MPI_MESSAGE_NO_PROC;
		return MPI_SUCCESS;
	}
	gompi_biased_take(&handed_out.lock);
	uintptr_t handle = gompi_handles_add(&handed_out.handles, p->message);
	gompi_biased_give(&handed_out.lock);
	if (handle == 0) {
		struct gompi_verdict v;
		gompi_error(&v, MPI_ERR_NO_MEM,
			    "cannot create a message handle: the maximum of %d is reached, or out of memory",
			    GOMPI_KIND_MOST);
		return gompi_call_refuse(&v, call, comm);
	}
	*message = (MPI_Message)handle;
	return MPI_SUCCESS;
}

static __attribute__((cold)) int no_place_for(const char *call, const char *text, MPI_Comm comm) {
	struct gompi_verdict v;
	gompi_error(&v, MPI_ERR_ARG, "%s", text);
	return gompi_call_refuse(&v, call, comm);
}

static const char no_address[] = "a result pointer is NULL";

// Waits for a message. The caller has set whether it is extracted.
static int probe_blocking(struct probe *p, const char *call, int source, int tag, MPI_Comm comm) {
	struct gompi_messages *m = p->lane->home;
	struct gompi_comm *c = gompi_comm_get(comm);
	struct gompi_waiting what = {.call = call,
				     .peer = source >= 0 ? gompi_ranks_at(&c->peers, source) : GOMPI_PEERS_ANY,
				     .tag = tag,
				     .object = (uintptr_t)comm,
				     .reason = GOMPI_FOR_MESSAGE};
	int rc = gompi_await(&gompi_messages_cell(m, m->node.me)->wait, look_and_serve, p, &what);
	gompi_call_step(m);
	if (p->found)
		return MPI_SUCCESS;
	return gompi_request_gone(call, rc != MPI_SUCCESS ? rc : MPI_ERR_INTERN, (uintptr_t)comm);
}

int gompi_probe(int source, int tag, MPI_Comm comm, MPI_Status *status) {
	struct probe p = {.status = status};
	int rc;
	if (over_already("MPI_Probe", source, tag, comm, &p, &rc))
		return rc;
	return probe_blocking(&p, "MPI_Probe", source, tag, comm);
}
GOMPI_ENTRY(MPI_Probe, gompi_probe);

int gompi_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
	static const char call[] = "MPI_Mprobe";
	// A call that fails does not change status.
	struct probe p = {.status = message != NULL ? status : NULL, .take = true, .comm = (uintptr_t)comm};
	int rc;
	bool over = over_already(call, source, tag, comm, &p, &rc);
	if (over && !p.found)
		return rc;
	if (message == NULL)
		return no_place_for(call, no_address, comm);
	if (!over && (rc = probe_blocking(&p, call, source, tag, comm)) != MPI_SUCCESS)
		return rc;
	return hand_out(&p, call, comm, message);
}
GOMPI_ENTRY(MPI_Mprobe, gompi_mprobe);

// Checks for a message without waiting. wrong describes an error to raise if the other arguments are valid, or is NULL.
// Returns true if the call ends with *rc.
static inline bool probe_once(struct probe *p, const char *call, MPI_Comm comm, const char *wrong, int *flag, int *rc) {
	struct gompi_comm *c = gompi_comm_get(comm);
	struct gompi_messages *m = gompi_load(&gompi_messages_here);
	bool over = false;
	if (__builtin_expect(c != NULL && m != NULL, 1) &&
	    ((uint32_t)p->source < (uint32_t)c->peers.n || p->source == MPI_ANY_SOURCE) &&
	    (p->tag >= 0 || p->tag == MPI_ANY_TAG)) {
		p->lane = gompi_lane_of(m, c->id);
		p->context = c->id;
	} else {
		over = over_already(call, p->source, p->tag, comm, p, rc);
		if (over && !p->found)
			return true;
	}
	if (__builtin_expect(wrong != NULL, 0)) {
		*rc = no_place_for(call, wrong, comm);
		return true;
	}
	if (!over && !look(p) && gompi_message_progress())
		look(p);
	*flag = p->found;
	if (p->found)
		gompi_poll_over();
	else
		gompi_message_polled();
	return false;
}

int gompi_iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
	// A call that fails does not change status.
	struct probe p = {.status = flag != NULL ? status : NULL, .source = source, .tag = tag, .seen = UINT64_MAX};
	int rc;
	return probe_once(&p, "MPI_Iprobe", comm, flag == NULL ? "flag is NULL" : NULL, flag, &rc) ? rc : MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Iprobe, gompi_iprobe);

int gompi_improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
	static const char call[] = "MPI_Improbe";
	bool wrong = flag == NULL || message == NULL;
	struct probe p = {.status = wrong ? NULL : status,
			  .source = source,
			  .tag = tag,
			  .seen = UINT64_MAX,
			  .take = true,
			  .comm = (uintptr_t)comm};
	int rc;
	if (probe_once(&p, call, comm, wrong ? no_address : NULL, flag, &rc))
		return rc;
	if (!p.found)
		return MPI_SUCCESS;
	rc = hand_out(&p, call, comm, message);
	*flag = rc == MPI_SUCCESS;
	return rc;
}
GOMPI_ENTRY(MPI_Improbe, gompi_improbe);

static int no_message(const char *call, MPI_Message message) {
	return gompi_call_error(call, MPI_ERR_REQUEST,
				message == MPI_MESSAGE_NULL
					? "the message is MPI_MESSAGE_NULL"
					: "%#zx is not a message handle, or the message has been received",
				(size_t)message);
}

// Checks the arguments of a matched receive, fills in r, and removes the handle of the message. Stores the message in
// *m, or NULL for MPI_MESSAGE_NO_PROC. Returns true if the call ends with the error *rc.
static bool match_refused(const char *call, const void *buf, MPI_Count count, MPI_Datatype datatype,
			  MPI_Message *message, struct gompi_request *r, struct gompi_message **m, int *rc) {
	struct gompi_messages *here = gompi_load(&gompi_messages_here);
	struct gompi_verdict v;
	if (here == NULL || message == NULL) {
		*rc = gompi_call_error(call, MPI_ERR_ARG, "%s", no_address);
		return true;
	}
	bool nobody = *message == MPI_MESSAGE_NO_PROC;
	*m = nobody ? NULL : gompi_table_get(&handed_out.handles.table, (uintptr_t)*message);
	if (*m == NULL && !nobody) {
		*rc = no_message(call, *message);
		return true;
	}
	r->receive = true;
	r->lane = nobody ? &here->lane[0] : (*m)->lane;
	r->comm = nobody ? 0 : (*m)->comm;
	r->peer = nobody ? MPI_PROC_NULL : (*m)->entry.source;
	r->tag = nobody ? MPI_ANY_TAG : (*m)->entry.tag;
	if ((nobody || !gompi_buffer_simple(&r->buf, buf, count, datatype)) &&
	    gompi_buffer_check(&r->buf, buf, count, datatype, nobody, &v) != MPI_SUCCESS) {
		*rc = gompi_request_raise(&v, call, r->comm);
		return true;
	}
	if (!nobody) {
		gompi_biased_take(&handed_out.lock);
		bool there = gompi_table_get(&handed_out.handles.table, (uintptr_t)*message) == *m;
		if (there)
			gompi_handles_remove(&handed_out.handles, (uintptr_t)*message);
		gompi_biased_give(&handed_out.lock);
		if (!there) { // another thread has received it
			*rc = no_message(call, *message);
			return true;
		}
	}
	*message = MPI_MESSAGE_NULL;
	return false;
}

int gompi_mrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status) {
	static const char call[] = "MPI_Mrecv";
	struct gompi_request r = {0};
	struct gompi_message *m;
	int rc;
	if (match_refused(call, buf, count, datatype, message, &r, &m, &rc))
		return rc;
	if (m == NULL) {
		gompi_status_fill(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, 0);
		return MPI_SUCCESS;
	}
	r.blocking = true;
	gompi_buffer_hold(&r.buf);
	gompi_lane_take(r.lane);
	gompi_receive_message(r.lane, &r, m);
	gompi_lane_end(r.lane);
	int class = gompi_receive_posted(&r, call);
	gompi_buffer_drop(&r.buf);
	return gompi_finish_receive(&r, class, call, status);
}
GOMPI_ENTRY(MPI_Mrecv_c, gompi_mrecv_c);

int gompi_imrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request) {
	static const char call[] = "MPI_Imrecv";
	struct gompi_request s = {0};
	struct gompi_message *m;
	int rc;
	if (request == NULL)
		return gompi_no_place(call, GOMPI_ON_NONE, 0);
	if (match_refused(call, buf, count, datatype, message, &s, &m, &rc))
		return rc;
	if (m == NULL) {
		gompi_receive_nobody(&s);
		return gompi_start_request(&s, call, request);
	}
	struct gompi_lane *l = s.lane;
	gompi_lane_take(l);
	struct gompi_request *r = gompi_start_taken(l, &s, request);
	if (r != NULL)
		gompi_receive_message(l, r, m);
	gompi_lane_end_started(l);
	if (r == NULL)
		return gompi_call_no_request(&s, call);
	gompi_call_step(l->home);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Imrecv_c, gompi_imrecv_c);
