package rma

import (
	"encoding/binary"

	"gompirma/core/shm"
)

// record holds the values that each member sends in the first exchange of creation.
type record struct {
	class     int32
	flavor    int32
	dispUnit  int32
	size      int64
	memfdOff  int64 // offset of the window's first byte in the memfd; -1 for private memory
	address   uint64
	proposal  uint64 // proposed place of a handle (handles.go)
	alignment int64
	// In the record of a node leader: the block that is its node's control memory. The value is 0 if the leader
	// reserves the control memory only later.
	control shm.BlockRef
	// The part of the memory that is shared in place: 0 (no part), wholePagesShared or allShared.
	inPlace uint8
	hints   Common // hints that this member requests
}

const (
	recordHints = 64 // offset of hints in an encoded record
	recordSize  = recordHints + commonBytes
)

func (r *record) encode() []byte {
	b := make([]byte, recordSize)
	le := binary.LittleEndian
	le.PutUint32(b[0:], uint32(r.class))
	le.PutUint32(b[4:], uint32(r.flavor))
	le.PutUint32(b[8:], uint32(r.dispUnit))
	le.PutUint32(b[12:], uint32(r.proposal))
	le.PutUint64(b[16:], uint64(r.size))
	le.PutUint64(b[24:], uint64(r.memfdOff))
	le.PutUint64(b[32:], r.address)
	le.PutUint64(b[40:], uint64(r.alignment))
	le.PutUint32(b[48:], uint32(r.proposal>>32))
	b[52] = r.inPlace
	le.PutUint64(b[56:], uint64(r.control))
	r.hints.encode(b[recordHints:])
	return b
}

func decode(b []byte) record {
	le := binary.LittleEndian
	return record{
		class: int32(le.Uint32(b[0:])), flavor: int32(le.Uint32(b[4:])), dispUnit: int32(le.Uint32(b[8:])),
		proposal: uint64(le.Uint32(b[48:]))<<32 | uint64(le.Uint32(b[12:])), size: int64(le.Uint64(b[16:])),
		memfdOff: int64(le.Uint64(b[24:])), address: le.Uint64(b[32:]),
		alignment: int64(le.Uint64(b[40:])), inPlace: b[52], control: shm.BlockRef(le.Uint64(b[56:])),
		hints: decodeCommon(b[recordHints:]),
	}
}

// records has the encoded records of all members, by rank.
type records []byte

func (r records) n() int          { return len(r) / recordSize }
func (r records) at(i int) record { return decode(r[i*recordSize:]) }

// hints iterates over the hints that the members request.
func (r records) hints(yield func(Common) bool) {
	for i := 0; i < r.n() && yield(r.at(i).hints); i++ {
	}
}
