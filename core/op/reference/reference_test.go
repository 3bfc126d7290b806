package reference

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHalf converts every binary16 number to float32 and back, and checks the roundings that fail most easily.
func TestHalf(t *testing.T) {
	for h := 0; h < 1<<16; h++ {
		f := fromHalf(uint16(h))
		if f != f {
			require.NotZero(t, toHalf(f)&0x3ff)
			continue
		}
		require.Equal(t, uint16(h), toHalf(f), "%#x is %g", h, f)
	}
	for f, want := range map[float32]uint16{
		65504: 0x7bff, 65519.996: 0x7bff, 65520: 0x7c00, 1e9: 0x7c00, 1 + 1.0/2048: 0x3c00,
		1 + 3.0/2048: 0x3c02, 1.0 / (1 << 25): 0, 1.5 / (1 << 25): 1,
		2047.0 / (1 << 25): 0x400, -1: 0xbc00,
	} {
		require.Equal(t, want, toHalf(f), "%g", f)
	}
}
