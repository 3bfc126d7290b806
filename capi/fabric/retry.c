// Retries frames and transfers that the provider could not accept.
#include "fabric/frame.h"
#include "fabric/peer.h"

// Calls the callback on_room of the ports that wait for space, if no frame waits in the queue.
static void call_room(struct gompi_peer *p) {
	gompi_mutex_lock(&p->lock);
	uint32_t waiting = p->queue_first == NULL ? gompi_swap_seq_cst(&p->ports_waiting, 0) : 0;
	gompi_mutex_unlock(&p->lock);
	for (int i = 0; i < FABRIC_PORTS; i++)
		if ((waiting >> i & 1) != 0 && gompi_port_handlers[i] != NULL &&
		    gompi_port_handlers[i]->on_room != NULL)
			gompi_port_handlers[i]->on_room(p->rank);
}

bool gompi_peers_retry(void) {
	struct gompi_peer *p = gompi_peers_dequeue_retries();
	bool worked = false;
	while (p != NULL) {
		struct gompi_peer *next = p->next_retry;
		// This store precedes the work below, so that a thread that queues more work afterwards puts p on the
		// list again.
		gompi_store_seq_cst(&p->on_retry_list, 0);
		if (!gompi_mutex_trylock(&p->lock)) {
			gompi_peer_schedule_retry(p);
			p = next;
			continue;
		}
		gompi_peer_send(p);
		gompi_transfers_start(p);
		bool asked = p->reply_pending;
		gompi_mutex_unlock(&p->lock);
		gompi_peer_send_ack(p, asked);
		if (gompi_load(&p->ports_waiting) != 0)
			call_room(p);
		worked = worked || gompi_load(&p->on_retry_list) == 0;
		p = next;
	}
	return worked;
}
