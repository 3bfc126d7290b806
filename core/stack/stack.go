// Package stack owns the growth of a goroutine's stack for signal handlers. It must not know which code needs it.
//
// A signal handler that was installed without SA_ONSTACK runs on the current stack of its thread, whatever its size. A
// goroutine's stack is initially a few kilobytes of Go's heap; below it lie stacks of other goroutines.
package stack

// FreeBytes is the least number of free bytes below a goroutine's stack pointer after Grow. It is enough for the frame
// that the kernel pushes for a signal: 11 KiB with all registers of a large processor. It is also enough for nested
// handlers that use some hundred kilobytes.
const FreeBytes = 768 << 10

// Grow grows the calling goroutine's stack so that FreeBytes bytes are free. It costs an allocation and a copy if they
// were not free, otherwise nothing. The stack stays large only if the runtime does not shrink stacks (scripts/build.sh:
// gcshrinkstackoff).
func Grow()
