// Input from the network for the lanes: the port's handler.
#include "message/remote.h"

void gompi_remote_arrived(struct gompi_messages *m, int peer, const char *data, size_t length) {
	struct gompi_record h;
	const uint32_t n = (uint32_t)gompi_processes_n(m->node.processes);
	if (length < sizeof h || length > RECORD_LINE + REMOTE_MOST_DATA || (uint32_t)peer >= n ||
	    gompi_messages_process(m, peer) >= 0)
		return;
	memcpy(&h, data, sizeof h);
	h.from = peer;
	enum gompi_record_kind kind = gompi_record_kind(h.word);
	if (gompi_record_length(h.word) != (int64_t)length || h.seal >= GOMPI_LANES ||
	    ((kind == RECORD_EAGER || kind == RECORD_RTS) && (uint32_t)h.source >= n))
		return;
	struct gompi_lane *l = &m->lane[h.seal];
	gompi_lane_take(l);
	gompi_do_record(
		l, &h,
		gompi_record_data((struct gompi_record *)(uintptr_t)data, gompi_record_data_size((int64_t)length)));
	if (__builtin_expect(l->flow == FLOW_KEEP, 0) && kind == RECORD_EAGER)
		gompi_flow_ask(l, peer);
	gompi_lane_end_served(l);
}

void gompi_remote_room(struct gompi_messages *m, int peer) {
	struct gompi_link *to = gompi_remote_links(m, peer);
	for (int i = 0; to != NULL && i < GOMPI_LANES; i++) {
		struct gompi_lane *l = &m->lane[i];
		if (gompi_load(&to[i].waiting) == 0)
			continue;
		gompi_lane_take(l);
		gompi_flush_link(l, &to[i]);
		gompi_lane_end_served(l);
	}
}

static void hear_record(int peer, const char *data, size_t length) {
	struct gompi_messages *m = gompi_load_acquire(&gompi_messages_here);
	if (m != NULL)
		gompi_remote_arrived(m, peer, data, length);
}

static void hear_room(int peer) {
	struct gompi_messages *m = gompi_load_acquire(&gompi_messages_here);
	if (m != NULL)
		gompi_remote_room(m, peer);
}

void gompi_remote_open(struct gompi_messages *m) {
	static const struct gompi_port_handler port = {hear_record, hear_room};
	for (int i = m->node.processes->in_order; i < gompi_processes_n(m->node.processes); i++)
		if (gompi_process_index(m->node.processes, i) < 0) {
			gompi_or(&m->hooks, HOOK_NETWORK);
			gompi_fabric_listen(FABRIC_MESSAGES, &port);
			return;
		}
}
