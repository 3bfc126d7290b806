package shm

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The words of the control segment as Go pointers, for sync/atomic. The slice is mapped memory, never moved by Go;
// offsets come from layout.go.

func u32(b []byte, off int64) *uint32 { return (*uint32)(unsafe.Pointer(&b[off])) }
func u64(b []byte, off int64) *uint64 { return (*uint64)(unsafe.Pointer(&b[off])) }

func (nd *Node) u32(i int, field int64) *uint32 { return u32(nd.control, CellOffset(nd.N, i)+field) }

func (nd *Node) i32(i int, field int64) *int32 {
	return (*int32)(unsafe.Pointer(&nd.control[CellOffset(nd.N, i)+field]))
}

func (nd *Node) i64(i int, field int64) *int64 {
	return (*int64)(unsafe.Pointer(&nd.control[CellOffset(nd.N, i)+field]))
}

func bytesAt(p unsafe.Pointer, n int64) []byte { return unsafe.Slice((*byte)(p), n) }

// address returns where mapped memory begins.
func address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

func unmap(b []byte) { unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(b)), uintptr(len(b))) }

// mapInto maps [off, off+size) at the first multiple of align in room, which holds size+align bytes of address space,
// and gives the rest of it back.
func (nd *Node) mapInto(room unsafe.Pointer, off, size, align int64) ([]byte, error) {
	skip := uintptr(-int64(uintptr(room)) & (align - 1))
	at := unsafe.Add(room, skip)
	if _, err := nd.memory.mapping(at, off, size); err != nil {
		unix.MunmapPtr(room, uintptr(size+align))
		return nil, noMapping(size, err)
	}
	if skip > 0 {
		unix.MunmapPtr(room, skip)
	}
	if rest := uintptr(align) - skip; rest > 0 {
		unix.MunmapPtr(unsafe.Add(at, size), rest)
	}
	return bytesAt(at, size), nil
}
