package p2p

import (
	"sync"

	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/limit"
	"gompirma/core/mpierr"
)

// layout is data that is not one run of memory. Offsets and lengths are in bytes.
type layout interface {
	// Pack copies bytes [skip, skip+len(dst)) of the data of count elements at addr to dst.
	Pack(dst []byte, addr uintptr, count, skip int64)
	// Unpack copies src to bytes [skip, skip+len(src)) of the data of count elements at addr.
	Unpack(addr uintptr, count, skip int64, src []byte)
	// Segments fills out with the runs of memory that hold the data of count elements at addr from byte skip on, in
	// order, and returns how many it filled; fewer than len(out) means that these are all.
	Segments(addr uintptr, count, skip int64, out []Segment) int
}

// Segment is a run of memory of a process.
type Segment struct {
	Addr uintptr
	Len  int64
}

// Buffer is the memory that a message comes from or goes to: count elements of a datatype at an address of the
// application, or Go memory.
type Buffer struct {
	addr   uintptr // of the run if layout is nil
	size   int64   // bytes of data
	count  int64
	layout layout
	skip   int64 // bytes of the layout's data before the buffer's
	keep   *byte // Go memory, kept alive
}

// Memory returns the buffer of n bytes at an address of the application.
func Memory(addr uintptr, n int64) Buffer { return Buffer{addr: addr, size: n} }

// Bytes returns b as a buffer; it must not be changed (a message out of it) or used (into it) until the operation is
// complete.
func Bytes(b []byte) Buffer { return Buffer{addr: addressOf(b), size: int64(len(b)), keep: startOf(b)} }

// Typed returns the buffer of count elements of a datatype, which is committed, at an address of the application.
// MPI_ERR_COUNT: count is negative. MPI_ERR_VALUE_TOO_LARGE: the data has more bytes, or lies farther apart, than 64
// bits can count. Errors of InMemory: the data is not in memory.
func Typed(addr uintptr, count int64, t *datatype.Type) (Buffer, error) {
	if count < 0 {
		return Buffer{}, mpierr.New(abi.MPI_ERR_COUNT, "count is %d", count)
	}
	l := t.Layout()
	n := l.Size()
	switch {
	case count == 0 || n == 0:
		return Buffer{}, nil
	case count > 1<<31-1 || n > 1<<31-1:
		_, sized := l.Packed(count, datatype.Bytes)
		if _, _, bounded := l.Bounds(count); !sized || !bounded {
			return Buffer{}, mpierr.New(abi.MPI_ERR_VALUE_TOO_LARGE,
				"%d elements of datatype %s have more bytes than 64 bits can count", count, t)
		}
	}
	n *= count
	first := addr + uintptr(l.Origin())
	if !l.Contiguous() || !datatype.Near(first, n) {
		if err := t.InMemory("message's", addr, count); err != nil {
			return Buffer{}, err
		}
	}
	if l.Contiguous() {
		return Buffer{addr: first, size: n}, nil
	}
	return Buffer{addr: addr, size: n, count: count, layout: derived{t}}, nil
}

// derived is the layout of a datatype.
type derived struct{ t *datatype.Type }

var cursors = sync.Pool{New: func() any { return new(datatype.Cursor) }}

func (d derived) cursor(count, skip int64) *datatype.Cursor {
	c := cursors.Get().(*datatype.Cursor)
	c.Reset(d.t.Program(), count, datatype.Bytes)
	if skip > 0 {
		c.SeekTo(skip)
	}
	return c
}

func (d derived) Pack(dst []byte, addr uintptr, count, skip int64) {
	c := d.cursor(count, skip)
	c.Pack(dst, d.t.Layout().MemoryAt(addr, count))
	cursors.Put(c)
}

func (d derived) Unpack(addr uintptr, count, skip int64, src []byte) {
	c := d.cursor(count, skip)
	c.Unpack(d.t.Layout().MemoryAt(addr, count), src)
	cursors.Put(c)
}

func (d derived) Segments(addr uintptr, count, skip int64, out []Segment) int {
	c := d.cursor(count, skip)
	defer cursors.Put(c)
	for i := range out {
		offset, n := c.Next(1 << 62)
		if n == 0 {
			return i
		}
		out[i] = Segment{addr + uintptr(offset), n}
	}
	return len(out)
}

// slice returns the buffer of n bytes of data from byte skip on.
func (b *Buffer) slice(skip, n int64) Buffer {
	s := *b
	s.size = n
	if b.layout != nil {
		s.skip += skip
	} else {
		s.addr += uintptr(skip)
	}
	return s
}

// pack copies bytes [skip, skip+len(dst)) of the buffer's data to dst.
func (b *Buffer) pack(dst []byte, skip int64) {
	if b.layout != nil {
		b.layout.Pack(dst, b.addr, b.count, b.skip+skip)
		return
	}
	copy(dst, view(b.addr+uintptr(skip), int64(len(dst))))
}

// unpack copies src to bytes [skip, skip+len(src)) of the buffer's data.
func (b *Buffer) unpack(skip int64, src []byte) {
	if b.layout != nil {
		b.layout.Unpack(b.addr, b.count, b.skip+skip, src)
		return
	}
	copy(view(b.addr+uintptr(skip), int64(len(src))), src)
}

// segments fills out with the runs of memory from byte skip on and returns how many it filled.
func (b *Buffer) segments(skip int64, out []Segment) int {
	if b.layout != nil {
		n, left := b.layout.Segments(b.addr, b.count, b.skip+skip, out), b.size-skip
		for i := range out[:n] {
			if out[i].Len >= left {
				out[i].Len = left
				n = i + 1
				if left == 0 {
					n = i
				}
				break
			}
			left -= out[i].Len
		}
		return n
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

// Copy returns a buffer of the library's own with the same data. MPI_ERR_NO_MEM.
func (b *Buffer) Copy() (Buffer, error) {
	c, err := ownBytes(b.size)
	if err == nil {
		b.copyTo(&c)
	}
	return c, err
}

// ownBytes returns a buffer of n bytes of the library's own. MPI_ERR_NO_MEM.
func ownBytes(n int64) (Buffer, error) {
	b, err := limit.Bytes(n)
	if err != nil {
		return Buffer{}, mpierr.New(abi.MPI_ERR_NO_MEM, "%v", err)
	}
	return Bytes(b), nil
}
