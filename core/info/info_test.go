package info

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

func class(err error) int32 { return mpierr.ClassOf(err) }

func TestInfo(t *testing.T) {
	i, err := New()
	require.NoError(t, err)
	require.NoError(t, i.Set("b", "1"))
	require.NoError(t, i.Set("a", " spaces "))
	require.NoError(t, i.Set("b", "2"))
	require.Equal(t, []Pair{{"b", "2"}, {"a", " spaces "}}, i.Pairs(), "in the order of the first Set")

	look, err := Lookup(i.Handle())
	require.NoError(t, err)
	require.NoError(t, i.Delete("b"))
	require.EqualValues(t, abi.MPI_ERR_INFO_NOKEY, class(i.Delete("b")))
	v, ok := look("b")
	require.True(t, ok, "what was looked up does not change")
	require.Equal(t, "2", v)
	_, ok = look("x")
	require.False(t, ok)

	got, err := Get(i.Handle())
	require.NoError(t, err)
	require.Same(t, i, got)
	require.NoError(t, i.Free())
	require.EqualValues(t, abi.MPI_ERR_INFO, class(i.Free()))
	_, err = Get(i.Handle())
	require.EqualValues(t, abi.MPI_ERR_INFO, class(err))
	_, err = Lookup(i.Handle())
	require.EqualValues(t, abi.MPI_ERR_INFO, class(err))
	require.Zero(t, table.Len())
}

func TestLimits(t *testing.T) {
	i, err := New()
	require.NoError(t, err)
	defer i.Free()
	longest := strings.Repeat("k", abi.MPI_MAX_INFO_KEY-1)
	require.NoError(t, i.Set(longest, strings.Repeat("v", abi.MPI_MAX_INFO_VAL-1)))
	require.EqualValues(t, abi.MPI_ERR_INFO_KEY, class(i.Set("", "v")))
	require.EqualValues(t, abi.MPI_ERR_INFO_KEY, class(i.Set(longest+"k", "v")))
	require.EqualValues(t, abi.MPI_ERR_INFO_VALUE, class(i.Set("k", strings.Repeat("v", abi.MPI_MAX_INFO_VAL))))
	require.EqualValues(t, abi.MPI_ERR_INFO_KEY, class(i.Delete("")))
	require.Len(t, i.Pairs(), 1)
}

func TestEnv(t *testing.T) {
	e, err := Get(abi.MPI_INFO_ENV)
	require.NoError(t, err, "also before anybody has filled it")
	require.Empty(t, e.Pairs())
	SetEnv(Env([]string{"prog", "-x", strings.Repeat("1", 2000)}, 4))
	e, err = Get(abi.MPI_INFO_ENV)
	require.NoError(t, err)
	require.Contains(t, e.Pairs(), Pair{"command", "prog"})
	require.Contains(t, e.Pairs(), Pair{"maxprocs", "4"})
	look, err := Lookup(abi.MPI_INFO_ENV)
	require.NoError(t, err)
	v, _ := look("argv")
	require.Len(t, v, abi.MPI_MAX_INFO_VAL-1)
	for _, err := range []error{e.Set("a", "b"), e.Delete("command"), e.Free()} {
		require.EqualValues(t, abi.MPI_ERR_INFO, class(err))
	}
	look, err = Lookup(abi.MPI_INFO_NULL)
	require.NoError(t, err)
	require.Nil(t, look)
	_, err = Get(abi.MPI_INFO_NULL)
	require.EqualValues(t, abi.MPI_ERR_INFO, class(err))
}
