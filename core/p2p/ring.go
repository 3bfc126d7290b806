package p2p

import (
	"sync/atomic"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

// The message ring of a process: an inbox in shared memory that any thread of any process of the node puts records into
// and that its owner takes them out of. C looks at the first two words only: the ring is empty if and only if they are
// equal.
//
//	  0  uint64 tail       bytes ever reserved by producers (compare-and-swap)
//	 64  uint64 head       bytes ever consumed; written by the owner only
//	 72  uint32 wanted     1: a producer waits for room, see waiters
//	128  uint32 congested  1: the owner holds so many unexpected messages that standard sends should keep theirs
//	136  uint64 probe      address in the owner's memory of a copy of token, to find out whether process_vm_readv
//	                       reaches the owner
//	144  uint64 token
//	192  uint64 waiters[]  a bit for each process of the node: it has messages for the owner and found no room
//	704  data              ringLines lines; positions grow for ever, a position's place is position % ringData
//
// A record begins on a line and is contiguous: what does not fit before the end is preceded by a padding record. A
// producer reserves lines by moving the tail, writes the record and then, with release order, its first word, which
// holds length and kind and is never 0. The owner takes records whose first word is not 0 and sets the first word of
// every line it gives back to 0, so a line that was reserved but not committed reads 0 whatever was in it before. A
// producer that dies between the two stops the ring: the owner's waits then end with MPI_ERR_PROC_ABORTED, since the
// node is broken.
const (
	ringTail      = 0
	ringHead      = 64
	ringWanted    = 72
	ringCongested = 128
	ringProbe     = 136
	ringToken     = 144
	ringWaiters   = 192
	ringHeader    = ringWaiters + shm.MaxProcesses/8

	line      = shm.CacheLine
	ringLines = (shm.MessageRingSize - ringHeader) / line
	ringData  = ringLines * line
)

// maxRecord is the size of the largest record, so that a ring holds several.
const maxRecord = 16 << 10

// inbox is this process' end of its own ring. Guarded by the engine's lock.
type inbox struct {
	b    []byte
	head uint64 // ahead of the shared head while a batch is taken
}

func lines(n int64) int64 { return (n + line - 1) &^ (line - 1) }

// Reserve takes room for a record of n bytes and returns it, nil if there is none now. The record is committed by
// commit.
func (l *ringLink) Reserve(n int64) []byte {
	need := uint64(lines(n))
	for {
		tail := atomic.LoadUint64(u64(l.b, ringTail))
		place := tail % ringData
		pad := uint64(0)
		if place+need > ringData {
			pad = ringData - place
		}
		end := tail + pad + need
		if end-l.head.Load() > ringData {
			l.head.Store(atomic.LoadUint64(u64(l.b, ringHead)))
			if end-l.head.Load() > ringData {
				return nil
			}
		}
		if !atomic.CompareAndSwapUint64(u64(l.b, ringTail), tail, end) {
			continue
		}
		if pad > 0 {
			atomic.StoreUint64(u64(l.b, int64(ringHeader+place)),
				wordCommitted|uint64(kindPad)<<wordKind|pad)
			place = 0
		}
		return l.b[ringHeader+place : ringHeader+place+need]
	}
}

// full returns whether more than half of the ring is in use, looking again where the known head says so.
func (l *ringLink) full() bool {
	if atomic.LoadUint64(u64(l.b, ringTail))-l.head.Load() <= ringData/2 {
		return false
	}
	head := atomic.LoadUint64(u64(l.b, ringHead))
	l.head.Store(head)
	return atomic.LoadUint64(u64(l.b, ringTail))-head > ringData/2
}

// want records that process me waits for room; the owner will tell it. It returns whether that was not recorded yet:
// then the caller tries once more.
func (l *ringLink) want(me int) bool {
	bit := uint64(1) << (me % 64)
	if atomic.OrUint64(u64(l.b, ringWaiters+int64(me/64)*8), bit)&bit != 0 {
		return false
	}
	atomic.StoreUint32(u32(l.b, ringWanted), 1)
	return true
}

// ready returns whether there is a record at the announced head. It needs no lock.
func (in *inbox) ready() bool {
	return atomic.LoadUint64(u64(in.b, ringHeader+int64(atomic.LoadUint64(u64(in.b, ringHead))%ringData))) != 0
}

// take returns the first word of the next record and its bytes, which stay in the ring until drop; 0: there is none. A
// padding record has no bytes. MPI_ERR_INTERN: what is there cannot be a record; nothing more can be taken.
func (in *inbox) take() (word uint64, rec []byte, err error) {
	place := int64(in.head % ringData)
	word = atomic.LoadUint64(u64(in.b, ringHeader+place))
	if word == 0 {
		return 0, nil, nil
	}
	n := lengthOf(word)
	if damaged(word, ringData-place) {
		return 0, nil, in.damage(word)
	}
	if kindOf(word) != kindPad {
		rec = in.b[ringHeader+place : ringHeader+place+n : ringHeader+place+n]
	}
	return word, rec, nil
}

// damaged returns whether no record begins with word, so many bytes before the end of the ring.
func damaged(word uint64, left int64) bool {
	n, k := lengthOf(word), kindOf(word)
	return word&wordCommitted == 0 || k < kindPad || k >= kindLast || n < recordSize && k != kindPad || n == 0 ||
		lines(n) > left
}

func (in *inbox) damage(word uint64) error {
	return mpierr.New(abi.MPI_ERR_INTERN, "the message ring is damaged: word %#x at %d", word, in.head)
}

// drop gives back the record of n bytes that take returned. Its room is announced by publish.
func (in *inbox) drop(n int64) {
	place, size := int64(in.head%ringData), lines(n)
	used := in.b[ringHeader+place : ringHeader+place+size]
	for o := int64(0); o < size; o += line {
		*u64(used, o) = 0
	}
	in.head += uint64(size)
}

// unpublished returns the number of bytes taken since publish.
func (in *inbox) unpublished() uint64 { return in.head - *u64(in.b, ringHead) }

// publish gives the room of all dropped records back to the producers and returns whether some of them wait for it and
// should be told: not before half of the ring is free, so that each has something to do; there is another publish
// before the ring is empty.
func (in *inbox) publish() bool {
	atomic.StoreUint64(u64(in.b, ringHead), in.head)
	return atomic.LoadUint32(u32(in.b, ringWanted)) != 0 &&
		atomic.LoadUint64(u64(in.b, ringTail))-in.head <= ringData/2
}

// waiting calls wake for each process that waits for room, and forgets them.
func (in *inbox) waiting(n int, wake func(process int)) {
	atomic.StoreUint32(u32(in.b, ringWanted), 0)
	for w := 0; w < (n+63)/64; w++ {
		word := u64(in.b, ringWaiters+int64(w)*8)
		if atomic.LoadUint64(word) == 0 {
			continue
		}
		for bits := atomic.SwapUint64(word, 0); bits != 0; bits &= bits - 1 {
			if i := w*64 + trailingZeros(bits); i < n {
				wake(i)
			}
		}
	}
}
