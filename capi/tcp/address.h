// The addresses of hosts: the addresses that a process publishes, and the order in which its peers try them.
#ifndef GOMPI_TCP_ADDRESS_H
#define GOMPI_TCP_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { GOMPI_HOST_MAX_ADDRESSES = 12 }; // maximum number of published addresses

// The scope of an address. Addresses with lower values are tried first; at equal scope, IPv4 is tried before IPv6.
enum gompi_address_scope {
	SCOPE_DEFAULT,   // on the network of the default route
	SCOPE_OTHER,     // on another network
	SCOPE_CONTAINER, // on an interface of containers or virtual machines; other hosts often have the same address
	SCOPE_LINK,      // link-local address
	SCOPE_HOST,      // loopback
};

struct gompi_host_address {
	uint8_t family; // 4 or 6
	uint8_t scope;
	uint8_t bytes[16]; // IPv4 uses the first 4
};
_Static_assert(sizeof(struct gompi_host_address) == 18, "an address as it is published");

struct gompi_tcp_host {
	uint64_t identity; // hash that is equal for processes that share a loopback interface
	bool has_loopback; // this process listens on the loopback interface
	int count;
	struct gompi_host_address addresses[GOMPI_HOST_MAX_ADDRESSES];
};

// Stores the addresses of this host that GOMPIRMA_INTERFACE permits in *h, best first. Stores the names of their
// interfaces in `names`, unless `names` is NULL. On failure returns false and writes the reason to error_detail.
bool gompi_host_local_addresses(struct gompi_tcp_host *h, char names[GOMPI_HOST_MAX_ADDRESSES][16], char *error_detail,
				size_t error_bytes);

// Writes to `text` the addresses that this process would publish. Peers try them in the order of the lines. Each line
// has an address, its interface and its kind, separated by tabs. On failure returns false and writes the reason to
// text.
bool gompi_host_addresses(char *text, size_t bytes);

// Encodes a host for publishing, and returns the number of bytes. gompi_host_decode decodes a published host, and
// returns false if the data is invalid.
size_t gompi_host_encode(const struct gompi_tcp_host *h, char *to);
bool gompi_host_decode(struct gompi_tcp_host *h, const char *from, size_t bytes);

// Writes the socket address of a host address and a port to *s. Returns the length of the socket address.
socklen_t gompi_host_sockaddr(const struct gompi_host_address *a, uint16_t port, struct sockaddr_storage *s);

// Writes the address in its usual text form.
void gompi_host_address_text(const struct gompi_host_address *a, char text[INET6_ADDRSTRLEN]);

// Returns true if the addresses are equal.
bool gompi_host_address_equal(const struct gompi_host_address *a, const struct gompi_host_address *b);

// Reads the range of ports that GOMPIRMA_PORTS permits. Sets *first and *last to 0 if it permits any port. If the
// variable is invalid, returns false and writes the reason to error_detail.
bool gompi_tcp_port_range(int *first, int *last, char *error_detail, size_t error_bytes);

#pragma GCC visibility pop
#endif
