#define _GNU_SOURCE
#include "fabric/open.h"

#include <dirent.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/go_callbacks.h"
#include "fabric/doorbell.h"
#include "fabric/connect_back.h"
#include "fabric/frame.h"
#include "fabric/health.h"
#include "fabric/net.h"
#include "fabric/peer.h"
#include "fabric/progress.h"
#include "fabric/progress_thread.h"
#include "tcp/tcp.h"

// Providers that are used only if the user selects them, and the reasons.
static const struct {
	const char *name, *reason;
} unsuitable[] = {
	{"net", "its reads wait for the target's threads, and its progress thread occupies a core"},
	{"net;ofi_rxm", "its progress thread occupies a core, because its file descriptor is always ready"},
	{"sockets", "takes milliseconds for each operation; no longer maintained"},
	{"udp;ofi_rxd", "does not detect failed processes, and is slow"},
	{"shm", "works on one node only"},
};

static const char *unsuitable_reason(const char *name) {
	for (size_t i = 0; i < sizeof unsuitable / sizeof *unsuitable; i++)
		if (strcmp(unsuitable[i].name, name) == 0)
			return unsuitable[i].reason;
	return NULL;
}

// The name of gompirma's own provider, capi/tcp. It exists because libfabric's TCP providers connect to only one
// address of a host, and because libfabric takes a third of a second to start.
static const char builtin_name[] = "tcp";

static bool is_builtin_tcp(const char *name) { return name != NULL && strcmp(name, builtin_name) == 0; }

// Returns true if this provider of libfabric runs over TCP.
static bool is_tcp_based(const char *name) { return strncmp(name, builtin_name, strlen(builtin_name)) == 0; }

// Returns true if this machine has a network device that only libfabric can use. Without such a device, libfabric is
// not started, which would cost each process of a job 0.3 s of CPU time.
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

// Returns the value of FI_PROVIDER, by which a user selects a provider of libfabric. Returns NULL if the variable is
// not set, or if it selects a TCP provider, for which gompirma uses its own provider.
static const char *fi_provider_env(void) {
	const char *s = getenv("FI_PROVIDER");
	return s == NULL || *s == 0 || is_tcp_based(s) ? NULL : s;
}

static void choose_builtin(struct gompi_provider *chosen) {
	snprintf(chosen->name, sizeof chosen->name, "%s", builtin_name);
	chosen->version = GOMPI_TCP_VERSION;
}

// Returns the hints for fi_getinfo: gompirma's requirements for the provider with this name or, if the name is NULL,
// for any provider. Returns NULL if out of memory.
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

// Returns the list of providers that fi_getinfo finds. On error returns NULL and writes the reason to error_detail.
static struct fi_info *find_providers(const char *name, char error_detail[GOMPI_FABRIC_ERROR_BYTES]) {
	if (!gompi_libfabric_load(error_detail))
		return NULL;
	struct fi_info *hints = net_hints(name), *found = NULL;
	int rc = hints == NULL ? -FI_ENOMEM : gompi_libfabric_getinfo(hints, &found);
	if (hints != NULL)
		gompi_libfabric.freeinfo(hints);
	if (rc == 0)
		return found;
	const char *by_user = getenv("FI_PROVIDER");
	snprintf(error_detail, GOMPI_FABRIC_ERROR_BYTES,
		 "libfabric has no provider%s%s%s%s that supports MPI between nodes: %s", name != NULL ? " " : "",
		 name != NULL ? name : "", by_user != NULL ? " in FI_PROVIDER=" : "", by_user != NULL ? by_user : "",
		 gompi_libfabric_error_text(-rc));
	return NULL;
}

static bool is_usable_provider(const struct fi_info *i) {
	return i->ep_attr->max_msg_size >= GOMPI_FRAME_BYTES && i->domain_attr->mr_key_size <= sizeof(uint64_t) &&
	       strlen(i->fabric_attr->prov_name) < GOMPI_PROVIDER_NAME_BYTES;
}

bool gompi_net_choose(const char *wanted, struct gompi_provider *chosen, char error_detail[GOMPI_FABRIC_ERROR_BYTES]) {
	const char *requested = wanted != NULL ? wanted : fi_provider_env();
	choose_builtin(chosen);
	if (requested == NULL ? !has_device() || !gompi_libfabric_load(error_detail) : is_builtin_tcp(requested))
		return true;
	struct fi_info *all = find_providers(wanted, error_detail), *i;
	if (all == NULL)
		return requested == NULL;
	for (i = all; i != NULL; i = i->next)
		if (is_usable_provider(i) && (wanted != NULL || unsuitable_reason(i->fabric_attr->prov_name) == NULL))
			break;
	if (i == NULL && requested != NULL) // FI_PROVIDER has excluded all suitable providers, so use an unsuitable one
		for (i = all; i != NULL && !is_usable_provider(i); i = i->next) {
		}
	if (i != NULL && (requested != NULL || !is_tcp_based(i->fabric_attr->prov_name))) {
		chosen->version = i->fabric_attr->prov_version;
		snprintf(chosen->name, sizeof chosen->name, "%s", i->fabric_attr->prov_name);
	}
	gompi_libfabric.freeinfo(all);
	if (i != NULL || requested == NULL)
		return true;
	snprintf(error_detail, GOMPI_FABRIC_ERROR_BYTES,
		 "libfabric on this node has no provider %s that supports MPI between nodes; gompi-info --fabric "
		 "prints the reason",
		 requested);
	return false;
}

static bool is_listed(const struct gompi_candidate *list, int n, const char *name) {
	for (int i = 0; i < n; i++)
		if (strcmp(list[i].provider.name, name) == 0)
			return true;
	return false;
}

// Appends the providers of the list `all` that are not yet among the n entries of `list`. Returns the new number of
// entries.
static int append_candidates(const struct fi_info *all, const struct gompi_provider *chosen,
			     struct gompi_candidate *list, int n, int capacity, const char *missing) {
	for (const struct fi_info *i = all; i != NULL && n < capacity; i = i->next) {
		const char *name = i->fabric_attr->prov_name, *unfit_for = unsuitable_reason(name);
		if (is_listed(list, n, name))
			continue;
		struct gompi_candidate *c = &list[n++];
		snprintf(c->provider.name, sizeof c->provider.name, "%s", name);
		c->provider.version = i->fabric_attr->prov_version;
		c->is_chosen = chosen != NULL && strcmp(name, chosen->name) == 0;
		c->explanation = c->is_chosen      ? "the first suitable provider"
				 : missing != NULL ? missing
				 : !is_usable_provider(i)
					 ? "its maximum message size is too small, or its memory keys are too long"
				 : unfit_for != NULL ? unfit_for
						     : "suitable; select it with GOMPIRMA_PROVIDER";
	}
	return n;
}

int gompi_net_candidates(const char *wanted, struct gompi_candidate *list, int capacity,
			 char error_detail[GOMPI_FABRIC_ERROR_BYTES]) {
	struct gompi_provider chosen;
	struct fi_info *all;
	error_detail[0] = 0;
	const bool any = gompi_net_choose(wanted, &chosen, error_detail), taken = any && is_builtin_tcp(chosen.name);
	int n = 1;
	choose_builtin(&list[0].provider);
	list[0].is_chosen = taken;
	list[0].explanation =
		!taken ? "suitable; select it with GOMPIRMA_PROVIDER"
		: wanted != NULL
			? "gompirma's own provider, selected by GOMPIRMA_PROVIDER"
			: "gompirma's own provider; libfabric has no provider for a faster network of this node";
	char ignored_error[GOMPI_FABRIC_ERROR_BYTES]; // the error is ignored, because the job may not need libfabric
	if (!gompi_libfabric_load(ignored_error))
		return n;
	if ((all = find_providers(NULL, ignored_error)) != NULL) {
		n = append_candidates(all, any ? &chosen : NULL, list, n, capacity, NULL);
		gompi_libfabric.freeinfo(all);
	}
	if (gompi_libfabric_getinfo(NULL, &all) == 0) {
		n = append_candidates(all, NULL, list, n, capacity,
				      "no reliable datagram endpoints (FI_EP_RDM) with messages and RMA");
		gompi_libfabric.freeinfo(all);
	}
	return n;
}

// Writes the step that has failed and the error rc to error_detail. Returns false.
static bool open_failed(const char *step, const char *provider, int rc, char error_detail[GOMPI_FABRIC_ERROR_BYTES]) {
	snprintf(error_detail, GOMPI_FABRIC_ERROR_BYTES, "%s of provider %s failed: %s", step, provider,
		 gompi_net.is_builtin ? strerror(-rc) : gompi_libfabric_error_text(-rc));
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

// Callbacks for events of gompirma's own provider. The provider calls them while the thread holds gompi_net.lock.
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

// Opens gompirma's own provider.
static bool open_builtin(char address[GOMPI_ADDRESS_BYTES], size_t *length, char host[GOMPI_HOST_DATA_BYTES],
			 size_t *host_length, char error_detail[GOMPI_FABRIC_ERROR_BYTES]) {
	struct gompi_net *n = &gompi_net;
	struct gompi_tcp t;
	if (!gompi_tcp_open(&t, address, host, host_length, error_detail, GOMPI_FABRIC_ERROR_BYTES))
		return false;
	*length = GOMPI_TCP_PORT_BYTES;
	n->is_builtin = true;
	n->info = t.info;
	n->fabric = t.fabric;
	n->domain = t.domain;
	n->cq = t.cq;
	n->ep = t.ep;
	n->fd = t.fd;
	return true;
}

// Opens a provider of libfabric.
static bool open_provider(const struct gompi_provider *provider, char address[GOMPI_ADDRESS_BYTES], size_t *length,
			  char error_detail[GOMPI_FABRIC_ERROR_BYTES]) {
	struct gompi_net *n = &gompi_net;
	struct fi_info *all = find_providers(provider->name, error_detail), *i = all;
	if (all == NULL)
		return false;
	while (i != NULL && (!is_usable_provider(i) || strcmp(i->fabric_attr->prov_name, provider->name) != 0))
		i = i->next;
	if (i == NULL || i->fabric_attr->prov_version != provider->version) {
		char found[40] = "no such provider";
		if (i != NULL)
			snprintf(found, sizeof found, "version %u.%u", FI_MAJOR(i->fabric_attr->prov_version),
				 FI_MINOR(i->fabric_attr->prov_version));
		snprintf(error_detail, GOMPI_FABRIC_ERROR_BYTES,
			 "rank 0 uses libfabric's provider %s, version %u.%u; libfabric on this node has %s: install "
			 "the same libfabric on all nodes",
			 provider->name, FI_MAJOR(provider->version), FI_MINOR(provider->version), found);
		gompi_libfabric.freeinfo(all);
		return false;
	}
	n->info = gompi_libfabric.dupinfo(i);
	gompi_libfabric.freeinfo(all);
	if (n->info == NULL)
		return open_failed("fi_dupinfo", provider->name, -FI_ENOMEM, error_detail);
	int rc = gompi_libfabric.fabric(n->info->fabric_attr, &n->fabric, NULL);
	if (rc != 0)
		return open_failed("fi_fabric", provider->name, rc, error_detail);
	rc = fi_domain(n->fabric, n->info, &n->domain, NULL);
	if (rc != 0)
		return open_failed("fi_domain", provider->name, rc, error_detail);
	*length = GOMPI_ADDRESS_BYTES;
	rc = open_queue(n);
	if (rc == 0)
		rc = open_endpoint(address, length);
	return rc == 0 || open_failed("opening the endpoint", provider->name, rc, error_detail);
}

bool gompi_net_open(const struct gompi_provider *provider, char address[GOMPI_ADDRESS_BYTES], size_t *length,
		    char host[GOMPI_HOST_DATA_BYTES], size_t *host_length,
		    char error_detail[GOMPI_FABRIC_ERROR_BYTES]) {
	struct gompi_net *n = &gompi_net;
	*host_length = 0;
	if (is_builtin_tcp(provider->name) && provider->version != GOMPI_TCP_VERSION) {
		snprintf(error_detail, GOMPI_FABRIC_ERROR_BYTES,
			 "rank 0 uses version %u of gompirma's TCP protocol, this process version %u: install the same "
			 "gompirma on all nodes",
			 provider->version, GOMPI_TCP_VERSION);
		return false;
	}
	if (!(is_builtin_tcp(provider->name) ? open_builtin(address, length, host, host_length, error_detail)
					     : open_provider(provider, address, length, error_detail)))
		return false;
	n->needs_local_mr = (n->info->domain_attr->mr_mode & FI_MR_LOCAL) != 0;
	// A provider accesses memory with a device if it requires registration of local memory, chooses the keys
	// itself, or binds registrations to endpoints.
	gompi_fabric_has_rdma = (n->info->domain_attr->mr_mode & (FI_MR_LOCAL | FI_MR_PROV_KEY | FI_MR_ENDPOINT)) != 0;
	n->inject_bytes = n->info->tx_attr->inject_size;
	n->max_op_bytes = n->info->ep_attr->max_msg_size;
	return true;
}

// Passes the addresses of all processes to gompirma's own provider.
static bool begin_builtin(const struct gompi_net_job *job) {
	static const struct gompi_tcp_events events = {.on_failed = on_peer_failed,
						       .on_unreachable = on_peer_unreachable,
						       .on_connect_back = gompi_connect_back_request,
						       .host_name = host_name};
	const struct gompi_tcp_job t = {.size = job->size,
					.rank = job->rank,
					.nodes = job->nodes,
					.ports = job->addresses,
					.hosts = job->hosts,
					.host_offsets = job->host_offsets,
					.node_of = job->node_of,
					.secret = {job->secret[0], job->secret[1]},
					.timeout_ns = job->timeout_ns,
					.events = &events};
	return job->address_bytes == GOMPI_TCP_PORT_BYTES && gompi_tcp_begin(&t);
}

bool gompi_net_begin(const struct gompi_net_job *job, char error_detail[GOMPI_FABRIC_ERROR_BYTES]) {
	struct gompi_net *n = &gompi_net;
	const size_t bytes = job->address_bytes * (size_t)job->size;
	n->size = job->size;
	memcpy(n->secret, job->secret, sizeof n->secret);
	gompi_records_reset();
	gompi_net_progress_open();
	bool ok = gompi_peers_open() && gompi_health_open(job->timeout_ns);
	if (n->is_builtin) {
		ok = ok && begin_builtin(job);
		gompi_connect_back_open();
	} else if (ok && (ok = (n->addresses = realloc(n->addresses, bytes)) != NULL)) {
		n->address_bytes = job->address_bytes;
		memcpy(n->addresses, job->addresses, bytes);
	}
	int rc = ok ? gompi_net_post_receives() : -FI_ENOMEM;
	if (rc == 0)
		rc = -gompi_net_doorbell_open();
	if (rc != 0)
		return open_failed("preparing the endpoint", n->info->fabric_attr->prov_name, rc, error_detail);
	gompi_net_poll_in_waits();
	gompi_store_release(&gompi_fabric_open_flag, true); // pairs with the acquire of gompi_fabric_is_open
	return true;
}

// Drops pending operations. After this call, threads that still wait no longer serve the network.
void gompi_net_end(void) {
	struct gompi_net *n = &gompi_net;
	gompi_net_stop_polling();
	gompi_net_lock();
	n->fd = -1;
	if (n->is_builtin) {
		gompi_registrations_free();
		gompi_tcp_end();
		gompi_net_unlock();
		return;
	}
	const bool bound = (n->info->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0;
	if (bound)
		gompi_registrations_free();
	fi_close(&n->ep->fid);
	fi_close(&n->av->fid);
	if (!bound) // only now: the closed endpoint no longer accesses the memory
		gompi_registrations_free();
	fi_close(&n->cq->fid);
	fi_close(&n->domain->fid);
	fi_close(&n->fabric->fid);
	gompi_net_unlock();
}
