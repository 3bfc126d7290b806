package insight

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
)

// setWord writes a word of a part.
func (r *Rank) setWord(at int64, word uint64) { *u64(r.part, at) = word }

func TestCounts(t *testing.T) {
	m, err := Create(2, Stats, 0)
	require.NoError(t, err)
	defer m.Close()
	r := m.Rank(1)
	put, fence := number(t, "MPI_Put"), number(t, "MPI_Win_fence")
	for slot, calls := range []uint64{10, 5, 1000} { // the third slot belongs to no thread
		at := int64(PartSlots + slot*SlotSize)
		r.setWord(at+int64(put*CountSize)+CountCalls, calls)
		r.setWord(at+int64(put*CountSize)+CountBytes, 8*calls)
		r.setWord(at+int64(put*CountSize)+CountTicks, 100*calls)
		r.setWord(at+int64(fence*CountSize)+CountCalls, 1)
		r.setWord(at+int64(SlotWindows+(1*int(Uses)+int(Fence))*UseSize)+UseCalls, 1)
		r.setWord(at+int64(SlotWindows+(1*int(Uses)+int(Fence))*UseSize)+UseTicks, 500)
	}
	*u32(r.part, PartThreads) = 2
	require.Zero(t, m.Counts(1)[put].Time, "nobody knows what a tick is")

	// Rank 0 has recorded the length of a tick: 2 ns.
	r0 := m.Rank(0)
	r0.setWord(PartTicks, 1000)
	r0.setWord(PartTicksNow, 2000)
	r0.setWord(PartMonotonic, 7000)
	r0.setWord(PartMonotonicNow, 9000)
	counts := m.Counts(1)
	require.Len(t, counts, len(abi.Functions()))
	require.Equal(t, Count{15, 120, 3000}, counts[put])
	require.Equal(t, Count{2, 0, 0}, counts[fence])
	require.Zero(t, m.Counts(0)[put])

	// Rank 1 has recorded its own length of a tick: 0.5 ns.
	r.setWord(PartTicks, 0)
	r.setWord(PartTicksNow, 2000)
	r.setWord(PartMonotonic, 1000)
	r.setWord(PartMonotonicNow, 2000)
	r.setWord(PartEnded, 5000)
	require.Equal(t, time.Duration(750), m.Counts(1)[put].Time)
	from, to := r.RunTimes()
	require.Equal(t, []time.Duration{1000, 5000}, []time.Duration{from, to})

	require.Empty(t, m.Windows(1))
	*u32(r.part, PartWindows) = 2
	at := int64(PartWindowAt + WindowSize)
	*u32(r.part, at+WindowFirstRank) = 1<<32 - 1
	*u32(r.part, at+WindowMembers) = 3
	*u32(r.part, at+WindowOrdinal) = 4
	copy(r.part[at+WindowLabel:], "halo\x00x")
	windows := m.Windows(1)
	require.Len(t, windows, 2)
	want := Window{FirstRank: -1, Members: 3, Ordinal: 4, Name: "halo"}
	want.Uses[Fence] = Count{Calls: 2, Time: 500}
	require.Equal(t, want, windows[1])

	// Counters of windows that did not fit into the table.
	r.setWord(int64(PartSlots+SlotWindows+((MaxWindows-1)*int(Uses)+int(Put))*UseSize)+UseBytes, 7)
	require.Len(t, m.Windows(1), 2, "bytes without a call")
	r.setWord(int64(PartSlots+SlotWindows+((MaxWindows-1)*int(Uses)+int(Put))*UseSize)+UseCalls, 1)
	windows = m.Windows(1)
	require.Len(t, windows, 3)
	require.True(t, windows[2].IsOverflow)
	require.Equal(t, Count{1, 7, 0}, windows[2].Uses[Put])
	*u32(r.part, PartWindows) = 1 << 31
	require.Len(t, m.Windows(1), MaxWindows)
}

func TestUses(t *testing.T) {
	for name := range uses {
		f := abi.FunctionByName(name)
		require.NotNil(t, f, name)
		u, ok := UseOf(f)
		require.True(t, ok)
		require.True(t, hasParam(f, "win"), name)
		require.Equal(t, u.MayWait(), MayWait(f), name)
	}
	for _, f := range abi.Functions() {
		if _, ok := UseOf(f); !ok {
			require.False(t, hasParam(f, "origin_addr"), "%s is an operation", f.Name)
		}
	}
	require.Equal(t, "compare_and_swap", CompareAndSwap.String())
	require.Equal(t, "pscw", Pscw.String())
}

func TestTick(t *testing.T) {
	m, err := Create(1, Stats, 0)
	require.NoError(t, err)
	defer m.Close()
	stop, done := make(chan struct{}), make(chan bool)
	go func() { m.UpdateClock(stop); close(done) }()
	ticks := func() bool { return atomic.LoadUint32(u32(m.bytes, JobTick)) != 0 }
	require.Eventually(t, ticks, time.Minute, time.Millisecond)
	close(stop)
	<-done
}
