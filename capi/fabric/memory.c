// Registration of memory that peers read and write.
#include "base/abi.h"
#include "fabric/net.h"

int gompi_fabric_register(void *at, uint64_t bytes, bool writable, struct gompi_region *region) {
	gompi_net_lock();
	const enum gompi_net_error error = gompi_net.ops->register_memory(at, bytes, writable, region);
	gompi_net_unlock();
	return error == NET_SUCCESS ? MPI_SUCCESS : error == NET_NO_MEM ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;
}

void gompi_fabric_unregister(const struct gompi_region *region) {
	gompi_net_lock();
	gompi_net.ops->unregister_memory(region->key);
	gompi_net_unlock();
}
