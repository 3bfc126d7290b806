#define _GNU_SOURCE
#include "fabric/open.h"

#include <dirent.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/up.h"
#include "fabric/bell.h"
#include "fabric/call.h"
#include "fabric/frame.h"
#include "fabric/health.h"
#include "fabric/net.h"
#include "fabric/peer.h"
#include "fabric/progress.h"
#include "fabric/progress_thread.h"
#include "tcp/tcp.h"

// Providers that are used only if the user asks for them, and why.
static const struct {
	const char *name, *why;
} unfit[] = {
	{"net", "its reads need the target's threads, and its file descriptor is always ready"},
	{"net;ofi_rxm", "its file descriptor is always ready, so its progress thread occupies a core"},
	{"sockets", "takes milliseconds for each operation; no longer maintained"},
	{"udp;ofi_rxd", "does not detect failed processes, and is slow"},
	{"shm", "works on one node only"},
};

static const char *unfit_why(const char *name) {
	for (size_t i = 0; i < sizeof unfit / sizeof *unfit; i++)
		if (strcmp(unfit[i].name, name) == 0)
			return unfit[i].why;
	return NULL;
}

// The name of gompirma's own provider, capi/tcp, which needs no libfabric. libfabric's TCP providers connect to only
// one address of a host, and take a third of a second to start.
static const char own[] = "tcp";

static bool is_own_tcp(const char *name) { return name != NULL && strcmp(name, own) == 0; }

// Returns true if this provider of libfabric runs over TCP.
static bool by_tcp(const char *name) { return strncmp(name, own, strlen(own)) == 0; }

// Returns true if this machine has a network device that only libfabric can use. Starting libfabric costs each process
// of a job 0.3 s of CPU time.
static bool has_device(void) {
	static const char *const classes[] = {
		"infiniband", "infiniband_verbs", "cxi_user", "cxi", "hfi1", "hfi1_user", "psm3", "ipath", "gni",
		"usnic"};
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
		char path[64];
		snprintf(path, sizeof path, "/sys/class/%s", classes[i]);
		DIR *d = opendir(path);
		const struct dirent *e = NULL;
		while (d != NULL && (e = readdir(d)) != NULL &&
		       (e->d_name[0] == '.' || strcmp(e->d_name, "abi_version") == 0)) {
		}
		if (d != NULL)
			closedir(d);
		if (e != NULL)
			return true;
	}
	return false;
}

// Returns the provider that the user requests of libfabric (FI_PROVIDER). Returns NULL if there is none, or if
// gompirma's own provider does the same.
static const char *asked_of_libfabric(void) {
	const char *s = getenv("FI_PROVIDER");
	return s == NULL || *s == 0 || by_tcp(s) ? NULL : s;
}

static void choose_own(struct gompi_provider *chosen) {
	snprintf(chosen->name, sizeof chosen->name, "%s", own);
	chosen->version = GOMPI_TCP_VERSION;
}

// Returns the requirements for a provider. Returns NULL if out of memory.
static struct fi_info *net_hints(const char *name) {
	struct fi_info *h = gompi_libfabric.dupinfo(NULL);
	if (h == NULL)
		return NULL;
	h->caps = FI_MSG | FI_RMA;
	h->mode = FI_CONTEXT | FI_CONTEXT2;
	h->ep_attr->type = FI_EP_RDM;
	h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
	h->domain_attr->threading = FI_THREAD_DOMAIN;
	h->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->domain_attr->av_type = FI_AV_TABLE;
	h->tx_attr->msg_order = FI_ORDER_SAS;
	h->rx_attr->msg_order = FI_ORDER_SAS;
	if (name != NULL)
		h->fabric_attr->prov_name = strdup(name);
	return h;
}

// Returns the providers that fi_getinfo finds. Returns NULL, and the reason in why, on error.
static struct fi_info *candidates(const char *name, char why[GOMPI_FABRIC_TEXT]) {
	if (!gompi_libfabric_load(why))
		return NULL;
	struct fi_info *hints = net_hints(name), *found = NULL;
	int rc = hints == NULL ? -FI_ENOMEM : gompi_libfabric_getinfo(hints, &found);
	if (hints != NULL)
		gompi_libfabric.freeinfo(hints);
	if (rc == 0)
		return found;
	const char *by_user = getenv("FI_PROVIDER");
	snprintf(why, GOMPI_FABRIC_TEXT, "libfabric has no provider%s%s%s%s that supports MPI between nodes: %s",
		 name != NULL ? " " : "", name != NULL ? name : "", by_user != NULL ? " in FI_PROVIDER=" : "",
		 by_user != NULL ? by_user : "", gompi_libfabric_text(-rc));
	return NULL;
}

static bool fits(const struct fi_info *i) {
	return i->ep_attr->max_msg_size >= GOMPI_FRAME_BYTES && i->domain_attr->mr_key_size <= sizeof(uint64_t) &&
	       strlen(i->fabric_attr->prov_name) < GOMPI_PROVIDER;
}

bool gompi_net_choose(const char *wanted, struct gompi_provider *chosen, char why[GOMPI_FABRIC_TEXT]) {
	const char *asked = wanted != NULL ? wanted : asked_of_libfabric();
	choose_own(chosen);
	if (asked == NULL ? !has_device() || !gompi_libfabric_load(why) : is_own_tcp(asked))
		return true;
	struct fi_info *all = candidates(wanted, why), *i;
	if (all == NULL)
		return asked == NULL;
	for (i = all; i != NULL; i = i->next)
		if (fits(i) && (wanted != NULL || unfit_why(i->fabric_attr->prov_name) == NULL))
			break;
	if (i == NULL && asked != NULL) // the user has ruled out the others
		for (i = all; i != NULL && !fits(i); i = i->next) {
		}
	if (i != NULL && (asked != NULL || !by_tcp(i->fabric_attr->prov_name))) {
		chosen->version = i->fabric_attr->prov_version;
		snprintf(chosen->name, sizeof chosen->name, "%s", i->fabric_attr->prov_name);
	}
	gompi_libfabric.freeinfo(all);
	if (i != NULL || asked == NULL)
		return true;
	snprintf(why, GOMPI_FABRIC_TEXT,
		 "libfabric on this node has no provider %s that supports MPI between nodes; gompi-info --fabric "
		 "prints the reason",
		 asked);
	return false;
}

static bool is_listed(const struct gompi_candidate *list, int n, const char *name) {
	for (int i = 0; i < n; i++)
		if (strcmp(list[i].provider.name, name) == 0)
			return true;
	return false;
}

// Appends the providers in all that are not yet in the list of n entries. Returns the new number of entries.
static int list_new(const struct fi_info *all, const struct gompi_provider *chosen, struct gompi_candidate *list, int n,
		    int most, const char *lacks) {
	for (const struct fi_info *i = all; i != NULL && n < most; i = i->next) {
		const char *name = i->fabric_attr->prov_name, *unfit_for = unfit_why(name);
		if (is_listed(list, n, name))
			continue;
		struct gompi_candidate *c = &list[n++];
		snprintf(c->provider.name, sizeof c->provider.name, "%s", name);
		c->provider.version = i->fabric_attr->prov_version;
		c->taken = chosen != NULL && strcmp(name, chosen->name) == 0;
		c->why = c->taken            ? "the first suitable provider"
			 : lacks != NULL     ? lacks
			 : !fits(i)          ? "its maximum message size is too small, or its memory keys are too long"
			 : unfit_for != NULL ? unfit_for
					     : "suitable; select it with GOMPIRMA_PROVIDER";
	}
	return n;
}

int gompi_net_candidates(const char *wanted, struct gompi_candidate *list, int most, char why[GOMPI_FABRIC_TEXT]) {
	struct gompi_provider chosen;
	struct fi_info *all;
	why[0] = 0;
	const bool any = gompi_net_choose(wanted, &chosen, why), taken = any && is_own_tcp(chosen.name);
	int n = 1;
	choose_own(&list[0].provider);
	list[0].taken = taken;
	list[0].why = !taken           ? "suitable; select it with GOMPIRMA_PROVIDER"
		      : wanted != NULL ? "gompirma's own provider, selected by GOMPIRMA_PROVIDER"
				       : "gompirma's own provider; libfabric has no better network";
	char none[GOMPI_FABRIC_TEXT]; // not an error: libfabric may not be needed
	if (!gompi_libfabric_load(none))
		return n;
	if ((all = candidates(NULL, none)) != NULL) {
		n = list_new(all, any ? &chosen : NULL, list, n, most, NULL);
		gompi_libfabric.freeinfo(all);
	}
	if (gompi_libfabric_getinfo(NULL, &all) == 0) {
		n = list_new(all, NULL, list, n, most,
			     "no reliable datagram endpoints (FI_EP_RDM) with messages and RMA");
		gompi_libfabric.freeinfo(all);
	}
	return n;
}

// Writes to why which step of opening the endpoint has failed. Returns false.
static bool open_failed(const char *step, const char *provider, int rc, char why[GOMPI_FABRIC_TEXT]) {
	snprintf(why, GOMPI_FABRIC_TEXT, "%s of provider %s failed: %s", step, provider,
		 gompi_net.own ? strerror(-rc) : gompi_libfabric_text(-rc));
	return false;
}

static int open_queue(struct gompi_net *n) {
	struct fi_cq_attr a = {.format = FI_CQ_FORMAT_MSG,
			       .wait_obj = FI_WAIT_FD,
			       .size = n->info->tx_attr->size + n->info->rx_attr->size};
	n->fd = -1;
	int rc = fi_cq_open(n->domain, &a, &n->cq, NULL);
	if (rc == 0) {
		if (fi_control(&n->cq->fid, FI_GETWAIT, &n->fd) == 0)
			return 0;
		n->fd = -1;
		fi_close(&n->cq->fid);
	}
	a.wait_obj = FI_WAIT_NONE;
	return fi_cq_open(n->domain, &a, &n->cq, NULL);
}

// Opens the endpoint that reaches all peers. Returns 0, or an error of libfabric.
static int open_endpoint(char *address, size_t *length) {
	struct gompi_net *n = &gompi_net;
	struct fi_av_attr a = {.type = FI_AV_TABLE};
	int rc = fi_av_open(n->domain, &a, &n->av, NULL);
	if (rc == 0)
		rc = fi_endpoint(n->domain, n->info, &n->ep, NULL);
	if (rc == 0)
		rc = fi_ep_bind(n->ep, &n->av->fid, 0);
	if (rc == 0)
		rc = fi_ep_bind(n->ep, &n->cq->fid, FI_TRANSMIT | FI_RECV);
	if (rc == 0)
		rc = fi_enable(n->ep);
	return rc == 0 ? fi_getname(&n->ep->fid, address, length) : rc;
}

// Events of gompirma's own provider, called under gompi_net.lock.
static void peer_lost(int rank) {
	int class;
	struct gompi_peer *p = gompi_peer_of(rank, &class);
	if (p != NULL)
		gompi_peer_is_gone(p);
}

static void peer_unreachable(int rank) {
	int class;
	struct gompi_peer *p = gompi_peer_of(rank, &class);
	if (p == NULL)
		return;
	gompi_store(&p->unreachable, 1);
	gompi_peer_is_gone(p);
}

static void host_name(int rank, char *name, int bytes) {
	if (gompi_up.host_of != NULL)
		gompi_up.host_of(rank, name, (size_t)bytes);
}

// Opens gompirma's own provider.
static bool open_own(char address[GOMPI_ADDRESS], size_t *length, char host[GOMPI_HOST], size_t *host_length,
		     char why[GOMPI_FABRIC_TEXT]) {
	struct gompi_net *n = &gompi_net;
	struct gompi_tcp t;
	if (!gompi_tcp_open(&t, address, host, host_length, why, GOMPI_FABRIC_TEXT))
		return false;
	*length = GOMPI_TCP_PORT;
	n->own = true;
	n->info = t.info;
	n->fabric = t.fabric;
	n->domain = t.domain;
	n->cq = t.cq;
	n->ep = t.ep;
	n->fd = t.fd;
	return true;
}

// Opens a provider of libfabric.
static bool open_provider(const struct gompi_provider *provider, char address[GOMPI_ADDRESS], size_t *length,
			  char why[GOMPI_FABRIC_TEXT]) {
	struct gompi_net *n = &gompi_net;
	struct fi_info *all = candidates(provider->name, why), *i = all;
	if (all == NULL)
		return false;
	while (i != NULL && (!fits(i) || strcmp(i->fabric_attr->prov_name, provider->name) != 0))
		i = i->next;
	if (i == NULL || i->fabric_attr->prov_version != provider->version) {
		uint32_t here = i != NULL ? i->fabric_attr->prov_version : 0;
		snprintf(why, GOMPI_FABRIC_TEXT,
			 "rank 0 uses libfabric's provider %s, version %u.%u; on this node it is %s%u.%u: install the "
			 "same "
			 "libfabric on all nodes",
			 provider->name, FI_MAJOR(provider->version), FI_MINOR(provider->version),
			 i != NULL ? "version " : "missing, ", FI_MAJOR(here), FI_MINOR(here));
		gompi_libfabric.freeinfo(all);
		return false;
	}
	n->info = gompi_libfabric.dupinfo(i);
	gompi_libfabric.freeinfo(all);
	if (n->info == NULL)
		return open_failed("fi_dupinfo", provider->name, -FI_ENOMEM, why);
	int rc = gompi_libfabric.fabric(n->info->fabric_attr, &n->fabric, NULL);
	if (rc != 0)
		return open_failed("fi_fabric", provider->name, rc, why);
	rc = fi_domain(n->fabric, n->info, &n->domain, NULL);
	if (rc != 0)
		return open_failed("fi_domain", provider->name, rc, why);
	*length = GOMPI_ADDRESS;
	rc = open_queue(n);
	if (rc == 0)
		rc = open_endpoint(address, length);
	return rc == 0 || open_failed("opening the endpoint", provider->name, rc, why);
}

bool gompi_net_open(const struct gompi_provider *provider, char address[GOMPI_ADDRESS], size_t *length,
		    char host[GOMPI_HOST], size_t *host_length, char why[GOMPI_FABRIC_TEXT]) {
	struct gompi_net *n = &gompi_net;
	*host_length = 0;
	if (is_own_tcp(provider->name) && provider->version != GOMPI_TCP_VERSION) {
		snprintf(why, GOMPI_FABRIC_TEXT,
			 "rank 0 uses version %u of gompirma's TCP protocol, this process version %u: install the same "
			 "gompirma on all nodes",
			 provider->version, GOMPI_TCP_VERSION);
		return false;
	}
	if (!(is_own_tcp(provider->name) ? open_own(address, length, host, host_length, why)
					 : open_provider(provider, address, length, why)))
		return false;
	n->local_keys = (n->info->domain_attr->mr_mode & FI_MR_LOCAL) != 0;
	// The provider has a device if it requires registration of local memory, chooses the keys, or binds
	// registrations to endpoints.
	gompi_fabric_device = (n->info->domain_attr->mr_mode & (FI_MR_LOCAL | FI_MR_PROV_KEY | FI_MR_ENDPOINT)) != 0;
	n->inject = n->info->tx_attr->inject_size;
	n->most = n->info->ep_attr->max_msg_size;
	return true;
}

// Passes the addresses of all processes to gompirma's own provider.
static bool begin_own(const struct gompi_net_job *job) {
	static const struct gompi_tcp_events events = {
		.lost = peer_lost, .unreachable = peer_unreachable, .call = gompi_call_for, .host = host_name};
	const struct gompi_tcp_job t = {.size = job->size,
					.rank = job->rank,
					.nodes = job->nodes,
					.ports = job->addresses,
					.hosts = job->hosts,
					.host_at = job->host_at,
					.node_of = job->node_of,
					.secret = {job->secret[0], job->secret[1]},
					.timeout = job->timeout,
					.events = &events};
	return job->address_bytes == GOMPI_TCP_PORT && gompi_tcp_begin(&t);
}

bool gompi_net_begin(const struct gompi_net_job *job, char why[GOMPI_FABRIC_TEXT]) {
	struct gompi_net *n = &gompi_net;
	const size_t bytes = job->address_bytes * (size_t)job->size;
	n->size = job->size;
	memcpy(n->secret, job->secret, sizeof n->secret);
	gompi_records_open();
	gompi_net_progress_open();
	bool fine = gompi_peers_open() && gompi_health_open(job->timeout);
	if (n->own) {
		fine = fine && begin_own(job);
		gompi_call_open();
	} else if (fine && (fine = (n->addresses = realloc(n->addresses, bytes)) != NULL)) {
		n->address_bytes = job->address_bytes;
		memcpy(n->addresses, job->addresses, bytes);
	}
	int rc = fine ? gompi_net_receive() : -FI_ENOMEM;
	if (rc == 0)
		rc = -gompi_bell_open();
	if (rc != 0)
		return open_failed("preparing the endpoint", n->info->fabric_attr->prov_name, rc, why);
	gompi_net_serve_in_waits();
	gompi_store_release(&gompi_fabric_open, true); // pairs with the acquire of gompi_fabric_is_open
	return true;
}

// Drops pending operations. A thread that still waits finds nothing to serve.
void gompi_net_end(void) {
	struct gompi_net *n = &gompi_net;
	gompi_net_stop_serving();
	gompi_net_take();
	n->fd = -1;
	if (n->own) {
		gompi_memory_end();
		gompi_tcp_end();
		gompi_net_give();
		return;
	}
	const bool bound = (n->info->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0;
	if (bound)
		gompi_memory_end();
	fi_close(&n->ep->fid);
	fi_close(&n->av->fid);
	if (!bound) // the endpoint is closed, so it no longer receives into the memory
		gompi_memory_end();
	fi_close(&n->cq->fid);
	fi_close(&n->domain->fid);
	fi_close(&n->fabric->fid);
	gompi_net_give();
}
