// Connections between two processes. Whoever has something to send asks for one; it is the same for both directions.
//
// A request says who sends it, with a tag that only the job's processes can make. Two may ask each other at the same
// time: the request of the lower rank is the one that counts. What is here is under the lock of the net.
#include "fabric/connect.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <string.h>

#include "base/node.h"
#include "base/wait.h"
#include "fabric/load.h"

enum {
	PAUSE_NS = 1000000, // after a request that has failed, twice as long each time
	PAUSE_MOST_NS = 100000000,
};

static gompi_a32 under_way; // connections that this process waits for
static atomic_flag serving = ATOMIC_FLAG_INIT;

enum { REQUEST_MOST = 256 }; // bytes that a provider lets through with a request, of whomever

bool gompi_connections_wait(void) { return gompi_load(&under_way) != 0; }

// --- The listening side

int gompi_connect_open(char *address, size_t *length) {
	struct gompi_net *n = &gompi_net;
	struct fi_eq_attr e = {.wait_obj = FI_WAIT_FD};
	int rc = fi_eq_open(n->fabric, &e, &n->events, NULL);
	if (rc == 0)
		rc = fi_control(&n->events->fid, FI_GETWAIT, &n->events_fd);
	if (rc == 0)
		rc = fi_srx_context(n->domain, n->info->rx_attr, &n->receiver, NULL);
	if (rc == 0)
		rc = fi_passive_ep(n->fabric, n->info, &n->listener, NULL);
	if (rc == 0)
		rc = fi_pep_bind(n->listener, &n->events->fid, 0);
	if (rc == 0)
		rc = fi_listen(n->listener);
	return rc == 0 ? fi_getname(&n->listener->fid, address, length) : rc;
}

static void close_endpoint(struct gompi_peer *p) {
	if (p->ep != NULL)
		fi_close(&p->ep->fid);
	p->ep = NULL;
}

void gompi_connect_close(void) {
	struct gompi_net *n = &gompi_net;
	for (struct gompi_peer *p = gompi_peers_first(); p != NULL; p = p->next) {
		close_endpoint(p);
		p->connection = GOMPI_ENDED;
	}
	fi_close(&n->listener->fid);
	fi_close(&n->receiver->fid);
	fi_close(&n->events->fid);
	n->events = NULL;
	n->events_fd = -1;
}

// --- Asking for one

static void set_connection(struct gompi_peer *p, enum gompi_connection to) {
	if (p->connection == GOMPI_ASKED_FOR)
		gompi_sub(&under_way, 1);
	if (to == GOMPI_ASKED_FOR)
		gompi_add(&under_way, 1);
	p->connection = to;
}

// Makes the endpoint of a connection: 0, or an error of libfabric.
static int make_endpoint(struct gompi_peer *p, struct fi_info *info) {
	struct gompi_net *n = &gompi_net;
	int rc = fi_endpoint(n->domain, info, &p->ep, NULL);
	if (rc != 0) {
		p->ep = NULL;
		return rc;
	}
	rc = fi_ep_bind(p->ep, &n->events->fid, 0);
	if (rc == 0)
		rc = fi_ep_bind(p->ep, &n->cq->fid, FI_TRANSMIT | FI_RECV);
	if (rc == 0)
		rc = fi_ep_bind(p->ep, &n->receiver->fid, 0);
	if (rc == 0)
		rc = fi_enable(p->ep);
	if (rc != 0)
		close_endpoint(p);
	return rc;
}

static void request_failed(struct gompi_peer *p) {
	close_endpoint(p);
	set_connection(p, GOMPI_CLOSED);
	p->pause = p->pause == 0 ? PAUSE_NS : p->pause < PAUSE_MOST_NS ? 2 * p->pause : p->pause;
	p->next_try = gompi_now_ns() + p->pause;
}

int gompi_connect(struct gompi_peer *p) {
	if (p->connection == GOMPI_OPEN)
		return 0;
	if (p->connection == GOMPI_ENDED)
		return -FI_ENOTCONN;
	if (p->connection == GOMPI_ASKED_FOR || (p->next_try != 0 && gompi_now_ns() < p->next_try))
		return -FI_EAGAIN;
	struct gompi_frame_head request = {.source = (uint32_t)gompi_net.rank,
					   .destination = (uint32_t)p->rank,
					   .length = sizeof request,
					   .kind = GOMPI_FRAME_CONNECT};
	request.tag = gompi_frame_tag(&request);
	set_connection(p, GOMPI_ASKED_FOR);
	int rc = make_endpoint(p, gompi_net.info);
	if (rc == 0)
		rc = fi_connect(p->ep, gompi_net.addresses + (size_t)p->rank * gompi_net.address_bytes, &request,
				sizeof request);
	if (rc != 0)
		request_failed(p);
	return -FI_EAGAIN;
}

// --- What becomes of them

// Who asks for a connection, NULL: nobody of the job.
static struct gompi_peer *who_asks(const void *data, size_t length) {
	struct gompi_frame_head h;
	int class;
	if (length != sizeof h)
		return NULL;
	memcpy(&h, data, sizeof h);
	if (gompi_frame_wrong((const char *)&h, sizeof h) != NULL || h.kind != GOMPI_FRAME_CONNECT)
		return NULL;
	return gompi_peer_of((int)h.source, &class);
}

// Accepts what p has asked for, or not.
static void answer_request(struct gompi_peer *p, struct fi_info *info) {
	bool take = p != NULL && gompi_load(&p->gone) == 0 &&
		    (p->connection == GOMPI_CLOSED || (p->connection == GOMPI_ASKED_FOR && p->rank < gompi_net.rank));
	if (take) {
		close_endpoint(p); // the own request
		set_connection(p, GOMPI_ASKED_FOR);
		take = make_endpoint(p, info) == 0 && fi_accept(p->ep, NULL, 0) == 0;
		if (!take)
			request_failed(p);
	}
	if (!take)
		fi_reject(gompi_net.listener, info->handle, NULL, 0);
	gompi_libfabric.freeinfo(info);
}

static struct gompi_peer *peer_with(const struct fid *endpoint) {
	for (struct gompi_peer *p = gompi_peers_first(); p != NULL; p = p->next)
		if (p->ep != NULL && &p->ep->fid == endpoint)
			return p;
	return NULL;
}

// An event of the connection to p, under the lock. Whether p is lost by it.
static bool take_event(struct gompi_peer *p, uint32_t event) {
	if (event == FI_CONNECTED) {
		set_connection(p, GOMPI_OPEN);
		return false;
	}
	if (p->connection != GOMPI_OPEN) {
		request_failed(p);
		return false;
	}
	set_connection(p, GOMPI_ENDED);
	return true;
}

// One event; false: there is none.
static bool serve_event(void) {
	struct {
		struct fi_eq_cm_entry e;
		char data[REQUEST_MOST];
	} in;
	struct fi_eq_err_entry failed = {0};
	uint32_t event;
	gompi_net_take();
	ssize_t n = gompi_net.events == NULL ? 0 : fi_eq_read(gompi_net.events, &event, &in, sizeof in, 0);
	const bool is_error = n == -FI_EAVAIL;
	if (is_error) {
		n = fi_eq_readerr(gompi_net.events, &failed, 0);
		event = FI_SHUTDOWN;
	}
	gompi_net_give();
	if (n <= 0)
		return false;
	const bool asks = event == FI_CONNREQ;
	struct gompi_peer *p = asks && (size_t)n > sizeof in.e ? who_asks(in.data, (size_t)n - sizeof in.e) : NULL;
	bool lost = false;
	gompi_net_take();
	if (asks)
		answer_request(p, in.e.info);
	else if ((p = peer_with(is_error ? failed.fid : in.e.fid)) != NULL)
		lost = take_event(p, event);
	gompi_net_give();
	if (lost)
		gompi_peer_is_gone(p);
	else if (p != NULL)
		gompi_peer_again(p);
	return true;
}

bool gompi_connections_serve(void) {
	if (gompi_net.events_fd < 0 || gompi_flag_take(&serving))
		return false;
	bool worked = false;
	while (serve_event())
		worked = true;
	gompi_flag_give(&serving);
	return worked;
}
