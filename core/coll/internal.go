package coll

import "gompirma/core/comm"

// Collectives on bytes for other packages. All members of c must call them in the same order, as they must do with the
// application's collectives on c. c must be an intracommunicator unless stated otherwise. The first call on c may
// return MPI_ERR_NO_MEM.

// Barrier returns when all members of c have called it. c may also be an intercommunicator.
func (e *Engine) Barrier(c *comm.Comm) (err error) {
	defer recoverNoMemory(&err)
	if c.Size() == 1 && !c.IsInter() {
		return nil
	}
	if t := e.state(c).shm; t != nil {
		return t.Barrier()
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
	defer recoverNoMemory(&err)
	if st := e.state(c); st.shm != nil && c.Hierarchy != nil && len(mine) > 0 {
		return e.twoLevelAllgatherEqual(c, st, mine)
	}
	all = make([]byte, len(mine)*c.Size())
	if t := e.state(c).shm; t != nil && c.Hierarchy == nil && t.Supports(KindAllgather) && len(mine) > 0 {
		return all, t.Allgather(mine, all)
	}
	blocks := splitEqual(all, len(mine), c.Size())
	copy(blocks[c.Rank()], mine)
	if c.Size() == 1 || len(mine) == 0 {
		return all, nil
	}
	s := e.blocking(c)
	s.local.allgather(blocks, sizesEqual)
	return all, e.run(s, c)
}

// ShortBcast copies the data `b` of process `root` to the buffer `b` of all members of an intracommunicator. The buffer
// b has the same length at all members, at most comm.MaxShortBytes. ShortBcast returns done = false if c spans several
// nodes or has no shared-memory collectives.
func (e *Engine) ShortBcast(c *comm.Comm, root int, b []byte) (done bool, err error) {
	defer recoverNoMemory(&err)
	t := e.state(c).shm
	if t == nil || c.Hierarchy != nil {
		return false, nil
	}
	return true, t.Bcast(root, b)
}

// ShortAllgather is Allgather of blocks of at most comm.MaxShortBytes through shared memory. It returns done = false if
// c has no shared-memory collectives.
func (e *Engine) ShortAllgather(c *comm.Comm, mine []byte) (all []byte, done bool, err error) {
	defer recoverNoMemory(&err)
	if t := e.state(c).shm; t == nil || c.Hierarchy == nil && !t.Supports(KindAllgather) {
		return nil, false, nil
	}
	all, err = e.Allgather(c, mine)
	return all, true, err
}

// splitEqual returns the first n blocks of b, of size bytes each.
func splitEqual(b []byte, size, n int) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		out[i] = b[i*size : (i+1)*size : (i+1)*size]
	}
	return out
}
