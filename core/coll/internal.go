package coll

import (
	"encoding/binary"

	"gompirma/core/comm"
)

// Collectives for other packages, on bytes. They count as collective calls on c like those of the application, and need
// an intracommunicator.

// Barrier returns when all members of c have called it. c may be an intercommunicator.
func (e *Engine) Barrier(c *comm.Comm) error {
	if c.Size() == 1 && !c.IsInter() {
		return nil
	}
	if t := e.state(c).small; t != nil {
		return t.barrier()
	}
	s := e.blocking(c)
	if c.IsInter() {
		s.local.interBarrier()
	} else {
		s.local.barrier()
	}
	return e.run(s, c)
}

// Bcast copies root's b to the b of all members, which have one length.
func (e *Engine) Bcast(c *comm.Comm, b []byte, root int) error {
	if c.Size() == 1 || len(b) == 0 {
		return nil
	}
	if t := e.state(c).slots(c, len(b)); t != nil {
		return t.bcast(b, root)
	}
	s := e.blocking(c)
	s.local.bcast(b, root)
	return e.run(s, c)
}

// Allgather returns the contributions of all members, which have one length, one after another in the order of ranks.
func (e *Engine) Allgather(c *comm.Comm, mine []byte) ([]byte, error) {
	all := make([]byte, len(mine)*c.Size())
	blocks := cut(all, len(mine), c.Size())
	copy(blocks[c.Rank()], mine)
	if c.Size() == 1 || len(mine) == 0 {
		return all, nil
	}
	if t := e.state(c).slots(c, len(mine)); t != nil {
		return all, t.allgather(blocks)
	}
	s := e.blocking(c)
	s.local.allgather(blocks, true)
	return all, e.run(s, c)
}

// AllreduceMax returns the largest value of each place over all members.
func (e *Engine) AllreduceMax(c *comm.Comm, values ...int64) ([]int64, error) {
	b := make([]byte, 0, 8*len(values))
	for _, v := range values {
		b = binary.NativeEndian.AppendUint64(b, uint64(v))
	}
	all, err := e.Allgather(c, b)
	if err != nil {
		return nil, err
	}
	out := append([]int64(nil), values...)
	for i := range all[:len(all)/8] {
		k := i % len(values)
		out[k] = max(out[k], int64(binary.NativeEndian.Uint64(all[8*i:])))
	}
	return out, nil
}

// cut returns n blocks of size bytes of b.
func cut(b []byte, size, n int) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		out[i] = b[i*size : (i+1)*size : (i+1)*size]
	}
	return out
}
