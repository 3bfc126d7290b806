package rma

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

func lookup(m map[string]string) func(string) (string, bool) {
	return func(key string) (string, bool) { v, ok := m[key]; return v, ok }
}

func TestHintsInForce(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"no_locks", "true", "true"},
		{"no_locks", " false ", "false"},
		{"accumulate_ordering", "none", "none"},
		{"accumulate_ordering", "waw, raw", "raw,waw"},
		{"accumulate_ordering", "rar,raw,war,waw", "rar,raw,war,waw"},
		{"accumulate_ops", "same_op", "same_op"},
		{"same_size", "true", "true"},
		{"same_disp_unit", "true", "true"},
		{"alloc_shared_noncontig", "true", "true"},
		{"mpi_minimum_memory_alignment", "4096", "4096"},
		{"mpi_accumulate_granularity", "64", "64"},
		{"mpi_assert_memory_alloc_kinds", "system", "system"},
		{"gompirma_share_in_place", "require", "require"},
	} {
		h := DefaultHints()
		require.NoError(t, h.Apply(lookup(map[string]string{c.key: c.value, "unknown": "x"})))
		found := false
		for _, p := range h.Pairs() {
			if p.Key == c.key {
				require.Equal(t, c.want, p.Value, c.key)
				found = true
			}
			require.NotEqual(t, "unknown", p.Key)
		}
		require.True(t, found, c.key)
	}
}

func TestBadHintsChangeNothing(t *testing.T) {
	for key, value := range map[string]string{
		"no_locks": "yes", "accumulate_ordering": "raw,waw,none", "accumulate_ops": "sum", "same_size": "", "mpi_minimum_memory_alignment": "48",
		"mpi_accumulate_granularity": "-1", "alloc_shared_noncontig": "1",
		"gompirma_share_in_place": "always",
	} {
		h := DefaultHints()
		err := h.Apply(lookup(map[string]string{"same_disp_unit": "true", key: value}))
		require.Equal(t, int32(abi.MPI_ERR_INFO_VALUE), mpierr.ClassOf(err), "%s=%s", key, value)
		require.ErrorContains(t, err, key)
		require.Equal(t, DefaultHints(), h)
	}
}
