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

// recordSize is the size of the fixed part of a record.
const recordSize = 48

// maxRecord is the size of the largest record, so that a ring holds several.
const maxRecord = 16 << 10

// kind says what a record is.
type kind uint8

const (
	kindPad    kind = 1 + iota // fills the end of the data
	kindEager                  // a message with its data
	kindRTS                    // a message whose data stays with the sender until it is matched ("ready to send")
	kindCTS                    // to the sender: send the data as pieces
	kindPiece                  // a part of the data
	kindAck                    // to the sender: the message is matched (eager) or its data has been taken
	kindBlock                  // to the process that reserved a control block: nobody uses it any longer
	kindRoom                   // to a process that waited for room: there is some
	kindCancel                 // to the receiver: the message is not wanted any longer
	kindGone                   // to the sender: the message is not here any longer
	kindLook                   // to the receiver: the message's sender waits for it to be taken
	kindLast
)

// Bits of a record's first word: 0..31 length in bytes without padding to whole lines, 32..39 kind, 40..47 flags, 63
// set.
const (
	wordKind      = 32
	wordFlags     = 40
	wordCommitted = 1 << 63

	flagSync = 1 // eager: the sender waits for an acknowledgement
	flagAddr = 2 // RTS: the payload is a list of segments of the sender's memory
	flagCall = 4 // eager with flagSync, RTS: the sender's process is to look at the acknowledgement at once
	flagWait = 8 // RTS: the sender waits for the message to be taken
)

// record is the fixed part of a record, as it lies in the ring.
type record struct {
	word  uint64
	ctx   uint64 // context; kindPiece: offset of the piece; kindBlock: offset of the block
	src   int32  // rank of the sender in the communicator
	tag   int32
	node  int32  // index of the sending process on this node
	class int32  // kindAck: error class, 0: none
	size  uint64 // bytes of the whole message; kindCTS: bytes wanted; kindBlock: size of the block
	// of the request that answers go to; kindCTS, kindPiece, kindAck, kindGone: of the request this is for
	id uint64
}

func (r *record) kind() kind    { return kind(r.word >> wordKind) }
func (r *record) flags() uint8  { return uint8(r.word >> wordFlags) }
func (r *record) length() int64 { return int64(uint32(r.word)) }

// inbox is this process' end of its own ring. Guarded by the engine's lock.
type inbox struct {
	b    []byte
	head uint64 // ahead of the shared head while a batch is taken
}

// outbox is this process' end of another's ring; safe for concurrent use.
type outbox struct {
	b    []byte
	head atomic.Uint64 // the shared head when last looked at
}

func lines(n int64) int64 { return (n + line - 1) &^ (line - 1) }

// reserve takes room for a record of n bytes and returns it, nil if there is none now. The record is committed by
// commit. fill is the number of bytes in the ring afterwards, as far as known.
func (o *outbox) reserve(n int64) (room []byte, fill uint64) {
	need := uint64(lines(n))
	for {
		tail := atomic.LoadUint64(u64(o.b, ringTail))
		place := tail % ringData
		pad := uint64(0)
		if place+need > ringData {
			pad = ringData - place
		}
		end := tail + pad + need
		if end-o.head.Load() > ringData {
			o.head.Store(atomic.LoadUint64(u64(o.b, ringHead)))
			if end-o.head.Load() > ringData {
				return nil, 0
			}
		}
		if !atomic.CompareAndSwapUint64(u64(o.b, ringTail), tail, end) {
			continue
		}
		if pad > 0 {
			atomic.StoreUint64(u64(o.b, int64(ringHeader+place)),
				wordCommitted|uint64(kindPad)<<wordKind|pad)
			place = 0
		}
		return o.b[ringHeader+place : ringHeader+place+need], end - o.head.Load()
	}
}

// full returns whether more than half of the ring is in use, looking again where the known head says so.
func (o *outbox) full(fill uint64) bool {
	if fill <= ringData/2 {
		return false
	}
	head := atomic.LoadUint64(u64(o.b, ringHead))
	o.head.Store(head)
	return atomic.LoadUint64(u64(o.b, ringTail))-head > ringData/2
}

// congested returns whether the owner asks for messages to be kept by their senders.
func (o *outbox) congested() bool { return atomic.LoadUint32(u32(o.b, ringCongested)) != 0 }

// want records that process me waits for room; the owner will tell it. It returns whether that was not recorded yet:
// then the caller tries once more.
func (o *outbox) want(me int) bool {
	bit := uint64(1) << (me % 64)
	if atomic.OrUint64(u64(o.b, ringWaiters+int64(me/64)*8), bit)&bit != 0 {
		return false
	}
	atomic.StoreUint32(u32(o.b, ringWanted), 1)
	return true
}

// ready returns whether there is a record at the announced head. It needs no lock.
func (in *inbox) ready() bool {
	return atomic.LoadUint64(u64(in.b, ringHeader+int64(atomic.LoadUint64(u64(in.b, ringHead))%ringData))) != 0
}

// take copies the fixed part of the next record to rec and returns its payload, which stays in the ring until drop; ok
// is false if there is none. MPI_ERR_INTERN: what is there cannot be a record; nothing more can be taken.
func (in *inbox) take(rec *record) (payload []byte, ok bool, err error) {
	place := int64(in.head % ringData)
	word := atomic.LoadUint64(u64(in.b, ringHeader+place))
	if word == 0 {
		return nil, false, nil
	}
	n, k := int64(uint32(word)), kind(word>>wordKind)
	if word&wordCommitted == 0 || k < kindPad || k >= kindLast || n < recordSize && k != kindPad || n == 0 ||
		lines(n) > ringData-place {
		return nil, false, mpierr.New(abi.MPI_ERR_INTERN, "the message ring is damaged: word %#x at %d", word,
			in.head)
	}
	if k != kindPad {
		*rec = *recordAt(in.b, ringHeader+place)
		payload = in.b[ringHeader+place+recordSize : ringHeader+place+n : ringHeader+place+n]
	}
	rec.word = word
	return payload, true, nil
}

// drop gives back the record of n bytes that take returned. Its room is announced by publish.
func (in *inbox) drop(n int64) {
	place := int64(in.head % ringData)
	for o := place; o < place+lines(n); o += line {
		*u64(in.b, ringHeader+o) = 0
	}
	in.head += uint64(lines(n))
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
