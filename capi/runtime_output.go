package main

import (
	"os"
	"syscall"
	"unsafe"
)

// What the Go runtime prints when it ends the process (no memory, a panic in a goroutine, an error of its own) is for people who know its source: the stacks of all
// goroutines. A user gets one line with the reason, and then the signal by which the process ends, 6. GOTRACEBACK in the environment asks for all of it.

// runtimeWrite is the runtime's hook for what it writes, meant to be set like this.
//
//go:linkname runtimeWrite runtime.overrideWrite
var runtimeWrite func(fd uintptr, p unsafe.Pointer, n int32) int32

// lastWords is the line as far as it is known. The runtime prints when nothing may be relied on: no allocation, no lock, no larger stack from here on.
var lastWords struct {
	line  [600]byte
	n     int
	start int  // of the runtime's current line, in line
	told  bool // the rest is left out
}

const lastWordsHead = "gompirma: the Go runtime in this process has failed: "

func init() {
	if os.Getenv("GOTRACEBACK") == "" {
		runtimeWrite = tellRuntimeFailure
	}
}

// tellRuntimeFailure is called for each piece of what the runtime writes.
//
//go:nosplit
func tellRuntimeFailure(fd uintptr, p unsafe.Pointer, n int32) int32 {
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
			putLastWords(lastWordsHead)
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
		case l.line[l.start] == 'f' || l.line[l.start] == 'p': // "fatal error: ..." or "panic: ..."; what comes before, "runtime: ...", explains it
			putLimit(" (ulimit -v ", syscall.RLIMIT_AS)
			putLimit(" (ulimit -d ", syscall.RLIMIT_DATA)
			putLastWords("\n")
			l.told = true
			syscall.RawSyscall(syscall.SYS_WRITE, stderr, uintptr(unsafe.Pointer(&l.line[0])), uintptr(l.n))
		default:
			putLastWords("; ")
			l.start = l.n
		}
	}
	return n
}

//go:nosplit
func putLastWords(s string) {
	for i := 0; i < len(s) && lastWords.n < len(lastWords.line); i++ {
		lastWords.line[lastWords.n] = s[i]
		lastWords.n++
	}
}

// putLimit says what a limit in bytes is, in KiB as a shell does, if there is one.
//
//go:nosplit
func putLimit(text string, resource uintptr) {
	var limit [2]uint64
	if _, _, e := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, 0, resource, 0, uintptr(unsafe.Pointer(&limit)), 0, 0); e != 0 || limit[0] == 1<<64-1 {
		return
	}
	putLastWords(text)
	var digits [20]byte
	i := len(digits)
	for v := limit[0] / 1024; ; v /= 10 {
		i--
		digits[i] = byte('0' + v%10)
		if v < 10 {
			break
		}
	}
	for ; i < len(digits) && lastWords.n < len(lastWords.line); i++ {
		lastWords.line[lastWords.n] = digits[i]
		lastWords.n++
	}
	putLastWords(")")
}
