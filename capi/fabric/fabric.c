#include "fabric/fabric.h"

#include "base/abi.h"

bool gompi_fabric_open;

void gompi_fabric_listen(enum gompi_port port, const struct gompi_port_handler *h) {}

char *gompi_fabric_reserve(int peer, enum gompi_port port, size_t length, enum gompi_fabric_wait wait, int *class) {
	*class = MPI_ERR_PROC_ABORTED;
	return NULL;
}

void gompi_fabric_commit(int peer, size_t length, enum gompi_urgency urgency) {}

void gompi_fabric_push(int peer) {}

int gompi_fabric_register(void *at, uint64_t bytes, struct gompi_region *region) { return MPI_ERR_OTHER; }

void gompi_fabric_unregister(const struct gompi_region *region) {}

void gompi_fabric_transfer(struct gompi_transfer *t) { t->done(t, MPI_ERR_PROC_ABORTED); }

bool gompi_fabric_gone(int peer) { return true; }

bool gompi_fabric_progress(void) { return false; }
