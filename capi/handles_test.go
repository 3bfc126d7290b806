package main

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/capi/base"
	"gompirma/core/handle"
)

// TestHandlesRule checks that the handle tables of C and of core/handle return the same handles for the same sequence
// of calls, also while they grow.
func TestHandlesRule(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	inGo := handle.NewTable[int](handle.Request)
	var inC base.Handles
	inC.Open(uint32(handle.Make(handle.Request, 0)), handle.Numbers-1)
	defer inC.Close()
	var live []uintptr
	for step := range 1 << 17 {
		// The number of live handles grows to about 3,000, falls, and grows again. It does not fall so far that
		// core/handle's table shrinks, because the table of C does not shrink in this test.
		if grow := step>>14&1 == 0; len(live) == 0 || r.Intn(100) < map[bool]int{true: 60, false: 41}[grow] {
			h, ok := inGo.Add(new(int))
			require.True(t, ok)
			require.Equal(t, h, inC.Add(), "step %d, %d live", step, len(live))
			live = append(live, h)
			continue
		}
		i := r.Intn(len(live))
		require.NotNil(t, inGo.Remove(live[i]))
		inC.Remove(live[i])
		live[i] = live[len(live)-1]
		live = live[:len(live)-1]
	}
}
