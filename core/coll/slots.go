package coll

import (
	"sync/atomic"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

// The slots are the members' part of a communicator's control block, where short collectives on one node run without messages:
//
//	0                  one line for the number of members that wait
//	64 * (1 + i)       progress of member i: the number of the last operation that it has finished
//	64 * (1 + n) ...   slotDepth slots of slotSize bytes for each member
//
// Every collective is one or more operations, numbered alike by all members since they all make the same calls in the same order. In an operation a member may
// fill its slot (number modulo slotDepth), may read those of others, and then says that it has finished. A slot holds
//
//	 0  number of the operation it is filled for, written last
//	 8  what the operation is and how long, to find calls that do not belong together
//	16  the data
//
// and is filled again only when all members have finished the operation it was filled for; so a member may be slotDepth operations ahead of another.
const (
	slotDepth = 4
	slotSize  = 2 << 10
	slotHead  = 16
	slotData  = slotSize - slotHead

	// polls is how often a wait looks at its word before it begins to serve the process in shm.Node.Wait, when there is a core for every process.
	polls = 2000
)

// blockSize returns the shared memory that the slots of n members take.
func blockSize(n int) int64 { return shm.CacheLine*(1+int64(n)) + int64(n)*slotDepth*slotSize }

// slots is one member's view. It is used by one thread at a time, as the standard demands of collective calls on one communicator.
type slots struct {
	nd    *shm.Node
	mem   []byte
	nodes []int32 // index on this node of each member
	n, me int

	seq     uint64 // number of the operation under way
	settled uint64 // all members are known to have finished this one
	scratch []byte
	polls   int
}

func newSlots(nd *shm.Node, mem []byte, nodes []int32, me int) *slots {
	t := &slots{nd: nd, mem: mem, nodes: nodes, n: len(nodes), me: me, scratch: make([]byte, slotSize)}
	if nd.N <= nd.Cores {
		t.polls = polls
	}
	return t
}

func (t *slots) waiters() *uint32       { return word32(t.mem, 0) }
func (t *slots) finished(i int) *uint64 { return word64(t.mem, shm.CacheLine*(1+i)) }
func (t *slots) slot(i int, s uint64) []byte {
	off := shm.CacheLine*(1+t.n) + (i*slotDepth+int(s%slotDepth))*slotSize
	return t.mem[off : off+slotSize : off+slotSize]
}

// what describes an operation: which collective, whose root, how many bytes.
func what(kind Kind, root, bytes int) uint64 {
	return uint64(kind)<<56 | uint64(root&0xffffff)<<32 | uint64(uint32(bytes))
}

// wait waits until *word is at least least.
func (t *slots) wait(word *uint64, least uint64) error {
	for i := 0; i <= t.polls; i++ {
		if atomic.LoadUint64(word) >= least {
			return nil
		}
	}
	// Whoever changes a word looks at the number of waiters afterwards.
	atomic.AddUint32(t.waiters(), 1)
	err := t.nd.Wait(func() bool { return atomic.LoadUint64(word) >= least })
	atomic.AddUint32(t.waiters(), ^uint32(0))
	return err
}

// set makes a word visible that others may wait for.
func (t *slots) set(word *uint64, value uint64) {
	atomic.StoreUint64(word, value)
	if atomic.LoadUint32(t.waiters()) != 0 {
		for i, node := range t.nodes {
			if i != t.me {
				t.nd.Wake(int(node))
			}
		}
	}
}

// room begins the next operation as one that fills its slot, and returns the slot's data.
func (t *slots) room() ([]byte, error) {
	t.seq++
	if t.seq > t.settled+slotDepth {
		least := t.seq - slotDepth
		low := t.seq
		for i := 0; i < t.n; i++ {
			if i == t.me {
				continue
			}
			if err := t.wait(t.finished(i), least); err != nil {
				return nil, err
			}
			low = min(low, atomic.LoadUint64(t.finished(i)))
		}
		t.settled = min(low, t.seq-1)
	}
	return t.slot(t.me, t.seq)[slotHead:], nil
}

// publish lets the others read the slot that room returned.
func (t *slots) publish(what uint64) {
	s := t.slot(t.me, t.seq)
	atomic.StoreUint64(word64(s, 8), what)
	t.set(word64(s, 0), t.seq)
}

// read waits for member i's slot of the operation under way and returns its data, slotData bytes of which the caller knows how many count.
// MPI_ERR_OTHER: member i is in another collective call.
func (t *slots) read(i int, expected uint64) ([]byte, error) {
	s := t.slot(i, t.seq)
	if atomic.LoadUint64(word64(s, 0)) != t.seq {
		if err := t.wait(word64(s, 0), t.seq); err != nil {
			return nil, err
		}
		if got := atomic.LoadUint64(word64(s, 0)); got != t.seq {
			return nil, mpierr.New(abi.MPI_ERR_INTERN, "slot of rank %d holds operation %d where %d was expected", i, got, t.seq)
		}
	}
	if got := atomic.LoadUint64(word64(s, 8)); got != expected {
		return nil, mismatch(i, got, expected)
	}
	return s[slotHead:], nil
}

// finish ends the operation under way: the slots that it read may be filled again.
func (t *slots) finish() { t.set(t.finished(t.me), t.seq) }

// mismatch says how the call of rank i differs from ours.
func mismatch(i int, theirs, ours uint64) error {
	kind := func(w uint64) Kind { return Kind(w >> 56) }
	root := func(w uint64) uint64 { return w >> 32 & 0xffffff }
	switch {
	case kind(theirs) != kind(ours):
		return mpierr.New(abi.MPI_ERR_OTHER, "rank %d is in %v while this one is in %v", i, kind(theirs), kind(ours))
	case root(theirs) != root(ours):
		return mpierr.New(abi.MPI_ERR_ROOT, "%v: the root is %d here and %d at rank %d", kind(ours), root(ours), root(theirs), i)
	}
	return mpierr.New(abi.MPI_ERR_TRUNCATE, "%v: %d bytes here and %d at rank %d", kind(ours), uint32(ours), uint32(theirs), i)
}

func (t *slots) barrier() error {
	w := what(KindBarrier, 0, 0)
	if _, err := t.room(); err != nil {
		return err
	}
	t.publish(w)
	for i := 0; i < t.n; i++ {
		if i != t.me {
			if _, err := t.read(i, w); err != nil {
				return err
			}
		}
	}
	t.finish()
	return nil
}

// bcast sends root's b to all, slotData bytes an operation. The root may be slotDepth of them ahead.
func (t *slots) bcast(b []byte, root int) error {
	w := what(KindBcast, root, len(b))
	for len(b) > 0 {
		n := min(len(b), slotData)
		if t.me == root {
			s, err := t.room()
			if err != nil {
				return err
			}
			copy(s, b[:n])
			t.publish(w)
		} else {
			t.seq++
			s, err := t.read(root, w)
			if err != nil {
				return err
			}
			copy(b[:n], s)
		}
		t.finish()
		b = b[n:]
	}
	return nil
}

// fold leaves in acc the reduction of part (of at most slotData bytes) over the ranks [0, upto), in their order. own is this member's contribution, which
// need not be in its slot.
func (t *slots) fold(r *reducer, w uint64, own, acc []byte, upto int) error {
	n := len(acc)
	for i := upto - 1; i >= 0; i-- {
		s := own
		if i != t.me {
			var err error
			if s, err = t.read(i, w); err != nil {
				return err
			}
		}
		if i == upto-1 {
			copy(acc, s[:n])
		} else if err := r.combine(s[:n], acc); err != nil {
			return err
		}
	}
	return nil
}

// reduce leaves the reduction of all own in out at root; the two may be the same memory. out counts at root only.
func (t *slots) reduce(r *reducer, own, out []byte, root int) error {
	w := what(KindReduce, root, len(own))
	step := slotData / r.size * r.size
	for off := 0; off < len(own); off += step {
		part := own[off:min(off+step, len(own))]
		if t.me != root {
			s, err := t.room()
			if err != nil {
				return err
			}
			copy(s, part)
			t.publish(w)
		} else {
			t.seq++
			// own may be out, so the reduction grows beside it.
			acc := t.scratch[:len(part)]
			if err := t.fold(r, w, part, acc, t.n); err != nil {
				return err
			}
			copy(out[off:], acc)
		}
		t.finish()
	}
	return nil
}

// allreduce leaves the reduction of all own in out, which may be the same memory. Each member folds all slots in the order of ranks: the same bits for all.
func (t *slots) allreduce(r *reducer, own, out []byte) error {
	w := what(KindAllreduce, 0, len(own))
	step := slotData / r.size * r.size
	for off := 0; off < len(own); off += step {
		part := own[off:min(off+step, len(own))]
		s, err := t.room()
		if err != nil {
			return err
		}
		copy(s, part)
		t.publish(w)
		if err := t.fold(r, w, s[:len(part)], out[off:off+len(part)], t.n); err != nil {
			return err
		}
		t.finish()
	}
	return nil
}

// scan leaves the reduction of own over the ranks up to this one in out, without its own if exclusive (then rank 0's out is left alone).
func (t *slots) scan(r *reducer, own, out []byte, exclusive bool) error {
	kind, upto := KindScan, t.me+1
	if exclusive {
		kind, upto = KindExscan, t.me
	}
	w := what(kind, 0, len(own))
	step := slotData / r.size * r.size
	for off := 0; off < len(own); off += step {
		part := own[off:min(off+step, len(own))]
		s, err := t.room()
		if err != nil {
			return err
		}
		copy(s, part)
		t.publish(w)
		if upto > 0 {
			if err := t.fold(r, w, s[:len(part)], out[off:off+len(part)], upto); err != nil {
				return err
			}
		}
		t.finish()
	}
	return nil
}

// reduceScatter leaves the reduction of everybody's block for this member, own[from:from+len(out)], in out. own has at most slotData bytes.
func (t *slots) reduceScatter(r *reducer, own []byte, from int, out []byte) error {
	w := what(KindReduceScatter, 0, len(own))
	s, err := t.room()
	if err != nil {
		return err
	}
	copy(s, own)
	t.publish(w)
	acc := t.scratch[:len(out)]
	for i := t.n - 1; i >= 0 && len(out) > 0; i-- {
		s, err := t.read(i, w)
		if err != nil {
			return err
		}
		if s = s[from : from+len(out)]; i == t.n-1 {
			copy(acc, s)
		} else if err := r.combine(s, acc); err != nil {
			return err
		}
	}
	copy(out, acc)
	t.finish()
	return nil
}

// gather: root gets the own of every member, all of one size, in its blocks.
func (t *slots) gather(own []byte, blocks [][]byte, root int) error {
	w := what(KindGather, root, len(own))
	for off := 0; off < len(own); off += slotData {
		end := min(off+slotData, len(own))
		if t.me != root {
			s, err := t.room()
			if err != nil {
				return err
			}
			copy(s, own[off:end])
			t.publish(w)
		} else {
			t.seq++
			for i, b := range blocks {
				s := own[off:end]
				if i != root {
					var err error
					if s, err = t.read(i, w); err != nil {
						return err
					}
				}
				copy(b[off:end], s)
			}
		}
		t.finish()
	}
	return nil
}

// scatter: every member gets its block of root's, all of one size; together they have at most slotData bytes.
func (t *slots) scatter(blocks [][]byte, own []byte, root int) error {
	w := what(KindScatter, root, len(own))
	if len(own) == 0 {
		return nil
	}
	if t.me == root {
		s, err := t.room()
		if err != nil {
			return err
		}
		for i, b := range blocks {
			copy(s[i*len(own):], b[:len(own)])
		}
		copy(own, blocks[root])
		t.publish(w)
	} else {
		t.seq++
		s, err := t.read(root, w)
		if err != nil {
			return err
		}
		copy(own, s[t.me*len(own):])
	}
	t.finish()
	return nil
}

// allgather: blocks[me] goes to everybody's blocks. Their sizes may differ, but are known to all.
func (t *slots) allgather(blocks [][]byte) error {
	longest := 0
	for _, b := range blocks {
		longest = max(longest, len(b))
	}
	for off := 0; off < longest; off += slotData {
		s, err := t.room()
		if err != nil {
			return err
		}
		if own := blocks[t.me]; off < len(own) {
			copy(s, own[off:])
		}
		t.publish(what(KindAllgather, 0, len(blocks[t.me])))
		for i, b := range blocks {
			if i == t.me || off >= len(b) {
				continue
			}
			s, err := t.read(i, what(KindAllgather, 0, len(b)))
			if err != nil {
				return err
			}
			copy(b[off:], s)
		}
		t.finish()
	}
	return nil
}

// alltoall: member i's in[me] becomes out[i] here. All blocks have one size; n of them have at most slotData bytes.
func (t *slots) alltoall(in, out [][]byte) error {
	size := len(in[t.me])
	if size == 0 {
		return nil
	}
	w := what(KindAlltoall, 0, size)
	s, err := t.room()
	if err != nil {
		return err
	}
	for i, b := range in {
		copy(s[i*size:(i+1)*size], b)
	}
	t.publish(w)
	for i, b := range out {
		s, err := t.read(i, w)
		if err != nil {
			return err
		}
		copy(b, s[t.me*size:(t.me+1)*size])
	}
	t.finish()
	return nil
}
