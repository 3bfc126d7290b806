// Which provider of libfabric a job uses.
#define _GNU_SOURCE
#include "ofi/choose.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/library.h"
#include "ofi/library.h"
#include "ofi/ofi.h"

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

// Returns true if this provider runs over TCP. libfabric's TCP providers connect to only one address of a host, and
// libfabric takes a third of a second to start, so a job uses tcp/ instead.
static bool is_tcp_based(const char *name) { return strncmp(name, "tcp", strlen("tcp")) == 0; }

// Returns true if this machine has a network device that only libfabric can use. Without such a device, libfabric is
// not started, which would cost each process of a job 0.3 s of CPU time.
static bool has_device(void) {
	static const char *const classes[] = {
		"infiniband", "infiniband_verbs", "cxi_user", "cxi", "hfi1", "hfi1_user", "psm3", "ipath", "gni",
		"usnic"};
	return gompi_has_network_device(classes, sizeof classes / sizeof *classes);
}

// Returns the value of FI_PROVIDER, by which a user selects a provider of libfabric. Returns NULL if the variable is
// not set, or if it selects a TCP provider.
static const char *fi_provider_env(void) {
	const char *s = getenv("FI_PROVIDER");
	return s == NULL || *s == 0 || is_tcp_based(s) ? NULL : s;
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

struct fi_info *gompi_ofi_find_providers(const char *name, char error_detail[GOMPI_NET_ERROR_BYTES]) {
	if (!gompi_libfabric_load(error_detail))
		return NULL;
	struct fi_info *hints = net_hints(name), *found = NULL;
	int rc = hints == NULL ? -FI_ENOMEM : gompi_libfabric_getinfo(hints, &found);
	if (hints != NULL)
		gompi_libfabric.freeinfo(hints);
	if (rc == 0)
		return found;
	const char *by_user = getenv("FI_PROVIDER");
	snprintf(error_detail, GOMPI_NET_ERROR_BYTES,
		 "libfabric has no provider%s%s%s%s that supports MPI between nodes: %s", name != NULL ? " " : "",
		 name != NULL ? name : "", by_user != NULL ? " in FI_PROVIDER=" : "", by_user != NULL ? by_user : "",
		 gompi_libfabric_error_text(-rc));
	return NULL;
}

bool gompi_ofi_is_usable(const struct fi_info *i) {
	return i->ep_attr->max_msg_size >= GOMPI_OFI_MIN_MESSAGE_BYTES &&
	       i->domain_attr->mr_key_size <= sizeof(uint64_t) &&
	       strlen(i->fabric_attr->prov_name) < GOMPI_PROVIDER_NAME_BYTES;
}

enum gompi_net_choice gompi_ofi_choose(const char *wanted, struct gompi_provider *chosen,
				       char error_detail[GOMPI_NET_ERROR_BYTES]) {
	const char *requested = wanted != NULL ? wanted : fi_provider_env();
	if (requested == NULL && (!has_device() || !gompi_libfabric_load(error_detail)))
		return NET_NOT_CHOSEN;
	struct fi_info *all = gompi_ofi_find_providers(wanted, error_detail), *i;
	if (all == NULL)
		return requested == NULL ? NET_NOT_CHOSEN : NET_UNAVAILABLE;
	for (i = all; i != NULL; i = i->next)
		if (gompi_ofi_is_usable(i) && (wanted != NULL || unsuitable_reason(i->fabric_attr->prov_name) == NULL))
			break;
	if (i == NULL && requested != NULL) // FI_PROVIDER has excluded all suitable providers, so use an unsuitable one
		for (i = all; i != NULL && !gompi_ofi_is_usable(i); i = i->next) {
		}
	const bool is_found = i != NULL && (requested != NULL || !is_tcp_based(i->fabric_attr->prov_name));
	if (is_found) {
		chosen->version = i->fabric_attr->prov_version;
		snprintf(chosen->name, sizeof chosen->name, "%s", i->fabric_attr->prov_name);
	}
	gompi_libfabric.freeinfo(all);
	if (is_found)
		return NET_CHOSEN;
	if (requested == NULL)
		return NET_NOT_CHOSEN;
	snprintf(error_detail, GOMPI_NET_ERROR_BYTES,
		 "libfabric on this node has no provider %s that supports MPI between nodes; gompi-info --fabric "
		 "prints the reason",
		 requested);
	return NET_UNAVAILABLE;
}

static bool is_listed(const struct gompi_candidate *list, int n, const char *name) {
	for (int i = 0; i < n; i++)
		if (strcmp(list[i].provider.name, name) == 0)
			return true;
	return false;
}

// Appends the providers of the list `all` that are not yet among the n entries of `list`. Returns the new number of
// entries. The argument `missing` is the reason why none of them can be used, or NULL.
static int append_candidates(const struct fi_info *all, const struct gompi_provider *chosen,
			     struct gompi_candidate *list, int n, int capacity, const char *missing) {
	for (const struct fi_info *i = all; i != NULL && n < capacity; i = i->next) {
		const char *name = i->fabric_attr->prov_name, *unfit_for = unsuitable_reason(name);
		if (strcmp(name, "tcp") == 0 || is_listed(list, n, name)) // "tcp" is the name of gompirma's own network
			continue;
		struct gompi_candidate *c = &list[n++];
		snprintf(c->provider.name, sizeof c->provider.name, "%s", name);
		c->provider.version = i->fabric_attr->prov_version;
		c->is_chosen = missing == NULL && chosen != NULL && strcmp(name, chosen->name) == 0;
		c->explanation = c->is_chosen      ? "the first suitable provider"
				 : missing != NULL ? missing
				 : !gompi_ofi_is_usable(i)
					 ? "its maximum message size is too small, or its memory keys are too long"
				 : unfit_for != NULL ? unfit_for
						     : "suitable; select it with GOMPIRMA_PROVIDER";
	}
	return n;
}

int gompi_ofi_list(const struct gompi_provider *chosen, bool wanted, struct gompi_candidate *list, int capacity) {
	struct fi_info *all;
	int n = 0;
	char ignored_error[GOMPI_NET_ERROR_BYTES]; // the error is ignored, because the job may not need libfabric
	if (!gompi_libfabric_load(ignored_error))
		return 0;
	if ((all = gompi_ofi_find_providers(NULL, ignored_error)) != NULL) {
		n = append_candidates(all, chosen, list, n, capacity, NULL);
		gompi_libfabric.freeinfo(all);
	}
	if (gompi_libfabric_getinfo(NULL, &all) == 0) {
		n = append_candidates(all, NULL, list, n, capacity,
				      "no reliable datagram endpoints (FI_EP_RDM) with messages and RMA");
		gompi_libfabric.freeinfo(all);
	}
	return n;
}
