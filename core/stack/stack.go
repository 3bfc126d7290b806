// Package stack makes room on a goroutine's stack.
//
// A signal handler that was installed without SA_ONSTACK runs on whatever stack its thread is on, and does not ask for
// its size. A goroutine's stack is a few kilobytes of Go's heap at first; below it lie other goroutines.
package stack

// Room is how many bytes lie below a goroutine's stack pointer, at least, when Grow has returned: enough for the frame
// that the system lays down for a signal (11 KiB with all of a large processor's registers) and for a handler, one on
// top of another, that use some hundred kilobytes.
const Room = 768 << 10

// Grow makes the calling goroutine's stack so large that Room bytes are free. It costs an allocation and a copy if they
// were not, else nothing. The stack stays large only where the runtime is told to shrink none (scripts/build.sh:
// gcshrinkstackoff).
func Grow()
