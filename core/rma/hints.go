package rma

import (
	"encoding/binary"
	"iter"
)

// Hints holds the values of the info keys that windows support (MPI-5.0 12.2.1 to 12.2.3, 12.2.7). C parses the info
// object. After the creation of a window, C also stores its hints, for MPI_Win_set_info and MPI_Win_get_info (struct
// gompi_hints in capi/win/hints.h).
type Hints struct {
	Common     Common  // hints that have one value in force at all members
	Alignment  int64   // mpi_minimum_memory_alignment, bytes; at least MinAlignment
	HugePages  bool    // gompirma_huge_pages: huge pages are requested
	AllocKinds *string // mpi_assert_memory_alloc_kinds, without blanks; nil if not given
	InPlace    uint8   // gompirma_share_in_place: InPlaceOff, InPlaceOn or InPlaceRequired
	// gompirma_shared_in_place: "true", "true" with the shared bytes, or "false" with the reason. It is "" if the
	// key does not apply to the window's memory.
	Shared string
}

// Common corresponds to struct gompi_common_hints. Promises is a mask of the promises that all members make (PROMISE_*
// in capi/win/hints.h). Granularity is the smallest value above 0 that a member requests, in bytes.
type Common struct{ Promises, Granularity uint64 }

// DefaultHints returns the values of hints that neither an info object nor the environment specifies.
func DefaultHints() Hints {
	return Hints{Alignment: MinAlignment}
}

// commonBytes is the number of bytes that hold a Common.
const commonBytes = 16

// encode writes c as commonBytes bytes.
func (c Common) encode(b []byte) {
	binary.LittleEndian.PutUint64(b, c.Promises)
	binary.LittleEndian.PutUint64(b[8:], c.Granularity)
}

// decodeCommon is the inverse of encode.
func decodeCommon(b []byte) Common {
	return Common{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
}

// combineCommon returns the values in force for a window whose members request the given hints: the promises that all
// members make, and the smallest granularity above 0.
func combineCommon(members iter.Seq[Common]) Common {
	c := Common{Promises: ^uint64(0)}
	for m := range members {
		// granularity 0 means no request; 0-1 wraps to the largest uint64, so that min ignores it
		c = Common{c.Promises & m.Promises, min(c.Granularity-1, m.Granularity-1) + 1}
	}
	return c
}
