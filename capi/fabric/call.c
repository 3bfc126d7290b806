#include "fabric/call.h"

#include <string.h>

#include "base/node.h"
#include "fabric/health.h"
#include "fabric/net.h"
#include "tcp/tcp.h"

enum { PAUSE_NS = 500000000 }; // between two checks of the cells

// The record that is forwarded from node to node.
struct call {
	int32_t from, to; // ranks: `to` is asked to connect to `from`
	int32_t nodes;    // number of nodes that may still forward it
	int32_t zero;
};

static int64_t due;

static void reach(int peer) {
	gompi_net_take();
	gompi_tcp_reach(peer);
	gompi_net_give();
}

static void send_call(struct call c) {
	int class, next = -1;
	for (int ahead = 1; ahead < gompi_health_nodes() && next < 0; ahead++)
		next = gompi_health_lowest(ahead);
	char *at = next < 0 || c.nodes-- <= 0
			   ? NULL
			   : gompi_fabric_reserve(next, FABRIC_CALL, sizeof c, FABRIC_ANSWER, &class);
	if (at == NULL)
		return;
	memcpy(at, &c, sizeof c);
	gompi_fabric_commit(next, sizeof c, FABRIC_NOW);
}

static void take_call(int peer, const char *data, size_t length) {
	struct call c;
	if (length != sizeof c)
		return;
	memcpy(&c, data, sizeof c);
	if ((uint32_t)c.from >= (uint32_t)gompi_net.size || (uint32_t)c.to >= (uint32_t)gompi_net.size ||
	    c.nodes > gompi_health_nodes() || gompi_on_node(c.from) >= 0)
		return;
	const int here = gompi_on_node(c.to);
	uint32_t nobody = 0;
	if (here < 0)
		send_call(c);
	else if (here == gompi_node.me)
		reach(c.from);
	else
		gompi_change_once(&gompi_cell(here)->asked_by[c.from % GOMPI_CALLS], &nobody, (uint32_t)c.from + 1);
}

void gompi_call_open(void) {
	static const struct gompi_port_handler handler = {take_call, NULL};
	gompi_fabric_listen(FABRIC_CALL, &handler);
	due = 0;
}

// Writes a request into this process' cell. If the place is in use, the request is dropped; the caller repeats it.
void gompi_call_for(int peer) {
	uint32_t nobody = 0;
	gompi_change_once(&gompi_my_cell()->out_of_reach[peer % GOMPI_CALLS], &nobody, (uint32_t)peer + 1);
}

// Forwards the requests of process i of this node.
static void look_at(int i) {
	int from = 0;
	while (from < gompi_net.size && gompi_on_node(from) != i)
		from++;
	for (int k = 0; k < GOMPI_CALLS && from < gompi_net.size; k++) {
		gompi_a32 *word = &gompi_cell(i)->out_of_reach[k];
		uint32_t to = gompi_load(word) == 0 ? 0 : gompi_swap_total(word, 0);
		if (to != 0)
			send_call((struct call){from, (int32_t)to - 1, gompi_health_nodes(), 0});
	}
}

void gompi_call_tick(int64_t now) {
	if (now < due)
		return;
	if (due == 0 && gompi_health_first()) { // first call: the previous node may be unable to connect to this one
		int before = gompi_health_lowest(-1);
		if (before >= 0)
			reach(before);
	}
	due = now + PAUSE_NS;
	for (int k = 0; k < GOMPI_CALLS; k++) {
		gompi_a32 *word = &gompi_my_cell()->asked_by[k];
		uint32_t by = gompi_load(word) == 0 ? 0 : gompi_swap_total(word, 0);
		if (by != 0 && by <= (uint32_t)gompi_net.size && gompi_on_node((int)by - 1) < 0)
			reach((int)by - 1);
	}
	if (!gompi_health_first())
		return;
	for (int i = 0; i < gompi_node.n; i++)
		look_at(i);
}
