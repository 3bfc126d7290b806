package shm

import "unsafe"

// The words of the control segment as Go pointers, for sync/atomic. The slice is mapped memory, never moved by Go; offsets come from layout.go.

func u32(b []byte, off int64) *uint32 { return (*uint32)(unsafe.Pointer(&b[off])) }
func u64(b []byte, off int64) *uint64 { return (*uint64)(unsafe.Pointer(&b[off])) }

func (nd *Node) u32(i int, field int64) *uint32 { return u32(nd.control, CellOffset(nd.N, i)+field) }

func (nd *Node) i32(i int, field int64) *int32 {
	return (*int32)(unsafe.Pointer(&nd.control[CellOffset(nd.N, i)+field]))
}
