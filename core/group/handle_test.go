package group

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"gompirma/core/abi"
)

func TestHold(t *testing.T) {
	g, other := Range(0, 4, 1), Range(0, 4, 1)
	first, ok := g.Hold()
	assert.True(t, ok)
	for range 3 << 20 { // more than there may be handles
		if h, ok := g.Hold(); h != first || !ok {
			t.Fatalf("another handle, %#x", h)
		}
	}
	assert.Equal(t, 1, handles.Len())
	second, _ := other.Hold()
	assert.NotEqual(t, first, second)
	assert.Same(t, g, Lookup(first))

	gone, ok := Release(second)
	assert.True(t, gone && ok)
	assert.Nil(t, Lookup(second))
	_, ok = Release(second)
	assert.False(t, ok)
	for range 3 << 20 {
		if gone, ok := Release(first); gone || !ok {
			t.Fatal("released too early")
		}
	}
	gone, ok = Release(first)
	assert.True(t, gone && ok)
	assert.Zero(t, handles.Len())

	empty, ok := Empty.Hold()
	assert.True(t, ok)
	assert.EqualValues(t, abi.MPI_GROUP_EMPTY, empty)
	gone, ok = Release(empty)
	assert.True(t, ok && !gone)
}
