package p2p

import (
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

// rings is how messages go between the processes of a node: each has a ring (ring.go) that all others put records into.
// It is the port that this process' own ring is, and makes the links to the others'.
type rings struct {
	nd    *shm.Node
	world int32 // world rank of this process
	in    inbox
	probe *probePage // what others read to find out whether they can
	noCMA bool       // nobody is to read another's memory
}

func newRings(nd *shm.Node, world int) (*rings, error) {
	if err := nd.Commit(shm.MessageRing(nd.N, nd.Me), shm.MessageRingSize); err != nil {
		return nil, mpierr.Wrap(err, "message ring of process %d", nd.Me)
	}
	r := &rings{nd: nd, world: int32(world), in: inbox{b: nd.MessageRing(nd.Me)},
		noCMA: os.Getenv("GOMPIRMA_NO_CMA") == "1"}
	if err := r.openProbe(); err != nil {
		return nil, err
	}
	// Where Yama lets only ancestors read a process' memory, this lets the peers, too. It fails where there is no
	// Yama.
	unix.Prctl(unix.PR_SET_PTRACER, ^uintptr(0), 0, 0, 0)
	return r, nil
}

// Ready implements Port.
func (r *rings) Ready() bool { return r.in.ready() }

// Drain implements Port. It looks once more after it has announced the new head: a thread that found nothing at the old
// head may have gone to sleep over what came meanwhile.
func (r *rings) Drain(handle func(word uint64, record []byte)) (some bool, err error) {
	in := &r.in
	for {
		word, record, err := in.take()
		if word == 0 {
			if err != nil || in.unpublished() == 0 {
				return some, err
			}
			r.publish()
			continue
		}
		some = true
		if kindOf(word) != kindPad {
			handle(word, record)
		}
		in.drop(lengthOf(word))
		if in.unpublished() >= ringData/4 {
			r.publish()
		}
	}
}

// publish gives room back to those who send, and tells those who wait for it. It does so with a record, since whoever
// serves them looks at their ring only. If there is no room for the record, there is something to look at.
func (r *rings) publish() {
	if !r.in.publish() {
		return
	}
	r.in.waiting(r.nd.N, func(process int) {
		if process == r.nd.Me {
			return
		}
		out := ringLink{b: r.nd.MessageRing(process)}
		if room := out.Reserve(recordSize); room != nil {
			h := record{from: r.world}
			h.fill(room)
			commit(room, firstWord(kindRoom, 0, recordSize))
		}
		r.nd.Wake(process)
		r.nd.RingDoorbell(process)
	})
}

// Ask implements Port.
func (r *rings) Ask(f Flow) { atomic.StoreUint32(u32(r.in.b, ringCongested), uint32(f)) }

// link makes the link to a process of this node.
func (r *rings) link(process int) *ringLink {
	return &ringLink{b: r.nd.MessageRing(process), rings: r, process: process}
}

// ringLink is the link to a process of this node: this process' end of its ring (Reserve is in ring.go).
type ringLink struct {
	b       []byte        // the ring
	head    atomic.Uint64 // the shared head when last looked at
	rings   *rings
	process int // index on this node
	cma     cmaState
}

// MaxRecord implements Link.
func (l *ringLink) MaxRecord() int64 { return maxRecord }

// Publish implements Link.
func (l *ringLink) Publish(room []byte, word uint64, n Notice) {
	commit(room, word)
	l.rings.nd.Wake(l.process)
	if n == Call || n == IfMany && l.full() {
		l.rings.nd.RingDoorbell(l.process)
	}
}

// WantRoom implements Link.
func (l *ringLink) WantRoom() bool {
	if !l.want(l.rings.nd.Me) {
		return false
	}
	l.rings.nd.RingDoorbell(l.process)
	return true
}

// Flow implements Link.
func (l *ringLink) Flow() *uint32 { return u32(l.b, ringCongested) }

// Finishing implements Link.
func (l *ringLink) Finishing() bool { return l.rings.nd.State(l.process) == shm.Finishing }

// Shows implements Link.
func (l *ringLink) Shows() bool { return !l.rings.noCMA }

// Reads implements Link.
func (l *ringLink) Reads() bool { return !l.rings.noCMA && l.cma.possible() }
