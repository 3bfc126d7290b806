#include "fabric/open.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/go_callbacks.h"
#include "fabric/connect_back.h"
#include "fabric/doorbell.h"
#include "fabric/frame.h"
#include "fabric/health.h"
#include "fabric/net.h"
#include "fabric/peer.h"
#include "fabric/progress.h"
#include "fabric/progress_thread.h"
#include "ofi/ofi.h"
#include "tcp/tcp.h"
#include "ucx/ucx.h"

// The networks. The first one that suits this machine is used, unless the user requests another one.
static const struct gompi_net_ops *const networks[] = {&gompi_ofi_ops, &gompi_ucx_ops, &gompi_tcp_ops};
enum { NETWORKS = sizeof networks / sizeof *networks };

// Returns the network to which the provider with this name belongs. A name that is not the name of a network belongs to
// the network that has several providers.
static const struct gompi_net_ops *network_of(const char *name) {
	for (int i = 0; i < NETWORKS; i++)
		if (networks[i]->name != NULL && strcmp(networks[i]->name, name) == 0)
			return networks[i];
	return networks[0];
}

bool gompi_net_choose(const char *wanted, struct gompi_provider *chosen, char error_detail[GOMPI_NET_ERROR_BYTES]) {
	enum gompi_net_choice choice = NET_NOT_CHOSEN;
	if (wanted != NULL)
		return network_of(wanted)->choose(wanted, chosen, error_detail) == NET_CHOSEN;
	for (int i = 0; i < NETWORKS && choice == NET_NOT_CHOSEN; i++)
		choice = networks[i]->choose(NULL, chosen, error_detail);
	return choice == NET_CHOSEN;
}

int gompi_net_candidates(const char *wanted, struct gompi_candidate *list, int capacity,
			 char error_detail[GOMPI_NET_ERROR_BYTES]) {
	struct gompi_provider chosen;
	error_detail[0] = 0;
	const bool is_chosen = gompi_net_choose(wanted, &chosen, error_detail);
	int n = 0;
	for (int i = NETWORKS - 1; i >= 0; i--)
		n += networks[i]->list(is_chosen ? &chosen : NULL, wanted != NULL, list + n, capacity - n);
	return n;
}

// Callbacks for events of the network. The network calls them while the thread holds gompi_net.lock.
static void on_peer_failed(int rank) {
	int class;
	struct gompi_peer *p = gompi_peer_get(rank, &class);
	if (p != NULL)
		gompi_peer_mark_failed(p);
}

static void on_peer_unreachable(int rank) {
	int class;
	struct gompi_peer *p = gompi_peer_get(rank, &class);
	if (p == NULL)
		return;
	gompi_store(&p->is_unreachable, 1);
	gompi_peer_mark_failed(p);
}

static void host_name(int rank, char *name, int bytes) {
	if (gompi_go_callbacks.host_of != NULL)
		gompi_go_callbacks.host_of(rank, name, (size_t)bytes);
}

bool gompi_net_open(const struct gompi_provider *provider, struct gompi_net_endpoint *e,
		    char error_detail[GOMPI_NET_ERROR_BYTES]) {
	struct gompi_net *n = &gompi_net;
	n->ops = network_of(provider->name);
	if (!n->ops->open(provider, e, error_detail))
		return false;
	n->fd = e->fd;
	n->needs_local = e->needs_local;
	n->inject_bytes = e->inject_bytes;
	n->max_op_bytes = e->max_op_bytes;
	gompi_fabric_has_rdma = e->has_rdma;
	return true;
}

bool gompi_net_begin(const struct gompi_net_job *job, char error_detail[GOMPI_NET_ERROR_BYTES]) {
	static const struct gompi_net_events events = {.on_failed = on_peer_failed,
						       .on_unreachable = on_peer_unreachable,
						       .on_connect_back = gompi_connect_back_request,
						       .host_name = host_name};
	struct gompi_net *n = &gompi_net;
	n->size = job->size;
	n->capacity = job->size + job->max_added;
	gompi_records_reset();
	gompi_net_progress_open();
	if (!n->ops->begin(job, &events, error_detail))
		return false;
	bool ok = gompi_peers_open() && gompi_health_open(job->timeout_ns);
	gompi_frames_reset();
	ok = ok && gompi_net_post_receives();
	const char *reason = "out of memory";
	if (ok) {
		const int error = gompi_net_doorbell_open();
		ok = error == 0;
		reason = strerror(error);
	}
	if (!ok) {
		snprintf(error_detail, GOMPI_NET_ERROR_BYTES, "preparing the network failed: %s", reason);
		return false;
	}
	gompi_connect_back_open();
	gompi_net_poll_in_waits();
	gompi_store_release(&gompi_fabric_open_flag, true); // pairs with the acquire of gompi_fabric_is_open
	return true;
}

enum gompi_net_error gompi_net_add(const struct gompi_net_foreign *f) {
	if (f->peer < gompi_net.size || f->peer >= gompi_net.capacity)
		return NET_FAILED;
	gompi_net_lock();
	enum gompi_net_error error = gompi_net.ops->add(f);
	gompi_net_unlock();
	int class;
	struct gompi_peer *p = error == NET_SUCCESS ? gompi_peer_get(f->peer, &class) : NULL;
	if (p != NULL)
		p->was_connected = true; // if it refuses connections, it has ended
	return error;
}

// Returns true if a peer has not acknowledged all data, and can still do so.
static bool owes_acknowledgment(struct gompi_peer *p) {
	return gompi_load(&p->has_failed) == 0 && !gompi_process_has_ended(gompi_node.processes, p->rank) &&
	       gompi_peer_busy(p);
}

void gompi_net_drain(bool own_job, int limit_ms) {
	for (struct gompi_peer *p = gompi_peers_first(); p != NULL; p = p->next) {
		if ((p->rank < gompi_net.size) != own_job)
			continue;
		gompi_fabric_flush(p->rank); // queued records do not make a peer busy
		if (!owes_acknowledgment(p))
			continue;
		gompi_peer_probe(p); // the peer acknowledges at once
		int us = 20;
		for (int passed = 0; passed < 1000 * limit_ms && owes_acknowledgment(p);
		     passed += us, us = us < 1000 ? 2 * us : us)
			if (!gompi_fabric_progress())
				usleep((useconds_t)us);
	}
}

// Drops pending operations. After this call, threads that still wait no longer serve the network.
void gompi_net_end(void) {
	gompi_net_stop_polling();
	gompi_net_lock();
	gompi_net.fd = -1;
	gompi_net.ops->close();
	gompi_net_unlock();
}
