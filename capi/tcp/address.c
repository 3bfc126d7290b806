#define _GNU_SOURCE
#include "tcp/address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/host.h"

// --- Interfaces

// Stores the names of the interfaces of the default routes for IPv4 and IPv6. Stores "" for a route that does not
// exist.
static void default_interfaces(char v4[IFNAMSIZ], char v6[IFNAMSIZ]) {
	char line[300], name[IFNAMSIZ];
	unsigned long to, flags;
	v4[0] = v6[0] = 0;
	FILE *f = fopen("/proc/net/route", "re");
	while (f != NULL && v4[0] == 0 && fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "%15s %lx %*x %lx", name, &to, &flags) == 3 && to == 0 && (flags & 1) != 0)
			snprintf(v4, IFNAMSIZ, "%s", name);
	if (f != NULL)
		fclose(f);
	f = fopen("/proc/net/ipv6_route", "re");
	while (f != NULL && v6[0] == 0 && fgets(line, sizeof line, f) != NULL) {
		char destination[33], prefix[3];
		if (sscanf(line, "%32s %2s %*s %*s %*s %*s %*s %*s %*s %15s", destination, prefix, name) == 3 &&
		    strspn(destination, "0") == 32 && strcmp(prefix, "00") == 0 && strcmp(name, "lo") != 0)
			snprintf(v6, IFNAMSIZ, "%s", name);
	}
	if (f != NULL)
		fclose(f);
}

static bool is_container(const char *name) {
	static const char *const begin[] = {"docker", "br-",     "virbr", "veth",  "cni",  "lxc",    "lxd",
					    "podman", "flannel", "cali",  "vmnet", "vnet", "vboxnet"};
	for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
		if (strncmp(name, begin[i], strlen(begin[i])) == 0)
			return true;
	char path[64];
	snprintf(path, sizeof path, "/sys/class/net/%s/bridge", name);
	return access(path, F_OK) == 0;
}

// --- Restrictions by the user

// Returns true if the address is in a network in CIDR notation, such as 10.0.0.0/8.
static bool in_network(const struct gompi_host_address *a, const char *network) {
	char text[INET6_ADDRSTRLEN];
	const char *slash = strchr(network, '/');
	size_t n = slash != NULL ? (size_t)(slash - network) : strlen(network);
	if (n >= sizeof text)
		return false;
	memcpy(text, network, n);
	text[n] = 0;
	uint8_t bytes[16];
	int family = strchr(text, ':') != NULL ? 6 : 4, all = family == 4 ? 32 : 128;
	if (inet_pton(family == 4 ? AF_INET : AF_INET6, text, bytes) != 1 || family != a->family)
		return false;
	int bits = slash != NULL ? atoi(slash + 1) : all;
	if (bits < 0 || bits > all)
		return false;
	int whole = bits / 8, rest = bits % 8;
	return memcmp(bytes, a->bytes, (size_t)whole) == 0 &&
	       (rest == 0 || ((bytes[whole] ^ a->bytes[whole]) >> (8 - rest)) == 0);
}

// Returns true if a list of interfaces and networks contains the interface `name` or a network to which the address a
// belongs.
static bool is_permitted(const char *list, const char *name, const struct gompi_host_address *a) {
	char one[64];
	while (*list != 0) {
		size_t n = strcspn(list, ", ");
		snprintf(one, sizeof one, "%.*s", (int)(n < sizeof one ? n : sizeof one - 1), list);
		if (n > 0 && (strcmp(one, name) == 0 || in_network(a, one)))
			return true;
		list += n + (list[n] != 0);
	}
	return false;
}

bool gompi_tcp_port_range(int *first, int *last, char *error_detail, size_t error_bytes) {
	const char *s = getenv("GOMPIRMA_PORTS");
	*first = *last = 0;
	if (s == NULL || *s == 0)
		return true;
	char rest;
	int n = sscanf(s, "%d-%d%c", first, last, &rest);
	if (n == 1 && strchr(s, '-') == NULL)
		*last = *first, n = 2;
	if (n == 2 && *first > 0 && *first <= *last && *last < 65536)
		return true;
	snprintf(error_detail, error_bytes,
		 "GOMPIRMA_PORTS=%s is not a range of ports such as 20000-20999 (1 to 65535)", s);
	return false;
}

// --- The addresses of this host

static uint64_t host_identity(void) {
	uint64_t h = gompi_boot_identity();
	struct stat s;
	if (stat("/proc/self/ns/net", &s) == 0)
		h = gompi_identity_add(h, s.st_ino);
	return h;
}

static bool interface_address(const struct ifaddrs *i, struct gompi_host_address *a) {
	memset(a, 0, sizeof *a);
	if (i->ifa_addr == NULL || (i->ifa_flags & IFF_UP) == 0 || (i->ifa_flags & IFF_RUNNING) == 0)
		return false;
	if (i->ifa_addr->sa_family == AF_INET) {
		a->family = 4;
		memcpy(a->bytes, &((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr, 4);
	} else if (i->ifa_addr->sa_family == AF_INET6) {
		a->family = 6;
		memcpy(a->bytes, &((const struct sockaddr_in6 *)(const void *)i->ifa_addr)->sin6_addr, 16);
	}
	return a->family != 0;
}

static enum gompi_address_scope scope_of(const struct ifaddrs *i, const struct gompi_host_address *a, const char *v4,
					 const char *v6) {
	if ((i->ifa_flags & IFF_LOOPBACK) != 0)
		return SCOPE_HOST;
	if (a->family == 4 ? a->bytes[0] == 169 && a->bytes[1] == 254
			   : a->bytes[0] == 0xfe && (a->bytes[1] & 0xc0) == 0x80)
		return SCOPE_LINK;
	if (strcmp(i->ifa_name, a->family == 4 ? v4 : v6) == 0)
		return SCOPE_DEFAULT;
	return is_container(i->ifa_name) ? SCOPE_CONTAINER : SCOPE_OTHER;
}

static int sort_rank(const struct gompi_host_address *a) { return 2 * a->scope + (a->family == 6); }

bool gompi_host_local_addresses(struct gompi_tcp_host *h, char names[GOMPI_HOST_MAX_ADDRESSES][16], char *error_detail,
				size_t error_bytes) {
	const char *permitted = getenv("GOMPIRMA_INTERFACE");
	if (permitted != NULL && *permitted == 0)
		permitted = NULL;
	char v4[IFNAMSIZ], v6[IFNAMSIZ], seen[200] = "", name[GOMPI_HOST_MAX_ADDRESSES][16];
	struct ifaddrs *all = NULL;
	memset(h, 0, sizeof *h);
	memset(name, 0, sizeof name);
	h->identity = host_identity();
	h->has_loopback = permitted == NULL;
	if (getifaddrs(&all) != 0) {
		snprintf(error_detail, error_bytes, "cannot list the addresses of this host: %m");
		return false;
	}
	default_interfaces(v4, v6);
	for (const struct ifaddrs *i = all; i != NULL; i = i->ifa_next) {
		struct gompi_host_address a;
		if (!interface_address(i, &a))
			continue;
		if (strstr(seen, i->ifa_name) == NULL && strlen(seen) + strlen(i->ifa_name) + 3 < sizeof seen)
			strcat(strcat(seen, seen[0] != 0 ? ", " : ""), i->ifa_name);
		a.scope = (uint8_t)scope_of(i, &a, v4, v6);
		if (permitted != NULL ? !is_permitted(permitted, i->ifa_name, &a) : a.scope == SCOPE_HOST)
			continue;
		int at = h->count;
		while (at > 0 && sort_rank(&h->addresses[at - 1]) > sort_rank(&a))
			at--;
		if (at >= GOMPI_HOST_MAX_ADDRESSES)
			continue;
		if (h->count == GOMPI_HOST_MAX_ADDRESSES)
			h->count--;
		memmove(&h->addresses[at + 1], &h->addresses[at], (size_t)(h->count - at) * sizeof *h->addresses);
		memmove(name[at + 1], name[at], (size_t)(h->count - at) * sizeof *name);
		h->addresses[at] = a;
		snprintf(name[at], sizeof *name, "%s", i->ifa_name);
		h->count++;
	}
	freeifaddrs(all);
	if (names != NULL)
		memcpy(names, name, sizeof name);
	if (h->count > 0 || permitted == NULL)
		return true;
	snprintf(error_detail, error_bytes,
		 "GOMPIRMA_INTERFACE=%s is not an interface or network that is up on this host; the host has: %s",
		 permitted, seen[0] != 0 ? seen : "none");
	return false;
}

// --- The published form

enum { HOST_HEAD_BYTES = 10 }; // bytes of identity, has_loopback and count

size_t gompi_host_encode(const struct gompi_tcp_host *h, char *to) {
	memcpy(to, &h->identity, sizeof h->identity);
	to[8] = h->has_loopback;
	to[9] = (char)h->count;
	memcpy(to + HOST_HEAD_BYTES, h->addresses, (size_t)h->count * sizeof *h->addresses);
	return HOST_HEAD_BYTES + (size_t)h->count * sizeof *h->addresses;
}

bool gompi_host_decode(struct gompi_tcp_host *h, const char *from, size_t bytes) {
	memset(h, 0, sizeof *h);
	if (bytes < HOST_HEAD_BYTES || from[9] < 0 || from[9] > GOMPI_HOST_MAX_ADDRESSES ||
	    bytes != HOST_HEAD_BYTES + (size_t)from[9] * sizeof *h->addresses)
		return false;
	memcpy(&h->identity, from, sizeof h->identity);
	h->has_loopback = from[8] != 0;
	h->count = from[9];
	memcpy(h->addresses, from + HOST_HEAD_BYTES, (size_t)h->count * sizeof *h->addresses);
	return true;
}

// Returns the index of the first interface of this host with a link-local IPv6 address, or 0 if there is none.
static unsigned link_local_index(void) {
	struct ifaddrs *all = NULL;
	unsigned index = 0;
	if (getifaddrs(&all) != 0)
		return 0;
	for (const struct ifaddrs *i = all; i != NULL && index == 0; i = i->ifa_next) {
		struct gompi_host_address a;
		if (interface_address(i, &a) && a.family == 6 && scope_of(i, &a, "", "") == SCOPE_LINK &&
		    !is_container(i->ifa_name))
			index = if_nametoindex(i->ifa_name);
	}
	freeifaddrs(all);
	return index;
}

socklen_t gompi_host_sockaddr(const struct gompi_host_address *a, uint16_t port, struct sockaddr_storage *s) {
	memset(s, 0, sizeof *s);
	if (a->family == 4) {
		struct sockaddr_in *in = (struct sockaddr_in *)s;
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		memcpy(&in->sin_addr, a->bytes, 4);
		return sizeof *in;
	}
	struct sockaddr_in6 *in = (struct sockaddr_in6 *)s;
	in->sin6_family = AF_INET6;
	in->sin6_port = htons(port);
	memcpy(&in->sin6_addr, a->bytes, 16);
	if (a->scope == SCOPE_LINK)
		in->sin6_scope_id = link_local_index();
	return sizeof *in;
}

void gompi_host_address_text(const struct gompi_host_address *a, char text[INET6_ADDRSTRLEN]) {
	if (inet_ntop(a->family == 4 ? AF_INET : AF_INET6, a->bytes, text, INET6_ADDRSTRLEN) == NULL)
		snprintf(text, INET6_ADDRSTRLEN, "?");
}

bool gompi_host_address_equal(const struct gompi_host_address *a, const struct gompi_host_address *b) {
	return a->family == b->family && memcmp(a->bytes, b->bytes, a->family == 4 ? 4 : 16) == 0;
}

bool gompi_host_addresses(char *text, size_t bytes) {
	static const char *const scope_text[] = {"network of the default route", "another network",
						 "network of a bridge, containers or virtual machines",
						 "link-local network", "this host only"};
	struct gompi_tcp_host h;
	char names[GOMPI_HOST_MAX_ADDRESSES][16], address[INET6_ADDRSTRLEN];
	if (!gompi_host_local_addresses(&h, names, text, bytes))
		return false;
	text[0] = 0;
	size_t at = 0;
	for (int i = 0; i < h.count && at < bytes; i++) {
		gompi_host_address_text(&h.addresses[i], address);
		at += (size_t)snprintf(text + at, bytes - at, "%s\t%s\t%s\n", address, names[i],
				       scope_text[h.addresses[i].scope]);
	}
	return true;
}
