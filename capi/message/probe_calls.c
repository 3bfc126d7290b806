// Probes, and receives of messages that a matched probe has extracted (MPI-5.0 3.8).
#include "base/object_pool.h"
#include "base/poll.h"
#include "message/completion.h"
#include "message/z_calls.h"

// The handles of extracted messages. The VCIs own the struct gompi_message to which the handles refer.
static struct gompi_object_pool message_handles = GOMPI_OBJECT_POOL(GOMPI_KIND_MESSAGE, struct gompi_message);

struct probe {
	struct gompi_vci *vci;
	uint64_t context, seen_arrived; // seen_arrived: unexpected_arrived of the VCI at the last check
	int32_t source, tag;
	bool found, extract;
	bool out_of_handles; // the message has not been extracted, because it cannot get a handle
	MPI_Message handle;  // handle of the extracted message; MPI_MESSAGE_NO_PROC if the source is MPI_PROC_NULL
	uintptr_t comm;
	MPI_Status *status;
};

// Creates a handle for a message, and extracts the message. If no handle can be created, returns false and leaves the
// message among the unexpected messages. The caller holds the VCI's lock.
static bool extract_message(struct probe *p, struct gompi_message *m) {
	gompi_biased_lock(&message_handles.lock);
	p->handle = (MPI_Message)gompi_handles_add(&message_handles.handles, m);
	gompi_biased_unlock(&message_handles.lock);
	if (p->handle == 0)
		return false;
	m->comm = p->comm;
	gompi_message_extract(p->vci, p->context, m);
	return true;
}

// Searches for a matching message. Stores its status, and extracts it if p->extract is set. Does nothing if no message
// has arrived since the last check, because the result would be the same.
static bool probe_check(struct probe *p) {
	uint64_t arrived = gompi_load_seq_cst(&p->vci->unexpected_arrived);
	if (p->found || arrived == p->seen_arrived)
		return p->found;
	p->seen_arrived = arrived;
	if (gompi_load(&p->vci->unexpected_count) == 0)
		return false;
	gompi_vci_lock(p->vci);
	struct gompi_message *m = gompi_probe_locked(p->vci, p->context, p->source, p->tag);
	p->found = m != NULL;
	p->out_of_handles = p->found && p->extract && !extract_message(p, m);
	if (p->found && !p->out_of_handles)
		gompi_status_fill(p->status, m->entry.source, m->entry.tag, m->size, 0);
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

// Checks the arguments. Returns true if the call ends here, with result *rc: after an error, or if the source is
// MPI_PROC_NULL.
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

// Stores the handle of the extracted message, or raises an error if no handle was available. Returns the result of the
// MPI function.
static int store_message_handle(const struct probe *p, const char *call, MPI_Message *message) {
	if (p->out_of_handles)
		return gompi_request_error(call, p->comm, MPI_ERR_NO_MEM,
					   "cannot create a message handle: out of memory, or the maximum of %d "
					   "message handles is reached",
					   GOMPI_KIND_MAX_LIVE);
	*message = p->handle;
	return MPI_SUCCESS;
}

// Waits for a message. Extracts it if p->extract is set.
static int probe_blocking(struct probe *p, const char *call, int source, int tag, MPI_Comm comm) {
	struct gompi_messages *m = p->vci->messages;
	struct gompi_comm *c = gompi_comm_get(comm);
	struct gompi_wait_desc what = {.call = call,
				       .peer = source >= 0 ? gompi_ranks_at(&c->peers, source) : GOMPI_PEERS_ANY,
				       .tag = tag,
				       .object = (uintptr_t)comm,
				       .reason = GOMPI_FOR_MESSAGE};
	const struct gompi_request r = {.receive = true, .peer = source, .comm = (uintptr_t)comm};
	gompi_request_set_failures(&r, &what);
	int rc = gompi_await(&gompi_messages_cell(m, m->node.local_index)->wait, probe_check_progress, p, &what);
	gompi_call_run_plans(m);
	if (p->found)
		return MPI_SUCCESS;
	if (source == MPI_ANY_SOURCE && gompi_fault_class(rc, (uintptr_t)comm) == MPIX_ERR_PROC_FAILED)
		rc = MPIX_ERR_PROC_FAILED_PENDING;
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
	struct probe p = {.status = message != NULL ? status : NULL,
			  .extract = true,
			  .handle = MPI_MESSAGE_NO_PROC,
			  .comm = (uintptr_t)comm};
	int rc;
	bool is_decided = probe_is_decided(call, source, tag, comm, &p, &rc);
	if (is_decided && !p.found)
		return rc;
	if (message == NULL)
		return gompi_request_error(call, p.comm, MPI_ERR_ARG, "message is NULL");
	if (!is_decided && (rc = probe_blocking(&p, call, source, tag, comm)) != MPI_SUCCESS)
		return rc;
	return store_message_handle(&p, call, message);
}
GOMPI_ENTRY(MPI_Mprobe, gompi_mprobe);

// Returns true if the message of a probe can never arrive. The call then ends with *rc.
static __attribute__((noinline, cold)) bool probe_has_failed(const struct probe *p, const char *call, MPI_Comm comm,
							     int *rc) {
	const struct gompi_request r = {.receive = true, .peer = p->source, .comm = (uintptr_t)comm};
	struct gompi_stuck_entry place = {0};
	int class = gompi_fault_class(MPI_ERR_PROC_ABORTED, r.comm);
	if (class == MPI_ERR_PROC_ABORTED || gompi_request_failed_peer(&r, &place) == GOMPI_NONE_FAILED)
		return false;
	if (p->source == MPI_ANY_SOURCE && class == MPIX_ERR_PROC_FAILED)
		class = MPIX_ERR_PROC_FAILED_PENDING;
	*rc = gompi_request_raise_failed(call, class, r.comm);
	return true;
}

// Checks for a message without waiting. If an output argument is NULL, null_text is the text of the error, which is
// raised only if the other arguments are valid. Otherwise null_text is NULL. Returns true if the call ends with an
// error, whose return value is *rc.
static inline bool probe_once(struct probe *p, const char *call, MPI_Comm comm, const char *null_text, int *flag,
			      int *rc) {
	struct gompi_comm *c = gompi_comm_usable(comm);
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
		*rc = gompi_request_error(call, (uintptr_t)comm, MPI_ERR_ARG, "%s", null_text);
		return true;
	}
	if (!is_decided && !probe_check(p) && gompi_test_progress())
		probe_check(p);
	*flag = p->found;
	if (p->found) {
		gompi_poll_reset();
		return false;
	}
	gompi_test_unsuccessful();
	return gompi_must_check_failures() && probe_has_failed(p, call, comm, rc);
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
			  .handle = MPI_MESSAGE_NO_PROC,
			  .comm = (uintptr_t)comm};
	int rc;
	if (probe_once(&p, call, comm, has_null ? "flag or message is NULL" : NULL, flag, &rc))
		return rc;
	if (!p.found)
		return MPI_SUCCESS;
	rc = store_message_handle(&p, call, message);
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

// Checks the arguments of a matched receive, and fills in r. Stores the message in *m, or NULL for MPI_MESSAGE_NO_PROC.
// Returns true if the call ends with an error, whose return value is *rc.
static bool mrecv_is_invalid(const char *call, const void *buf, MPI_Count count, MPI_Datatype datatype,
			     MPI_Message *message, struct gompi_request *r, struct gompi_message **m, int *rc) {
	struct gompi_messages *messages = gompi_load(&gompi_app_messages);
	struct gompi_error_status v;
	if (messages == NULL || message == NULL) {
		*rc = gompi_call_error(call, MPI_ERR_ARG, "message is NULL");
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
	return false;
}

// Removes the handle of message m. Returns false if another thread has received the message meanwhile.
static bool remove_message_handle(MPI_Message message, const struct gompi_message *m) {
	gompi_biased_lock(&message_handles.lock);
	bool is_valid = gompi_table_get(&message_handles.handles.table, (uintptr_t)message) == m;
	if (is_valid)
		gompi_handles_remove(&message_handles.handles, (uintptr_t)message);
	gompi_biased_unlock(&message_handles.lock);
	return is_valid;
}

int gompi_mrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status) {
	static const char call[] = "MPI_Mrecv";
	struct gompi_request r = {0};
	struct gompi_message *m;
	int rc;
	if (mrecv_is_invalid(call, buf, count, datatype, message, &r, &m, &rc))
		return rc;
	if (m != NULL && !remove_message_handle(*message, m))
		return raise_invalid_message(call, *message);
	*message = MPI_MESSAGE_NULL;
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
		return gompi_null_argument_error(call, "request", GOMPI_ON_NONE, 0);
	if (mrecv_is_invalid(call, buf, count, datatype, message, &s, &m, &rc))
		return rc;
	if (m == NULL) {
		gompi_receive_proc_null(&s);
		rc = gompi_start_request(&s, call, request);
		if (rc == MPI_SUCCESS)
			*message = MPI_MESSAGE_NULL;
		return rc;
	}
	struct gompi_vci *l = s.vci;
	MPI_Request handle;
	gompi_vci_lock(l);
	struct gompi_request *r = gompi_request_create_locked(l, &s, &handle);
	const bool is_valid = r != NULL && remove_message_handle(*message, m);
	if (is_valid) {
		gompi_receive_message(l, r, m);
	} else if (r != NULL) {
		gompi_request_drop_handle(r);
		gompi_request_release(r);
	}
	gompi_vci_unlock_started(l);
	if (!is_valid)
		return r == NULL ? gompi_raise_no_request(call, s.comm) : raise_invalid_message(call, *message);
	*message = MPI_MESSAGE_NULL;
	*request = handle;
	gompi_call_run_plans(l->messages);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Imrecv_c, gompi_imrecv_c);
