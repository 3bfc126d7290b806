package p2p

import (
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
	"gompirma/core/request"
)

// host is the engine as communicators see it: they exchange bytes of known length.
type host struct{ *Engine }

// Send implements comm.Host.
func (h host) Send(c *comm.Comm, x comm.Context, dest int, tag int32, b []byte) error {
	return h.Engine.Send(c, x, Bytes(b), dest, tag, Urgent)
}

// Recv implements comm.Host.
func (h host) Recv(c *comm.Comm, x comm.Context, source int, tag int32, b []byte) error {
	var st request.Status
	if err := h.Engine.Recv(c, x, Bytes(b), source, tag, &st); err != nil {
		return err
	}
	if st.Bytes != int64(len(b)) {
		return mpierr.New(abi.MPI_ERR_OTHER,
			"rank %d sent %d bytes where %d were expected: the members do not make the same call", source,
			st.Bytes, len(b))
	}
	return nil
}

// NewID implements comm.Host: 2^24 processes, 2^36 communicators made by each.
func (h host) NewID() uint64 { return uint64(h.world+1)<<40 | h.ids.Add(1)<<4 }

// Node implements comm.Host.
func (h host) Node(w int32) int {
	if h.nodeOf == nil {
		return 0
	}
	return int(h.nodeOf[w])
}

// NewBlock implements comm.Host.
func (h host) NewBlock(size int64) (int64, error) {
	off, err := h.nd.Reserve(size, 0)
	if err != nil {
		return 0, err
	}
	if err := h.nd.Commit(off, size); err != nil {
		h.nd.Release(off, size)
		return 0, err
	}
	h.blocksMu.Lock()
	h.blocks[off] = size
	h.blocksMu.Unlock()
	return off, nil
}

// releaseBlock gives a control block back that this process has reserved; anything else is ignored.
func (e *Engine) releaseBlock(off, size int64) {
	e.blocksMu.Lock()
	mine := e.blocks[off] == size && size > 0
	if mine {
		delete(e.blocks, off)
	}
	e.blocksMu.Unlock()
	if mine {
		e.nd.Release(off, size)
	}
}

// MapBlock implements comm.Host.
func (h host) MapBlock(off, size int64) ([]byte, error) { return h.nd.Map(off, size) }

// DropBlock implements comm.Host.
func (h host) DropBlock(b []byte, owner int32, off, size int64, last bool) {
	if b != nil {
		h.nd.Unmap(b)
	}
	if !last {
		return
	}
	if int(owner) == h.world {
		h.releaseBlock(off, size)
		return
	}
	h.m.ReleaseBlock(owner, off, size)
}

// Forget implements comm.Host.
func (h host) Forget(c *comm.Comm) {
	for x := comm.Context(0); x < comm.NumContexts; x++ {
		h.m.Forget(c.Context(x))
	}
}

var _ comm.Host = host{}
