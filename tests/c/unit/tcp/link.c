/* Proves, with a socket that accepts few bytes at a time: everything queued for a peer arrives complete. There are two
 * kinds of items: bulk data (of reads and writes), and small items (records, requests and answers). Items of the same
 * kind stay in order. If a small item is queued before the transmission of a bulk item has begun, the small item is
 * sent first.
 *
 * sanitizer: address (one thread)
 */
#include "../unit.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include "tcp/link.h"

enum { ITEMS = 4000, BULK = 40000, MAX_WAITS = 64 };
static uint64_t seed = 1;
static uint64_t draw(uint64_t below) { return check_random(&seed) % below; }

static struct gompi_tcp_peer peer = {.rank = 1};
static struct gompi_tcp_link link_to = {.state = LINK_OPEN, .peer = &peer};
static char data[BULK];
static uint64_t before[ITEMS]; /* for each small item: the first bulk item that it must precede, or ITEMS */

/* Queues an item, bulk or small, whose id is its number. */
static void append(uint64_t number, bool bulk) {
	struct gompi_tcp_item *i = gompi_item_alloc();
	i->head = (struct gompi_tcp_head){.kind = bulk ? TCP_WRITE : TCP_READ, .id = number};
	i->head_bytes = sizeof i->head;
	if (bulk) {
		i->data = (struct iovec){data, BULK};
		i->head.length = BULK;
	}
	before[number] = ITEMS;
	for (struct gompi_tcp_item *k = peer.queue_first; !bulk && k != NULL; k = k->next)
		if (k->head.kind == TCP_WRITE && k->sent_bytes == 0 && before[number] == ITEMS)
			before[number] = k->head.id;
	gompi_tcp_peer_enqueue(&peer, i);
}

/* State of the receiver: the head and rest of the item that is arriving, the number of items that have arrived, and the
 * last number of each kind. */
static struct {
	struct gompi_tcp_head head;
	size_t have, left;
	uint64_t count, last_bulk, last_other;
} in;

static void arrived(uint64_t number, bool bulk) {
	uint64_t *last = bulk ? &in.last_bulk : &in.last_other;
	CHECK(number < ITEMS && (*last == ITEMS || number > *last), "%llu behind %llu", (unsigned long long)number,
	      (unsigned long long)*last);
	CHECK(bulk || in.last_bulk == ITEMS || in.last_bulk < before[number], "%llu waits for data %llu",
	      (unsigned long long)number, (unsigned long long)in.last_bulk);
	*last = number;
	in.count++;
}

static void receive_some(int fd, size_t most) {
	static char bytes[BULK];
	ssize_t n = recv(fd, bytes, most < sizeof bytes ? most : sizeof bytes, MSG_DONTWAIT);
	for (ssize_t at = 0; at < n;) {
		if (in.left > 0) {
			size_t some = in.left < (size_t)(n - at) ? in.left : (size_t)(n - at);
			in.left -= some, at += (ssize_t)some;
			continue;
		}
		((char *)&in.head)[in.have++] = bytes[at++];
		if (in.have == sizeof in.head) {
			CHECK(in.head.kind == TCP_WRITE || in.head.kind == TCP_READ, "kind %u", in.head.kind);
			in.have = 0;
			in.left = in.head.length;
			arrived(in.head.id, in.head.kind == TCP_WRITE);
		}
	}
}

int main(void) {
	int ends[2], little = 4096;
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "no sockets");
	setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &little, sizeof little);
	gompi_tcp_state.epoll = epoll_create1(0);
	link_to.fd = ends[0];
	peer.link = &link_to;
	struct epoll_event e = {.data.ptr = &link_to};
	CHECK(epoll_ctl(gompi_tcp_state.epoll, EPOLL_CTL_ADD, ends[0], &e) == 0, "epoll");
	in.last_bulk = in.last_other = ITEMS;
	for (uint64_t number = 0, waits = 0; number < ITEMS || peer.queue_first != NULL;) {
		waits = number - in.count;
		if (number < ITEMS && waits < MAX_WAITS && draw(2) == 0)
			append(number, draw(3) == 0), number++;
		if (draw(3) == 0)
			gompi_link_send(&link_to);
		receive_some(ends[1], 1 + draw(BULK));
	}
	for (int i = 0; i < 100; i++)
		receive_some(ends[1], BULK);
	CHECK(in.count == ITEMS && in.left == 0 && in.have == 0, "%llu of %d have arrived",
	      (unsigned long long)in.count, ITEMS);
	CHECK(peer.queue_first == NULL && peer.queue_last == NULL && peer.last_before_bulk == NULL,
	      "something is left");
	append(0, true), append(1, false);
	gompi_tcp_peer_fail(&peer);
	CHECK(peer.queue_first == NULL && peer.queue_last == NULL && peer.last_before_bulk == NULL,
	      "something is left of what failed");
	return unit_end();
}
