package coll

import "gompirma/core/comm"

// Words is a series of Engine.Allgather among so large a number of members that their data together should not be in
// the memory of each member: the members of a node share it. It falls back to Allgather if all members are on one node,
// if a member is alone on its node, if there is little data, or if there is no shared memory.
type Words struct {
	e          *Engine
	c          *comm.Comm
	kept, rest int    // bytes per member
	shared     []byte // memory that the members of this node share; nil: none, or no call yet
	calls      int
}

// leastShared is the number of bytes from which on the data of all members is shared. For less, sharing takes longer
// than a copy for each member.
var leastShared = 256 << 10

// Words begins a series of exchanges among the members of c. A member contributes up to kept bytes to the first
// exchange and up to rest bytes to others.
func (e *Engine) Words(c *comm.Comm, kept, rest int) *Words {
	return &Words{e: e, c: c, kept: kept, rest: rest}
}

// All returns the contributions of all members, which have equal sizes, in the order of ranks. The result is read-only.
// That of the first call is valid until Close, that of later calls until the next call.
func (w *Words) All(mine []byte) ([]byte, error) {
	e, c := w.e, w.c
	n, _ := c.Sharers()
	st := e.state(c)
	w.calls++
	if w.calls == 1 && n > 1 && c.Hierarchy != nil && st.slots != nil && w.kept*c.Size() >= leastShared {
		// An error occurs at all members of the node alike, or will occur again later.
		w.shared, _ = c.Extend(int64((w.kept + w.rest) * c.Size()))
	}
	if w.shared == nil {
		return e.Allgather(c, mine)
	}
	from, most := 0, w.kept
	if w.calls > 1 {
		from, most = w.kept*c.Size(), w.rest
	}
	if len(mine) == 0 || len(mine) > most {
		return e.Allgather(c, mine)
	}
	all := w.shared[from : from+len(mine)*c.Size()]
	return all, e.sharedWords(c, st, mine, all)
}

// Close releases the shared memory.
func (w *Words) Close() {
	if w.shared != nil {
		w.c.Shrink(w.shared)
		w.shared = nil
	}
}

// sharedWords is wordsOverNodes into memory that the members of this node share. The leader writes it only after all
// members have called gatherHere, so none of them still reads the result of the previous call.
func (e *Engine) sharedWords(c *comm.Comm, st *state, mine, all []byte) (err error) {
	defer orNoRoom(&err)
	hierarchy, size := c.Hierarchy, len(mine)
	n, place := c.Sharers()
	here := cut(room(size*n), size, n)
	copy(here[place], mine)
	if err := gatherHere(c, st, here); err != nil {
		return err
	}
	s := e.amongNodes(c, st, hierarchy.Leaders)
	if place == 0 {
		length := make([]int, len(hierarchy.Leaders)) // of the nodes
		for _, k := range hierarchy.NodeOf {
			length[k] += size
		}
		whole := all
		if !hierarchy.Regular {
			whole = room(len(all))
		}
		nodes := blocksOf(whole, length)
		for i, b := range here {
			copy(nodes[hierarchy.Node][i*size:], b)
		}
		s.local.allgatherIntervals(nodes, whole)
		if err := e.run(s, c); err != nil {
			return err
		}
		if !hierarchy.Regular {
			inOrderOfRanks(all, nodes, size, hierarchy.NodeOf)
		}
	}
	return tellHere(n, st, make([]byte, 8)) // that the result is complete
}
