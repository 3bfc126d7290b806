// Waits until peers have received the records of this process.
#include "fabric/fabric.h"
#include "fabric/frame.h"
#include "fabric/peer.h"

uint32_t gompi_fabric_request_delivery(int peer) {
	struct gompi_peer *p = gompi_peer_find(peer);
	if (p == NULL)
		return 0;
	gompi_fabric_flush(peer);
	gompi_mutex_lock(&p->lock);
	uint32_t number = p->frames_sent + (p->open_frame != NULL);
	for (const struct gompi_frame *f = p->queue_first; f != NULL; f = f->next)
		number++;
	gompi_mutex_unlock(&p->lock);
	if (gompi_load(&p->has_failed) == 0)
		gompi_peer_probe(p); // without a reply, the progress thread sends further probes
	return number;
}

bool gompi_fabric_is_delivered(int peer, uint32_t number) {
	struct gompi_peer *p = gompi_peer_find(peer);
	if (p == NULL || gompi_load(&p->has_failed) != 0)
		return true;
	gompi_store_seq_cst(&gompi_delivery_awaited, 1);
	gompi_mutex_lock(&p->lock);
	const bool is_delivered = (int32_t)(p->frames_acked - number) >= 0;
	gompi_mutex_unlock(&p->lock);
	return is_delivered;
}
