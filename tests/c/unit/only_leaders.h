/* Stubs of a simulated network (fabric/fabric.h) that carries records of leader groups only: the registration of the
 * record handler, and the functions that groups do not use. */
#ifndef ONLY_LEADERS_H
#define ONLY_LEADERS_H

#include "unit.h"

#include "fabric/fabric.h"
#include "fabric/leaders.h"

static const struct gompi_port_handler *handler;

atomic_bool gompi_fabric_open = true;
void gompi_fabric_listen(enum gompi_port port, const struct gompi_port_handler *h) {
	if (port == FABRIC_LEADERS)
		handler = h;
}
void gompi_fabric_push(int peer) {}
int gompi_fabric_register(void *at, uint64_t bytes, bool writable, struct gompi_region *region) {
	return MPI_ERR_OTHER;
}
void gompi_fabric_unregister(const struct gompi_region *region) {}
void gompi_fabric_transfer(struct gompi_transfer *t) {}
bool gompi_fabric_gone(int peer) { return false; }
bool gompi_fabric_device;

#endif
