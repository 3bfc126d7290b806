package shm

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// segment is a System V shared memory segment, identified by the address where its control part is mapped. The file
// size limit does not apply to a segment, and a segment may be sparse like a memfd. It is marked for removal as soon as
// it is attached, so the kernel removes it with the last process that has it attached. Until then other processes
// attach it by its id.
//
// shmat(2) attaches a segment as a whole, and there is no descriptor with which to map a part. But a mapping can be
// duplicated (mremap with an old size of 0) and then moved to another part of the segment (remap_file_pages).
type segment struct{ base unsafe.Pointer }

// A segment can only be attached as a whole, so its size must not exceed the largest free address range of a process. A
// process has 2^47 bytes of address space, of which a range of 2^44 bytes is always free.
const segmentSize = 1 << 44

// makeSegment creates a segment and returns its id. The segment exists as long as this process, or any process that has
// attached it, lives.
func makeSegment() (id int, err error) {
	if id, err = unix.SysvShmGet(unix.IPC_PRIVATE, segmentSize, unix.IPC_CREAT|shmNoReserve|0o600); err != nil {
		return 0, err
	}
	s, err := attachSegment(id, PageSize) // stays attached: a segment lives while a process has it attached
	unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	if err == nil {
		err = s.alloc(0, PageSize)
	}
	return id, err
}

// attachSegment attaches a segment and keeps only a mapping of its first size bytes.
func attachSegment(id int, size int64) (segment, error) {
	addr, _, errno := unix.Syscall(unix.SYS_SHMAT, uintptr(id), 0, 0)
	if errno != 0 {
		return segment{}, errno
	}
	whole := *(*unsafe.Pointer)(unsafe.Pointer(&addr))
	// Keeps a duplicate of the beginning, which the kernel places next to other mappings. If the beginning of the
	// large mapping stayed mapped instead, it would split the large free address range.
	base, err := unix.MremapPtr(whole, 0, nil, uintptr(size), unix.MREMAP_MAYMOVE)
	if e := unix.MunmapPtr(whole, segmentSize); err == nil {
		err = e
	}
	return segment{base}, err
}

const (
	shmNoReserve  = 0o10000 // SHM_NORESERVE
	mapNoPopulate = unix.MAP_NONBLOCK
)

func (s segment) mapping(at unsafe.Pointer, off, size int64) (unsafe.Pointer, error) {
	flags := unix.MREMAP_MAYMOVE
	if at != nil {
		flags |= unix.MREMAP_FIXED
	}
	p, err := unix.MremapPtr(s.base, 0, at, uintptr(size), flags)
	if err != nil {
		return nil, err
	}
	if _, _, errno := unix.Syscall6(unix.SYS_REMAP_FILE_PAGES, uintptr(p), uintptr(size), 0, uintptr(off/PageSize),
		mapNoPopulate, 0); errno != 0 {
		unix.MunmapPtr(p, uintptr(size))
		return nil, errno
	}
	return p, nil
}

func (s segment) alloc(off, size int64) error { return allocMapped(s, off, size) }

func (s segment) release(off, size int64) { releaseMapped(s, off, size) }
