package coll

import "gompirma/core/abi"

// The algorithms over messages. They work on bytes: data that is not contiguous in the application's memory has been
// packed before and is unpacked afterwards. They are used between nodes, on intercommunicators, and for nonblocking and
// persistent collectives. The blocking forms on one node are shared-memory collectives (shm.go).
//
// The pattern of messages may depend on the number of bytes only if the members have agreed on this number
// (schedule.fixed is false). Otherwise the pattern is always the same, and even messages of 0 bytes are sent. So if one
// member passes a different length, it still sends every message that others wait for, and the members get an error
// instead of a hang.

// Sizes in bytes at which one algorithm replaces another. Below each size, the number of rounds dominates the cost.
// Above it, the number of bytes that each process moves dominates.
const (
	bcastTreeBytes      = 64 << 10 // up to this size a broadcast sends all data down a binomial tree
	reduceWholeBytes    = 32 << 10 // up to this size a reduction sends whole vectors
	gatherTreeBytes     = 4 << 10  // block size up to which gather and scatter use a binomial tree
	allgatherBruckBytes = 32 << 10 // result size up to which allgather takes log2(n) rounds
	maxInFlight         = 32       // maximum number of messages in flight per direction in an all-to-all
)

// barrier is a dissemination barrier: ceil(log2 n) rounds.
func (v view) barrier() {
	for d := 1; d < v.size; d *= 2 {
		v.send((v.rank+d)%v.size, nil)
		v.recv((v.rank-d+v.size)%v.size, nil)
		v.wait()
	}
}

// bcast copies the data b of process root to the buffer b of all processes.
func (v view) bcast(b []byte, root int) {
	if v.size == 1 {
		return
	}
	if !v.fixed && len(b) > bcastTreeBytes && v.size > 3 {
		blocks := splitEven(b, v.size, 1)
		v.scatterTree(blocks, b, root)
		v.wait()
		v.allgatherRing(blocks)
		return
	}
	vr := (v.rank - root + v.size) % v.size
	mask := 1
	for ; mask < v.size; mask *= 2 {
		if vr&mask != 0 {
			v.recv((vr-mask+root)%v.size, b)
			v.wait()
			break
		}
	}
	for mask /= 2; mask > 0; mask /= 2 {
		if vr+mask < v.size {
			v.forward((vr+mask+root)%v.size, b)
		}
	}
	v.wait()
}

// splitEven cuts b, whose elements have the given size, into n blocks that differ by at most one element.
func splitEven(b []byte, n, elem int) [][]byte {
	out := make([][]byte, n)
	count := len(b) / elem
	for i := range out {
		lo, hi := count*i/n*elem, count*(i+1)/n*elem
		out[i] = b[lo:hi:hi]
	}
	return out
}

// scatterTree sends each process its block of root's buffer `whole` along a binomial tree. The blocks are consecutive
// parts of `whole`; all processes know the sizes of all blocks. A process receives the blocks of its subtree. In the
// order of ranks relative to root these blocks are consecutive. If they wrap around the end of `whole`, they are sent
// in two messages.
func (v view) scatterTree(blocks [][]byte, whole []byte, root int) {
	vr := (v.rank - root + v.size) % v.size
	mask := 1
	for ; mask < v.size; mask *= 2 {
		if vr&mask != 0 {
			for _, piece := range v.interval(blocks, whole, root, vr, mask) {
				v.recv((vr-mask+root)%v.size, piece)
			}
			v.wait()
			break
		}
	}
	for mask /= 2; mask > 0; mask /= 2 {
		if vr+mask < v.size {
			for _, piece := range v.interval(blocks, whole, root, vr+mask, mask) {
				v.send((vr+mask+root)%v.size, piece)
			}
		}
	}
	v.wait()
}

// gatherTree reverses scatterTree: it collects the block of each process into root's buffer `whole`. Other processes
// use their `whole` as memory for the blocks of their subtree.
func (v view) gatherTree(blocks [][]byte, whole []byte, root int) {
	vr := (v.rank - root + v.size) % v.size
	for mask := 1; mask < v.size; mask *= 2 {
		if vr&mask != 0 {
			v.wait()
			for _, piece := range v.interval(blocks, whole, root, vr, mask) {
				v.send((vr-mask+root)%v.size, piece)
			}
			break
		}
		if vr+mask < v.size {
			for _, piece := range v.interval(blocks, whole, root, vr+mask, mask) {
				v.recv((vr+mask+root)%v.size, piece)
			}
		}
	}
	v.wait()
}

// interval returns the bytes of the blocks of the ranks vr to vr+n-1 relative to root. If these blocks wrap around the
// end of the buffer `whole`, it returns two parts, otherwise one. It omits empty parts.
func (v view) interval(blocks [][]byte, whole []byte, root, vr, n int) [][]byte {
	first, last := vr+root, min(vr+n, v.size)+root // absolute ranks, may exceed size
	var out [][]byte
	add := func(lo, hi int) { // appends the bytes of the blocks of the ranks lo to hi - 1
		if lo >= hi {
			return
		}
		from, to := 0, 0
		for i := 0; i < lo; i++ {
			from += len(blocks[i])
		}
		to = from
		for i := lo; i < hi; i++ {
			to += len(blocks[i])
		}
		if to > from {
			out = append(out, whole[from:to:to])
		}
	}
	add(first, min(last, v.size))
	add(max(first, v.size)-v.size, last-v.size)
	return out
}

// route is the path of the blocks between the root and the other processes.
type route bool

const (
	routeDirect route = false // each block moves directly between its process and the root
	// Blocks move along a binomial tree. All blocks have the same size. A process forwards the blocks of its
	// subtree, which needs memory for them.
	routeTree route = true
)

// gather stores the block `own` of process i to blocks[i] at root. The argument `blocks` is significant only at root.
func (v view) gather(own []byte, blocks [][]byte, root int, by route) {
	if by == routeTree && v.size > 3 {
		whole := v.alloc(len(own) * v.size)
		parts := make([][]byte, v.size)
		for i := range parts {
			parts[i] = whole[i*len(own) : (i+1)*len(own) : (i+1)*len(own)]
		}
		v.copy(parts[v.rank], own)
		v.gatherTree(parts, whole, root)
		if v.rank == root {
			for i := range parts {
				v.copy(blocks[i], parts[i])
			}
		}
		return
	}
	if v.rank != root {
		v.send(root, own)
		v.wait()
		return
	}
	for i := range blocks {
		if i == v.rank {
			v.copy(blocks[i], own)
		} else {
			v.recv(i, blocks[i])
		}
	}
	v.wait()
}

// scatter copies root's blocks[i] to the buffer `own` of process i.
func (v view) scatter(blocks [][]byte, own []byte, root int, by route) {
	if by == routeTree && v.size > 3 {
		whole := v.alloc(len(own) * v.size)
		parts := make([][]byte, v.size)
		for i := range parts {
			parts[i] = whole[i*len(own) : (i+1)*len(own) : (i+1)*len(own)]
			if v.rank == root {
				v.copy(parts[i], blocks[i])
			}
		}
		v.scatterTree(parts, whole, root)
		v.copy(own, parts[v.rank])
		return
	}
	if v.rank != root {
		v.recv(root, own)
		v.wait()
		return
	}
	for i := range blocks {
		if i == v.rank {
			v.copy(own, blocks[i])
		} else {
			v.send(i, blocks[i])
		}
	}
	v.wait()
}

// blockSizes states whether all blocks of a call have the same size.
type blockSizes bool

const (
	sizesVary  blockSizes = false
	sizesEqual blockSizes = true
)

// allgather stores the contribution of process i to blocks[i] at all processes. At entry blocks[v.rank] holds the
// contribution of this process.
func (v view) allgather(blocks [][]byte, of blockSizes) {
	if v.size == 1 {
		return
	}
	if size := len(blocks[0]); of == sizesEqual && !v.fixed && size*v.size <= allgatherBruckBytes {
		v.allgatherBruck(blocks, size)
		return
	}
	if v.fixed {
		own := make([][]byte, v.size)
		for i := range own {
			own[i] = blocks[v.rank]
		}
		v.alltoall(own, blocks)
		return
	}
	v.allgatherRing(blocks)
}

// allgatherBruck is Bruck's algorithm: after k rounds this process holds the blocks of ranks rank .. rank+2^k-1 (modulo
// size), in that order.
func (v view) allgatherBruck(blocks [][]byte, size int) {
	held := v.alloc(size * v.size)
	v.copy(held[:size], blocks[v.rank])
	for have := 1; have < v.size; have *= 2 {
		n := min(have, v.size-have)
		v.send((v.rank-have+v.size)%v.size, held[:n*size])
		v.recv((v.rank+have)%v.size, held[have*size:(have+n)*size])
		v.wait()
	}
	for i := 1; i < v.size; i++ {
		v.copy(blocks[(v.rank+i)%v.size], held[i*size:(i+1)*size])
	}
}

// allgatherRing is the ring algorithm: in each round, a process passes the block that it received last to its right
// neighbor.
func (v view) allgatherRing(blocks [][]byte) {
	left, right := (v.rank-1+v.size)%v.size, (v.rank+1)%v.size
	for k := 0; k < v.size-1; k++ {
		v.send(right, blocks[(v.rank-k+v.size)%v.size])
		v.recv(left, blocks[(v.rank-k-1+v.size)%v.size])
		v.wait()
	}
}

// alltoall copies in[v.rank] of process i to out[i] of this process. In step k, each process sends to the process k
// ranks above it. So in each step, every process receives from only one process.
func (v view) alltoall(in, out [][]byte) {
	v.copy(out[v.rank], in[v.rank])
	for k := 1; k < v.size; k++ {
		to, from := (v.rank+k)%v.size, (v.rank-k+v.size)%v.size
		v.recv(from, out[from])
		v.send(to, in[to])
		if k%maxInFlight == 0 {
			v.wait()
		}
	}
	v.wait()
}

// reduce adds the steps of a reduction of the vectors `own` of all processes, in the order of ranks. The steps do not
// write `own`. At root, reduce returns the buffer that holds the result once the steps have run. At other processes it
// returns nil.
func (v view) reduce(r *reducer, own []byte, root int) []byte {
	if v.size == 1 {
		return own
	}
	if !v.fixed && len(own) > reduceWholeBytes && v.size > 2 {
		mine := v.reduceScatter(r, splitEven(own, v.size, r.size), nil)
		var whole []byte
		if v.rank == root {
			whole = v.alloc(len(own))
		}
		v.gather(mine, splitEven(whole[:len(whole):len(whole)], v.size, r.size), root, routeDirect)
		return whole
	}
	// If the operation is not commutative, the root of the binomial tree is rank 0, and rank 0 finally sends the
	// result to `root`. Only then does each process combine adjacent intervals of ranks in order. If the operation
	// is commutative, `root` itself is the root of the tree.
	top := 0
	if r.commutative {
		top = root
	}
	vr := (v.rank - top + v.size) % v.size
	acc := own
	spare := [][]byte{}
	for mask := 1; mask < v.size; mask *= 2 {
		if vr&mask != 0 {
			v.forward((vr-mask+top)%v.size, acc)
			v.wait()
			acc = nil
			break
		}
		if vr+mask < v.size {
			var in []byte
			if n := len(spare); n > 0 {
				in, spare = spare[n-1], spare[:n-1]
			} else {
				in = v.alloc(len(own))
			}
			v.recv((vr+mask+top)%v.size, in)
			v.wait()
			low := acc
			v.combine(r, low, in)
			if mask > 1 { // in the first round acc is `own`, which must not be written later
				spare = append(spare, acc)
			}
			acc = in
		}
	}
	if top != root {
		switch v.rank {
		case top:
			v.forward(root, acc)
			v.wait()
			acc = nil
		case root:
			acc = v.alloc(len(own))
			v.recv(top, acc)
			v.wait()
		}
	}
	if v.rank != root {
		return nil
	}
	return acc
}

// reduceScatter adds to the schedule the steps of a reduction whose result is scattered: own[i] is this process'
// operand for process i. Each process receives the operands that all processes have for it, and reduces them in the
// order of ranks. reduceScatter returns the buffer that will hold the result. This is the buffer `to` or, in two cases,
// a new buffer: if `to` is nil, or if this process accumulates into a copy of its own block. The steps do not write the
// blocks `own`.
func (v view) reduceScatter(r *reducer, own [][]byte, to []byte) []byte {
	size, last := len(own[v.rank]), v.size-1
	in := make([][]byte, v.size)
	// The accumulator is the block of the last rank. At the last rank this is its own block, which must be copied
	// first. If the operation is commutative, the last rank accumulates into the block of the rank below it
	// instead.
	acc := last
	if v.rank == last && last > 0 && r.commutative {
		acc = last - 1
	}
	for i := range in {
		switch {
		case i == v.rank && i != acc:
			in[i] = own[i]
		case i == acc && to != nil && i != v.rank:
			in[i] = to
		default:
			in[i] = v.alloc(size)
		}
	}
	v.alltoall(own, in)
	if acc != last {
		v.combine(r, in[last], in[acc])
	}
	for i := acc - 1; i >= 0; i-- {
		v.combine(r, in[i], in[acc])
	}
	return in[acc]
}

// allreduce stores the reduction of the vectors `own` of all processes to the buffer `out`. The arguments `own` and
// `out` may be the same memory. Every process gets the same bits. Each element is either computed once and copied to
// all processes, or each process computes it from the same operands in the same order.
func (v view) allreduce(r *reducer, own, out []byte) {
	if v.size == 1 {
		v.copy(out, own)
		return
	}
	if !v.fixed && len(own) > reduceWholeBytes {
		blocks := splitEven(out, v.size, r.size)
		to := blocks[v.rank]
		if &own[0] == &out[0] {
			to = nil
		}
		mine := v.reduceScatter(r, splitEven(own, v.size, r.size), to)
		v.copy(blocks[v.rank], mine)
		v.allgatherRing(blocks)
		return
	}
	v.copy(out, own)
	acc, spare := out, v.alloc(len(own))
	// join receives the partner's buffer and combines it with acc in the order of ranks.
	join := func(partner int) {
		v.recv(partner, spare)
		v.wait()
		a, b := acc, spare
		if partner > v.rank {
			v.combine(r, a, b)
			acc, spare = b, a
		} else {
			v.combine(r, b, a)
		}
	}
	// In recursive doubling, the number of processes must be a power of two. So each odd process among the first
	// 2*extra processes sends its data to the process below it and waits for the result.
	pow := 1
	for pow*2 <= v.size {
		pow *= 2
	}
	extra := v.size - pow
	place := v.rank - extra
	if v.rank < 2*extra {
		place = v.rank / 2
		if v.rank%2 == 1 {
			v.send(v.rank-1, acc)
			v.wait()
			v.recv(v.rank-1, out)
			v.wait()
			return
		}
		join(v.rank + 1)
	}
	for mask := 1; mask < pow; mask *= 2 {
		other := place ^ mask
		partner := other + extra
		if other < extra {
			partner = other * 2
		}
		v.forward(partner, acc)
		join(partner)
	}
	v.copy(out, acc)
	if v.rank < 2*extra {
		v.forward(v.rank+1, acc)
	}
	v.wait()
}

// scan reduces the vectors `own` of ranks 0 to v.rank, and stores the result to the buffer `out`. The argument `kind`
// is KindScan or KindExscan. KindExscan excludes the vector of this rank, and does not write `out` at rank 0. The
// arguments `own` and `out` may be the same memory.
func (v view) scan(r *reducer, own, out []byte, kind Kind) {
	exclusive := kind == KindExscan
	if v.size == 1 {
		if !exclusive {
			v.copy(out, own)
		}
		return
	}
	// In each round, the group of ranks that contains this rank doubles; it begins at a multiple of its size.
	// `partial` is the reduction of the whole group. `result` is the reduction of those ranks of the group that are
	// lower than this rank; for KindScan it includes this rank too.
	partial, spare := v.alloc(len(own)), v.alloc(len(own))
	v.copy(partial, own)
	result, empty := v.alloc(len(own)), exclusive
	if !exclusive {
		v.copy(result, own)
	}
	for mask := 1; mask < v.size; mask *= 2 {
		partner := v.rank ^ mask
		if partner >= v.size {
			continue
		}
		v.forward(partner, partial)
		v.recv(partner, spare)
		v.wait()
		a, b := partial, spare
		if partner > v.rank {
			v.combine(r, a, b)
			partial, spare = b, a
			continue
		}
		if empty {
			v.copy(result, b)
			empty = false
		} else {
			v.combine(r, b, result)
		}
		v.combine(r, b, a)
	}
	if !empty {
		v.copy(out, result)
	}
}

// neighbors sends in[i] to destinations[i] and receives out[i] from sources[i]. It skips MPI_PROC_NULL. In a Cartesian
// topology, each dimension has two neighbors: predecessor (even index) and successor (odd index). The first message of
// a process goes to its predecessor, which receives it from its successor. If predecessor and successor are the same
// process, only the order of the messages distinguishes them. Therefore a process receives from the successor first.
func (v view) neighbors(in, out [][]byte, destinations, sources []int32, grid bool) {
	for i := range sources {
		if grid {
			i ^= 1
		}
		if sources[i] != abi.MPI_PROC_NULL {
			v.recv(int(sources[i]), out[i])
		}
	}
	for i, to := range destinations {
		if to != abi.MPI_PROC_NULL {
			v.send(int(to), in[i])
		}
	}
	v.wait()
}
