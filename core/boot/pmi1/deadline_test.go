package pmi1

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Checks that a Deadline does not expire because of time during which the process was stopped.
func TestDeadline(t *testing.T) {
	now := time.Now()
	p := NewDeadline(time.Second)
	require.False(t, p.Expired(now))
	now = now.Add(time.Hour)
	require.False(t, p.Expired(now), "it was stopped")
	require.False(t, p.Expired(now.Add(-time.Hour)), "a clock that goes back")
	for range 20 {
		now = now.Add(DeadlineTick)
		if p.Expired(now) {
			break
		}
	}
	require.True(t, p.Expired(now))
	endless := NewDeadline(0)
	for range 100 {
		now = now.Add(time.Second)
		require.False(t, endless.Expired(now))
	}
}
