package insight

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// These functions return words of the shared memory as Go pointers, for sync/atomic. The offsets come from layout.go.
// Such pointers are safe, because the memory is mapped and not part of Go's heap, so Go never moves it.

func u32(b []byte, off int64) *uint32 { return (*uint32)(unsafe.Pointer(&b[off])) }
func u64(b []byte, off int64) *uint64 { return (*uint64)(unsafe.Pointer(&b[off])) }

func words(b []byte) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)
}

const (
	futexWait = 0 // without FUTEX_PRIVATE, since processes share the word
	futexWake = 1
)

// futexSleep waits until *word differs from seen, a wake-up, or the timeout.
func futexSleep(word *uint32, seen uint32, timeout time.Duration) {
	ts := unix.NsecToTimespec(int64(timeout))
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(seen),
		uintptr(unsafe.Pointer(&ts)), 0, 0)
}

func futexWakeAll(word *uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1<<30, 0, 0, 0)
}

// unsafeBytes returns words as bytes, without a copy.
func unsafeBytes(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}
