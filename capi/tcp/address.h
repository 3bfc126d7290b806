// The addresses of hosts: which ones a process publishes, and in which order they are tried.
#ifndef GOMPI_TCP_ADDRESS_H
#define GOMPI_TCP_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { GOMPI_HOST_ADDRESSES = 12 }; // maximum number of published addresses

// The reach of an address: lower values are better. At equal reach IPv4 is tried before IPv6.
enum gompi_reach {
	REACH_DEFAULT,   // on the network of the default route
	REACH_OTHER,     // on another network
	REACH_CONTAINER, // of a bridge, or of containers and virtual machines: the same on most hosts
	REACH_LINK,      // valid on one link only
	REACH_HOST,      // loopback
};

struct gompi_host_address {
	uint8_t family; // 4 or 6
	uint8_t reach;
	uint8_t bytes[16]; // IPv4 uses the first 4
};
_Static_assert(sizeof(struct gompi_host_address) == 18, "an address as it is published");

struct gompi_tcp_host {
	uint64_t identity; // equal for processes that share a loopback interface
	bool loopback;     // this process listens on the loopback interface
	int n;
	struct gompi_host_address a[GOMPI_HOST_ADDRESSES];
};

// Finds the addresses of this host that GOMPIRMA_INTERFACE permits, best first. names, if not NULL, receives the names
// of their interfaces. Returns false, and the reason in why, on failure.
bool gompi_host_here(struct gompi_tcp_host *h, char names[GOMPI_HOST_ADDRESSES][16], char *why, size_t why_bytes);

// gompi_host_write encodes a host for publishing, and returns the number of bytes. gompi_host_read decodes it, and
// returns false if the data is invalid.
size_t gompi_host_write(const struct gompi_tcp_host *h, char *to);
bool gompi_host_read(struct gompi_tcp_host *h, const char *from, size_t bytes);

// Writes the socket address to connect to. Returns its length.
socklen_t gompi_host_sockaddr(const struct gompi_host_address *a, uint16_t port, struct sockaddr_storage *s);

// Writes the address in its usual text form.
void gompi_host_text(const struct gompi_host_address *a, char text[INET6_ADDRSTRLEN]);

// Returns true if the addresses are equal.
bool gompi_host_same(const struct gompi_host_address *a, const struct gompi_host_address *b);

// Reads the range of ports that GOMPIRMA_PORTS permits; 0 and 0 if any. Returns false, and the reason in why, if it is
// invalid.
bool gompi_ports_permitted(int *first, int *last, char *why, size_t why_bytes);

#pragma GCC visibility pop
#endif
