package pmi1

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Checks that time during which the process is stopped does not count.
func TestPatience(t *testing.T) {
	now := time.Now()
	p := NewPatience(time.Second)
	require.False(t, p.Over(now))
	now = now.Add(time.Hour)
	require.False(t, p.Over(now), "it was stopped")
	require.False(t, p.Over(now.Add(-time.Hour)), "a clock that goes back")
	for range 20 {
		now = now.Add(PatienceTick)
		if p.Over(now) {
			break
		}
	}
	require.True(t, p.Over(now))
	endless := NewPatience(0)
	for range 100 {
		now = now.Add(time.Second)
		require.False(t, endless.Over(now))
	}
}
