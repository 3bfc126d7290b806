package p2p

import (
	"math/rand/v2"
	"runtime"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

// host implements comm.Host with messages of an Engine.
type host struct{ *Engine }

// Send implements comm.Host. The receiver usually polls inside its MPI call. But the receiver of a message of
// MPI_Comm_idup may have returned to the application, so these messages are Urgent.
func (h host) Send(c *comm.Comm, x comm.Context, dest int, tag int32, b []byte) error {
	o := NewOperation(c, x, int32(dest), tag)
	o.Urgent = x == comm.IdupCreation
	o.DependsOnAll = dependsOnAll(x)
	if x == comm.Agreement { // not interrupted if c is revoked
		o.Comm, o.Outer = 0, 0
	}
	_, err := h.perform(&o, b)
	return err
}

// dependsOnAll returns whether messages of a context belong to a call of all members.
func dependsOnAll(x comm.Context) bool { return x == comm.Creation || x == comm.IdupCreation }

// Recv implements comm.Host.
func (h host) Recv(c *comm.Comm, x comm.Context, source int, tag int32, b []byte, team []int32) error {
	o := NewOperation(c, x, int32(source), tag)
	o.Receive = true
	o.DependsOnAll = dependsOnAll(x) || team != nil
	if team != nil || c.Handle == 0 && (o.DependsOnAll || h.isConnected.Load()) {
		members := team
		if team == nil {
			members = c.Processes()
		}
		defer runtime.KeepAlive(members)
		o.Members, o.MemberCount = addressOf(members), int32(len(members))
	}
	r, err := h.perform(&o, b)
	if err == nil && r.Bytes != int64(len(b)) {
		err = mpierr.New(abi.MPI_ERR_OTHER,
			"rank %d sent %d bytes, but this process expects %d: the ranks called different functions",
			source,
			r.Bytes, len(b))
	}
	return err
}

// perform executes a send from b or a receive into b to its end.
func (h host) perform(o *Operation, b []byte) (Result, error) {
	o.Addr, o.Size = addressOf(b), int64(len(b))
	r, err := h.Perform(*o)
	runtime.KeepAlive(b)
	return r, err
}

// NewID implements comm.Host. The number of this process is in bits 40 and above, and a count in bits 4 to 38. So there
// may be 2^24 processes, each of which creates up to 2^35 communicators. The count begins at a multiple of the process'
// generation (shm.Node.Generation). Bit 39 is set in the contexts of partitioned messages (capi/message/partition.c),
// so these differ from all IDs.
//
// Processes of other jobs create such IDs too. So a process that is connected to other jobs creates random IDs.
func (h host) NewID() uint64 {
	if h.isConnected.Load() {
		return rand.Uint64() &^ (15 | 1<<39)
	}
	return uint64(h.processes.Self()+1)<<40 | h.ids.Add(1)<<4
}

// Identify and Find implement comm.Host.
func (h host) Identify(w int32) (uint64, uint32) { return h.names.Identify(w) }
func (h host) Find(universe uint64, number uint32) (int32, bool) {
	return h.names.Find(universe, number)
}

// Node implements comm.Host.
func (h host) Node(w int32) int {
	return int(h.processes.At(w).Node)
}

// AllocBlock implements comm.Host.
func (h host) AllocBlock(size int64) ([]byte, uint64, error) {
	b, name, err := h.nd.AllocBlock(size)
	return b, uint64(name), err
}

// OpenBlock implements comm.Host.
func (h host) OpenBlock(name uint64, size int64) ([]byte, error) {
	return h.nd.OpenBlock(shm.BlockRef(name), size)
}

// BlockMapped implements comm.Host.
func (h host) BlockMapped(name uint64, w int32) bool {
	return h.nd.BlockMapped(shm.BlockRef(name), h.NodeIndex(w))
}

// FreeBlock implements comm.Host.
func (h host) FreeBlock(name uint64, size, used int64) {
	h.nd.FreeBlock(shm.BlockRef(name), size, used)
}

// Failed implements comm.Host.
func (h host) Failed(w int32) bool {
	if i := h.NodeIndex(w); i >= 0 {
		return h.nd.State(i) == shm.Failed
	}
	return h.m.Failed(w)
}

// Wake implements comm.Host.
func (h host) Wake(w int32) {
	if i := h.NodeIndex(w); i >= 0 {
		h.nd.Wake(i)
	}
}

// RequestDelivery implements comm.Host.
func (h host) RequestDelivery(w int32) (isDelivered func() bool) { return h.m.RequestDelivery(w) }

// AwaitSurvivors implements comm.Host.
func (h host) AwaitSurvivors(done func() bool) error {
	return h.AwaitFor(done, shm.Waiting{Peer: shm.PeersAll, Survives: true})
}

// RecvUnless implements comm.Host.
func (h host) RecvUnless(c *comm.Comm, x comm.Context, b []byte, stop func() bool) (bool, error) {
	o := NewOperation(c, x, abi.MPI_ANY_SOURCE, abi.MPI_ANY_TAG)
	o.Receive, o.Addr, o.Size = true, addressOf(b), int64(len(b))
	defer runtime.KeepAlive(b)
	r, err := h.Begin(o)
	if r == nil || err != nil {
		return err == nil, err
	}
	h.m.Progress() // otherwise a message may remain in the inbox if stop returns true at once
	err = h.AwaitSurvivors(func() bool { return r.IsComplete() || stop() })
	if !r.IsComplete() {
		r.Cancel()
		h.AwaitSurvivors(r.IsComplete) // if the message is matched, its data arrives soon
	}
	got := r.Finish()
	if err == nil {
		err = got.Err()
	}
	return !got.Cancelled, err
}

// Bcast implements comm.Host.
func (h host) Bcast(c *comm.Comm, root int, b []byte) (bool, error) {
	if h.Collectives == nil {
		return false, nil
	}
	return h.Collectives.ShortBcast(c, root, b)
}

// Allgather implements comm.Host.
func (h host) Allgather(c *comm.Comm, mine []byte) ([]byte, bool, error) {
	if h.Collectives == nil {
		return nil, false, nil
	}
	return h.Collectives.ShortAllgather(c, mine)
}

// Forget implements comm.Host.
func (h host) Forget(c *comm.Comm) {
	h.m.Forget(c.Context(0), int(comm.NumContexts))
}

var _ comm.Host = host{}
