package shm

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// These functions return words of the control segment as Go pointers, for sync/atomic. The slice is mapped memory,
// which Go never moves. The offsets come from z_from_c.go and layout.go.

func u32(b []byte, off int64) *uint32 { return (*uint32)(unsafe.Pointer(&b[off])) }
func u64(b []byte, off int64) *uint64 { return (*uint64)(unsafe.Pointer(&b[off])) }

func (nd *Node) u32(i int, field int64) *uint32 {
	return u32(nd.control, CellOffset(nd.Slots, i)+field)
}

func (nd *Node) i32(i int, field int64) *int32 {
	return (*int32)(unsafe.Pointer(&nd.control[CellOffset(nd.Slots, i)+field]))
}

func (nd *Node) i64(i int, field int64) *int64 {
	return (*int64)(unsafe.Pointer(&nd.control[CellOffset(nd.Slots, i)+field]))
}

func bytesAt(p unsafe.Pointer, n int64) []byte { return unsafe.Slice((*byte)(p), n) }

// address returns the address of mapped memory.
func address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// whileMapped maps the pages that contain [off, off+size), calls the function `do` with their bytes, and unmaps them.
func whileMapped(m backing, off, size int64, do func([]byte) error) error {
	from, to := off/PageSize*PageSize, roundUp(off+size, PageSize)
	p, err := m.mapping(nil, from, to-from)
	if err != nil {
		return err
	}
	defer unix.MunmapPtr(p, uintptr(to-from))
	return do(bytesAt(p, to-from))
}

func unmap(b []byte) { unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(b)), uintptr(len(b))) }

// mapInto maps [off, off+size) at the first multiple of align in the range `room`, which is size+align bytes of
// reserved address space. It unmaps all other pages of the range.
func (nd *Node) mapInto(room unsafe.Pointer, off, size, align int64) ([]byte, error) {
	skip := uintptr(-int64(uintptr(room)) & (align - 1))
	at := unsafe.Add(room, skip)
	if _, err := nd.memory.mapping(at, off, size); err != nil {
		unix.MunmapPtr(room, uintptr(size+align))
		return nil, noMapping(size, err)
	}
	unmapAround(room, skip, uintptr(size), uintptr(align))
	return bytesAt(at, size), nil
}

// unmapAround unmaps the unused parts of the range `room`, which has size+spare bytes: the first `skip` bytes, and all
// bytes after the following size bytes.
func unmapAround(room unsafe.Pointer, skip, size, spare uintptr) {
	if skip > 0 {
		unix.MunmapPtr(room, skip)
	}
	if skip < spare {
		unix.MunmapPtr(unsafe.Add(room, skip+size), spare-skip)
	}
}

// hide moves a mapping to an address that no code of the application knows. The new address equals the old one modulo 2
// MiB, which is the memory that one page table covers. Therefore the kernel can move whole page tables instead of
// single entries. hide returns nil if the kernel cannot move the mapping, for example because the application has split
// it.
func hide(b []byte) []byte {
	const table = HugePage
	size := uintptr(len(b))
	room, err := unix.MmapPtr(-1, 0, nil, size+table, unix.PROT_NONE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil
	}
	skip := uintptr(address(b)-uint64(uintptr(room))) & (table - 1)
	at := unsafe.Add(room, skip)
	if _, err = unix.MremapPtr(unsafe.Pointer(unsafe.SliceData(b)), size, at, size,
		unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED); err != nil {
		unix.MunmapPtr(room, size+table)
		return nil
	}
	unmapAround(room, skip, size, table)
	return bytesAt(at, int64(size))
}

// clearUsed clears all nonzero words of b. It does not write words that are zero already: a write would remove their
// cache lines from the caches of other processes' cores.
func clearUsed(b []byte) {
	for i, w := range unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8) {
		if w != 0 {
			clear(b[8*i : 8*i+8])
		}
	}
}
