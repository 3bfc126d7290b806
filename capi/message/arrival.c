#include "message/arrival.h"

#include "base/node.h"
#include "base/up.h"
#include "base/wait.h"

// Whether a message lies in this process' ring: its first word counts bytes produced, the one a line further bytes
// consumed (core/p2p/ring.go).
static bool arrived(void) {
	char *ring = gompi_node.message_rings + (size_t)gompi_node.me * gompi_node.message_stride;
	return gompi_load_acquire((gompi_a64 *)ring) != gompi_load((gompi_a64 *)(ring + GOMPI_LINE));
}

static bool move_messages(void) { return gompi_up.progress_messages(); }

void gompi_arrival_open(void) {
	static const struct gompi_service service = {arrived, move_messages};
	gompi_service_add(&service);
}
