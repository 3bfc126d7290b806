package p2p

// strided is a layout for tests: each element has blocks blocks of block bytes, stride bytes apart, and the next
// element follows after the last stride.
type strided struct{ blocks, block, stride int64 }

func (s strided) Size() int64 { return s.blocks * s.block }

// at returns the buffer of count elements at addr.
func (s strided) at(addr uintptr, count int64) Buffer {
	if s.block == s.stride {
		return Memory(addr, count*s.Size())
	}
	return Buffer{addr: addr, size: count * s.Size(), count: count, layout: s}
}

// each calls f for the runs that hold bytes [skip, skip+n) of the data.
func (s strided) each(addr uintptr, skip, n int64, f func(addr uintptr, n int64) bool) {
	for n > 0 {
		i, in := skip/s.block, skip%s.block
		part := min(s.block-in, n)
		if !f(addr+uintptr(i*s.stride+in), part) {
			return
		}
		skip += part
		n -= part
	}
}

func (s strided) Pack(dst []byte, addr uintptr, _, skip int64) {
	s.each(addr, skip, int64(len(dst)), func(addr uintptr, n int64) bool {
		copy(dst, view(addr, n))
		dst = dst[n:]
		return true
	})
}

func (s strided) Unpack(addr uintptr, _, skip int64, src []byte) {
	s.each(addr, skip, int64(len(src)), func(addr uintptr, n int64) bool {
		copy(view(addr, n), src)
		src = src[n:]
		return true
	})
}

func (s strided) Segments(addr uintptr, count, skip int64, out []Segment) int {
	k := 0
	s.each(addr, skip, count*s.Size()-skip, func(addr uintptr, n int64) bool {
		if k == len(out) {
			return false
		}
		out[k] = Segment{addr, n}
		k++
		return true
	})
	return k
}
