package coll

import "gompirma/core/comm"

// Collectives for other packages, on bytes. They count as collective calls on c like those of the application, and need
// an intracommunicator. The first one on c may return MPI_ERR_NO_MEM.

// Barrier returns when all members of c have called it. c may be an intercommunicator.
func (e *Engine) Barrier(c *comm.Comm) (err error) {
	defer orNoRoom(&err)
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

// Allgather returns the contributions of all members, which have equal lengths, concatenated in the order of ranks.
func (e *Engine) Allgather(c *comm.Comm, mine []byte) (all []byte, err error) {
	defer orNoRoom(&err)
	if st := e.state(c); st.slots != nil && c.Hierarchy != nil && len(mine) > 0 {
		return e.wordsOverNodes(c, st, mine)
	}
	all = make([]byte, len(mine)*c.Size())
	if t := e.state(c).slots; t != nil && c.Hierarchy == nil && t.Fits(KindAllgather) && len(mine) > 0 {
		return all, t.Allgather(mine, all)
	}
	blocks := cut(all, len(mine), c.Size())
	copy(blocks[c.Rank()], mine)
	if c.Size() == 1 || len(mine) == 0 {
		return all, nil
	}
	s := e.blocking(c)
	s.local.allgather(blocks, oneSize)
	return all, e.run(s, c)
}

// ShareOf copies root's b to the b of all members of an intracommunicator. All have the same length. Returns done =
// false if the members have no shared-memory slots. For few bytes: comm.MostShared.
func (e *Engine) ShareOf(c *comm.Comm, root int, b []byte) (done bool, err error) {
	defer orNoRoom(&err)
	t := e.state(c).slots
	if t == nil || c.Hierarchy != nil {
		return false, nil
	}
	return true, t.Bcast(root, b)
}

// Share is Allgather of few bytes among members that have shared-memory slots. Returns done = false if they have none.
func (e *Engine) Share(c *comm.Comm, mine []byte) (all []byte, done bool, err error) {
	defer orNoRoom(&err)
	if t := e.state(c).slots; t == nil || c.Hierarchy == nil && !t.Fits(KindAllgather) {
		return nil, false, nil
	}
	all, err = e.Allgather(c, mine)
	return all, true, err
}

// cut returns n blocks of size bytes of b.
func cut(b []byte, size, n int) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		out[i] = b[i*size : (i+1)*size : (i+1)*size]
	}
	return out
}
