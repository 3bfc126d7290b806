package p2p

// Layout is what messages need to know of a datatype; core/datatype's types have it. Offsets and lengths are in bytes.
type Layout interface {
	// Size returns the number of bytes of data in one element.
	Size() int64
	// Dense returns whether the data of count elements at an address are one run of bytes in order, and at which offset from that address it begins.
	Dense(count int64) (offset int64, ok bool)
	// Pack copies bytes [skip, skip+len(dst)) of the data of count elements at addr to dst.
	Pack(dst []byte, addr uintptr, count, skip int64)
	// Unpack copies src to bytes [skip, skip+len(src)) of the data of count elements at addr.
	Unpack(addr uintptr, count, skip int64, src []byte)
	// Segments fills out with the runs of memory that hold the data of count elements at addr from byte skip on, in order, and returns how many it
	// filled; fewer than len(out) means that these are all.
	Segments(addr uintptr, count, skip int64, out []Segment) int
}

// Segment is a run of memory of a process.
type Segment struct {
	Addr uintptr
	Len  int64
}

// Buffer is the memory that a message comes from or goes to: count elements of a datatype at an address of the application, or Go memory.
type Buffer struct {
	addr   uintptr // of the run if layout is nil
	size   int64   // bytes of data
	count  int64
	layout Layout
	keep   []byte // Go memory, kept alive
}

// Memory returns the buffer of n bytes at an address of the application.
func Memory(addr uintptr, n int64) Buffer { return Buffer{addr: addr, size: n} }

// Bytes returns b as a buffer; it must not be changed (a message out of it) or used (into it) until the operation is complete.
func Bytes(b []byte) Buffer { return Buffer{addr: addressOf(b), size: int64(len(b)), keep: b} }

// Typed returns the buffer of count elements of a datatype at addr. The caller has checked all three.
func Typed(addr uintptr, count int64, t Layout) Buffer {
	n := count * t.Size()
	if offset, ok := t.Dense(count); ok || n == 0 {
		return Buffer{addr: addr + uintptr(offset), size: n}
	}
	return Buffer{addr: addr, size: n, count: count, layout: t}
}

// Size returns the number of bytes of data.
func (b *Buffer) Size() int64 { return b.size }

// pack copies bytes [skip, skip+len(dst)) of the buffer's data to dst.
func (b *Buffer) pack(dst []byte, skip int64) {
	if b.layout != nil {
		b.layout.Pack(dst, b.addr, b.count, skip)
		return
	}
	copy(dst, view(b.addr+uintptr(skip), int64(len(dst))))
}

// unpack copies src to bytes [skip, skip+len(src)) of the buffer's data.
func (b *Buffer) unpack(skip int64, src []byte) {
	if b.layout != nil {
		b.layout.Unpack(b.addr, b.count, skip, src)
		return
	}
	copy(view(b.addr+uintptr(skip), int64(len(src))), src)
}

// segments fills out with the runs of memory from byte skip on and returns how many it filled.
func (b *Buffer) segments(skip int64, out []Segment) int {
	if b.layout != nil {
		return b.layout.Segments(b.addr, b.count, skip, out)
	}
	if skip >= b.size || len(out) == 0 {
		return 0
	}
	out[0] = Segment{b.addr + uintptr(skip), b.size - skip}
	return 1
}

// copyBuffer copies the first n bytes of the data of one buffer to another, both in this process.
func copyBuffer(to, from *Buffer, n int64) {
	switch {
	case n == 0:
	case from.layout == nil:
		to.unpack(0, view(from.addr, n))
	case to.layout == nil:
		from.pack(view(to.addr, n), 0)
	default:
		tmp := make([]byte, min(n, 32<<10))
		for at := int64(0); at < n; at += int64(len(tmp)) {
			tmp = tmp[:min(int64(len(tmp)), n-at)]
			from.pack(tmp, at)
			to.unpack(at, tmp)
		}
	}
}
