package messages

import (
	"gompirma/core/abi"
	"gompirma/core/datatype"
)

// strided is a layout for tests: each element has blocks blocks of block bytes, stride bytes apart, and the next
// element follows after the last stride. Pack and Unpack are the reference for the engine's datatype processing.
type strided struct{ blocks, block, stride int64 }

func (s strided) Size() int64 { return s.blocks * s.block }

// datatype returns the layout of an element as a committed datatype.
func (s strided) datatype() (*datatype.Type, error) {
	bytes, err := datatype.Get(abi.MPI_BYTE)
	if err != nil {
		return nil, err
	}
	v, err := datatype.Hvector(datatype.Large, s.blocks, s.block, s.stride, bytes)
	if err != nil {
		return nil, err
	}
	x, err := datatype.Resized(datatype.Large, v, 0, s.blocks*s.stride)
	if err != nil {
		return nil, err
	}
	x.Commit()
	return x, nil
}

// at returns the buffer of count elements at addr.
func (s strided) at(addr uintptr, count int64) Buffer {
	if s.block == s.stride {
		return Memory(addr, count*s.Size())
	}
	x, err := s.datatype()
	if err != nil {
		panic(err)
	}
	return Typed(addr, count, x)
}

// each calls f for the contiguous ranges that hold bytes [skip, skip+n) of the data.
func (s strided) each(addr uintptr, skip, n int64, f func(addr uintptr, n int64)) {
	for n > 0 {
		i, in := skip/s.block, skip%s.block
		part := min(s.block-in, n)
		f(addr+uintptr(i*s.stride+in), part)
		skip += part
		n -= part
	}
}

func (s strided) Pack(dst []byte, addr uintptr, skip int64) {
	s.each(addr, skip, int64(len(dst)), func(addr uintptr, n int64) {
		copy(dst, view(addr, n))
		dst = dst[n:]
	})
}

func (s strided) Unpack(addr uintptr, skip int64, src []byte) {
	s.each(addr, skip, int64(len(src)), func(addr uintptr, n int64) {
		copy(view(addr, n), src)
		src = src[n:]
	})
}
