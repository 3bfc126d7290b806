package insight

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
)

// Checks that ReportChecked wakes a waiting thread, and that the part then has the latest conflicts.
func TestReportChecked(t *testing.T) {
	_, r := newRank(t)
	r.writeRecord(record(t, "MPI_Win_flush", 0, 1, 0x20000001))
	require.Zero(t, r.Position())
	readText(t, r)
	end := r.Position()
	require.EqualValues(t, HeadWords+2, end)
	r.ReportChecked(end, nil)
	require.Zero(t, *u32(r.part, PartCheckFutex))
	atomic.StoreUint32(u32(r.part, PartCheckWanted), 1)
	r.ReportChecked(end+8, []uint64{end + 8})
	require.EqualValues(t, end+8, *u64(r.part, PartChecked))
	require.EqualValues(t, 1, *u32(r.part, PartCheckFutex))
	require.Zero(t, *u32(r.part, PartCheckWanted))
	require.EqualValues(t, 1, *u32(r.part, PartConflicts))
	require.EqualValues(t, end+8, *u64(r.part, PartConflictEnds))
	for i := range uint64(MaxConflictEnds) {
		r.ReportChecked(100+i, []uint64{100 + i})
	}
	require.EqualValues(t, 100+MaxConflictEnds-1, *u64(r.part, PartConflictEnds))
	require.EqualValues(t, 100, *u64(r.part, PartConflictEnds+8))
}

// Checks that calls on windows raise errors on the window, and that other calls with buffers raise errors on their
// communicator.
func TestErrorParam(t *testing.T) {
	for name, want := range map[string]string{"MPI_Put": "win", "MPI_Rget_accumulate_c": "win",
		"MPI_Win_fence": "win", "MPI_Win_free": "", "MPI_Win_create": "comm",
		"MPI_Win_allocate_shared_c": "comm", "MPI_Recv": "comm",
		"MPI_Iallreduce": "comm", "MPI_Allreduce_init": "", "MPI_Send_init": "", "MPI_Barrier": "",
		"MPI_Wait": "", "MPI_Mrecv": "", "MPI_Pack": "comm", "MPI_Finalize": "", "MPI_Win_set_errhandler": ""} {
		on := ErrorParam(abi.FunctionByName(name))
		if want == "" {
			require.Nil(t, on, name)
		} else {
			require.NotNil(t, on, name)
			require.Equal(t, want, on.CName, name)
		}
	}
}

// Checks that a load during a pending operation is checked only after the operation has returned or has taken longer
// than the limit.
func TestPendingOps(t *testing.T) {
	var u PendingOps
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
	// No program has reported its own accesses, so the pending operation is ignored.
	require.EqualValues(t, 30, u.QuiescentTime(30, 50))
	u.Add(1, []uint64{accessRecord | HeadWords<<32, 0, 5, 5, 0, 0})
	require.EqualValues(t, 9, u.QuiescentTime(30, 50))
	require.EqualValues(t, 7, u.QuiescentTime(7, 50))
	require.EqualValues(t, 19, u.QuiescentTime(65, 50))
	require.EqualValues(t, 90, u.QuiescentTime(90, 50))
	add(1, 0, "MPI_Put", false, 10)
	require.EqualValues(t, 19, u.QuiescentTime(40, 50))
	add(0, 0, "MPI_Put", false, 20)
	require.EqualValues(t, 40, u.QuiescentTime(40, 50))
}
