// The addresses of hosts: which a process publishes, in which order they are tried.
#ifndef GOMPI_TCP_ADDRESS_H
#define GOMPI_TCP_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { GOMPI_HOST_ADDRESSES = 12 }; // that a host publishes at most

// What an address is good for: the lower the better, IPv4 before IPv6 each.
enum gompi_reach {
	REACH_DEFAULT,   // on the network of the default route
	REACH_OTHER,     // on another one
	REACH_CONTAINER, // of a bridge, or what containers and virtual machines use: most hosts have the same
	REACH_LINK,      // means something on one link only
	REACH_HOST,      // the host itself
};

struct gompi_host_address {
	uint8_t family; // 4 or 6
	uint8_t reach;
	uint8_t bytes[16]; // of IPv4 the first 4
};
_Static_assert(sizeof(struct gompi_host_address) == 18, "an address as it is published");

struct gompi_tcp_host {
	uint64_t identity; // the same for processes that have one loopback interface
	bool loopback;     // and it is listened on
	int n;
	struct gompi_host_address a[GOMPI_HOST_ADDRESSES];
};

// The addresses of this host that GOMPIRMA_INTERFACE permits, best first. names: those of their interfaces, may be
// NULL. false: why says what is wrong.
bool gompi_host_here(struct gompi_tcp_host *h, char names[GOMPI_HOST_ADDRESSES][16], char *why, size_t why_bytes);

// As it is published: bytes. And back; false: that is no host.
size_t gompi_host_write(const struct gompi_tcp_host *h, char *to);
bool gompi_host_read(struct gompi_tcp_host *h, const char *from, size_t bytes);

// What to connect to: returns its length.
socklen_t gompi_host_sockaddr(const struct gompi_host_address *a, uint16_t port, struct sockaddr_storage *s);

// The address as people write it.
void gompi_host_text(const struct gompi_host_address *a, char text[INET6_ADDRSTRLEN]);

// Returns true if the two are the same address.
bool gompi_host_same(const struct gompi_host_address *a, const struct gompi_host_address *b);

// The first and last port that GOMPIRMA_PORTS permits, 0 and 0: any. false: why says what is wrong with it.
bool gompi_ports_permitted(int *first, int *last, char *why, size_t why_bytes);

#pragma GCC visibility pop
#endif
