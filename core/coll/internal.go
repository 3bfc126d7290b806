package coll

import "gompirma/core/comm"

// Collectives for other packages, on bytes. They count as collective calls on c like those of the application, and need
// an intracommunicator.

// Barrier returns when all members of c have called it. c may be an intercommunicator.
func (e *Engine) Barrier(c *comm.Comm) error {
	if c.Size() == 1 && !c.IsInter() {
		return nil
	}
	if t := e.state(c).slots; t != nil {
		_, err := t.Run(&Exchange{Kind: KindBarrier})
		return err
	}
	s := e.blocking(c)
	if c.IsInter() {
		s.local.interBarrier()
	} else {
		s.local.barrier()
	}
	return e.run(s, c)
}

// Allgather returns the contributions of all members, which have one length, one after another in the order of ranks.
func (e *Engine) Allgather(c *comm.Comm, mine []byte) ([]byte, error) {
	if st := e.state(c); st.slots != nil && c.Span != nil && len(mine) > 0 {
		return e.wordsOverNodes(c, st, mine)
	}
	all := make([]byte, len(mine)*c.Size())
	blocks := cut(all, len(mine), c.Size())
	copy(blocks[c.Rank()], mine)
	if c.Size() == 1 || len(mine) == 0 {
		return all, nil
	}
	if t := e.state(c).slots; t != nil && c.Span == nil && t.Fits(KindAllgather) {
		_, err := t.Run(&Exchange{Kind: KindAllgather, Bytes: len(mine), In: mine, Outs: blocks})
		return all, err
	}
	s := e.blocking(c)
	s.local.allgather(blocks, oneSize)
	return all, e.run(s, c)
}

// cut returns n blocks of size bytes of b.
func cut(b []byte, size, n int) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		out[i] = b[i*size : (i+1)*size : (i+1)*size]
	}
	return out
}
