// Probes (MPI-5.0 3.8.1). Matched ones are Go's (core/p2p/probe.go).
#include "base/poll.h"
#include "message/call.h"
#include "message/z_calls.h"

struct probe {
	struct gompi_lane *lane;
	uint64_t context, seen; // messages that had arrived when it was looked last
	int32_t source, tag;
	bool found;
	MPI_Status *status;
};

// Looks for a message, but only if one has arrived since the last look: nothing else can change the answer.
static bool look(struct probe *p) {
	uint64_t arrived = gompi_load_total(&p->lane->arrived);
	if (p->found || arrived == p->seen)
		return p->found;
	p->seen = arrived;
	if (gompi_load(&p->lane->kept) == 0)
		return false;
	gompi_lane_take(p->lane);
	struct gompi_message *m = gompi_probe_locked(p->lane, p->context, p->source, p->tag, false);
	if (m != NULL) {
		p->found = true;
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

// Checks the arguments. Returns true if the call is over already, with what it returns in *rc.
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

int gompi_probe(int source, int tag, MPI_Comm comm, MPI_Status *status) {
	struct probe p = {.status = status};
	int rc;
	if (over_already("MPI_Probe", source, tag, comm, &p, &rc))
		return rc;
	struct gompi_messages *m = p.lane->home;
	struct gompi_comm *c = gompi_comm_get(comm);
	struct gompi_waiting what = {.call = "MPI_Probe",
				     .peer = source >= 0 ? gompi_ranks_at(&c->peers, source) : GOMPI_PEERS_ANY,
				     .object = (uintptr_t)comm};
	rc = gompi_await(&gompi_messages_cell(m, m->node.me)->wait, look_and_serve, &p, &what);
	gompi_call_step(m);
	if (p.found)
		return MPI_SUCCESS;
	return gompi_request_gone("MPI_Probe", rc != MPI_SUCCESS ? rc : MPI_ERR_INTERN, (uintptr_t)comm);
}

int gompi_iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
	// A call that fails leaves status alone.
	struct probe p = {.status = flag != NULL ? status : NULL, .source = source, .tag = tag, .seen = UINT64_MAX};
	struct gompi_comm *c = gompi_comm_get(comm);
	struct gompi_messages *m = gompi_load(&gompi_messages_here);
	int rc;
	bool over = false;
	if (__builtin_expect(c != NULL && m != NULL && (uint32_t)source < (uint32_t)c->peers.n && tag >= 0, 1)) {
		p.lane = gompi_lane_of(m, c->id);
		p.context = c->id;
	} else {
		over = over_already("MPI_Iprobe", source, tag, comm, &p, &rc);
		if (over && !p.found)
			return rc;
	}
	if (flag == NULL) {
		struct gompi_verdict v;
		gompi_error(&v, MPI_ERR_ARG, "flag is NULL");
		return gompi_call_refuse(&v, "MPI_Iprobe", comm);
	}
	if (!over && !look(&p)) {
		gompi_message_progress();
		look(&p);
	}
	*flag = p.found;
	if (p.found)
		gompi_poll_over();
	else
		gompi_message_polled();
	return MPI_SUCCESS;
}
