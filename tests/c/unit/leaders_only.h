/* Common part of simulated networks (fabric/fabric.h) that carry only messages of groups of node leaders. It has
 * message layers of processes that are alone on their nodes, and stubs of network functions that these groups do not
 * use. */
#ifndef LEADERS_ONLY_H
#define LEADERS_ONLY_H

#include "unit.h"

#include "fabric/fabric.h"
#include "message/engine.h"
#include "message/leaders.h"

/* A record as the network carries it: head, then the message at the offset RECORD_LINE. */
struct leader_record {
	struct gompi_record record;
	char gap[RECORD_LINE - RECORD_SIZE];
	struct gompi_leaders_message message;
};

atomic_bool gompi_fabric_open_flag = true;
void gompi_fabric_set_handler(enum gompi_port port, const struct gompi_port_handler *h) {}
void gompi_fabric_flush(int peer) {}
int gompi_fabric_register(void *at, uint64_t bytes, bool writable, struct gompi_region *region) {
	return MPI_ERR_OTHER;
}
void gompi_fabric_unregister(const struct gompi_region *region) {}
void gompi_fabric_transfer(struct gompi_transfer *t) {}
bool gompi_fabric_peer_failed(int peer) { return false; }
bool gompi_fabric_has_rdma;

/* Creates the message layer of process `self` of n processes, each of which is on its own node. */
static struct gompi_messages *open_messages(int self, int n) {
	const size_t rings = (size_t)GOMPI_VCI_COUNT * GOMPI_INBOX_SIZE;
	char *control = unit_memory(2 * 4096 + rings);
	int32_t *node_of = calloc((size_t)n, sizeof *node_of), *index = calloc((size_t)n, sizeof *index);
	for (int i = 0; i < n; i++)
		node_of[i] = i, index[i] = i == self ? 0 : -1;
	struct gompi_processes *all = unit_processes(n, node_of, index);
	all->self = self;
	struct gompi_messages *m = gompi_engine_open(&(struct gompi_engine_config){.control = control,
										   .rings = control + 2 * 4096,
										   .cell_stride = 4096,
										   .ring_stride = rings,
										   .n = 1,
										   .processes = all});
	if (m == NULL)
		abort();
	gompi_store(&gompi_messages_cell(m, 0)->state, GOMPI_STATE_RUNNING);
	free(node_of), free(index);
	return m;
}

/* Returns the number of unexpected messages in a message layer. */
static int64_t unexpected_messages(struct gompi_messages *m) {
	struct gompi_engine_counts s;
	gompi_engine_counts(m, &s);
	return s.unexpected;
}

#endif
