package insight

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAccesses(t *testing.T) {
	words := []uint64{accessRecord | 18<<32, 3, 40, 40, 0, 0,
		0x100, Store | 1<<8, 8, 4, 0, 1,
		0x200, AtomicLoad | 1<<8, 64, 8, 16, 5}
	var r Record
	require.NoError(t, r.Decode(words))
	require.Nil(t, r.Function)
	require.Equal(t, 3, r.Thread)
	require.Equal(t, []Access{{0x100, Store, []Run{{8, 4, 0, 1}}}, {0x200, AtomicLoad, []Run{{64, 8, 16, 5}}}},
		r.Clone().Accesses)
}
