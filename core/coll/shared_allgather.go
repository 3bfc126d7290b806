package coll

import "gompirma/core/comm"

// SharedAllgather is a series of Engine.Allgather calls. The members of a node share the results, because with many
// members a copy in each process would take too much memory. In three cases each process has its own copy: if all
// members are on one node, if there is little data, or if shared memory is short. So does a member that is alone on its
// node.
type SharedAllgather struct {
	e                      *Engine
	c                      *comm.Comm
	firstBytes, laterBytes int    // bytes that each member contributes to the first and to each later exchange
	shared                 []byte // shared memory of this node's members; nil if none, or before the first call
	calls                  int
}

// minSharedBytes is the minimum size in bytes of a shared result. For smaller results, sharing takes longer than a copy
// in each member.
var minSharedBytes = 256 << 10

// NewSharedAllgather begins a series of exchanges among the members of c. A member contributes up to firstBytes bytes
// to the first exchange and up to laterBytes bytes to later ones.
func (e *Engine) NewSharedAllgather(c *comm.Comm, firstBytes, laterBytes int) *SharedAllgather {
	return &SharedAllgather{e: e, c: c, firstBytes: firstBytes, laterBytes: laterBytes}
}

// Allgather returns the contributions of all members, which have equal sizes, in the order of ranks. The result is
// read-only. The result of the first call is valid until Close, the result of a later call until the next call.
func (w *SharedAllgather) Allgather(mine []byte) ([]byte, error) {
	e, c := w.e, w.c
	n, _ := c.LocalMembers()
	st := e.state(c)
	w.calls++
	if w.calls == 1 && n > 1 && c.Hierarchy != nil && st.shm != nil && w.firstBytes*c.Size() >= minSharedBytes {
		// The error can be ignored. Either all members of the node get the error and use e.Allgather, or
		// e.Allgather fails too.
		w.shared, _ = c.Extend(int64((w.firstBytes + w.laterBytes) * c.Size()))
	}
	if w.shared == nil {
		return e.Allgather(c, mine)
	}
	from, most := 0, w.firstBytes
	if w.calls > 1 {
		from, most = w.firstBytes*c.Size(), w.laterBytes
	}
	if len(mine) == 0 || len(mine) > most {
		return e.Allgather(c, mine)
	}
	all := w.shared[from : from+len(mine)*c.Size()]
	// All members have read the previous result before the leader writes this one: see allgatherAtLeader.
	err := e.allgatherAtLeader(c, st, mine, all)
	if err == nil {
		err = bcastLocal(n, st, make([]byte, 8)) // reports that the result is complete
	}
	return all, err
}

// Close releases the shared memory.
func (w *SharedAllgather) Close() {
	if w.shared != nil {
		w.c.Shrink(w.shared)
		w.shared = nil
	}
}
