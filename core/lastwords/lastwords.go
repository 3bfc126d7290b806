// Package lastwords makes one line of what the Go runtime prints when it ends the process (no memory, a panic in a
// goroutine, an error of its own). That is for people who know its source: the stacks of all goroutines. A user gets
// the reason, and then the signal or status with which the process ends. GOTRACEBACK in the environment asks for all of
// it. Importing the package is all there is to do.
package lastwords

import (
	"os"
	"syscall"
	"unsafe"
)

// runtimeWrite is the runtime's hook for what it writes, meant to be set like this. It has its value from the
// beginning, before any code of Go has run: the runtime may fail to start.
//
//go:linkname runtimeWrite runtime.overrideWrite
var runtimeWrite func(fd uintptr, p unsafe.Pointer, n int32) int32 = tell

// lastWords is the line as far as it is known. The runtime prints when nothing may be relied on: no allocation, no
// lock, no larger stack, no race detector from here on.
var lastWords struct {
	line  [600]byte
	n     int
	start int  // of the runtime's current line, in line
	told  bool // the rest is left out

	running bool // the runtime has started
}

const rlimitMemlock = 8

const head = "gompirma: the Go runtime in this process has failed: "

// Enough for a process that does little, in KiB.
const (
	enoughSpace = "; 2000000 is enough to start"
	enoughData  = "; 200000 is enough to start"
)

func init() {
	lastWords.running = true
	if os.Getenv("GOTRACEBACK") != "" {
		runtimeWrite = nil
	}
}

// tell is called for each piece of what the runtime writes.
//
//go:nosplit
//go:norace
func tell(fd uintptr, p unsafe.Pointer, n int32) int32 {
	const stderr = 2
	if fd != stderr { // its own business
		r, _, e := syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(p), uintptr(n))
		if e != 0 {
			return -int32(e)
		}
		return int32(r)
	}
	l := &lastWords
	for i := int32(0); i < n && !l.told; i++ {
		if l.n == 0 {
			put(head)
			l.start = l.n
		}
		c := *(*byte)(unsafe.Add(p, i))
		switch {
		case c != '\n':
			if l.n < len(l.line)-100 {
				l.line[l.n] = c
				l.n++
			}
		case l.n == l.start:
		// "fatal error: ..." or "panic: ..."; what comes before, "runtime: ...", explains it. After "runtime:
		// mmap: ..." it exits without a further word.
		case l.line[l.start] == 'f' || l.line[l.start] == 'p' || contains(l.start, "runtime: mmap: "):
			putLimit(" (ulimit -v ", syscall.RLIMIT_AS, enoughSpace)
			putLimit(" (ulimit -d ", syscall.RLIMIT_DATA, enoughData)
			if locksMemory() {
				putLimit(" (ulimit -l ", rlimitMemlock, "")
			}
			putDescriptors()
			put("\n")
			l.told = true
			syscall.RawSyscall(syscall.SYS_WRITE, stderr, uintptr(unsafe.Pointer(&l.line[0])), uintptr(l.n))
		default:
			put("; ")
			l.start = l.n
		}
	}
	return n
}

// contains returns whether a text is in the line from a place on.
//
//go:nosplit
//go:norace
func contains(from int, s string) bool {
	for matched := 0; from < lastWords.n; from++ {
		if lastWords.line[from] != s[matched] {
			matched = 0
		} else if matched++; matched == len(s) {
			return true
		}
	}
	return false
}

// locksMemory returns whether the system refuses new memory because it would be locked (mlockall(2) with MCL_FUTURE)
// and RLIMIT_MEMLOCK does not allow that much. It tries with a mapping, which it removes again.
//
//go:nosplit
//go:norace
func locksMemory() bool {
	const size = 64 << 20 // as much as the runtime asks for at once
	p, _, e := syscall.RawSyscall6(syscall.SYS_MMAP, 0, size, syscall.PROT_NONE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE, ^uintptr(0), 0)
	if e == 0 {
		syscall.RawSyscall(syscall.SYS_MUNMAP, p, size, 0)
	}
	return e == syscall.EAGAIN
}

//go:nosplit
//go:norace
func put(s string) {
	for i := 0; i < len(s) && lastWords.n < len(lastWords.line); i++ {
		lastWords.line[lastWords.n] = s[i]
		lastWords.n++
	}
}

// putDescriptors says how many descriptors there may be, if it is less than the runtime surely has enough with.
//
//go:nosplit
//go:norace
func putDescriptors() {
	const few = 32
	if n := limit(syscall.RLIMIT_NOFILE); n < few {
		put(" (ulimit -n ")
		putNumber(n)
		put(")")
	}
}

// putLimit says what a limit in bytes is, in KiB as a shell does, if there is one, and what is enough.
//
//go:nosplit
//go:norace
func putLimit(text string, resource uintptr, enough string) {
	n := limit(resource)
	if n == unlimited {
		return
	}
	put(text)
	putNumber(n / 1024)
	if !lastWords.running {
		put(enough)
	}
	put(")")
}

const unlimited = 1<<64 - 1

//go:nosplit
//go:norace
func limit(resource uintptr) uint64 {
	var l [2]uint64
	if _, _, e := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, 0, resource, 0, uintptr(unsafe.Pointer(&l)), 0,
		0); e != 0 {
		return unlimited
	}
	return l[0]
}

//go:nosplit
//go:norace
func putNumber(n uint64) {
	var digits [20]byte
	i := len(digits)
	for ; ; n /= 10 {
		i--
		digits[i] = byte('0' + n%10)
		if n < 10 {
			break
		}
	}
	for ; i < len(digits) && lastWords.n < len(lastWords.line); i++ {
		lastWords.line[lastWords.n] = digits[i]
		lastWords.n++
	}
}
