package shm

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// backing is the object that holds the memory of a node. Usually it is a memfd. If the file size limit (ulimit -f) is
// too low or memfd_create is denied, it is a System V segment. Neither has a name in the file system.
type backing interface {
	// mapping maps the whole pages [off, off+size). If the argument `at` is nil, the system chooses the address.
	// Otherwise the new mapping replaces any mapping at that address. All methods return the error of the system
	// call.
	mapping(at unsafe.Pointer, off, size int64) (unsafe.Pointer, error)
	// alloc allocates the memory of a range; pages that had no memory before are zeroed. release releases the
	// memory of a range.
	alloc(off, size int64) error
	release(off, size int64)
}

// memfd is the descriptor of a sparse file in memory.
type memfd int

func (fd memfd) mapping(at unsafe.Pointer, off, size int64) (unsafe.Pointer, error) {
	flags := unix.MAP_SHARED | unix.MAP_NORESERVE
	if at != nil {
		flags |= unix.MAP_FIXED
	}
	return unix.MmapPtr(int(fd), off, at, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, flags)
}

func (fd memfd) alloc(off, size int64) error {
	for {
		if err := unix.Fallocate(int(fd), 0, off, size); denied(err) {
			return allocMapped(fd, off, size)
		} else if err != unix.EINTR {
			return err
		}
	}
}

func (fd memfd) release(off, size int64) {
	if denied(unix.Fallocate(int(fd), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off,
		roundUp(size, PageSize))) {
		releaseMapped(fd, off, size)
	}
}

// allocMapped and releaseMapped implement alloc and release of a backing by way of a temporary mapping of the range.
// They are used if no system call does it without a mapping.
func allocMapped(m backing, off, size int64) error {
	return whileMapped(m, off, size, func(b []byte) error {
		err := populate(b)
		if err == unix.EINVAL { // a kernel without MADV_POPULATE_WRITE (before Linux 5.14)
			for at := int64(0); at < int64(len(b)); at += PageSize {
				atomic.AddUint32(u32(b, at), 0)
			}
			return nil
		}
		return err
	})
}

func releaseMapped(m backing, off, size int64) {
	whileMapped(m, off, size, func(b []byte) error { return unix.Madvise(b, unix.MADV_REMOVE) })
}

// denied returns whether err means that this process may not make the call, for example because of a container's
// seccomp profile.
func denied(err error) bool { return err == unix.EPERM || err == unix.EACCES || err == unix.ENOSYS }

// create creates the empty file of a node's memory: a memfd. If memfd_create is denied, it creates a file without a
// name in a directory. This file can only hold the header. In this case the result `why` is the error of memfd_create;
// otherwise it is nil. The text of the result `err` contains advice for the user.
func create() (fd int, why error, err error) {
	fd, why = unix.MemfdCreate("gompirma", 0)
	if why == nil {
		return fd, nil, nil
	}
	why = fmt.Errorf("memfd_create: %w", why)
	if !denied(errors.Unwrap(why)) {
		return -1, nil, why
	}
	for _, folder := range []string{"/dev/shm", os.TempDir()} {
		if fd, err = unnamedFile(folder); err == nil {
			return fd, why, nil
		}
	}
	return -1, nil, fmt.Errorf("%w, and cannot create a file in /dev/shm or %s: %w%s", why, os.TempDir(), err,
		memfdAdvice)
}

// memfdAdvice is the advice to the user if a seccomp filter denies memfd_create.
const memfdAdvice = ": permit memfd_create, for example in the seccomp profile of the container"

// unnamedFile creates a file without a name that has memory for its first page.
func unnamedFile(folder string) (int, error) {
	fd, err := unix.Open(folder, unix.O_TMPFILE|unix.O_RDWR, 0o600)
	if err != nil { // a file system without O_TMPFILE
		var f *os.File
		if f, err = os.CreateTemp(folder, "gompirma"); err != nil {
			return -1, err
		}
		defer f.Close()
		if err = os.Remove(f.Name()); err != nil {
			return -1, err
		}
		if fd, err = unix.Dup(int(f.Fd())); err != nil {
			return -1, err
		}
	}
	if err = memfd(fd).growHeader(); err == nil {
		_, err = unix.Pwrite(fd, []byte{0}, 0)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// grow sets the size of a memfd. This reserves address space, not memory. But the kernel checks the size against the
// file size limit (RLIMIT_FSIZE) and would end the process with SIGXFSZ. So grow checks the limit first, and raises it
// during the call if this is permitted. Every user may raise it up to the hard limit, and root beyond.
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

// growHeader sets the size of a memfd to the size of the header or, if the file size limit is smaller, to that limit.
// The smaller size suffices, because a mapping always covers whole pages.
func (fd memfd) growHeader() error {
	size := uint64(HeaderSize)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err == nil {
		size = min(size, limit.Cur)
	}
	if size == 0 {
		return fmt.Errorf("the file size limit is 0 (ulimit -f): %w", unix.EFBIG)
	}
	return unix.Ftruncate(int(fd), int64(size))
}
