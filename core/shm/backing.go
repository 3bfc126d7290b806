package shm

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// backing is what the memory of a node is made of. There are two: a memfd, and a segment of System V where the user may
// not have files of that size (ulimit -f). Neither has a name, once it is open.
type backing interface {
	// mapping maps [off, off+size), whole pages, at an address, whatever is there, or at one that the system
	// chooses (nil). The error is the system's, as in all.
	mapping(at unsafe.Pointer, off, size int64) (unsafe.Pointer, error)
	// take takes the memory of a range, zeroed where there was none; give gives it back.
	take(off, size int64) error
	give(off, size int64)
}

// memfd is a sparse file in memory, by its descriptor.
type memfd int

func (fd memfd) mapping(at unsafe.Pointer, off, size int64) (unsafe.Pointer, error) {
	flags := unix.MAP_SHARED | unix.MAP_NORESERVE
	if at != nil {
		flags |= unix.MAP_FIXED
	}
	return unix.MmapPtr(int(fd), off, at, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, flags)
}

func (fd memfd) take(off, size int64) error {
	for {
		if err := unix.Fallocate(int(fd), 0, off, size); err != unix.EINTR {
			return err
		}
	}
}

func (fd memfd) give(off, size int64) {
	unix.Fallocate(int(fd), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, roundUp(size, PageSize))
}

// grow gives a memfd its size. All of it is address space only, but the system compares it with what files may have
// (RLIMIT_FSIZE), and SIGXFSZ would end the process. So the limit is looked at before, and lifted for the moment where
// that is allowed: up to the hard limit by everybody, beyond it by root.
func (fd memfd) grow(size int64) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err == nil && limit.Cur < uint64(size) {
		higher := unix.Rlimit{Cur: limit.Max, Max: limit.Max}
		if limit.Max < uint64(size) {
			higher = unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
		}
		if unix.Setrlimit(unix.RLIMIT_FSIZE, &higher) != nil {
			return unix.EFBIG
		}
		defer unix.Setrlimit(unix.RLIMIT_FSIZE, &limit)
	}
	return unix.Ftruncate(int(fd), size)
}

// growHead gives a memfd the size of a header, or as much of it as files may have: what is mapped is a whole page all
// the same.
func (fd memfd) growHead() error {
	size := uint64(HeaderSize)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err == nil {
		size = min(size, limit.Cur)
	}
	if size == 0 {
		return fmt.Errorf("files may have 0 bytes (ulimit -f): %w", unix.EFBIG)
	}
	return unix.Ftruncate(int(fd), int64(size))
}
