package attr

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// The functions that the tests' keyvals have.
const (
	copyAdd1 = 100 + iota // the copy is one more
	copyNone              // says that there is to be none
	copyFails
	deleteCounts
	deleteFails
)

type deleted struct {
	object uintptr
	keyval int32
	value  uintptr
}

var (
	log    []deleted
	mended bool // deleteFails does not any more
)

func init() {
	Copy = func(function, object uintptr, keyval int32, extra, value uintptr) (uintptr, bool, int32) {
		switch function {
		case copyAdd1:
			return value + extra, true, 0
		case copyNone:
			return 0, false, 0
		}
		return 0, true, abi.MPI_ERR_OTHER
	}
	Delete = func(function, object uintptr, keyval int32, value, extra uintptr) int32 {
		log = append(log, deleted{object, keyval, value})
		if function == deleteFails && !mended {
			return abi.MPI_ERR_INTERN
		}
		return 0
	}
}

func class(err error) int32 { return mpierr.ClassOf(err) }

func TestSetGetDelete(t *testing.T) {
	log = nil
	var a Table
	k := Create(Comm, copyAdd1, deleteCounts, 1)
	_, ok, err := a.Get(Comm, k)
	require.NoError(t, err)
	require.False(t, ok)
	require.EqualValues(t, abi.MPI_ERR_KEYVAL, class(a.Delete(Comm, 7, k)), "not set")
	require.NoError(t, a.Set(Comm, 7, k, 10))
	require.NoError(t, a.Set(Comm, 7, k, 11))
	require.Equal(t, []deleted{{7, k, 10}}, log, "the value that is replaced")
	v, ok, err := a.Get(Comm, k)
	require.NoError(t, err)
	require.True(t, ok)
	require.EqualValues(t, 11, v)
	require.NoError(t, a.Delete(Comm, 7, k))
	require.Equal(t, deleted{7, k, 11}, log[1])
	require.NoError(t, Free(Comm, k))
	require.EqualValues(t, abi.MPI_ERR_KEYVAL, class(Free(Comm, k)))
	require.EqualValues(t, abi.MPI_ERR_KEYVAL, class(a.Set(Comm, 7, k, 1)))
	win := Create(Win, nullFunction, nullFunction, 0)
	for _, bad := range []int32{abi.MPI_KEYVAL_INVALID, abi.MPI_TAG_UB, -1, 1 << 30, win} {
		_, _, err := a.Get(Comm, bad)
		require.EqualValues(t, abi.MPI_ERR_KEYVAL, class(err), "%d", bad)
	}
	require.NoError(t, Free(Win, win))
}

func TestCopy(t *testing.T) {
	log = nil
	var a, b Table
	dup := Create(Type, dupFunction, nullFunction, 0)
	none := Create(Type, nullFunction, nullFunction, 0)
	add := Create(Type, copyAdd1, deleteCounts, 5)
	refused := Create(Type, copyNone, deleteCounts, 0)
	for i, k := range []int32{dup, none, add, refused} {
		require.NoError(t, a.Set(Type, 1, k, uintptr(10*i)))
		require.NoError(t, Free(Type, k), "an attribute keeps its keyval")
	}
	require.NoError(t, a.CopyTo(&b, 1, 2))
	require.Len(t, b.entries, 2)
	require.Equal(t, []uintptr{0, 25}, []uintptr{b.entries[0].value, b.entries[1].value})
	require.NoError(t, b.DeleteAll(2))
	require.Equal(t, []deleted{{2, add, 25}}, log)

	log = nil
	bad := Create(Type, copyFails, deleteCounts, 0)
	require.NoError(t, a.Set(Type, 1, bad, 99))
	require.EqualValues(t, abi.MPI_ERR_OTHER, class(a.CopyTo(&b, 1, 2)))
	require.Empty(t, b.entries, "a failed copy leaves nothing")
	require.Equal(t, []deleted{{2, add, 25}}, log)
	require.NoError(t, Free(Type, bad))
	require.NoError(t, a.DeleteAll(1))
	require.Empty(t, keyvals.live)
}

// A keyval that was freed is there for those attributes that have it, to be looked up, deleted and freed again, until
// the last of them goes.
func TestFreeInUse(t *testing.T) {
	var a, b Table
	k := Create(Comm, dupFunction, deleteCounts, 0)
	require.NoError(t, a.Set(Comm, 1, k, 10))
	require.NoError(t, Free(Comm, k))
	require.NoError(t, Free(Comm, k))
	require.EqualValues(t, abi.MPI_ERR_KEYVAL, class(Free(Win, k)))
	require.EqualValues(t, abi.MPI_ERR_KEYVAL, class(a.Set(Comm, 1, k, 11)))
	require.NoError(t, a.CopyTo(&b, 1, 2))
	require.NoError(t, a.Delete(Comm, 1, k))
	v, ok, err := b.Get(Comm, k)
	require.NoError(t, err)
	require.True(t, ok)
	require.EqualValues(t, 10, v)
	require.NoError(t, Free(Comm, k))
	require.NoError(t, b.DeleteAll(2))
	require.EqualValues(t, abi.MPI_ERR_KEYVAL, class(Free(Comm, k)))
	require.Empty(t, keyvals.live)
}

func TestDeleteOrder(t *testing.T) {
	log = nil
	var a Table
	var keys []int32
	for i := 0; i < 4; i++ {
		f := uintptr(deleteCounts)
		if i == 1 {
			f = deleteFails
		}
		keys = append(keys, Create(Win, nullFunction, f, 0))
		require.NoError(t, a.Set(Win, 3, keys[i], uintptr(i)))
	}
	require.EqualValues(t, abi.MPI_ERR_INTERN, class(a.DeleteAll(3)))
	require.Equal(t, []deleted{{3, keys[3], 3}, {3, keys[2], 2}, {3, keys[1], 1}}, log, "the last first")
	_, ok, _ := a.Get(Win, keys[1])
	require.True(t, ok, "what could not be deleted is still there")
	require.EqualValues(t, abi.MPI_ERR_INTERN, class(a.Set(Win, 3, keys[1], 5)))
	v, _, _ := a.Get(Win, keys[1])
	require.EqualValues(t, 1, v)
	for _, k := range keys {
		require.NoError(t, Free(Win, k))
	}
	mended = true
	require.NoError(t, a.DeleteAll(3))
	mended = false
	require.Empty(t, keyvals.live)
}
