// Package lastwords owns the message that is printed when the Go runtime ends the process (out of memory, a panic in a
// goroutine, an internal error). The runtime would print the stacks of all goroutines, which help only developers.
// Instead, this package prints one line with the reason. If GOTRACEBACK is set in the environment, the runtime prints
// its full text. A program only needs to import the package. The package must not depend on other packages of the
// project.
package lastwords

import (
	"os"
	"syscall"
	"unsafe"
)

// runtimeWrite is the runtime's hook for its output. It is initialized statically, before any Go code has run, since
// the runtime may fail to start.
//
//go:linkname runtimeWrite runtime.overrideWrite
var runtimeWrite func(fd uintptr, p unsafe.Pointer, n int32) int32 = onRuntimeWrite

// lastWords holds the line that is being built. When the runtime prints, its state may be inconsistent. So the
// functions below must not allocate, lock, grow the stack, or call the race detector.
var lastWords struct {
	line  [600]byte
	n     int
	start int  // index in `line` at which the runtime's current line begins
	told  bool // `line` has been written to stderr; further output is dropped

	running bool // the runtime has started
}

const rlimitMemlock = 8

const head = "gompirma: the Go runtime in this process failed: "

// Limits in KiB that are sufficient to start a small program.
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

// onRuntimeWrite receives each fragment that the runtime writes.
//
//go:nosplit
//go:norace
func onRuntimeWrite(fd uintptr, p unsafe.Pointer, n int32) int32 {
	const stderr = 2
	if fd != stderr { // the runtime writes something other than an error message, so it is not changed
		r, _, e := syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(p), uintptr(n))
		if e != 0 {
			return -int32(e)
		}
		return int32(r)
	}
	l := &lastWords
	for i := int32(0); i < n && !l.told; i++ {
		if l.n == 0 {
			appendText(head)
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
		// A line "fatal error: ..." or "panic: ..." completes the message. A line "runtime: ..." before it is
		// the explanation. There is one exception: after "runtime: mmap: ..." the runtime exits without further
		// output.
		case l.line[l.start] == 'f' || l.line[l.start] == 'p' || contains(l.start, "runtime: mmap: "):
			appendLimit(" (ulimit -v ", syscall.RLIMIT_AS, enoughSpace)
			appendLimit(" (ulimit -d ", syscall.RLIMIT_DATA, enoughData)
			if locksMemory() {
				appendLimit(" (ulimit -l ", rlimitMemlock, "")
			}
			appendDescriptors()
			appendText("\n")
			l.told = true
			syscall.RawSyscall(syscall.SYS_WRITE, stderr, uintptr(unsafe.Pointer(&l.line[0])), uintptr(l.n))
		default:
			appendText("; ")
			l.start = l.n
		}
	}
	return n
}

// contains returns whether s occurs in the line from index `from` on.
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
// and RLIMIT_MEMLOCK does not allow that much. To determine this, it tries to create a mapping, and removes the
// mapping.
//
//go:nosplit
//go:norace
func locksMemory() bool {
	const size = 64 << 20 // the size that the runtime requests at once
	p, _, e := syscall.RawSyscall6(syscall.SYS_MMAP, 0, size, syscall.PROT_NONE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE, ^uintptr(0), 0)
	if e == 0 {
		syscall.RawSyscall(syscall.SYS_MUNMAP, p, size, 0)
	}
	return e == syscall.EAGAIN
}

//go:nosplit
//go:norace
func appendText(s string) {
	for i := 0; i < len(s) && lastWords.n < len(lastWords.line); i++ {
		lastWords.line[lastWords.n] = s[i]
		lastWords.n++
	}
}

// appendDescriptors appends the limit of file descriptors, if it is so low that it may be the cause of the failure.
//
//go:nosplit
//go:norace
func appendDescriptors() {
	const few = 32
	if n := limit(syscall.RLIMIT_NOFILE); n < few {
		appendText(" (ulimit -n ")
		appendNumber(n)
		appendText(")")
	}
}

// appendLimit appends the value of a limit in KiB, as a shell prints it, if the limit is set. If the runtime has not
// started yet, it also appends the text `enough`.
//
//go:nosplit
//go:norace
func appendLimit(text string, resource uintptr, enough string) {
	n := limit(resource)
	if n == unlimited {
		return
	}
	appendText(text)
	appendNumber(n / 1024)
	if !lastWords.running {
		appendText(enough)
	}
	appendText(")")
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
func appendNumber(n uint64) {
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
