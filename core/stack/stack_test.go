package stack

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// deep uses at least n bytes of stack and returns the address of the deepest variables.
//
//go:noinline
func deep(n int) uintptr {
	var b [1024]byte
	if n <= 0 {
		return uintptr(unsafe.Pointer(&b))
	}
	return deep(n - len(b))
}

// TestGrow checks that a stack does not move when FreeBytes bytes are used after Grow. It also checks that the stack
// moves without Grow, so that the test can fail.
func TestGrow(t *testing.T) {
	moved := func(grow bool) bool {
		result := make(chan bool)
		go func() {
			if grow {
				Grow()
			}
			var here byte
			before := uintptr(unsafe.Pointer(&here))
			deep(FreeBytes * 2 / 3)
			result <- before != uintptr(unsafe.Pointer(&here))
		}()
		return <-result
	}
	assert.True(t, moved(false), "the stack of a new goroutine")
	assert.False(t, moved(true), "after Grow")
}
