package coll

import (
	"encoding/binary"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
)

// Two-level collectives for large data among members on several nodes. The members of a node use shared-memory
// collectives, and the node leaders exchange messages with each other. In a call with a root, the root is the leader of
// its node for this call. For small data, C does the same (capi/coll/hierarchy.h). C passes a call to this file after
// the members have agreed that the data is large.

// maxShmElement is the size in bytes of the largest element that is reduced in shared memory. An element of this size
// fits the control block, so its reduction works even if memory for large buffers is short.
const maxShmElement = 2 << 10

// isTwoLevel returns whether a call is executed in two levels. A reduction by an operation that is not commutative
// qualifies only if the ranks of each node are consecutive. Precondition: the members have agreed on the lengths.
func (k *Call) isTwoLevel(o *operands) bool {
	hierarchy := k.Comm.Hierarchy
	if hierarchy == nil {
		return false
	}
	switch k.Kind {
	case KindBcast, KindAllgather, KindAllgatherv:
		return true
	case KindReduce, KindAllreduce:
		return (k.Op.Commutative() || hierarchy.Regular) && o.red.size <= maxShmElement
	}
	return false
}

// runTwoLevel executes a call for which isTwoLevel is true.
func (e *Engine) runTwoLevel(k *Call, st *state, o *operands) error {
	var mine callBuffers
	if k.Kind == KindAllgather || k.Kind == KindAllgatherv {
		// In MPI_Allgatherv, the members have not agreed on the length of each block, so they exchange the
		// lengths.
		mine := binary.LittleEndian.AppendUint64(nil, uint64(len(o.in)))
		all, err := e.Allgather(k.Comm, mine)
		if err != nil {
			return err
		}
		lengths := make([]int, k.Comm.Size())
		for i := range lengths {
			lengths[i] = int(binary.LittleEndian.Uint64(all[8*i:]))
		}
		return e.twoLevelAllgather(k.Comm, st, o.in, lengths, o.outs)
	}
	c, hierarchy, root := k.Comm, k.Comm.Hierarchy, 0
	n, localRank := c.LocalMembers()
	leaders, leader := hierarchy.Leaders, 0 // leader of each node; index on this node of its leader
	if k.Kind != KindAllreduce {
		root = int(hierarchy.NodeOf[k.Root])
		leaders = append([]int32(nil), leaders...)
		leaders[root] = k.Root
		if root == hierarchy.Node {
			for c.LocalMember(leader) != int(k.Root) {
				leader++
			}
		}
	}
	isLeader := localRank == leader
	s := e.internodeSchedule(c, st, leaders)
	onNode := func(kind Kind, in, out []byte) error {
		if n == 1 {
			return nil
		}
		x := ShmCall{Kind: kind, Root: leader, Bytes: max(len(in), len(out)), In: in, Out: out}
		if kind == KindReduce {
			x.Elem, x.Op, x.Type = max(o.red.size, 1), k.Op, k.Recv.Type
			x.Packed = k.Op.User() && !o.red.hasMemLayout
		}
		return st.shm.RunOnNode(&x)
	}
	red := new(reducer)
	*red = o.red
	own := o.in
	if k.Kind != KindBcast && n > 1 {
		var sum []byte
		switch {
		case isLeader && k.Kind == KindAllreduce:
			sum = o.out
		case isLeader:
			sum = mine.alloc(len(own))
		}
		if err := onNode(KindReduce, own, sum); err != nil {
			return err
		}
		own = sum
	}
	if isLeader {
		switch v := s.local; k.Kind {
		case KindBcast:
			v.bcast(o.out, root)
		case KindReduce:
			if acc := v.reduce(red, own, root); v.rank == root {
				v.copy(o.out, acc)
			}
		case KindAllreduce:
			v.allreduce(red, own, o.out)
		}
		if err := e.run(s, c); err != nil {
			return err
		}
	}
	mine.release() // the data has been copied out of this memory
	if k.Kind == KindReduce {
		return nil
	}
	return onNode(KindBcast, nil, o.out)
}

// internodeSchedule returns an empty schedule of the leaders of the nodes. Only the leaders use the schedule. But all
// members call internodeSchedule, because it also counts the call: the count determines the tags of later calls.
func (e *Engine) internodeSchedule(c *comm.Comm, st *state, leaders []int32) *schedule {
	st.blockingCount++
	s := newSchedule(&channel{c, comm.Collective, tag(st.blockingCount), leaders}, c.Hierarchy.Node, len(leaders))
	s.buffers = new(callBuffers)
	return s
}

// twoLevelAllgather stores the block `own` of member i to outs[i]. The argument `lengths` has the length of each
// member's block, and is equal at all members. The data is gathered in a contiguous buffer, ordered by node. This
// buffer is `outs` itself if `outs` is contiguous and the ranks are in the order of the nodes. Errors: MPI_ERR_TRUNCATE
// if outs[i] is shorter than lengths[i], MPI_ERR_COUNT if it is longer.
func (e *Engine) twoLevelAllgather(c *comm.Comm, st *state, own []byte, lengths []int, outs [][]byte) (err error) {
	defer recoverNoMemory(&err)
	hierarchy := c.Hierarchy
	length := make([]int, len(hierarchy.Leaders)) // bytes of each node's members
	total := 0
	for i, l := range lengths {
		length[hierarchy.NodeOf[i]] += l
		total += l
	}
	var mine callBuffers
	whole := contiguousBlocks(outs, lengths)
	if whole == nil || !hierarchy.Regular {
		whole = mine.alloc(total)
	}
	nodes, at := splitSizes(whole, length), make([]int, len(length))
	blocks := make([][]byte, len(outs))
	for i, l := range lengths {
		k := hierarchy.NodeOf[i]
		blocks[i] = nodes[k][at[k] : at[k]+l : at[k]+l]
		at[k] += l
	}
	copy(blocks[c.Rank()], own)
	local := make([][]byte, len(hierarchy.Local))
	for i, r := range hierarchy.Local {
		local[i] = blocks[r]
	}
	if err := e.gatherNodes(c, st, local, nodes, whole); err != nil {
		return err
	}
	for i, b := range outs {
		if l := len(blocks[i]); l == len(b) {
			copy(b, blocks[i])
		} else if class := int32(abi.MPI_ERR_TRUNCATE); l > len(b) || err == nil {
			if l < len(b) {
				class = abi.MPI_ERR_COUNT
			}
			err = mpierr.New(class, "rank %d sent %d bytes, but this process expects %d", i, l, len(b))
		}
	}
	mine.release()
	return err
}

// gatherNodes fills the buffer `whole` with the data of all members. nodes[k] is the part of `whole` for the members of
// node k. The argument `local` has the blocks of this node's members. At entry, only the block of this member holds
// data.
func (e *Engine) gatherNodes(c *comm.Comm, st *state, local, nodes [][]byte, whole []byte) error {
	if err := gatherLocal(c, st, local); err != nil {
		return err
	}
	s := e.internodeSchedule(c, st, c.Hierarchy.Leaders)
	n, localRank := c.LocalMembers()
	if localRank == 0 {
		s.local.allgatherIntervals(nodes, whole)
		if err := e.run(s, c); err != nil {
			return err
		}
	}
	return bcastLocal(n, st, whole)
}

// gatherLocal fills the argument `local` with the blocks of this node's members. Precondition: this member's block
// holds its data.
func gatherLocal(c *comm.Comm, st *state, local [][]byte) error {
	n, localRank := c.LocalMembers()
	if n == 1 {
		return nil
	}
	in := local[localRank]
	return st.shm.RunOnNode(&ShmCall{Kind: KindAllgather, Bytes: len(in), In: in, Outs: local})
}

// bcastLocal copies the data `b` of the first member of this node to the buffer `b` of all n members of this node.
func bcastLocal(n int, st *state, b []byte) (err error) {
	if n > 1 {
		err = st.shm.RunOnNode(&ShmCall{Kind: KindBcast, Bytes: len(b), Out: b})
	}
	return err
}

// twoLevelAllgatherEqual returns the contributions of all members, which have equal lengths, in the order of ranks.
func (e *Engine) twoLevelAllgatherEqual(c *comm.Comm, st *state, mine []byte) (all []byte, err error) {
	defer recoverNoMemory(&err)
	all = alloc(len(mine) * c.Size())
	if err = e.allgatherAtLeader(c, st, mine, all); err == nil {
		n, _ := c.LocalMembers()
		err = bcastLocal(n, st, all)
	}
	return all, err
}

// allgatherAtLeader stores the contributions of all members, which have equal lengths, in the order of ranks to the
// buffer `all` of each node leader. The leader writes its buffer after all members of its node have called this
// function. It does not allocate a slice for each member, because a communicator can have many members.
func (e *Engine) allgatherAtLeader(c *comm.Comm, st *state, mine, all []byte) (err error) {
	defer recoverNoMemory(&err)
	hierarchy, size := c.Hierarchy, len(mine)
	n, localRank := c.LocalMembers()
	local := splitEqual(alloc(size*n), size, n)
	copy(local[localRank], mine)
	if err := gatherLocal(c, st, local); err != nil {
		return err
	}
	s := e.internodeSchedule(c, st, hierarchy.Leaders)
	if localRank != 0 {
		return nil
	}
	length := make([]int, len(hierarchy.Leaders)) // bytes of each node's members
	for _, k := range hierarchy.NodeOf {
		length[k] += size
	}
	whole := all
	if !hierarchy.Regular {
		whole = alloc(len(all))
	}
	nodes := splitSizes(whole, length)
	for i, b := range local {
		copy(nodes[hierarchy.Node][i*size:], b)
	}
	s.local.allgatherIntervals(nodes, whole)
	if err := e.run(s, c); err != nil || hierarchy.Regular {
		return err
	}
	for i, k := range hierarchy.NodeOf { // removes each block from the front of nodes[k]
		copy(all[i*size:(i+1)*size], nodes[k])
		nodes[k] = nodes[k][size:]
	}
	return nil
}

// allgatherIntervals is Bruck's allgather for blocks of different lengths. The blocks are consecutive parts of the
// buffer `whole`. After k rounds this process has the blocks of ranks rank .. rank+2^k-1 (modulo size). There are
// ceil(log2 n) rounds.
func (v view) allgatherIntervals(blocks [][]byte, whole []byte) {
	for have := 1; have < v.size; have *= 2 {
		n := min(have, v.size-have)
		for _, piece := range v.interval(blocks, whole, v.rank, 0, n) {
			v.send((v.rank-have+v.size)%v.size, piece)
		}
		for _, piece := range v.interval(blocks, whole, v.rank, have, n) {
			v.recv((v.rank+have)%v.size, piece)
		}
		v.wait()
	}
}
