package request

import "unsafe"

// cStatus is an MPI_Status.
type cStatus struct {
	source, tag, err int32
	flags            uint32
	low, high        uint32
	_                [2]uint32
}

const flagCancelled = 1

var _ = [1]struct{}{}[unsafe.Sizeof(cStatus{})-StatusSize]

func at(addr uintptr) *cStatus { return *(**cStatus)(unsafe.Pointer(&addr)) }

// Store writes all fields except MPI_ERROR to the MPI_Status at addr; nothing if addr is MPI_STATUS_IGNORE (0).
func (s *Status) Store(addr uintptr) {
	if addr == 0 {
		return
	}
	c := at(addr)
	c.source, c.tag = s.Source, s.Tag
	c.flags = 0
	if s.Cancelled {
		c.flags = flagCancelled
	}
	c.low, c.high = uint32(s.Bytes), uint32(s.Bytes>>32)
}
