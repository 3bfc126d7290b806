package siphash

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSum checks the hashes of 0, 8 and 16 bytes 0, 1, 2 ... with the key of the bytes 0 to 15, from the definition of
// siphash.
func TestSum(t *testing.T) {
	key := [2]uint64{0x0706050403020100, 0x0f0e0d0c0b0a0908}
	require.Equal(t, uint64(0x726fdb47dd0e0e31), Sum(key))
	require.Equal(t, uint64(0x93f5f5799a932462), Sum(key, key[0]))
	require.Equal(t, uint64(0x3f2acc7f57c29bdb), Sum(key, key[0], key[1]))
}
