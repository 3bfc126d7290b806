#include "fabric/net.h"

#include "fabric/frame.h"

struct gompi_net gompi_net = {.fd = -1};
struct gompi_net_counts gompi_net_counts;
const struct gompi_port_handler *gompi_ports[FABRIC_PORTS];

void gompi_fabric_listen(enum gompi_port port, const struct gompi_port_handler *h) { gompi_ports[port] = h; }
