package rma

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
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
		{"mpi_minimum_memory_alignment", "1", "64"},
		{"mpi_accumulate_granularity", "64", "64"},
		{"gompirma_huge_pages", "true", "true"},
		{"mpi_assert_memory_alloc_kinds", " system , mpi:alloc_mem : win_allocate",
			"system,mpi:alloc_mem:win_allocate"},
		{"mpi_memory_alloc_kinds", "cuda", "mpi,system"},
		{"gompirma_share_in_place", "require", "require"},
		{"gompirma_share_in_place", "false", "false"},
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
	for key, value := range map[string]string{"gompirma_huge_pages": "2M", "gompirma_share_in_place": "hot"} {
		h := DefaultHints()
		err := h.Apply(lookup(map[string]string{"same_disp_unit": "true", key: value}))
		require.Equal(t, int32(abi.MPI_ERR_INFO_VALUE), mpierr.ClassOf(err), "%s=%s", key, value)
		require.ErrorContains(t, err, key)
		require.Equal(t, DefaultHints(), h)
	}
	// Of MPI's own keys no value ends a program; what was in force stays.
	given := map[string]string{"accumulate_ordering": "rar", "accumulate_ops": "same_op",
		"mpi_accumulate_granularity": "8", "mpi_minimum_memory_alignment": "256",
		"mpi_assert_memory_alloc_kinds": "mpi"}
	for key, values := range map[string][]string{
		"no_locks": {"yes", "1", "TRUE", ""}, "same_size": {"", "no"}, "same_disp_unit": {"4"},
		"alloc_shared_noncontig":        {"1"},
		"accumulate_ordering":           {"", "strict", "raw,waw,none", "rar,wow", "rar,"},
		"accumulate_ops":                {"sum", "same_op_no_op,", ""},
		"mpi_accumulate_granularity":    {"-1", "8k", "1.5", "99999999999999999999", ""},
		"mpi_minimum_memory_alignment":  {"48", "0", "-64", "2147483648", "page", "", "1e3"},
		"mpi_assert_memory_alloc_kinds": {"system,,mpi", "mpi:", ""},
	} {
		for _, value := range values {
			h := DefaultHints()
			require.NoError(t, h.Apply(lookup(given)))
			want := h
			require.NoError(t, h.Apply(lookup(map[string]string{key: value})), "%s=%s", key, value)
			require.Equal(t, want, h, "%s=%s", key, value)
		}
	}
}

func TestKindsOfMemory(t *testing.T) {
	require.Equal(t, "mpi,system", SupportedKinds(""))
	require.Equal(t, "system", SupportedKinds("system"))
	require.Equal(t, "mpi:alloc_mem,system", SupportedKinds("mpi:alloc_mem,system,cuda:device"))
	require.Equal(t, "", SupportedKinds("rocm:host"))
	for _, bad := range []string{"", ",", "system,", "mpi:", ":alloc_mem", "mpi alloc_mem"} {
		_, ok := ParseKinds(bad)
		require.False(t, ok, bad)
	}
}

func TestHugePagesByEnvironment(t *testing.T) {
	for value, want := range map[string]bool{"": false, "1": true, "true": true, "0": false, "false": false} {
		t.Setenv(EnvHugePages, value)
		h, err := NewHints(nil)
		require.NoError(t, err)
		require.Equal(t, want, h.HugePages, value)
		h, err = NewHints(lookup(map[string]string{"gompirma_huge_pages": "false"}))
		require.NoError(t, err)
		require.False(t, h.HugePages, "info goes before environment")
	}
	t.Setenv(EnvHugePages, "require")
	_, err := NewHints(nil)
	require.ErrorContains(t, err, EnvHugePages)
	h := Hints{Alignment: 64, HugePages: true}
	require.EqualValues(t, 64, h.alignment(shm.HugePage-1))
	require.EqualValues(t, shm.HugePage, h.alignment(shm.HugePage))
}

// What the members tell each other comes back whole.
func TestCommonHints(t *testing.T) {
	changes := map[string]string{"no_locks": "true", "accumulate_ordering": "waw,rar", "accumulate_ops": "same_op",
		"mpi_accumulate_granularity": "9223372036854775807",
		"same_size":                  "true", "same_disp_unit": "true", "alloc_shared_noncontig": "true"}
	all := DefaultHints()
	require.NoError(t, all.Apply(lookup(changes)))
	var b [commonSize]byte
	all.putCommon(b[:])
	back := commonOf(b[:])
	require.Equal(t, all.common(), back.common())
	require.Len(t, changes, len(all.common()), "every key that has one value is here")
	together := DefaultHints()
	together.combine(slices.Values([]Hints{all, back, all}))
	require.Equal(t, all.common(), together.common())
}

func TestCombinedHints(t *testing.T) {
	for _, c := range []struct{ key, one, other, want string }{
		{"no_locks", "true", "false", "false"},
		{"accumulate_ordering", "waw", "rar,raw", "rar,raw,waw"},
		{"accumulate_ordering", "none", "none", "none"},
		{"accumulate_ops", "same_op", "same_op_no_op", "same_op_no_op"},
		{"mpi_accumulate_granularity", "0", "4096", "4096"},
		{"mpi_accumulate_granularity", "1", "4096", "1"},
		{"alloc_shared_noncontig", "false", "true", "false"},
		{"same_size", "true", "false", "false"},
		{"same_disp_unit", "false", "true", "false"},
	} {
		one, other, both := DefaultHints(), DefaultHints(), DefaultHints()
		require.NoError(t, one.Apply(lookup(map[string]string{c.key: c.one})))
		require.NoError(t, other.Apply(lookup(map[string]string{c.key: c.other})))
		both.combine(slices.Values([]Hints{one, one, other}))
		require.Contains(t, both.common(), Pair{c.key, c.want})
	}
}
