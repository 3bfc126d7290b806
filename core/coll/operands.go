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
	reduces   bool           // there is something to reduce
	after     []func() error // unpack what has arrived
	few       [2][4][]byte   // ins and outs of few processes
}

// load returns the data of b, for reading.
func load(b *Buffer) []byte {
	n := int(b.Count * b.Type.Size())
	if n == 0 {
		return nil
	}
	if run := dense(b, n); run != nil {
		return run
	}
	packed := make([]byte, n)
	pack(packed, b)
	return packed
}

// store returns where the data of b is to be put; with keep, what it holds now is there.
func (o *operands) store(b *Buffer, keep bool) []byte {
	n := int(b.Count * b.Type.Size())
	if n == 0 {
		return nil
	}
	if run := dense(b, n); run != nil {
		return run
	}
	packed := make([]byte, n)
	if keep {
		pack(packed, b)
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
		out[i] = o.store(&p, i == keep || keep == n)
	}
	return out
}

func (o *operands) loadAll(b *Buffer, v *Blocks, sh shape, n int) [][]byte {
	out := o.blocks(0, n)
	for i := range out {
		p := part(b, v, sh, i)
		out[i] = load(&p)
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
	switch k.Kind {
	case KindBcast:
		if receives {
			o.out = o.store(&k.Recv, k.place() == rootIsHere)
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
			o.in = load(&k.Send)
		}
	case KindScatter, KindScatterv:
		if sends {
			o.ins = o.loadAll(&k.Send, &k.SendBlocks, sendSide, k.SendPeers())
		}
		if inPlace {
			o.out = o.ins[me]
		} else if receives {
			o.out = o.store(&k.Recv, false)
		}
	case KindNeighborAllgather, KindNeighborAllgatherv:
		own := load(&k.Send)
		o.ins = o.blocks(0, k.SendPeers())
		for i := range o.ins {
			o.ins[i] = own
		}
		o.outs = o.storeAll(&k.Recv, &k.RecvBlocks, recvSide, n, -1)
	case KindAlltoall, KindAlltoallv, KindAlltoallw, KindNeighborAlltoall, KindNeighborAlltoallv, KindNeighborAlltoallw:
		if !inPlace {
			o.ins = o.loadAll(&k.Send, &k.SendBlocks, sendSide, k.SendPeers())
		}
		o.outs = o.storeAll(&k.Recv, &k.RecvBlocks, recvSide, n, all)
		if inPlace {
			// What arrives must not overwrite what has not left yet.
			o.ins = make([][]byte, n)
			for i, b := range o.outs {
				o.ins[i] = append([]byte(nil), b...)
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
	o.reduces = true
	if sends {
		from := whole
		if !inPlace {
			from.Addr = k.Send.Addr
		}
		o.in = o.red.load(&from)
	}
	if receives && mine.Count > 0 && !k.lowest() {
		o.out = o.storeElements(&mine)
	}
	return nil
}

// done runs what is left when the data has arrived.
func (o *operands) done(err error) error {
	for _, f := range o.after {
		if err != nil {
			break
		}
		err = f()
	}
	return err
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
		if o.reduces {
			if acc := v.reduce(red, o.in, root); v.rank == root {
				v.copy(o.out, acc)
			}
		}
	case KindAllreduce:
		if o.reduces {
			v.allreduce(red, o.in, o.out)
		}
	case KindScan, KindExscan:
		if o.reduces {
			v.scan(red, o.in, o.out, k.Kind == KindExscan)
		}
	case KindReduceScatter, KindReduceScatterBlock:
		if o.reduces {
			v.copy(o.out, v.reduceScatter(red, blocksOf(o.in, o.sizes)))
		}
	case KindGather, KindGatherv:
		v.gather(o.in, o.outs, root, k.Kind == KindGather && len(o.in) <= gatherTree)
	case KindScatter, KindScatterv:
		v.scatter(o.ins, o.out, root, k.Kind == KindScatter && len(o.out) <= gatherTree)
	case KindAllgather, KindAllgatherv:
		v.copy(o.outs[v.rank], o.in)
		v.allgather(o.outs, k.Kind == KindAllgather)
	case KindAlltoall, KindAlltoallv, KindAlltoallw:
		v.alltoall(o.ins, o.outs)
	case KindNeighborAllgather, KindNeighborAllgatherv, KindNeighborAlltoall, KindNeighborAlltoallv, KindNeighborAlltoallw:
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
		if o.reduces {
			v.interReduce(red, o.in, o.out, at, root)
		}
	case KindAllreduce:
		if o.reduces {
			v.interAllreduce(red, o.in, o.out)
		}
	case KindReduceScatter, KindReduceScatterBlock:
		if o.reduces {
			v.interReduceScatter(red, o.in, o.sizes, o.out)
		}
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

// Up to so many bytes of each member a call goes through slots; above, messages copy the data once where slots copy it twice. Reductions read it where it
// is, in slots as well, so there is no limit to them.
const (
	slotBcast  = 64 << 10
	slotBlocks = 128 << 10
)

// viaSlots does a call through slots and says whether it did. Whether it does depends only on what all members have alike.
func (k *Call) viaSlots(st *state, o *operands) (bool, error) {
	if st.small == nil {
		return false, nil
	}
	c, root, n := k.Comm, int(k.Root), k.Comm.Size()
	switch k.Kind {
	case KindBarrier:
		return true, st.small.barrier()
	case KindBcast:
		if len(o.out) <= slotBcast {
			return true, st.slots(c, len(o.out)).bcast(o.out, root)
		}
	case KindReduce, KindAllreduce, KindScan, KindExscan:
		if !o.reduces {
			return true, nil
		}
		t := st.slots(c, max(len(o.in), o.red.size))
		if o.red.size > t.data {
			break
		}
		switch k.Kind {
		case KindReduce:
			return true, t.reduce(&o.red, o.in, o.out, root)
		case KindAllreduce:
			return true, t.allreduce(&o.red, o.in, o.out)
		}
		return true, t.scan(&o.red, o.in, o.out, k.Kind == KindExscan)
	case KindReduceScatter, KindReduceScatterBlock:
		if !o.reduces {
			return true, nil
		}
		if t := st.slots(c, max(len(o.in), o.red.size*n)); o.red.size*n <= t.data {
			return true, t.reduceScatter(&o.red, o.in, o.sizes, o.out)
		}
	case KindGather:
		if len(o.in) <= slotBlocks {
			return true, st.slots(c, len(o.in)).gather(o.in, o.outs, root)
		}
	case KindScatter:
		if len(o.out) <= slotBlocks && n <= smallSize-slotHead {
			return true, st.slots(c, len(o.out)*n).scatter(o.ins, o.out, root)
		}
	case KindAllgather, KindAllgatherv:
		longest := 0
		for _, b := range o.outs {
			longest = max(longest, len(b))
		}
		if longest <= slotBlocks {
			copy(o.outs[c.Rank()], o.in)
			return true, st.slots(c, longest).allgather(o.outs)
		}
	case KindAlltoall:
		if size := len(o.outs[c.Rank()]); size <= slotBlocks && n <= smallSize-slotHead {
			return true, st.slots(c, size*n).alltoall(o.ins, o.outs)
		}
	}
	return false, nil
}
