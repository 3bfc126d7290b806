// Retries frames and transfers that the provider could not accept.
#include "fabric/frame.h"
#include "fabric/peer.h"

// Calls the room handlers of the ports that wait for room, if no frame waits.
static void call_room(struct gompi_peer *p) {
	gompi_mutex_take(&p->lock);
	uint32_t waiting = p->first == NULL ? gompi_swap_total(&p->no_room, 0) : 0;
	gompi_mutex_give(&p->lock);
	for (int i = 0; i < FABRIC_PORTS; i++)
		if ((waiting >> i & 1) != 0 && gompi_ports[i] != NULL && gompi_ports[i]->room != NULL)
			gompi_ports[i]->room(p->rank);
}

bool gompi_peers_retry(void) {
	struct gompi_peer *p = gompi_peers_take_retries();
	bool worked = false;
	while (p != NULL) {
		struct gompi_peer *next = p->next_retry;
		// before the checks below: a thread that queues more work afterwards puts p on the list again
		gompi_store_total(&p->again, 0);
		if (!gompi_mutex_try(&p->lock)) {
			gompi_peer_retry(p);
			p = next;
			continue;
		}
		gompi_peer_send(p);
		gompi_transfers_start(p);
		bool asked = p->owes_answer;
		gompi_mutex_give(&p->lock);
		gompi_peer_tell(p, asked);
		if (gompi_load(&p->no_room) != 0)
			call_room(p);
		worked = worked || gompi_load(&p->again) == 0;
		p = next;
	}
	return worked;
}
