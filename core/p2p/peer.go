package p2p

import "sync/atomic"

// peer is another process that this one sends to.
type peer struct {
	link  Link
	flow  *uint32 // what the peer asks for
	most  int64   // bytes of the largest message that is sent with its record, and of a piece
	world int32   // its world rank

	waiting atomic.Int32 // records and streams below: while there are any, nothing may overtake them
	// The rest is guarded by the engine's lock.
	records []pending // in order
	streams []*op     // sends whose data goes out in pieces
}

// pending is a record that found no room in the link.
type pending struct {
	h    record
	k    kind
	op   *op // the send whose data or segments it carries; nil: it has none
	data []byte
	// How the peer learns of it; for kindEager and kindRTS the send's mode says that. Call is what most records
	// need: what they ask for must happen whether or not the peer is inside a call.
	notice Notice
}

// NodeIndex returns the index on this node of the process with world rank w, -1 if it is on another node.
func (e *Engine) NodeIndex(w int32) int {
	if e.nodes == nil {
		return int(w)
	}
	return int(e.nodes[w])
}

// isPeer returns whether there is a process of that world rank, and a link to it. For what others say of themselves.
func (e *Engine) isPeer(world int32) bool {
	return world >= 0 && int(world) < e.size && e.NodeIndex(world) >= 0
}

// peer returns the process with a world rank, for which isPeer holds.
func (e *Engine) peer(world int32) *peer {
	slot := &e.peers[e.NodeIndex(world)]
	if p := slot.Load(); p != nil {
		return p
	}
	p := e.newPeer(world)
	if !slot.CompareAndSwap(nil, p) {
		p = slot.Load()
	}
	return p
}

// newPeer decides by which link a process is reached: those of this node by their rings.
func (e *Engine) newPeer(world int32) *peer {
	return peerBy(e.rings.link(e.NodeIndex(world)), world)
}

func peerBy(link Link, world int32) *peer {
	return &peer{link: link, flow: link.Flow(), most: link.MaxRecord() - recordSize, world: world}
}

// congested returns whether the peer asks for messages to be kept by their senders.
func (p *peer) congested() bool { return Flow(atomic.LoadUint32(p.flow)) == KeepBack }

// publish fills in the fixed part of a record of n bytes, for which room has been reserved and whose payload has been
// written, and sends it.
func (p *peer) publish(room []byte, h *record, k kind, flags uint8, n int64, notice Notice) {
	h.fill(room)
	p.link.Publish(room, firstWord(k, flags, n), notice)
}
