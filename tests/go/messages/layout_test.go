package messages

import (
	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/tests/go/types"
)

// strided is a layout for tests. An element has `blocks` blocks of `block` bytes, at distances of `stride` bytes. The
// extent of an element is blocks * stride. Pack and Unpack are the reference for the engine's datatype processing.
type strided struct{ blocks, block, stride int64 }

func (s strided) Size() int64 { return s.blocks * s.block }

// datatype returns a committed datatype for one element.
func (s strided) datatype() (*datatype.Type, error) {
	bytes, err := datatype.Get(abi.MPI_BYTE)
	if err != nil {
		return nil, err
	}
	v, err := types.Hvector(types.Large, s.blocks, s.block, s.stride, bytes)
	if err != nil {
		return nil, err
	}
	x, err := types.Resized(types.Large, v, 0, s.blocks*s.stride)
	if err != nil {
		return nil, err
	}
	types.Commit(x)
	return x, nil
}

// at returns a Buffer for `count` elements at the address `addr`.
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

// each calls the function f for each contiguous range of the buffer at `addr` that holds bytes [skip, skip+n) of the
// packed data.
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
