package insight

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
)

// Checks that Answer wakes a waiting thread, which then finds the newest conflicts.
func TestAnswer(t *testing.T) {
	_, r := one(t)
	r.pretend(record(t, "MPI_Win_flush", 0, 1, 0x20000001))
	require.Zero(t, r.Position())
	read(t, r)
	end := r.Position()
	require.EqualValues(t, HeadWords+2, end)
	r.Answer(end, nil)
	require.Zero(t, *u32(r.part, PartAnswer))
	atomic.StoreUint32(u32(r.part, PartAsking), 1)
	r.Answer(end+8, []uint64{end + 8})
	require.EqualValues(t, end+8, *u64(r.part, PartAnswered))
	require.EqualValues(t, 1, *u32(r.part, PartAnswer))
	require.Zero(t, *u32(r.part, PartAsking))
	require.EqualValues(t, 1, *u32(r.part, PartConflicts))
	require.EqualValues(t, end+8, *u64(r.part, PartLater))
	for i := range uint64(MaxLater) {
		r.Answer(100+i, []uint64{100 + i})
	}
	require.EqualValues(t, 100+MaxLater-1, *u64(r.part, PartLater))
	require.EqualValues(t, 100, *u64(r.part, PartLater+8))
}

// Checks that calls on windows raise errors on the window, other calls with buffers on their communicator.
func TestRaises(t *testing.T) {
	for name, want := range map[string]string{"MPI_Put": "win", "MPI_Rget_accumulate_c": "win",
		"MPI_Win_fence": "win", "MPI_Win_free": "", "MPI_Win_create": "comm",
		"MPI_Win_allocate_shared_c": "comm", "MPI_Recv": "comm",
		"MPI_Iallreduce": "comm", "MPI_Allreduce_init": "", "MPI_Send_init": "", "MPI_Barrier": "",
		"MPI_Wait": "", "MPI_Mrecv": "", "MPI_Pack": "comm", "MPI_Finalize": "", "MPI_Win_set_errhandler": ""} {
		on := Raises(abi.FunctionByName(name))
		if want == "" {
			require.Nil(t, on, name)
		} else {
			require.NotNil(t, on, name)
			require.Equal(t, want, on.CName, name)
		}
	}
}

// Checks that a time at which an operation was under way is not checked before the operation has returned or has taken
// too long.
func TestUnderway(t *testing.T) {
	var u Underway
	add := func(rank int, thread uint64, name string, entry bool, start uint64) {
		words := record(t, name, 0)
		if entry {
			words[0] |= flagEntry << 16
		}
		words[1], words[2] = thread, start
		u.Add(rank, words)
	}
	add(0, 0, "MPI_Put", true, 20)
	add(1, 0, "MPI_Put", true, 10)
	add(1, 1, "MPI_Get", true, 5)
	require.EqualValues(t, 30, u.Before(30, 50)) // no program reports its loads
	u.Add(1, []uint64{ownAccesses | HeadWords<<32, 0, 5, 5, 0, 0})
	require.EqualValues(t, 9, u.Before(30, 50))
	require.EqualValues(t, 7, u.Before(7, 50))
	require.EqualValues(t, 19, u.Before(65, 50))
	require.EqualValues(t, 90, u.Before(90, 50))
	add(1, 0, "MPI_Put", false, 10)
	require.EqualValues(t, 19, u.Before(40, 50))
	add(0, 0, "MPI_Put", false, 20)
	require.EqualValues(t, 40, u.Before(40, 50))
}
