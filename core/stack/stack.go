// Package stack grows the stacks of goroutines so that signal handlers fit. It imports none of the packages that use
// it.
//
// A signal handler that was installed without SA_ONSTACK runs on the current stack of its thread, even if that stack is
// small. A goroutine's stack initially has a few kilobytes of Go's heap. If a handler uses more, it overwrites the
// stacks of other goroutines.
package stack

// FreeBytes is the minimum number of free bytes below a goroutine's stack pointer after Grow. It is enough for the
// frame that the kernel pushes for a signal (up to 11 KiB, with all registers of a large processor), and for nested
// handlers that use some hundred kilobytes.
const FreeBytes = 768 << 10

// Grow grows the calling goroutine's stack so that FreeBytes bytes are free. If they are not free yet, this costs an
// allocation and a copy. The stack stays large only if the runtime does not shrink stacks (scripts/build.sh:
// gcshrinkstackoff).
func Grow()
