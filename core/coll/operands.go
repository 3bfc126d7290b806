package coll

import (
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
)

// operands is the data of a call as bytes: runs of the application's memory where it is dense, else packed copies.
type operands struct {
	in, out   []byte   // what one process contributes, and gets
	ins, outs [][]byte // the same where there is a block for each process
	sizes     []int    // reduce_scatter: bytes of each process' block
	red       reducer
	before    []func() error // pack what is sent, into what the above refer to
	after     []func() error // unpack what has arrived
	few       [2][4][]byte   // ins and outs of few processes
	own       int            // bytes of memory that it needs for itself
}

// room returns memory of the call's own.
func (o *operands) room(n int) []byte {
	o.own += n
	return room(n)
}

// load returns the data of b, for reading, which is there once before has been done.
func (o *operands) load(b *Buffer) []byte {
	n := int(b.Count * b.Type.Size())
	if n == 0 {
		return nil
	}
	if run := dense(b, n); run != nil {
		return run
	}
	packed := o.room(n)
	o.beforePacked(*b, packed)
	return packed
}

// beforePacked has the data of b packed at the beginning.
func (o *operands) beforePacked(b Buffer, packed []byte) {
	o.before = append(o.before, func() error { pack(packed, &b); return nil })
}

// copied returns memory that holds a copy of b once before has been done.
func (o *operands) copied(b []byte) []byte {
	to := o.room(len(b))
	o.before = append(o.before, func() error { copy(to, b); return nil })
	return to
}

// begin does what comes before all else.
func (o *operands) begin() error {
	for _, f := range o.before {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// content is what the memory for a result holds before the call.
type content bool

const (
	nothing  content = false // whatever is there
	whatIsIn content = true  // what the application's buffer holds
)

// store returns where the data of b is to be put.
func (o *operands) store(b *Buffer, holds content) []byte {
	n := int(b.Count * b.Type.Size())
	if n == 0 {
		return nil
	}
	if run := dense(b, n); run != nil {
		return run
	}
	packed := o.room(n)
	if holds == whatIsIn {
		o.beforePacked(*b, packed)
	}
	o.afterPacked(*b, packed)
	return packed
}

// afterPacked has packed data stored to b at the end.
func (o *operands) afterPacked(b Buffer, packed []byte) {
	o.after = append(o.after, func() error { unpack(&b, packed); return nil })
}

// blocks returns room for n blocks of a side.
func (o *operands) blocks(side, n int) [][]byte {
	if n <= len(o.few[side]) {
		return o.few[side][:n]
	}
	return make([][]byte, n)
}

// storeAll returns where the blocks of a side are to be put; what block keep holds now is there (-1: none, n: all).
func (o *operands) storeAll(b *Buffer, v *Blocks, sh shape, n, keep int) [][]byte {
	out := o.blocks(1, n)
	for i := range out {
		p := part(b, v, sh, i)
		out[i] = o.store(&p, content(i == keep || keep == n))
	}
	return out
}

func (o *operands) loadAll(b *Buffer, v *Blocks, sh shape, n int) [][]byte {
	out := o.blocks(0, n)
	for i := range out {
		p := part(b, v, sh, i)
		out[i] = o.load(&p)
	}
	return out
}

// prepare gets the operands of a checked call.
func (k *Call) prepare(o *operands) error {
	sends, receives, inPlace := k.Sends(), k.Receives(), k.InPlace()
	me, n := k.Comm.Rank(), k.RecvPeers()
	if k.Kind.Reduces() {
		return k.prepareReduction(o, sends, receives, inPlace)
	}
	sendSide, recvSide := k.Kind.sendShape(), k.Kind.recvShape()
	mine, all := -1, -1 // blocks that are data already
	if inPlace {
		mine, all = me, n
	}
	if k.late != nil {
		mine = me
		defer k.unequal(o)
	}
	switch k.Kind {
	case KindBcast:
		if receives {
			o.out = o.store(&k.Recv, content(k.place() == rootIsHere))
			if k.place() == rootIsHere {
				o.after = nil // the root's own data stays as it is
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
			o.out = o.store(&k.Recv, nothing)
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
			// What arrives must not overwrite what has not left yet.
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
	if receives && mine.Count > 0 && !k.lowest() {
		o.out = o.storeElements(&mine)
	}
	return nil
}

// done runs what is left when the data has arrived.
func (k *Call) done(o *operands, err error) error {
	for _, f := range o.after {
		if err != nil {
			return err
		}
		err = f()
	}
	if err != nil {
		return err
	}
	return k.late
}

// discardAll has what arrives put into n blocks of the given length that are forgotten, instead of this process'
// buffer.
func (o *operands) discardAll(bytes, n int) {
	o.outs, o.after = cut(o.room(bytes*n), bytes, n), nil
}

// unequal has the operands of a call whose part to this process itself has two lengths take part in a way that is right
// for the others: they get what they have been sent, whether what they send fits here or not.
func (k *Call) unequal(o *operands) {
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

// blocksOf cuts b into blocks of the given sizes.
func blocksOf(b []byte, sizes []int) [][]byte {
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
	*red = o.red // the steps keep it
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
		v.copy(o.out, v.reduceScatter(red, blocksOf(o.in, o.sizes), nil))
	case KindGather, KindGatherv:
		v.gather(o.in, o.outs, root, route(!v.fixed && k.Kind == KindGather && len(o.in) <= gatherTree))
	case KindScatter, KindScatterv:
		v.scatter(o.ins, o.out, root, route(!v.fixed && k.Kind == KindScatter && len(o.out) <= gatherTree))
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
		return mpierr.New(abi.MPI_ERR_INTERN, "%v has no algorithm", k.Kind)
	}
	return nil
}

func (k *Call) buildInter(v view, o *operands) error {
	at, root, red := k.place(), int(k.Root), new(reducer)
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
		return mpierr.New(abi.MPI_ERR_COMM, "%v is not defined for intercommunicators", k.Kind)
	}
	return nil
}

// alone does a call on a communicator of one process.
func (k *Call) alone(o *operands) {
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
