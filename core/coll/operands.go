package coll

import (
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
)

// operands is the data of a call as slices of bytes: the application's memory where it is contiguous, packed copies
// elsewhere.
type operands struct {
	in, out    []byte   // contribution and result of this process
	ins, outs  [][]byte // blocks by process, in calls that send or receive a block for each process
	sizes      []int    // for a reduce_scatter: number of bytes that each process receives
	red        reducer
	before     []func() error // functions that pack the send data into the slices above
	after      []func() error // functions that unpack received data
	inline     [2][4][]byte   // storage for ins and outs if there are at most 4 blocks
	allocBytes int
}

// alloc allocates memory for the call.
func (o *operands) alloc(n int) []byte {
	o.allocBytes += n
	return alloc(n)
}

// load returns the data of b, for reading. The returned bytes are valid once the functions in o.before have run.
func (o *operands) load(b *Buffer) []byte {
	n := int(b.Count * b.Type.Size())
	if n == 0 {
		return nil
	}
	if run := contiguousData(b, n); run != nil {
		return run
	}
	packed := o.alloc(n)
	o.beforePacked(*b, packed)
	return packed
}

// beforePacked adds a function to o.before that packs the data of `b` into the slice `packed`.
func (o *operands) beforePacked(b Buffer, packed []byte) {
	o.before = append(o.before, func() error { pack(packed, &b); return nil })
}

// copied returns memory that holds a copy of b once the functions in o.before have run.
func (o *operands) copied(b []byte) []byte {
	to := o.alloc(len(b))
	o.before = append(o.before, func() error { copy(to, b); return nil })
	return to
}

func (o *operands) runBefore() error {
	for _, f := range o.before {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// initialContent states whether the memory for a result must hold the buffer's data when the communication starts.
type initialContent bool

const (
	contentUndefined initialContent = false // undefined
	contentPresent   initialContent = true  // the data of the application's buffer
)

// store returns the memory in which the call must store the result for b. If b is not contiguous, a function in o.after
// unpacks the result to b.
func (o *operands) store(b *Buffer, holds initialContent) []byte {
	n := int(b.Count * b.Type.Size())
	if n == 0 {
		return nil
	}
	if run := contiguousData(b, n); run != nil {
		return run
	}
	packed := o.alloc(n)
	if holds == contentPresent {
		o.beforePacked(*b, packed)
	}
	o.afterPacked(*b, packed)
	return packed
}

// afterPacked adds a function to o.after that unpacks the slice `packed` to `b`.
func (o *operands) afterPacked(b Buffer, packed []byte) {
	o.after = append(o.after, func() error { unpack(&b, packed); return nil })
}

// blocks returns a slice for n blocks of the send side (0) or the receive side (1).
func (o *operands) blocks(side, n int) [][]byte {
	if n <= len(o.inline[side]) {
		return o.inline[side][:n]
	}
	return make([][]byte, n)
}

// storeAll returns the memory in which the call must store the n blocks of the receive side. The argument `keep` is the
// index of the block whose memory must initially hold the data of the application's buffer. It is -1 for no block and n
// for all blocks.
func (o *operands) storeAll(b *Buffer, v *Blocks, sh sideShape, n, keep int) [][]byte {
	out := o.blocks(1, n)
	for i := range out {
		p := blockAt(b, v, sh, i)
		out[i] = o.store(&p, initialContent(i == keep || keep == n))
	}
	return out
}

func (o *operands) loadAll(b *Buffer, v *Blocks, sh sideShape, n int) [][]byte {
	out := o.blocks(0, n)
	for i := range out {
		p := blockAt(b, v, sh, i)
		out[i] = o.load(&p)
	}
	return out
}

// prepare creates the operands of a checked call.
func (k *Call) prepare(o *operands) error {
	sends, receives, inPlace := k.Sends(), k.Receives(), k.InPlace()
	me, n := k.Comm.Rank(), k.RecvPeers()
	if k.Kind.Reduces() {
		return k.prepareReduction(o, sends, receives, inPlace)
	}
	sendSide, recvSide := k.Kind.sendShape(), k.Kind.recvShape()
	mine, all := -1, -1 // arguments `keep` of storeAll for in-place data in this process' block, or in all blocks
	if inPlace {
		mine, all = me, n
	}
	if k.deferredErr != nil {
		mine = me
		defer k.fixUnequalSelf(o)
	}
	switch k.Kind {
	case KindBcast:
		if receives {
			o.out = o.store(&k.Recv, initialContent(k.rootSide() == rootIsSelf))
			if k.rootSide() == rootIsSelf {
				o.after = nil // the root sends from its buffer and must not write it
			}
		}
	case KindGather, KindGatherv, KindAllgather, KindAllgatherv:
		if receives {
			o.outs = o.storeAll(&k.Recv, &k.RecvBlocks, recvSide, n, mine)
		}
		if inPlace {
			o.in = o.outs[me]
		} else if sends {
			o.in = o.load(&k.Send)
		}
	case KindScatter, KindScatterv:
		if sends {
			o.ins = o.loadAll(&k.Send, &k.SendBlocks, sendSide, k.SendPeers())
		}
		if inPlace {
			o.out = o.ins[me]
		} else if receives {
			o.out = o.store(&k.Recv, contentUndefined)
		}
	case KindNeighborAllgather, KindNeighborAllgatherv:
		own := o.load(&k.Send)
		o.ins = o.blocks(0, k.SendPeers())
		for i := range o.ins {
			o.ins[i] = own
		}
		o.outs = o.storeAll(&k.Recv, &k.RecvBlocks, recvSide, n, -1)
	case KindAlltoall, KindAlltoallv, KindAlltoallw, KindNeighborAlltoall, KindNeighborAlltoallv,
		KindNeighborAlltoallw:
		if !inPlace {
			o.ins = o.loadAll(&k.Send, &k.SendBlocks, sendSide, k.SendPeers())
		}
		o.outs = o.storeAll(&k.Recv, &k.RecvBlocks, recvSide, n, max(mine, all))
		if inPlace {
			// Received data must not overwrite the buffer before its data has been sent. So the data to
			// send is copied.
			o.ins = make([][]byte, n)
			for i, b := range o.outs {
				o.ins[i] = o.copied(b)
			}
		}
	}
	return nil
}

func (k *Call) prepareReduction(o *operands, sends, receives, inPlace bool) error {
	if !sends && !receives {
		return nil
	}
	n, me := k.Comm.Size(), k.Comm.Rank()
	whole, mine := k.Recv, k.Recv
	o.red.set(k.Op, k.Recv.Type)
	switch k.Kind {
	case KindReduceScatter, KindReduceScatterBlock:
		whole.Count = 0
		o.sizes = make([]int, n)
		for i := range o.sizes {
			c := k.Recv.Count
			if k.Kind == KindReduceScatter {
				c = k.RecvBlocks.Counts[i]
			}
			if i == me {
				mine.Count = c
			}
			whole.Count += c
			o.sizes[i] = int(c) * o.red.size
		}
	}
	if whole.Count == 0 || k.Recv.Type.Size() == 0 {
		return nil
	}
	if sends {
		from := whole
		if !inPlace {
			from.Addr = k.Send.Addr
		}
		o.in = o.loadElements(&from)
	}
	if receives && mine.Count > 0 && !k.isExscanRoot() {
		o.out = o.storeElements(&mine)
	}
	return nil
}

// complete ends a call; err is the error of its communication. If err is nil, complete runs the functions in o.after.
// It returns the first error among `err`, the errors of these functions, and k.deferredErr.
func (k *Call) complete(o *operands, err error) error {
	for _, f := range o.after {
		if err != nil {
			return err
		}
		err = f()
	}
	if err != nil {
		return err
	}
	return k.deferredErr
}

// discardAll replaces the buffers of the receive side by n temporary blocks of the given length, which are discarded.
func (o *operands) discardAll(bytes, n int) {
	o.outs, o.after = splitEqual(o.alloc(bytes*n), bytes, n), nil
}

// fixUnequalSelf changes the operands of a call in which this process' block to itself has different lengths in the
// send and receive arguments. This is an error of this process only. With the new operands, the other members receive
// the data that this process sends to them. This process accepts their data even if the data does not fit its buffer.
func (k *Call) fixUnequalSelf(o *operands) {
	me := k.Comm.Rank()
	switch k.Kind {
	case KindGather, KindGatherv:
		o.in = o.outs[me]
	case KindScatter, KindScatterv:
		o.out = o.ins[me]
	case KindAllgather:
		o.discardAll(len(o.in), len(o.outs))
	case KindAllgatherv:
		o.outs[me] = o.copied(o.in)
	case KindAlltoall:
		o.discardAll(len(o.ins[me]), len(o.outs))
	case KindAlltoallv, KindAlltoallw:
		o.outs[me] = o.ins[me]
	}
}

// splitSizes cuts b into blocks of the given sizes.
func splitSizes(b []byte, sizes []int) [][]byte {
	out := make([][]byte, len(sizes))
	for i, n := range sizes {
		out[i] = b[:n:n]
		b = b[n:]
	}
	return out
}

// build adds the steps of a call to its schedule.
func (k *Call) build(v view, o *operands) error {
	if k.Comm.IsInter() {
		return k.buildInter(v, o)
	}
	root, red := int(k.Root), new(reducer)
	*red = o.red // a copy, because the steps keep a reference to it
	switch k.Kind {
	case KindBarrier:
		v.barrier()
	case KindBcast:
		v.bcast(o.out, root)
	case KindReduce:
		if acc := v.reduce(red, o.in, root); v.rank == root {
			v.copy(o.out, acc)
		}
	case KindAllreduce:
		v.allreduce(red, o.in, o.out)
	case KindScan, KindExscan:
		v.scan(red, o.in, o.out, k.Kind)
	case KindReduceScatter, KindReduceScatterBlock:
		v.copy(o.out, v.reduceScatter(red, splitSizes(o.in, o.sizes), nil))
	case KindGather, KindGatherv:
		v.gather(o.in, o.outs, root, route(!v.fixed && k.Kind == KindGather && len(o.in) <= gatherTreeBytes))
	case KindScatter, KindScatterv:
		v.scatter(o.ins, o.out, root, route(!v.fixed && k.Kind == KindScatter && len(o.out) <= gatherTreeBytes))
	case KindAllgather, KindAllgatherv:
		v.copy(o.outs[v.rank], o.in)
		v.allgather(o.outs, blockSizes(k.Kind == KindAllgather))
	case KindAlltoall, KindAlltoallv, KindAlltoallw:
		v.alltoall(o.ins, o.outs)
	case KindNeighborAllgather, KindNeighborAllgatherv, KindNeighborAlltoall, KindNeighborAlltoallv,
		KindNeighborAlltoallw:
		_, grid := k.Comm.Topology.(*comm.Cart)
		v.neighbors(o.ins, o.outs, k.destinations, k.sources, grid)
	default:
		return mpierr.New(abi.MPI_ERR_INTERN, "%v has no algorithm (internal error)", k.Kind)
	}
	return nil
}

func (k *Call) buildInter(v view, o *operands) error {
	at, root, red := k.rootSide(), int(k.Root), new(reducer)
	*red = o.red
	switch k.Kind {
	case KindBarrier:
		v.interBarrier()
	case KindBcast:
		v.interBcast(o.out, at, root)
	case KindReduce:
		v.interReduce(red, o.in, o.out, at, root)
	case KindAllreduce:
		v.interAllreduce(red, o.in, o.out)
	case KindReduceScatter, KindReduceScatterBlock:
		v.interReduceScatter(red, o.in, o.sizes, o.out)
	case KindGather, KindGatherv:
		v.interGather(o.in, o.outs, at, root)
	case KindScatter, KindScatterv:
		v.interScatter(o.ins, o.out, at, root)
	case KindAllgather, KindAllgatherv:
		v.interAllgather(o.in, o.outs)
	case KindAlltoall, KindAlltoallv, KindAlltoallw:
		v.interAlltoall(o.ins, o.outs)
	default:
		return mpierr.New(abi.MPI_ERR_COMM, "%v does not support intercommunicators", k.Kind)
	}
	return nil
}

// runSingle executes a call on a communicator of one process.
func (k *Call) runSingle(o *operands) {
	switch k.Kind {
	case KindReduce, KindAllreduce, KindScan, KindReduceScatter, KindReduceScatterBlock:
		copy(o.out, o.in)
	case KindGather, KindGatherv, KindAllgather, KindAllgatherv:
		copy(o.outs[0], o.in)
	case KindScatter, KindScatterv:
		copy(o.out, o.ins[0])
	case KindAlltoall, KindAlltoallv, KindAlltoallw:
		copy(o.outs[0], o.ins[0])
	}
}
