package insight

import (
	"bytes"
	"sync/atomic"
	"time"

	"gompirma/core/abi"
)

// Count holds a rank's counters of a function, or of a kind of call on a window.
type Count struct {
	Calls, Bytes uint64
	Time         time.Duration // measured for some calls and extrapolated (capi/insight/count.h)
}

// Window holds a rank's counters of a window. FirstRank (the index of the first member's part), Members and Ordinal
// identify the window: they are the same at all its members. FirstRank is -1 if the window cannot be identified.
type Window struct {
	FirstRank, Members, Ordinal int
	Name                        string
	IsOverflow                  bool // this entry is the sum of all windows that did not fit into the table
	Uses                        [Uses]Count
	HasPaths                    bool // the library reports the paths of operations
	Paths                       [Fence][Paths]Count
}

// RunTimes returns the times (CLOCK_MONOTONIC) of the rank's first call of MPI and of the return of MPI_Finalize. A
// time is 0 if the event has not occurred.
func (r *Rank) RunTimes() (from, to time.Duration) {
	from, _ = r.Clocks()
	return from, time.Duration(atomic.LoadUint64(u64(r.part, PartEnded)))
}

// FileCounts describes the collective writes of a rank to files that aggregators have executed.
type FileCounts struct {
	Calls, Bytes         uint64 // number of these writes, and bytes of the rank's data in them
	Writes, WrittenBytes uint64 // number of ranges that the rank has written as an aggregator, and their bytes
}

// FileCounts returns a rank's counts. They are 0 before the rank has called MPI_Finalize.
func (r *Rank) FileCounts() FileCounts {
	word := func(i int64) uint64 { return atomic.LoadUint64(u64(r.part, PartFileCounts+8*i)) }
	return FileCounts{Calls: word(0), Bytes: word(1), Writes: word(2), WrittenBytes: word(3)}
}

// UncountedThreads returns the number of threads whose calls were not counted, because too many threads ran at a time.
func (r *Rank) UncountedThreads() int { return int(atomic.LoadUint32(u32(r.part, PartUncounted))) }

// tickLength returns the length of a tick of the counters' clock in ns. It returns 0 if the rank ended before it
// recorded a second reading of the clocks.
func (r *Rank) tickLength() float64 {
	word := func(at int64) uint64 { return atomic.LoadUint64(u64(r.part, at)) }
	if word(PartTicksNow) <= word(PartTicks) {
		return 0
	}
	return float64(word(PartMonotonicNow)-word(PartMonotonic)) / float64(word(PartTicksNow)-word(PartTicks))
}

// tickLengthOf returns the length of a tick at a rank. If the rank has not recorded it, tickLengthOf returns the value
// of another rank, since all ranks of a machine have the same tick length.
func (m *Memory) tickLengthOf(rank int) float64 {
	tick := m.Rank(rank).tickLength()
	for i := 0; tick == 0 && i < m.Ranks(); i++ {
		tick = m.Rank(i).tickLength()
	}
	return tick
}

// add adds to c the counter at offset `at` of a rank's part of the memory. `tick` is the length of a tick in ns.
func (c *Count) add(part []byte, at int64, tick float64) {
	c.Calls += atomic.LoadUint64(u64(part, at+CountCalls))
	c.Bytes += atomic.LoadUint64(u64(part, at+CountBytes))
	c.Time += time.Duration(float64(atomic.LoadUint64(u64(part, at+CountTicks))) * tick)
}

// slots calls the function `use` with the offset of each slot of counters that a thread has used.
func (r *Rank) slots(use func(at int64)) {
	for i := range Slots {
		// A thread acquires the first free slot, so slots beyond the number of threads are unused.
		if i >= r.Threads() {
			return
		}
		use(int64(PartSlots + i*SlotSize))
	}
}

// Counts returns a rank's counters of each function, by the function's index in abi.Functions().
func (m *Memory) Counts(rank int) []Count {
	r, tick := m.Rank(rank), m.tickLengthOf(rank)
	counts := make([]Count, len(abi.Functions()))
	r.slots(func(at int64) {
		for i := range counts {
			counts[i].add(r.part, at+int64(i*CountSize), tick)
		}
	})
	return counts
}

// Windows returns a rank's counters of each window, in the order of creation.
func (m *Memory) Windows(rank int) []Window {
	r, tick := m.Rank(rank), m.tickLengthOf(rank)
	// The acquire pairs with the release in add_window (windows.c). Without it, this function could see a window
	// before the window's fields.
	n := int(min(atomic.LoadUint32(u32(r.part, PartWindows)), MaxWindows-1))
	windows := make([]Window, n, n+1)
	for i := range windows {
		w := r.part[PartWindowAt+i*WindowSize:][:WindowSize]
		name, _, _ := bytes.Cut(w[WindowLabel:][:LabelSize], []byte{0})
		windows[i] = Window{FirstRank: int(int32(*u32(w, WindowFirstRank))), Members: int(*u32(w,
			WindowMembers)),
			Ordinal: int(*u32(w, WindowOrdinal)), Name: string(name), HasPaths: *u32(w,
				WindowHasPaths) != 0}
		windows[i].count(r, i, tick)
	}
	others := Window{FirstRank: -1, IsOverflow: true,
		HasPaths: *u32(r.part, PartWindowAt+(MaxWindows-1)*WindowSize+WindowHasPaths) != 0}
	if others.count(r, MaxWindows-1, tick) {
		windows = append(windows, others)
	}
	return windows
}

// count adds the counters of the window with the given index, and reports whether any call was counted.
func (w *Window) count(r *Rank, index int, tick float64) (some bool) {
	r.slots(func(at int64) {
		for u := range w.Uses {
			w.Uses[u].add(r.part, at+int64(SlotWindows+(index*int(Uses)+u)*UseSize), tick)
			some = some || w.Uses[u].Calls > 0
		}
	})
	w.countPaths(r, index)
	return some
}

// countPaths sets the counters of each path. The library counts the operations on all paths except the direct path. The
// remaining operations used the direct path.
func (w *Window) countPaths(r *Rank, index int) {
	if !w.HasPaths {
		return
	}
	for u := range w.Paths {
		direct := w.Uses[u]
		for way := Direct + 1; way < Paths; way++ {
			at := int64(PartPathsAt + index*PathsSize + (u*int(Paths)+int(way))*16)
			c := Count{Calls: atomic.LoadUint64(u64(r.part, at)),
				Bytes: atomic.LoadUint64(u64(r.part, at+8))}
			w.Paths[u][way] = c
			// c.Calls may exceed direct.Calls: the library counts the operations of all threads, the
			// wrappers only those of threads with a slot.
			direct.Calls -= min(c.Calls, direct.Calls)
			direct.Bytes -= min(c.Bytes, direct.Bytes)
		}
		w.Paths[u][Direct] = Count{Calls: direct.Calls, Bytes: direct.Bytes}
	}
}
