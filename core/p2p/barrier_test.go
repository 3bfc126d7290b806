package p2p

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/comm"
	"gompirma/core/shm"
)

// TestBarrierSize compares the two definitions of the size of a barrier. core/comm has its own definition, because it
// must not import core/shm.
func TestBarrierSize(t *testing.T) {
	for _, n := range []int{1, 2, 7, 4096} {
		require.Equal(t, shm.BarrierSize(n), comm.BarrierSize(n))
	}
}
