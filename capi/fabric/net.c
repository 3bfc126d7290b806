#include "fabric/net.h"

#include "fabric/frame.h"

struct gompi_net gompi_net = {.fd = -1};
struct gompi_net_counts gompi_net_counts;
const struct gompi_port_handler *gompi_port_handlers[FABRIC_PORTS];

void gompi_fabric_set_handler(enum gompi_port port, const struct gompi_port_handler *h) {
	gompi_port_handlers[port] = h;
}
