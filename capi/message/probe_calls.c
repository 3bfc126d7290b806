// Probes, and receives of messages that a matched probe has extracted (MPI-5.0 3.8).
#include "base/object_pool.h"
#include "base/poll.h"
#include "message/call.h"
#include "message/z_calls.h"

// The handles of extracted messages. They refer to struct gompi_message, which the VCIs own.
static struct gompi_object_pool message_handles = GOMPI_OBJECT_POOL(GOMPI_KIND_MESSAGE, struct gompi_message);

struct probe {
	struct gompi_vci *vci;
	uint64_t context, seen_arrived; // seen_arrived: unexpected_arrived at the last check
	int32_t source, tag;
	bool found, extract;
	struct gompi_message *message; // the extracted message
	uintptr_t comm;
	MPI_Status *status;
};

// Checks for a message, but only if one has arrived since the last check: nothing else can change the result.
static bool probe_check(struct probe *p) {
	uint64_t arrived = gompi_load_seq_cst(&p->vci->unexpected_arrived);
	if (p->found || arrived == p->seen_arrived)
		return p->found;
	p->seen_arrived = arrived;
	if (gompi_load(&p->vci->unexpected_count) == 0)
		return false;
	gompi_vci_lock(p->vci);
	struct gompi_message *m = gompi_probe_locked(p->vci, p->context, p->source, p->tag, p->extract);
	if (m != NULL) {
		p->found = true;
		if (p->extract) {
			p->message = m;
			m->comm = p->comm;
		}
		gompi_status_fill(p->status, m->entry.source, m->entry.tag, m->size, 0);
	}
	gompi_vci_unlock_progress(p->vci);
	return p->found;
}

static bool probe_check_progress(void *arg) {
	struct probe *p = arg;
	if (probe_check(p))
		return true;
	if (gompi_vci_has_work(p->vci))
		gompi_vci_progress(p->vci);
	return probe_check(p) || gompi_load(&p->vci->inbox_error) != 0;
}

// Checks the arguments. Returns true if the call is complete; then *rc is what it returns.
static bool probe_is_decided(const char *call, int source, int tag, MPI_Comm comm, struct probe *p, int *rc) {
	struct gompi_request r = {0};
	struct gompi_error_status v;
	struct gompi_envelope e = {call, NULL, 0, MPI_BYTE, source, tag, comm};
	if (gompi_call_check(&r, &e, true, &v) != MPI_SUCCESS) {
		*rc = gompi_call_raise(&v, call, comm);
		return true;
	}
	p->vci = r.vci;
	p->context = r.context;
	p->source = source;
	p->tag = tag;
	p->seen_arrived = UINT64_MAX;
	if (source != MPI_PROC_NULL)
		return false;
	gompi_status_fill(p->status, MPI_PROC_NULL, MPI_ANY_TAG, 0, 0);
	p->found = true;
	*rc = MPI_SUCCESS;
	return true;
}

// Creates a handle for the message that has been found, or stores MPI_MESSAGE_NO_PROC if it is from MPI_PROC_NULL.
// Returns what the call returns.
static int create_message_handle(const struct probe *p, const char *call, MPI_Comm comm, MPI_Message *message) {
	if (p->message == NULL) {
		*message = MPI_MESSAGE_NO_PROC;
		return MPI_SUCCESS;
	}
	gompi_biased_lock(&message_handles.lock);
	uintptr_t handle = gompi_handles_add(&message_handles.handles, p->message);
	gompi_biased_unlock(&message_handles.lock);
	if (handle == 0) {
		struct gompi_error_status v;
		gompi_set_error(&v, MPI_ERR_NO_MEM,
				"cannot create a message handle: the maximum of %d is reached, or out of memory",
				GOMPI_KIND_MAX_LIVE);
		return gompi_call_raise(&v, call, comm);
	}
	*message = (MPI_Message)handle;
	return MPI_SUCCESS;
}

static __attribute__((cold)) int raise_null_argument(const char *call, const char *text, MPI_Comm comm) {
	struct gompi_error_status v;
	gompi_set_error(&v, MPI_ERR_ARG, "%s", text);
	return gompi_call_raise(&v, call, comm);
}

static const char null_result_text[] = "a result pointer is NULL";

// Waits for a message. The caller has set whether it is extracted.
static int probe_blocking(struct probe *p, const char *call, int source, int tag, MPI_Comm comm) {
	struct gompi_messages *m = p->vci->messages;
	struct gompi_comm *c = gompi_comm_get(comm);
	struct gompi_wait_desc what = {.call = call,
				       .peer = source >= 0 ? gompi_ranks_at(&c->peers, source) : GOMPI_PEERS_ANY,
				       .tag = tag,
				       .object = (uintptr_t)comm,
				       .reason = GOMPI_FOR_MESSAGE};
	int rc = gompi_await(&gompi_messages_cell(m, m->node.local_index)->wait, probe_check_progress, p, &what);
	gompi_call_run_plans(m);
	if (p->found)
		return MPI_SUCCESS;
	return gompi_request_raise_failed(call, rc != MPI_SUCCESS ? rc : MPI_ERR_INTERN, (uintptr_t)comm);
}

int gompi_probe(int source, int tag, MPI_Comm comm, MPI_Status *status) {
	struct probe p = {.status = status};
	int rc;
	if (probe_is_decided("MPI_Probe", source, tag, comm, &p, &rc))
		return rc;
	return probe_blocking(&p, "MPI_Probe", source, tag, comm);
}
GOMPI_ENTRY(MPI_Probe, gompi_probe);

int gompi_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
	static const char call[] = "MPI_Mprobe";
	// A call that fails does not change status.
	struct probe p = {.status = message != NULL ? status : NULL, .extract = true, .comm = (uintptr_t)comm};
	int rc;
	bool is_decided = probe_is_decided(call, source, tag, comm, &p, &rc);
	if (is_decided && !p.found)
		return rc;
	if (message == NULL)
		return raise_null_argument(call, null_result_text, comm);
	if (!is_decided && (rc = probe_blocking(&p, call, source, tag, comm)) != MPI_SUCCESS)
		return rc;
	return create_message_handle(&p, call, comm, message);
}
GOMPI_ENTRY(MPI_Mprobe, gompi_mprobe);

// Checks for a message without waiting. null_text describes an error to raise if the other arguments are valid, or is
// NULL. Returns true if the call ends with *rc.
static inline bool probe_once(struct probe *p, const char *call, MPI_Comm comm, const char *null_text, int *flag,
			      int *rc) {
	struct gompi_comm *c = gompi_comm_get(comm);
	struct gompi_messages *m = gompi_load(&gompi_app_messages);
	bool is_decided = false;
	if (__builtin_expect(c != NULL && m != NULL, 1) &&
	    ((uint32_t)p->source < (uint32_t)c->peers.n || p->source == MPI_ANY_SOURCE) &&
	    (p->tag >= 0 || p->tag == MPI_ANY_TAG)) {
		p->vci = gompi_vci_of(m, c->id);
		p->context = c->id;
	} else {
		is_decided = probe_is_decided(call, p->source, p->tag, comm, p, rc);
		if (is_decided && !p->found)
			return true;
	}
	if (__builtin_expect(null_text != NULL, 0)) {
		*rc = raise_null_argument(call, null_text, comm);
		return true;
	}
	if (!is_decided && !probe_check(p) && gompi_test_progress())
		probe_check(p);
	*flag = p->found;
	if (p->found)
		gompi_poll_reset();
	else
		gompi_test_unsuccessful();
	return false;
}

int gompi_iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
	// A call that fails does not change status.
	struct probe p = {
		.status = flag != NULL ? status : NULL, .source = source, .tag = tag, .seen_arrived = UINT64_MAX};
	int rc;
	return probe_once(&p, "MPI_Iprobe", comm, flag == NULL ? "flag is NULL" : NULL, flag, &rc) ? rc : MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Iprobe, gompi_iprobe);

int gompi_improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
	static const char call[] = "MPI_Improbe";
	bool has_null = flag == NULL || message == NULL;
	struct probe p = {.status = has_null ? NULL : status,
			  .source = source,
			  .tag = tag,
			  .seen_arrived = UINT64_MAX,
			  .extract = true,
			  .comm = (uintptr_t)comm};
	int rc;
	if (probe_once(&p, call, comm, has_null ? null_result_text : NULL, flag, &rc))
		return rc;
	if (!p.found)
		return MPI_SUCCESS;
	rc = create_message_handle(&p, call, comm, message);
	*flag = rc == MPI_SUCCESS;
	return rc;
}
GOMPI_ENTRY(MPI_Improbe, gompi_improbe);

static int raise_invalid_message(const char *call, MPI_Message message) {
	return gompi_call_error(call, MPI_ERR_REQUEST,
				message == MPI_MESSAGE_NULL
					? "the message is MPI_MESSAGE_NULL"
					: "%#zx is not a message handle, or the message has been received",
				(size_t)message);
}

// Checks the arguments of a matched receive, fills in r, and removes the handle of the message. Stores the message in
// *m, or NULL for MPI_MESSAGE_NO_PROC. Returns true if the call ends with the error *rc.
static bool mrecv_is_invalid(const char *call, const void *buf, MPI_Count count, MPI_Datatype datatype,
			     MPI_Message *message, struct gompi_request *r, struct gompi_message **m, int *rc) {
	struct gompi_messages *messages = gompi_load(&gompi_app_messages);
	struct gompi_error_status v;
	if (messages == NULL || message == NULL) {
		*rc = gompi_call_error(call, MPI_ERR_ARG, "%s", null_result_text);
		return true;
	}
	bool is_no_proc = *message == MPI_MESSAGE_NO_PROC;
	*m = is_no_proc ? NULL : gompi_table_get(&message_handles.handles.table, (uintptr_t)*message);
	if (*m == NULL && !is_no_proc) {
		*rc = raise_invalid_message(call, *message);
		return true;
	}
	r->receive = true;
	r->vci = is_no_proc ? &messages->vci[0] : (*m)->vci;
	r->comm = is_no_proc ? 0 : (*m)->comm;
	r->peer = is_no_proc ? MPI_PROC_NULL : (*m)->entry.source;
	r->tag = is_no_proc ? MPI_ANY_TAG : (*m)->entry.tag;
	if ((is_no_proc || !gompi_buffer_simple(&r->buf, buf, count, datatype)) &&
	    gompi_buffer_check(&r->buf, buf, count, datatype, is_no_proc, &v) != MPI_SUCCESS) {
		*rc = gompi_request_raise(&v, call, r->comm);
		return true;
	}
	if (!is_no_proc) {
		gompi_biased_lock(&message_handles.lock);
		bool is_valid = gompi_table_get(&message_handles.handles.table, (uintptr_t)*message) == *m;
		if (is_valid)
			gompi_handles_remove(&message_handles.handles, (uintptr_t)*message);
		gompi_biased_unlock(&message_handles.lock);
		if (!is_valid) { // another thread has received it
			*rc = raise_invalid_message(call, *message);
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
	if (mrecv_is_invalid(call, buf, count, datatype, message, &r, &m, &rc))
		return rc;
	if (m == NULL) {
		gompi_status_fill(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, 0);
		return MPI_SUCCESS;
	}
	r.blocking = true;
	gompi_buffer_retain(&r.buf);
	gompi_vci_lock(r.vci);
	gompi_receive_message(r.vci, &r, m);
	gompi_vci_unlock_progress(r.vci);
	int class = gompi_receive_wait(&r, call);
	gompi_buffer_release(&r.buf);
	return gompi_finish_receive(&r, class, call, status);
}
GOMPI_ENTRY(MPI_Mrecv_c, gompi_mrecv_c);

int gompi_imrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request) {
	static const char call[] = "MPI_Imrecv";
	struct gompi_request s = {0};
	struct gompi_message *m;
	int rc;
	if (request == NULL)
		return gompi_null_result_error(call, GOMPI_ON_NONE, 0);
	if (mrecv_is_invalid(call, buf, count, datatype, message, &s, &m, &rc))
		return rc;
	if (m == NULL) {
		gompi_receive_proc_null(&s);
		return gompi_start_request(&s, call, request);
	}
	struct gompi_vci *l = s.vci;
	gompi_vci_lock(l);
	struct gompi_request *r = gompi_request_create_locked(l, &s, request);
	if (r != NULL)
		gompi_receive_message(l, r, m);
	gompi_vci_unlock_started(l);
	if (r == NULL)
		return gompi_raise_no_request(&s, call);
	gompi_call_run_plans(l->messages);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Imrecv_c, gompi_imrecv_c);
