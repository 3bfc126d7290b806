#define _GNU_SOURCE
#include "fabric/open.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/agent.h"
#include "fabric/connect.h"
#include "fabric/frame.h"
#include "fabric/health.h"
#include "fabric/net.h"
#include "fabric/peer.h"
#include "fabric/progress.h"

struct gompi_net gompi_net = {.fd = -1, .events_fd = -1};

// Providers that are left out unless somebody asks for them, and why.
static const struct {
	const char *name, *why;
} unfit[] = {
	{"net", "its reads need the target's threads, and its descriptor is always ready"},
	{"net;ofi_rxm", "its descriptor is always ready, which takes a core"},
	{"sockets", "milliseconds for each operation; no longer maintained"},
	{"udp;ofi_rxd", "it does not notice a dead peer, and is slow"},
	{"shm", "one node only"},
};

static const char *unfit_why(const char *name) {
	for (size_t i = 0; i < sizeof unfit / sizeof *unfit; i++)
		if (strcmp(unfit[i].name, name) == 0)
			return unfit[i].why;
	return NULL;
}

// The provider whose endpoints are connected one to one here, though another one could be put on top of it that does
// so by itself: that takes its time for each message and 14 MB a process, and splits what is longer than its buffers.
static const char connecting[] = "tcp";
static const char on_top[] = "tcp;ofi_rxm";

static bool connects(const char *name) { return name != NULL && strcmp(name, connecting) == 0; }

// What is asked of a provider. NULL: there is no memory.
static struct fi_info *net_hints(const char *name) {
	struct fi_info *h = gompi_libfabric.dupinfo(NULL);
	if (h == NULL)
		return NULL;
	h->caps = FI_MSG | FI_RMA;
	h->mode = FI_CONTEXT | FI_CONTEXT2;
	h->ep_attr->type = connects(name) ? FI_EP_MSG : FI_EP_RDM;
	if (connects(name))
		h->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	if (!connects(name)) // memory would belong to one of many
		h->domain_attr->mr_mode |= FI_MR_ENDPOINT;
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

// What fi_getinfo finds; NULL: why says what is wrong.
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
	snprintf(why, GOMPI_FABRIC_TEXT, "libfabric finds no provider%s%s%s%s that can carry MPI between nodes: %s",
		 name != NULL ? " " : "", name != NULL ? name : "", by_user != NULL ? " in FI_PROVIDER=" : "",
		 by_user != NULL ? by_user : "", gompi_libfabric_text(-rc));
	return NULL;
}

static bool fits(const struct fi_info *i) {
	return i->ep_attr->max_msg_size >= GOMPI_FRAME_BYTES && i->domain_attr->mr_key_size <= sizeof(uint64_t) &&
	       strlen(i->fabric_attr->prov_name) < GOMPI_PROVIDER;
}

// Chooses the provider below instead of the one on top, if it is there.
static void choose_connecting(struct gompi_provider *chosen) {
	char why[GOMPI_FABRIC_TEXT];
	struct fi_info *i = candidates(connecting, why);
	if (i == NULL)
		return;
	if (fits(i)) {
		chosen->version = i->fabric_attr->prov_version;
		snprintf(chosen->name, sizeof chosen->name, "%s", i->fabric_attr->prov_name);
	}
	gompi_libfabric.freeinfo(i);
}

bool gompi_net_choose(const char *wanted, struct gompi_provider *chosen, char why[GOMPI_FABRIC_TEXT]) {
	struct fi_info *all = candidates(wanted, why), *i;
	if (all == NULL)
		return false;
	bool asked = wanted != NULL;
	for (i = all; i != NULL; i = i->next)
		if (fits(i) && (asked || unfit_why(i->fabric_attr->prov_name) == NULL))
			break;
	if (i == NULL && getenv("FI_PROVIDER") != NULL) // all that the user wants
		for (i = all; i != NULL && !fits(i); i = i->next) {
		}
	if (i != NULL) {
		chosen->version = i->fabric_attr->prov_version;
		snprintf(chosen->name, sizeof chosen->name, "%s", i->fabric_attr->prov_name);
		if (!asked && strcmp(chosen->name, on_top) == 0)
			choose_connecting(chosen);
	} else {
		snprintf(why, GOMPI_FABRIC_TEXT,
			 "libfabric has no provider here that can carry MPI between nodes; gompi-info --fabric tells "
			 "why");
	}
	gompi_libfabric.freeinfo(all);
	return i != NULL;
}

static bool is_listed(const struct gompi_candidate *list, int n, const char *name) {
	for (int i = 0; i < n; i++)
		if (strcmp(list[i].provider.name, name) == 0)
			return true;
	return false;
}

// Lists those in all that are not yet in the list, which has n.
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
		c->why = c->taken            ? "the first that can do what is needed"
			 : lacks != NULL     ? lacks
			 : !fits(i)          ? "its messages are too short, or its keys too long"
			 : unfit_for != NULL ? unfit_for
					     : "it could be taken as well: GOMPIRMA_PROVIDER";
	}
	return n;
}

int gompi_net_candidates(const char *wanted, struct gompi_candidate *list, int most, char why[GOMPI_FABRIC_TEXT]) {
	struct gompi_provider chosen;
	struct fi_info *all;
	if (!gompi_libfabric_load(why))
		return 0;
	bool any = gompi_net_choose(wanted, &chosen, why);
	int n = 0;
	char none[GOMPI_FABRIC_TEXT]; // which is no error: FI_PROVIDER may leave it out
	if ((all = candidates(connecting, none)) != NULL) {
		n = list_new(all, any ? &chosen : NULL, list, n, 1, NULL);
		gompi_libfabric.freeinfo(all);
	}
	if ((all = candidates(NULL, why)) != NULL) {
		n = list_new(all, any ? &chosen : NULL, list, n, most, NULL);
		gompi_libfabric.freeinfo(all);
	}
	if (gompi_libfabric_getinfo(NULL, &all) == 0) {
		n = list_new(
			all, NULL, list, n, most,
			"no reliable endpoints without connections that have messages and access to remote memory");
		gompi_libfabric.freeinfo(all);
	}
	return n;
}

// Says which step of opening the endpoint has failed.
static bool open_failed(const char *step, const char *provider, int rc, char why[GOMPI_FABRIC_TEXT]) {
	snprintf(why, GOMPI_FABRIC_TEXT, "%s of libfabric's provider %s: %s", step, provider,
		 gompi_libfabric_text(-rc));
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

// Opens the endpoint that reaches all others: 0, or an error of libfabric.
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
	n->receiver = n->ep;
	return rc == 0 ? fi_getname(&n->ep->fid, address, length) : rc;
}

bool gompi_net_open(const struct gompi_provider *provider, char address[GOMPI_ADDRESS], size_t *length,
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
			 "rank 0 has chosen libfabric's provider %s in version %u.%u, which is %s%u.%u here: all nodes "
			 "of "
			 "a job need the same libfabric",
			 provider->name, FI_MAJOR(provider->version), FI_MINOR(provider->version),
			 i != NULL ? "" : "missing, ", FI_MAJOR(here), FI_MINOR(here));
		gompi_libfabric.freeinfo(all);
		return false;
	}
	n->info = gompi_libfabric.dupinfo(i);
	gompi_libfabric.freeinfo(all);
	if (n->info == NULL)
		return open_failed("copying the description", provider->name, -FI_ENOMEM, why);
	n->local_keys = (n->info->domain_attr->mr_mode & FI_MR_LOCAL) != 0;
	// A device must know the memory, or makes the keys.
	gompi_fabric_device = (n->info->domain_attr->mr_mode & (FI_MR_LOCAL | FI_MR_PROV_KEY | FI_MR_ENDPOINT)) != 0;
	n->inject = n->info->tx_attr->inject_size;
	n->most = n->info->ep_attr->max_msg_size;
	int rc = gompi_libfabric.fabric(n->info->fabric_attr, &n->fabric, NULL);
	if (rc != 0)
		return open_failed("opening the fabric", provider->name, rc, why);
	rc = fi_domain(n->fabric, n->info, &n->domain, NULL);
	if (rc != 0)
		return open_failed("opening the domain", provider->name, rc, why);
	*length = GOMPI_ADDRESS;
	rc = open_queue(n);
	if (rc == 0)
		rc = connects(provider->name) ? gompi_connect_open(address, length) : open_endpoint(address, length);
	return rc == 0 || open_failed("opening the endpoint", provider->name, rc, why);
}

bool gompi_net_begin(const struct gompi_net_job *job, char why[GOMPI_FABRIC_TEXT]) {
	struct gompi_net *n = &gompi_net;
	const size_t bytes = job->address_bytes * (size_t)job->size;
	n->addresses = malloc(bytes);
	n->address_bytes = job->address_bytes;
	n->size = job->size;
	n->rank = job->rank;
	memcpy(n->secret, job->secret, sizeof n->secret);
	int rc = -FI_ENOMEM;
	if (n->addresses != NULL && gompi_peers_open() && gompi_health_open(job->node_of, job->timeout)) {
		memcpy(n->addresses, job->addresses, bytes);
		rc = gompi_net_receive();
	}
	if (rc == 0)
		rc = -gompi_net_agent_open();
	if (rc != 0)
		return open_failed("preparing the endpoint", n->info->fabric_attr->prov_name, rc, why);
	gompi_net_serve_in_waits();
	gompi_fabric_open = true;
	return true;
}

// What is left is given up. A thread that still waits finds nothing to serve.
void gompi_net_end(void) {
	struct gompi_net *n = &gompi_net;
	gompi_net_stop_serving();
	gompi_net_take();
	const bool bound = (n->info->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0;
	if (bound)
		gompi_memory_end();
	if (n->ep == NULL) {
		gompi_connect_close();
	} else {
		fi_close(&n->ep->fid);
		fi_close(&n->av->fid);
	}
	if (!bound) // no endpoint receives there any longer
		gompi_memory_end();
	fi_close(&n->cq->fid);
	fi_close(&n->domain->fid);
	fi_close(&n->fabric->fid);
	n->fd = -1;
	gompi_net_give();
}
