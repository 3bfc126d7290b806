/* Proves, with a provider that this test pretends to be: one connection is asked for, however often something is sent;
 * of two requests that meet, the one of the lower rank becomes the connection, on both sides; requests of strangers,
 * damaged ones and those for a connection that exists are refused; a request that fails is made again, after a while;
 * what was connected and is not any longer is lost, and not asked for again. No endpoint is left behind. */
#include "unit.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#include "fabric/connect.h"
#include "fabric/load.h"

enum { ME = 2, RANKS = 5, NEIGHBOUR = 4 }; /* the neighbour is on this node */

/* --- The provider */

static struct endpoint {
	struct fid_ep ep; /* first */
	bool open, asked, accepted;
	int closed;
} ends[64];
static int ends_n, refuse_connect;
static int rejected, sent;
static char request[64]; /* the last one */
static size_t request_length;

static struct {
	uint32_t event;
	struct fi_eq_cm_entry e;
	char data[256];
	size_t length;
	int error;
} events[16];
static int events_n;

static int fake_close(struct fid *f) {
	struct endpoint *e = (struct endpoint *)f;
	CHECK(e->open, "an endpoint is closed twice");
	e->open = false;
	return 0;
}
static int fake_bind(struct fid *f, struct fid *to, uint64_t flags) { return 0; }
static int fake_control(struct fid *f, int command, void *arg) { return 0; }
static int fake_connect(struct fid_ep *ep, const void *to, const void *data, size_t length) {
	((struct endpoint *)ep)->asked = true;
	CHECK(length <= sizeof request, "a request of %zu bytes", length);
	memcpy(request, data, length);
	request_length = length;
	return refuse_connect;
}
static int fake_accept(struct fid_ep *ep, const void *data, size_t length) {
	((struct endpoint *)ep)->accepted = true;
	return 0;
}
static int fake_reject(struct fid_pep *pep, struct fid *handle, const void *data, size_t length) {
	rejected++;
	return 0;
}
static ssize_t fake_inject(struct fid_ep *ep, const void *data, size_t length, fi_addr_t to) {
	CHECK(((struct endpoint *)ep)->open, "something is sent through a closed endpoint");
	sent++;
	return 0;
}

static struct fi_ops fid_ops = {.close = fake_close, .bind = fake_bind, .control = fake_control};
static struct fi_ops_cm cm = {.connect = fake_connect, .accept = fake_accept, .reject = fake_reject};
static struct fi_ops_msg msg = {.inject = fake_inject};

static int fake_endpoint(struct fid_domain *d, struct fi_info *info, struct fid_ep **ep, void *context) {
	struct endpoint *e = &ends[ends_n++];
	e->ep = (struct fid_ep){.fid = {.ops = &fid_ops}, .cm = &cm, .msg = &msg};
	e->open = true;
	*ep = &e->ep;
	return 0;
}

static ssize_t fake_read(struct fid_eq *eq, uint32_t *event, void *to, size_t most, uint64_t flags) {
	if (events_n == 0)
		return -FI_EAGAIN;
	if (events[0].error != 0)
		return -FI_EAVAIL;
	*event = events[0].event;
	CHECK(most >= sizeof events[0].e + events[0].length, "room for %zu bytes of an event", most);
	memcpy(to, &events[0].e, sizeof events[0].e);
	memcpy((char *)to + sizeof events[0].e, events[0].data, events[0].length);
	ssize_t n = (ssize_t)(sizeof events[0].e + events[0].length);
	memmove(events, events + 1, (size_t)--events_n * sizeof *events);
	return n;
}
static ssize_t fake_error(struct fid_eq *eq, struct fi_eq_err_entry *e, uint64_t flags) {
	e->fid = events[0].e.fid;
	e->err = events[0].error;
	memmove(events, events + 1, (size_t)--events_n * sizeof *events);
	return sizeof *e;
}
static void free_info(struct fi_info *info) {}

static void provider(void) {
	static struct fi_ops_domain domain_ops = {.endpoint = fake_endpoint};
	static struct fi_ops_eq eq_ops = {.read = fake_read, .readerr = fake_error};
	static struct fid_domain domain = {.ops = &domain_ops};
	static struct fid_eq eq = {.ops = &eq_ops};
	static struct fid_pep listener = {.cm = &cm};
	static struct fid_ep receiver;
	static struct fid_cq cq;
	static char addresses[RANKS * 8];
	unit_node(2);
	struct gompi_node n = gompi_node;
	n.size = RANKS;
	n.rank = ME;
	gompi_node_open(&n, (int32_t[]){-1, -1, 0, -1, 1});
	gompi_libfabric.freeinfo = free_info;
	gompi_net.domain = &domain, gompi_net.events = &eq, gompi_net.listener = &listener;
	gompi_net.receiver = &receiver, gompi_net.cq = &cq, gompi_net.events_fd = 0;
	gompi_net.inject = 64;
	gompi_net.secret[0] = 0x0123456789abcdef, gompi_net.secret[1] = 42;
	gompi_net.addresses = addresses, gompi_net.address_bytes = 8;
	gompi_net.size = RANKS, gompi_net.rank = ME;
	CHECK(gompi_peers_open(), "opening");
}

/* --- Events */

static void happens(struct gompi_peer *p, uint32_t event, int error) {
	events[events_n].event = event;
	events[events_n].e = (struct fi_eq_cm_entry){.fid = &p->ep->fid};
	events[events_n].length = 0;
	events[events_n++].error = error;
	gompi_connections_serve();
}

/* Somebody asks for a connection, with the head of a frame changed by damage, and so many bytes of it and more. */
static size_t asked_with = sizeof(struct gompi_frame_head);
static void asks(int from, void (*damage)(struct gompi_frame_head *)) {
	static struct fi_info info;
	struct gompi_frame_head h = {
		.source = (uint32_t)from, .destination = ME, .length = sizeof h, .kind = GOMPI_FRAME_CONNECT};
	h.tag = gompi_frame_tag(&h);
	if (damage != NULL)
		damage(&h);
	events[events_n].event = FI_CONNREQ;
	events[events_n].e = (struct fi_eq_cm_entry){.info = &info};
	memcpy(events[events_n].data, &h, sizeof h);
	events[events_n].length = asked_with;
	events[events_n++].error = 0;
	gompi_connections_serve();
}

static struct endpoint *end_of(struct gompi_peer *p) { return (struct endpoint *)p->ep; }

static int open_ends(void) {
	int n = 0;
	for (int i = 0; i < ends_n; i++)
		n += ends[i].open;
	return n;
}

/* A peer that nothing is known of. */
static struct gompi_peer *fresh(int rank) {
	int class;
	struct gompi_peer *p = gompi_peer_of(rank, &class);
	CHECK(p != NULL, "peer %d", rank);
	if (p->ep != NULL)
		fi_close(&p->ep->fid);
	p->ep = NULL;
	if (p->connection == GOMPI_ASKED_FOR)
		happens(p, FI_SHUTDOWN, 0);
	p->connection = GOMPI_CLOSED;
	p->pause = p->next_try = 0;
	gompi_store(&p->gone, 0);
	return p;
}

/* --- What is proved */

static void asked_once(void) {
	struct gompi_peer *p = fresh(0);
	int before = ends_n;
	for (int i = 0; i < 5; i++)
		CHECK(gompi_peer_ask(p) != GOMPI_ASKED && sent == 0, "sent without a connection");
	CHECK(ends_n == before + 1 && end_of(p)->asked && gompi_connections_wait(), "%d requests", ends_n - before);
	struct gompi_frame_head h;
	memcpy(&h, request, sizeof h);
	CHECK(request_length == sizeof h && h.tag == gompi_frame_tag(&h) && h.source == ME && h.destination == 0,
	      "the request");
	happens(p, FI_CONNECTED, 0);
	CHECK(p->connection == GOMPI_OPEN && !gompi_connections_wait(), "connected");
	CHECK(gompi_peer_ask(p) == GOMPI_ASKED && sent == 1, "%d frames", sent);
}

static void both_ask(void) {
	struct gompi_peer *low = fresh(1), *high = fresh(3);
	gompi_peer_ask(low);
	gompi_peer_ask(high);
	struct endpoint *own_low = end_of(low), *own_high = end_of(high);
	int before = rejected;
	asks(1, NULL); /* of the lower rank: it counts */
	CHECK(!own_low->open && end_of(low) != own_low && end_of(low)->accepted && rejected == before, "lower rank");
	asks(3, NULL);
	CHECK(own_high->open && end_of(high) == own_high && rejected == before + 1, "higher rank");
	happens(low, FI_CONNECTED, 0);
	happens(high, FI_CONNECTED, 0);
	CHECK(low->connection == GOMPI_OPEN && high->connection == GOMPI_OPEN && !gompi_connections_wait(), "open");
	asks(1, NULL);
	CHECK(rejected == before + 2 && end_of(low)->open, "a second connection");
}

static void other_tag(struct gompi_frame_head *h) { h->tag ^= 1; }
static void other_kind(struct gompi_frame_head *h) { h->kind = GOMPI_FRAME_ASK, h->tag = gompi_frame_tag(h); }
static void other_rank(struct gompi_frame_head *h) { h->destination = 1, h->tag = gompi_frame_tag(h); }
static void no_rank(struct gompi_frame_head *h) { h->source = RANKS, h->tag = gompi_frame_tag(h); }
static void this_node(struct gompi_frame_head *h) { h->source = NEIGHBOUR, h->tag = gompi_frame_tag(h); }

static void strangers(void) {
	static void (*const damages[])(struct gompi_frame_head *) = {other_tag, other_kind, other_rank, no_rank,
								     this_node};
	fresh(0);
	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
		int before = rejected, ends_before = ends_n;
		asks(0, damages[i]);
		CHECK(rejected == before + 1 && ends_n == ends_before, "request %zu is taken", i);
	}
	static const size_t lengths[] = {0, 1, sizeof(struct gompi_frame_head) - 1, sizeof(struct gompi_frame_head) + 8,
					 256};
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		int before = rejected, ends_before = ends_n;
		asked_with = lengths[i];
		asks(0, NULL);
		CHECK(rejected == before + 1 && ends_n == ends_before, "a request of %zu bytes is taken", asked_with);
	}
	asked_with = sizeof(struct gompi_frame_head);
}

static void failing(void) {
	struct gompi_peer *p = fresh(3);
	gompi_peer_ask(p);
	int before = ends_n;
	happens(p, FI_NOTIFY, FI_ECONNREFUSED);
	CHECK(p->connection == GOMPI_CLOSED && p->ep == NULL && gompi_load(&p->gone) == 0, "refused");
	gompi_peer_ask(p);
	CHECK(ends_n == before && p->next_try > 0, "asked again at once");
	p->next_try = 1;
	refuse_connect = -FI_EHOSTUNREACH;
	gompi_peer_ask(p);
	refuse_connect = 0;
	CHECK(ends_n == before + 1 && p->connection == GOMPI_CLOSED && p->ep == NULL, "the second one");
	p->next_try = 1;
	gompi_peer_ask(p);
	happens(p, FI_CONNECTED, 0);
	CHECK(p->connection == GOMPI_OPEN && !gompi_connections_wait(), "the third one");
	before = ends_n;
	happens(p, FI_SHUTDOWN, 0);
	CHECK(p->connection == GOMPI_ENDED && gompi_load(&p->gone) != 0, "ended");
	sent = 0;
	gompi_peer_ask(p);
	asks(3, NULL);
	CHECK(ends_n == before && sent == 0, "asked for again");
}

int main(void) {
	provider();
	asked_once();
	both_ask();
	strangers();
	failing();
	for (int i = 0; i < RANKS; i++)
		if (gompi_peer_known(i) != NULL)
			fresh(i);
	CHECK(open_ends() == 0, "%d endpoints are left", open_ends());
	return unit_end();
}
