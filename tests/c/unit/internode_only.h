/* Common part of simulated networks (fabric/fabric.h) that carry only records of internode groups: the registration of
 * the record handler, and stubs of the network functions that these groups do not use. */
#ifndef INTERNODE_ONLY_H
#define INTERNODE_ONLY_H

#include "unit.h"

#include "fabric/fabric.h"
#include "fabric/internode.h"

static const struct gompi_port_handler *handler;

atomic_bool gompi_fabric_open_flag = true;
void gompi_fabric_set_handler(enum gompi_port port, const struct gompi_port_handler *h) {
	if (port == FABRIC_INTERNODE)
		handler = h;
}
void gompi_fabric_flush(int peer) {}
int gompi_fabric_register(void *at, uint64_t bytes, bool writable, struct gompi_region *region) {
	return MPI_ERR_OTHER;
}
void gompi_fabric_unregister(const struct gompi_region *region) {}
void gompi_fabric_transfer(struct gompi_transfer *t) {}
bool gompi_fabric_peer_failed(int peer) { return false; }
bool gompi_fabric_has_rdma;

#endif
