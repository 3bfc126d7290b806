#include "fabric/connect_back.h"

#include <string.h>

#include "base/node.h"
#include "fabric/health.h"
#include "fabric/net.h"

enum { CELL_CHECK_NS = 500000000 }; // interval at which the cells are checked for requests

// The record that is forwarded from node to node.
struct connect_request {
	int32_t from, to;  // ranks: process `to` must connect to process `from`
	int32_t hops_left; // number of further nodes that may forward the request
	int32_t zero;
};

static int64_t next_check_ns;

static void connect_to_peer(int peer) {
	if (gompi_net.ops->connect == NULL)
		return;
	gompi_net_lock();
	gompi_net.ops->connect(peer);
	gompi_net_unlock();
}

static void forward_request(struct connect_request c) {
	int class, next = -1;
	for (int ahead = 1; ahead < gompi_health_node_count() && next < 0; ahead++)
		next = gompi_health_lowest_rank(ahead);
	char *at = next < 0 || c.hops_left-- <= 0
			   ? NULL
			   : gompi_fabric_reserve(next, FABRIC_CONNECT_BACK, sizeof c, FABRIC_ANSWER, &class);
	if (at == NULL)
		return;
	memcpy(at, &c, sizeof c);
	gompi_fabric_commit(next, sizeof c, FABRIC_NOW);
}

static void on_connect_request(int peer, const char *data, size_t length) {
	struct connect_request c;
	if (length != sizeof c)
		return;
	memcpy(&c, data, sizeof c);
	if ((uint32_t)c.from >= (uint32_t)gompi_net.size || (uint32_t)c.to >= (uint32_t)gompi_net.size ||
	    c.hops_left > gompi_health_node_count() || gompi_local_index(c.from) >= 0)
		return;
	const int local_index = gompi_local_index(c.to);
	uint32_t empty = 0;
	if (local_index < 0)
		forward_request(c);
	else if (local_index == gompi_node.local_index)
		connect_to_peer(c.from);
	else
		gompi_cas_strong(&gompi_cell(local_index)->connect_requests[c.from % GOMPI_UNREACHABLE_SLOTS], &empty,
				 (uint32_t)c.from + 1);
}

void gompi_connect_back_open(void) {
	static const struct gompi_port_handler handler = {on_connect_request, NULL};
	gompi_fabric_set_handler(FABRIC_CONNECT_BACK, &handler);
	next_check_ns = 0;
}

// Writes a request into this process' cell. Drops the request if its element of the cell's array is in use. The
// network repeats the request until it has a connection to the peer, so a dropped request is only delayed.
void gompi_connect_back_request(int peer) {
	uint32_t empty = 0;
	if (peer >= gompi_net.size)
		return; // no other process of this job knows how to reach a process of another job
	gompi_cas_strong(&gompi_my_cell()->unreachable[peer % GOMPI_UNREACHABLE_SLOTS], &empty, (uint32_t)peer + 1);
}

// Forwards the requests of process i of this node.
static void forward_requests_of(int i) {
	int from = 0;
	while (from < gompi_net.size && gompi_local_index(from) != i)
		from++;
	for (int k = 0; k < GOMPI_UNREACHABLE_SLOTS && from < gompi_net.size; k++) {
		gompi_a32 *word = &gompi_cell(i)->unreachable[k];
		uint32_t to = gompi_load(word) == 0 ? 0 : gompi_swap_seq_cst(word, 0);
		if (to != 0)
			forward_request((struct connect_request){from, (int32_t)to - 1, gompi_health_node_count(), 0});
	}
}

void gompi_connect_back_tick(int64_t now) {
	if (now < next_check_ns)
		return;
	if (next_check_ns == 0 &&
	    gompi_health_is_lowest()) { // first call: connect, in case the previous node cannot connect to this node
		int prev_leader = gompi_health_lowest_rank(-1);
		if (prev_leader >= 0)
			connect_to_peer(prev_leader);
	}
	next_check_ns = now + CELL_CHECK_NS;
	for (int k = 0; k < GOMPI_UNREACHABLE_SLOTS; k++) {
		gompi_a32 *word = &gompi_my_cell()->connect_requests[k];
		uint32_t requester = gompi_load(word) == 0 ? 0 : gompi_swap_seq_cst(word, 0);
		if (requester != 0 && requester <= (uint32_t)gompi_net.size &&
		    gompi_local_index((int)requester - 1) < 0)
			connect_to_peer((int)requester - 1);
	}
	if (!gompi_health_is_lowest())
		return;
	for (int i = 0; i < gompi_node_count(); i++)
		forward_requests_of(i);
}
