package coll

import (
	"slices"
	"sync/atomic"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

// Slots are memory that the members of a communicator on one node share, where collectives run without messages:
//
//	0                  one line for the number of members that wait
//	64 * (1 + i)       progress of member i: the number of the last operation that it has finished
//	64 * (1 + n) ...   depth slots of size bytes for each member
//
// Every collective is one or more operations, numbered alike by all members since they all make the same calls in the
// same order. In an operation a member may fill its slot (number modulo depth), may read those of others, and then says
// that it has finished. A slot holds
//
//	 0  number of the operation it is filled for, written last
//	 8  what the operation is and how many bytes the member contributes
//	16  the plan: the number that says how many operations the whole call takes, and in which slots
//	32  the data
//
// and is filled again only when all members have finished the operation it was filled for; so a member may be depth
// operations ahead of another.
//
// Members that pass different lengths would count differently and hang, now or in a later call. So a call of which a
// member thinks that it takes more than one operation begins with one in the small slots in which the plans are
// compared, and goes on only if they agree (agree, follow). A call of one operation is over with that operation,
// whatever the others had. What does not belong together is left out and told at the end (failed).
//
// A communicator has small slots in its control block, and large ones from the first call on that needs them.
const (
	smallSize, smallDepth = 2 << 10, 4
	largeSize, largeDepth = 32 << 10, 2
	slotHead              = 32
	// wideFrom is the number of bytes that all members put into their slots from which each folds a part of them
	// for all.
	wideFrom = 64 << 10

	// A wait looks at its word so often, and more often where others may be copying much, before it begins to serve
	// the process and to offer its core in shm.Node.Wait. That is a few microseconds, and only done when there is a
	// core for every process.
	polls = 2000
)

func slotsSize(n, size, depth int) int64 {
	return shm.CacheLine*(1+int64(n)) + int64(n)*int64(depth*size)
}

// blockSize returns the memory in a control block of n members.
func blockSize(n int) int64 { return slotsSize(n, smallSize, smallDepth) }

// slots is one member's view. It is used by one thread at a time, as the standard demands of collective calls on one
// communicator.
type slots struct {
	nd          *shm.Node
	mem         []byte
	nodes       []int32 // index on this node of each member
	n, me       int
	size, depth int
	data        int // bytes of data in a slot

	object  uint64 // handle of the communicator, for reports
	seq     uint64 // number of the operation under way
	settled uint64 // all members are known to have finished this one
	scratch []byte // as long as the data of a slot
	plan    uint64 // of the call under way
	failed  error  // the first member's call of the operations under way that does not belong to ours
	polls   int
}

func newSlots(nd *shm.Node, mem []byte, nodes []int32, me, size, depth int) *slots {
	t := &slots{nd: nd, mem: mem, nodes: nodes, n: len(nodes), me: me, size: size, depth: depth,
		data: size - slotHead, scratch: make([]byte, size)}
	if !nd.Policy.Crowded {
		t.polls = polls + size/8
	}
	return t
}

func (t *slots) waiters() *uint32       { return word32(t.mem, 0) }
func (t *slots) finished(i int) *uint64 { return word64(t.mem, shm.CacheLine*(1+i)) }
func (t *slots) slot(i int, s uint64) []byte {
	off := shm.CacheLine*(1+t.n) + (i*t.depth+int(s%uint64(t.depth)))*t.size
	return t.mem[off : off+t.size : off+t.size]
}

// what describes an operation: which collective, whose root, how many bytes. The number of bytes is the plan too, for
// elements of elem bytes.
func (t *slots) what(kind Kind, root, bytes, elem int) uint64 {
	t.plan = plan(bytes, elem)
	return uint64(kind)<<56 | uint64(root&0xffffff)<<32 | uint64(uint32(bytes))
}

// wait waits until *word, which member i changes, is at least least.
func (t *slots) wait(word *uint64, least uint64, i int) error {
	for n := 0; n <= t.polls; n++ {
		if atomic.LoadUint64(word) >= least {
			return nil
		}
	}
	// Whoever changes a word looks at the number of waiters afterwards.
	atomic.AddUint32(t.waiters(), 1)
	err := t.nd.WaitFor(func() bool { return atomic.LoadUint64(word) >= least },
		shm.Waiting{Process: t.nodes[i], Object: t.object})
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
	if t.seq > t.settled+uint64(t.depth) {
		least := t.seq - uint64(t.depth)
		low := t.seq
		for i := 0; i < t.n; i++ {
			if i == t.me {
				continue
			}
			if err := t.wait(t.finished(i), least, i); err != nil {
				return nil, err
			}
			low = min(low, atomic.LoadUint64(t.finished(i)))
		}
		t.settled = min(low, t.seq-1)
	}
	return t.slot(t.me, t.seq)[slotHead:], nil
}

// plan is a plan for bytes, which are below 2^47, in elements of elem bytes that no operation divides.
func plan(bytes, elem int) uint64 { return uint64(bytes)<<16 | uint64(elem&0xffff) }

// publish lets the others read the slot that room returned.
func (t *slots) publish(what uint64) {
	s := t.slot(t.me, t.seq)
	atomic.StoreUint64(word64(s, 8), what)
	atomic.StoreUint64(word64(s, 16), t.plan)
	t.set(word64(s, 0), t.seq)
}

// read waits for member i's slot of the operation under way and returns its data, of which the caller knows how many
// count; nil if member i's call does not belong to ours, which is noted.
func (t *slots) read(i int, expected uint64) ([]byte, error) {
	s, err := t.await(i)
	if err != nil {
		return nil, err
	}
	if got, size := atomic.LoadUint64(word64(s, 8)), atomic.LoadUint64(word64(s, 16)); got != expected ||
		size != t.plan {
		t.note(mismatch(i, got, size, expected, t.plan))
		return nil, nil
	}
	return s[slotHead:], nil
}

// note remembers the first error of the operations under way.
func (t *slots) note(err error) {
	if t.failed == nil {
		t.failed = err
	}
}

// await waits for member i's slot of the operation under way.
func (t *slots) await(i int) ([]byte, error) {
	s := t.slot(i, t.seq)
	if atomic.LoadUint64(word64(s, 0)) != t.seq {
		if err := t.wait(word64(s, 0), t.seq, i); err != nil {
			return nil, err
		}
		if got := atomic.LoadUint64(word64(s, 0)); got != t.seq {
			return nil, mpierr.New(abi.MPI_ERR_INTERN,
				"slot of rank %d holds operation %d where %d was expected", i, got, t.seq)
		}
	}
	return s, nil
}

// agree is an operation in which all members compare what they are about to do. The class is that of mismatch: the call
// must not go on, and does so nowhere.
func (t *slots) agree(w uint64) error {
	return t.steps(0, 1, func(int, int) error {
		if _, err := t.fill(nil, w); err != nil {
			return err
		}
		for i := 0; i < t.n; i++ {
			if i != t.me {
				if _, err := t.read(i, w); err != nil {
					return err
				}
			}
		}
		t.finish()
		return nil
	})
}

// follow is the first operation of a call in which all do as root says, which has filled its slot. It returns root's
// data, and how many bytes the plan is for. MPI_ERR_OTHER, MPI_ERR_ROOT: root is in another call; there is nothing to
// follow.
func (t *slots) follow(root int, w uint64) (s []byte, bytes int, err error) {
	t.seq++
	if s, err = t.await(root); err != nil {
		return nil, 0, err
	}
	if got := atomic.LoadUint64(word64(s, 8)); got>>32 != w>>32 {
		t.finish()
		return nil, 0, mismatch(root, got, 0, w, t.plan)
	}
	return s[slotHead:], int(min(atomic.LoadUint64(word64(s, 16))>>16, maxBytes)), nil
}

// finish ends the operation under way: the slots that it read may be filled again.
func (t *slots) finish() { t.set(t.finished(t.me), t.seq) }

// mismatch says how the call of rank i differs from ours. MPI_ERR_OTHER: it is another one; MPI_ERR_ROOT: it has
// another root; MPI_ERR_TRUNCATE: it is longer; MPI_ERR_COUNT: it is shorter, or its elements have another size.
func mismatch(i int, theirs, theirPlan, ours, ourPlan uint64) error {
	kind := func(w uint64) Kind { return Kind(w >> 56) }
	root := func(w uint64) uint64 { return w >> 32 & 0xffffff }
	switch {
	case kind(theirs) != kind(ours):
		return mpierr.New(abi.MPI_ERR_OTHER, "rank %d is in %v while this one is in %v", i, kind(theirs),
			kind(ours))
	case root(theirs) != root(ours):
		return mpierr.New(abi.MPI_ERR_ROOT, "%v: the root is %d here and %d at rank %d", kind(ours), root(ours),
			root(theirs), i)
	}
	a, b := ourPlan>>16, theirPlan>>16
	if a == b {
		a, b = uint64(uint32(ours)), uint64(uint32(theirs))
	}
	return lengthError(kind(ours), i, int(b), int(a))
}

// lengthError says that rank i has passed another length than this process.
func lengthError(kind Kind, i, theirs, ours int) error {
	switch {
	case theirs > ours:
		return mpierr.New(abi.MPI_ERR_TRUNCATE, "%v: %d bytes here and %d at rank %d", kind, ours, theirs, i)
	case theirs < ours:
		return mpierr.New(abi.MPI_ERR_COUNT, "%v: %d bytes here and %d at rank %d", kind, ours, theirs, i)
	}
	return mpierr.New(abi.MPI_ERR_COUNT, "%v: the elements at rank %d have another size than here", kind, i)
}

func (t *slots) barrier() error { return t.agree(t.what(KindBarrier, 0, 0, 1)) }

// steps calls f for each operation that size bytes take, step bytes at a time; no bytes take one too. It returns the
// first error, noted ones included.
func (t *slots) steps(size, step int, f func(from, to int) error) error {
	t.failed = nil
	for from := 0; from == 0 || from < size; from += step {
		if err := f(from, min(from+step, size)); err != nil {
			return err
		}
	}
	return t.failed
}

// fill is an operation's first half at a member that contributes: part goes into its slot. It returns the slot's data.
func (t *slots) fill(part []byte, w uint64) ([]byte, error) {
	s, err := t.room()
	if err != nil {
		return nil, err
	}
	copy(s, part)
	t.publish(w)
	return s[:len(part)], nil
}

// bcast sends root's b to all. The root may be depth operations ahead.
func (t *slots) bcast(b []byte, root int) error {
	w := t.what(KindBcast, root, len(b), 1)
	return t.steps(len(b), t.data, func(from, to int) error {
		if t.me == root {
			if _, err := t.fill(b[from:to], w); err != nil {
				return err
			}
		} else {
			t.seq++
			s, err := t.read(root, w)
			if err != nil {
				return err
			}
			copy(b[from:to], s)
		}
		t.finish()
		return nil
	})
}

// fold leaves in acc the reduction of the data at from in the slots of ranks [0, upto), in their order. own is this
// member's data, which need not be in its slot.
func (t *slots) fold(r *reducer, w uint64, own, acc []byte, from, upto int) error {
	to := from + len(acc)
	for i := upto - 1; i >= 0; i-- {
		s := own
		if i != t.me {
			var err error
			if s, err = t.read(i, w); err != nil {
				return err
			}
		}
		if s == nil {
			continue
		}
		if i == upto-1 {
			copy(acc, s[from:to])
		} else if len(acc) > 0 && t.failed == nil {
			if err := r.combine(s[from:to], acc); err != nil {
				return err
			}
		}
	}
	return nil
}

// elements returns how many bytes of whole elements fit into n bytes.
func (r *reducer) elements(n int) int { return n / max(r.size, 1) * max(r.size, 1) }

// reduce leaves the reduction of all own in out at root; the two may be the same memory. out counts at root only.
func (t *slots) reduce(r *reducer, own, out []byte, root int) error {
	w := t.what(KindReduce, root, len(own), r.size)
	if t.wide(own) {
		return t.spread(r, w, own, out, root)
	}
	return t.steps(len(own), r.elements(t.data), func(from, to int) error {
		part := own[from:to]
		if t.me != root {
			if _, err := t.fill(part, w); err != nil {
				return err
			}
		} else {
			if _, err := t.fill(nil, w); err != nil {
				return err
			}
			// own may be out, so the reduction grows beside it.
			acc := t.scratch[:len(part)]
			if err := t.fold(r, w, part, acc, 0, t.n); err != nil {
				return err
			}
			if t.failed == nil {
				copy(out[from:], acc)
			}
		}
		t.finish()
		return nil
	})
}

// allreduce leaves the reduction of all own in out, which may be the same memory. Each member folds all slots in the
// order of ranks, or one member does it for all: the same bits for all.
func (t *slots) allreduce(r *reducer, own, out []byte) error {
	w := t.what(KindAllreduce, 0, len(own), r.size)
	if t.wide(own) {
		return t.spread(r, w, own, out, -1)
	}
	return t.steps(len(own), r.elements(t.data), func(from, to int) error {
		s, err := t.fill(own[from:to], w)
		if err != nil {
			return err
		}
		if err := t.fold(r, w, s, out[from:to], 0, t.n); err != nil {
			return err
		}
		t.finish()
		return nil
	})
}

// wide returns whether a reduction is so large that its work is worth being spread.
func (t *slots) wide(own []byte) bool { return t.n > 2 && t.n*len(own) >= wideFrom }

// spread is a reduction in two operations a step: each member folds a part of all slots, then gives the others what it
// has got. Its result goes to root, or to all if root is -1.
func (t *slots) spread(r *reducer, w uint64, own, out []byte, root int) error {
	return t.steps(len(own), r.elements(t.data), func(from, to int) error {
		s, err := t.fill(own[from:to], w)
		if err != nil {
			return err
		}
		bound := func(i int) int { return (to - from) / r.size * i / t.n * r.size }
		acc := t.scratch[:bound(t.me+1)-bound(t.me)]
		if err := t.fold(r, w, s, acc, bound(t.me), t.n); err != nil {
			return err
		}
		t.finish()
		if _, err := t.fill(acc, w); err != nil {
			return err
		}
		for i := 0; i < t.n && (root < 0 || root == t.me); i++ {
			s, err := t.read(i, w)
			if err != nil {
				return err
			}
			copy(out[from+bound(i):from+bound(i+1)], s)
		}
		t.finish()
		return nil
	})
}

// scan leaves the reduction of own over the ranks up to this one in out; kind is KindScan, or KindExscan, which leaves
// out its own and does not touch rank 0's out.
func (t *slots) scan(r *reducer, own, out []byte, kind Kind) error {
	upto := t.me + 1
	if kind == KindExscan {
		upto = t.me
	}
	w := t.what(kind, 0, len(own), r.size)
	return t.steps(len(own), r.elements(t.data), func(from, to int) error {
		s, err := t.fill(own[from:to], w)
		if err != nil {
			return err
		}
		if upto > 0 {
			if err := t.fold(r, w, s, out[from:to], 0, upto); err != nil {
				return err
			}
		}
		t.finish()
		return nil
	})
}

// share returns how many bytes of whole elements of size bytes a slot holds for each member.
func (t *slots) share(size int) int { return t.data / t.n / max(size, 1) * max(size, 1) }

// reduceScatter leaves the reduction of everybody's block for this member in out, which may be part of own. sizes are
// those of the blocks, one behind the other in own.
func (t *slots) reduceScatter(r *reducer, own []byte, sizes []int, out []byte) error {
	w := t.what(KindReduceScatter, 0, len(own), r.size)
	share, longest := t.share(r.size), slices.Max(sizes)
	t.plan = plan(longest, r.size)
	if share == 0 {
		return mpierr.New(abi.MPI_ERR_INTERN, "slots of %d bytes for %d members", t.data, t.n)
	}
	// own must stay as it is until the last step has read it.
	var result []byte
	if longest <= share {
		result = t.scratch[:len(out)]
	} else {
		result = room(len(out))
	}
	err := t.steps(longest, share, func(from, to int) error {
		s, err := t.room()
		if err != nil {
			return err
		}
		at := 0
		for i, n := range sizes {
			if n > from {
				copy(s[i*share:(i+1)*share], own[at+from:at+n])
			}
			at += n
		}
		t.publish(w)
		acc := result[min(from, len(out)):min(to, len(out))]
		if err := t.fold(r, w, s, acc, t.me*share, t.n); err != nil {
			return err
		}
		t.finish()
		return nil
	})
	if err == nil {
		copy(out, result)
	}
	return err
}

// gather: root gets the own of every member, all of one size, in its blocks.
func (t *slots) gather(own []byte, blocks [][]byte, root int) error {
	w := t.what(KindGather, root, len(own), 1)
	return t.steps(len(own), t.data, func(from, to int) error {
		if t.me != root {
			if _, err := t.fill(own[from:to], w); err != nil {
				return err
			}
		} else {
			if _, err := t.fill(nil, w); err != nil {
				return err
			}
			for i, b := range blocks {
				s := own[from:to]
				if i != root {
					var err error
					if s, err = t.read(i, w); err != nil {
						return err
					}
				}
				copy(b[from:to], s)
			}
		}
		t.finish()
		return nil
	})
}

// scatter: every member gets its block of root's, all of one size.
func (t *slots) scatter(blocks [][]byte, own []byte, root int) error {
	w, share := t.what(KindScatter, root, len(own), 1), t.share(1)
	return t.steps(len(own), share, func(from, to int) error {
		if t.me == root {
			s, err := t.room()
			if err != nil {
				return err
			}
			for i, b := range blocks {
				copy(s[i*share:(i+1)*share], b[from:to])
			}
			t.publish(w)
			copy(own[from:to], blocks[root][from:to])
		} else {
			t.seq++
			s, err := t.read(root, w)
			if err != nil {
				return err
			}
			if s != nil {
				copy(own[from:to], s[t.me*share:])
			}
		}
		t.finish()
		return nil
	})
}

// allgather: blocks[me] goes to everybody's blocks. Their sizes may differ, but are known to all.
func (t *slots) allgather(blocks [][]byte) error {
	longest, own := 0, blocks[t.me]
	for _, b := range blocks {
		longest = max(longest, len(b))
	}
	what := func(bytes int) uint64 {
		w := t.what(KindAllgather, 0, bytes, 1)
		t.plan = plan(longest, 1)
		return w
	}
	return t.steps(longest, t.data, func(from, to int) error {
		mine := own[min(from, len(own)):min(to, len(own))]
		if _, err := t.fill(mine, what(len(own))); err != nil {
			return err
		}
		for i, b := range blocks {
			if i == t.me || from > 0 && from >= len(b) {
				continue
			}
			s, err := t.read(i, what(len(b)))
			if err != nil {
				return err
			}
			copy(b[min(from, len(b)):min(to, len(b))], s)
		}
		t.finish()
		return nil
	})
}

// alltoall: member i's in[me] becomes out[i] here. All blocks have one size; in may be out.
func (t *slots) alltoall(in, out [][]byte) error {
	size, share := len(in[t.me]), t.share(1)
	w := t.what(KindAlltoall, 0, size, 1)
	return t.steps(size, share, func(from, to int) error {
		s, err := t.room()
		if err != nil {
			return err
		}
		for i, b := range in {
			copy(s[i*share:(i+1)*share], b[from:to])
		}
		t.publish(w)
		for i, b := range out {
			s, err := t.read(i, w)
			if err != nil {
				return err
			}
			if s != nil {
				copy(b[from:to], s[t.me*share:])
			}
		}
		t.finish()
		return nil
	})
}
