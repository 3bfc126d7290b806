package coll

import "gompirma/core/comm"

// Words is Engine.Allgather some times over, for members so many that what all of them say should not be in the memory
// of each: the members of a node share it. Those of one node, and those who have a node for themselves, do what
// Allgather does, and so do all where it is little or where shared memory cannot be had.
type Words struct {
	e          *Engine
	c          *comm.Comm
	kept, rest int    // bytes a member
	shared     []byte // what the members of this node share; nil: nothing, or they have not tried
	calls      int
}

// leastShared is from where on what all say is shared. To share less takes longer than to have it in each.
var leastShared = 256 << 10

// Words begins exchanges among the members of c. In the first a member says up to kept bytes, in others up to rest.
func (e *Engine) Words(c *comm.Comm, kept, rest int) *Words {
	return &Words{e: e, c: c, kept: kept, rest: rest}
}

// All returns what all members say, which is of one size, in the order of ranks: to be read only. What the first call
// returns stays until Close, what others return until the next call.
func (w *Words) All(mine []byte) ([]byte, error) {
	e, c := w.e, w.c
	n, _ := c.Sharers()
	st := e.state(c)
	w.calls++
	if w.calls == 1 && n > 1 && c.Hierarchy != nil && st.slots != nil && w.kept*c.Size() >= leastShared {
		// An error is that of all members of the node, or will be met again.
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

// Close gives the memory back.
func (w *Words) Close() {
	if w.shared != nil {
		w.c.Shrink(w.shared)
		w.shared = nil
	}
}

// sharedWords is wordsOverNodes into memory that the members of this node share. Nobody writes there before all of them
// have come here, done with what was there.
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
	return tellHere(n, st, make([]byte, 8)) // that it is there
}
