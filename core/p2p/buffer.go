package p2p

import (
	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
)

// Buffer is the memory that a message is sent from or received into: count elements of a datatype at an address of the
// application, or Go memory.
type Buffer struct {
	addr  uintptr // of the contiguous memory if typ is nil
	size  int64   // bytes of data
	count int64
	typ   *datatype.Type
	skip  int64 // bytes of the datatype's data that precede the buffer's data
	keep  *byte // Go memory, kept alive
}

// Memory returns the buffer of n bytes at an address of the application.
func Memory(addr uintptr, n int64) Buffer { return Buffer{addr: addr, size: n} }

// Bytes returns b as a buffer. Until the operation is complete, b must not be changed if it is sent, and must not be
// accessed if it is received into.
func Bytes(b []byte) Buffer { return Buffer{addr: addressOf(b), size: int64(len(b)), keep: startOf(b)} }

// Typed returns the buffer of count elements of a committed datatype at an address of the application. MPI_ERR_COUNT if
// count is negative. MPI_ERR_VALUE_TOO_LARGE if the size or the span of the data exceeds 64 bits. Errors of InMemory if
// the data is not in memory.
func Typed(addr uintptr, count int64, t *datatype.Type) (Buffer, error) {
	if count < 0 {
		return Buffer{}, mpierr.New(abi.MPI_ERR_COUNT, "count is %d; it must not be negative", count)
	}
	l := t.Layout()
	n := l.Size()
	switch {
	case count == 0 || n == 0:
		return Buffer{}, nil
	case count > 1<<31-1 || n > 1<<31-1:
		_, sized := l.Packed(count)
		if _, _, bounded := l.Bounds(count); !sized || !bounded {
			return Buffer{}, mpierr.New(abi.MPI_ERR_VALUE_TOO_LARGE,
				"the size of %d elements of datatype %s exceeds 64 bits", count, t)
		}
	}
	n *= count
	first := addr + uintptr(l.Origin())
	if !l.Contiguous() || !datatype.FitsAddressSpace(first, n) {
		if err := t.InMemory("message's", addr, count); err != nil {
			return Buffer{}, err
		}
	}
	if l.Contiguous() {
		return Buffer{addr: first, size: n}, nil
	}
	return Buffer{addr: addr, size: n, count: count, typ: t}, nil
}

// describe sets the buffer fields of an operation.
func (b *Buffer) describe(o *Operation) {
	o.Addr, o.Size, o.Count, o.Skip = b.addr, b.size, b.count, b.skip
	if b.typ != nil {
		o.Datatype, o.Program = b.typ.Handle(), addressOfProgram(b.typ.Program())
	}
}
