// Handles records and space reports from the network for the VCIs.
#include "message/leaders.h"
#include "message/remote.h"

void gompi_remote_handle_record(struct gompi_messages *m, int peer, const char *data, size_t length) {
	struct gompi_record h;
	if (length < sizeof h || length > RECORD_LINE + REMOTE_MAX_DATA ||
	    (uint32_t)peer >= (uint32_t)gompi_processes_count(m->node.processes) ||
	    gompi_messages_node_index(m, peer) >= 0)
		return;
	memcpy(&h, data, sizeof h);
	h.from = peer;
	enum gompi_record_kind kind = gompi_record_kind(h.word);
	// The source may be a rank in a communicator of more processes than this process knows yet.
	if (gompi_record_length(h.word) != (int64_t)length || h.valid_flag >= GOMPI_VCI_COUNT ||
	    ((kind == RECORD_EAGER || kind == RECORD_RTS) && h.source < 0))
		return;
	struct gompi_vci *l = &m->vci[h.valid_flag];
	gompi_vci_lock(l);
	const char *payload =
		gompi_record_data((struct gompi_record *)(uintptr_t)data, gompi_record_data_size((int64_t)length));
	if (kind != RECORD_EAGER || !gompi_leaders_accept(l, &h, payload))
		gompi_dispatch_record(l, &h, payload);
	if (__builtin_expect(l->flow == FLOW_RENDEZVOUS, 0) && kind == RECORD_EAGER)
		gompi_throttle_peer(l, peer);
	gompi_vci_unlock_network(l);
}

void gompi_remote_handle_space(struct gompi_messages *m, int peer) {
	struct gompi_link *to = gompi_remote_links(m, peer);
	for (int i = 0; to != NULL && i < GOMPI_VCI_COUNT; i++) {
		struct gompi_vci *l = &m->vci[i];
		if (gompi_load(&to[i].pending_count) == 0)
			continue;
		gompi_vci_lock(l);
		gompi_flush_link(l, &to[i]);
		gompi_vci_unlock_network(l);
	}
}

static void on_message_record(int peer, const char *data, size_t length) {
	struct gompi_messages *m = gompi_load_acquire(&gompi_app_messages);
	if (m != NULL)
		gompi_remote_handle_record(m, peer, data, length);
}

static void on_message_space(int peer) {
	struct gompi_messages *m = gompi_load_acquire(&gompi_app_messages);
	if (m != NULL)
		gompi_remote_handle_space(m, peer);
}

void gompi_remote_open(struct gompi_messages *m) {
	static const struct gompi_port_handler port = {on_message_record, on_message_space};
	gompi_fabric_set_handler(FABRIC_MESSAGES, &port);
	gompi_or(&m->hooks, HOOK_NETWORK);
}
