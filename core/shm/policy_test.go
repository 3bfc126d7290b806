package shm

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A core for each process is enough to poll; with one less nobody looks without offering its own.
func TestPolicy(t *testing.T) {
	alone, crowded := policyFor(2, 2), policyFor(3, 2)
	require.False(t, alone.Crowded)
	require.Positive(t, alone.QuietLooks)
	require.True(t, crowded.Crowded)
	require.Zero(t, crowded.QuietLooks)
	for _, p := range []Policy{alone, crowded} {
		require.Less(t, p.LongYield, p.Poll, "a yield can be too long before the wait gives up")
		require.Less(t, p.Poll, p.Slice)
	}
}
