package messages

import (
	"encoding/binary"
	"sync/atomic"
	"testing"
	"unsafe"

	"gompirma/core/datatype"
	"gompirma/core/shm"
	"gompirma/tests/go/types"
)

// This file defines properties of the C message engine that the tests need: sizes, the inboxes in shared memory
// (capi/message/inbox.h) and the records (capi/message/record.h).

const (
	eagerMax      = 32 << 10 // bytes of data sent eagerly with a message
	congestedFrom = 32 << 20 // bytes of unexpected messages of a VCI
	entryCost     = 256      // bytes charged for an unexpected message besides its data
	manyNumbers   = 4096     // if a table has more send numbers than this, it is freed once it is empty
	lanes         = 4
	inboxSize     = shm.MessageRingSize / lanes

	// Offsets in bytes of the fields of an inbox (struct gompi_inbox).
	inboxTail  = 0
	inboxHead  = 64
	inboxFlow  = 128
	inboxToken = 144
	inboxKey   = 152
	inboxFirst = 704

	flowAlong, flowKeep = 0, 1
)

// inbox returns the inbox of VCI number `lane` of e's process.
func (e *Engine) inbox(lane int) []byte {
	at := shm.MessageRing(e.nd.Slots, e.nd.Me) + int64(lane*inboxSize)
	return e.nd.Control()[at : at+inboxSize]
}

// worldLane returns the number of the VCI that carries the messages of MPI_COMM_WORLD.
func (e *Engine) worldLane() int { return int(e.World.Context(0) >> 4 & (lanes - 1)) }

func u32(b []byte, at int) *uint32 { return (*uint32)(unsafe.Pointer(&b[at])) }
func u64(b []byte, at int) *uint64 { return (*uint64)(unsafe.Pointer(&b[at])) }

// arrivedWords returns the total number of bytes ever written to the inbox of MPI_COMM_WORLD.
func (e *Engine) arrivedWords() uint64 {
	return atomic.LoadUint64(u64(e.inbox(e.worldLane()), inboxTail))
}

// hasUnread reports whether an inbox of e's process has unread records.
func (e *Engine) hasUnread() bool {
	for i := range lanes {
		b := e.inbox(i)
		if atomic.LoadUint64(u64(b, inboxHead)) != atomic.LoadUint64(u64(b, inboxTail)) {
			return true
		}
	}
	return false
}

// requestFlow requests from the other processes to send messages of MPI_COMM_WORLD eagerly (flowAlong), or to keep the
// data at the sender (flowKeep).
func (e *Engine) requestFlow(flow uint32) {
	atomic.StoreUint32(u32(e.inbox(e.worldLane()), inboxFlow), flow)
}

const (
	recordSize = 56
	recordLine = 64 // offset of the data if it has more than 8 bytes
)

type kind uint8

const (
	kindEager kind = 2 + iota
	kindRTS
	kindCTS
	kindPiece
	kindAck
	kindRoom
	kindCancel
	kindGone
	kindLook
	kindFlow
	kindRevoke
	kindLast
)

// record is the fixed part of a record, without its valid flag and its kind.
type record struct {
	ctx                   uint64
	src, tag, from, class int32
	size, id              uint64
}

func recordWord(k kind, flags uint8, n int) uint64 {
	return uint64(flags)<<40 | uint64(k)<<32 | uint64(n)
}

// bytes returns the record in the format of an inbox.
func (r record) bytes(k kind, flags uint8, payload []byte) []byte {
	size := recordSize
	if len(payload) > recordLine-recordSize {
		size = recordLine
	}
	b := binary.NativeEndian.AppendUint64(make([]byte, 8, recordLine), recordWord(k, flags, size+len(payload)))
	b = binary.NativeEndian.AppendUint64(b, r.ctx)
	for _, x := range []int32{r.src, r.tag, r.from, r.class} {
		b = binary.NativeEndian.AppendUint32(b, uint32(x))
	}
	b = binary.NativeEndian.AppendUint64(b, r.size)
	b = binary.NativeEndian.AppendUint64(b, r.id)
	return append(b[:size:size], payload...)
}

// firstNumber is the number of the first send of a VCI that needs an answer. Later sends that need an answer have
// consecutive numbers.
const firstNumber = 1 << 32

// pendingSends returns the number of sends that wait for an answer of another process.
func (e *Engine) pendingSends() int { return int(e.m.Counts().Sends) }

// pack copies the data of `count` elements at `addr` to the slice `to`.
func pack(to []byte, addr uintptr, count int64, t *datatype.Type) {
	types.Pack(to, addr, count, t.Program(), 0)
}

// unpack copies the slice `from` to `count` elements at `addr`.
func unpack(addr uintptr, count int64, t *datatype.Type, from []byte) {
	types.Unpack(addr, count, t.Program(), 0, from)
}

// view returns the n bytes at an address as a slice.
func view(addr uintptr, n int64) []byte { return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), n) }

// addressOf returns the address of b. The caller keeps b alive. The address stays valid, because the assignment to
// lastAddressed makes the compiler allocate b on the heap: a goroutine's stack may move.
func addressOf(b []byte) uintptr {
	lastAddressed.Store(unsafe.SliceData(b))
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))
}

var lastAddressed atomic.Pointer[byte]

// setCMA turns CMA off for subsequent jobs if `no` is true, and on if `no` is false.
func setCMA(t *testing.T, no bool) {
	value := "0"
	if no {
		value = "1"
	}
	t.Setenv("GOMPIRMA_NO_CMA", value)
}
