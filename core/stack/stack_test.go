package stack

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// deep returns how far below here a function's variables lie that uses n bytes.
//
//go:noinline
func deep(n int) uintptr {
	var b [1024]byte
	if n <= 0 {
		return uintptr(unsafe.Pointer(&b))
	}
	return deep(n - len(b))
}

// A stack that has grown does not move when Room is used, one that has not does.
func TestGrow(t *testing.T) {
	moved := func(grow bool) bool {
		result := make(chan bool)
		go func() {
			if grow {
				Grow()
			}
			var here byte
			before := uintptr(unsafe.Pointer(&here))
			deep(Room * 2 / 3)
			result <- before != uintptr(unsafe.Pointer(&here))
		}()
		return <-result
	}
	assert.True(t, moved(false), "the stack of a new goroutine")
	assert.False(t, moved(true), "after Grow")
}
