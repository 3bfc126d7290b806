package insight

import (
	"bytes"
	"sync/atomic"
	"time"

	"gompirma/core/abi"
)

// Count is what a rank has counted of a function.
type Count struct {
	Calls, Bytes uint64
	Time         time.Duration // measured of some calls, and from those calculated for all (capi/insight/count.h)
}

// Window is what a rank has counted of a window. Leader, Members and Ordinal are the same at all its members, if Leader
// is not below zero.
type Window struct {
	Leader, Members, Ordinal int
	Name                     string
	Others                   bool // not one window, but all that there was no room for
	Uses                     [Uses]Count
	Told                     bool // the library tells of ways
	Ways                     [Fence][Ways]Count
}

// Run returns when the rank called MPI first and when MPI_Finalize returned, as CLOCK_MONOTONIC; 0: it has not.
func (r *Rank) Run() (from, to time.Duration) {
	from, _ = r.Clocks()
	return from, time.Duration(atomic.LoadUint64(u64(r.part, PartEnded)))
}

// Uncounted returns how many threads were not counted, since there were too many at a time.
func (r *Rank) Uncounted() int { return int(atomic.LoadUint32(u32(r.part, PartUncounted))) }

// tick returns the length of a tick in ns, 0: the rank ended before it could be told.
func (r *Rank) tick() float64 {
	word := func(at int64) uint64 { return atomic.LoadUint64(u64(r.part, at)) }
	if word(PartTicksNow) <= word(PartTicks) {
		return 0
	}
	return float64(word(PartNow)-word(PartMonotonic)) / float64(word(PartTicksNow)-word(PartTicks))
}

// tickOf returns the length of a tick at a rank: all of a machine have the same.
func (m *Memory) tickOf(rank int) float64 {
	tick := m.ranks[rank].tick()
	for i := 0; tick == 0 && i < len(m.ranks); i++ {
		tick = m.ranks[i].tick()
	}
	return tick
}

// add adds a counter of three words.
func (c *Count) add(part []byte, at int64, tick float64) {
	c.Calls += atomic.LoadUint64(u64(part, at+CountCalls))
	c.Bytes += atomic.LoadUint64(u64(part, at+CountBytes))
	c.Time += time.Duration(float64(atomic.LoadUint64(u64(part, at+CountTicks))) * tick)
}

// slots calls use with the place of each slot that a thread has used.
func (r *Rank) slots(use func(at int64)) {
	for i := range Slots {
		// A thread takes the first that is free, so behind as many as there were threads nobody has been.
		if i >= r.Threads() {
			return
		}
		use(int64(PartSlots + i*SlotSize))
	}
}

// Counts returns what a rank has counted of each function, by the function's index in abi.Functions().
func (m *Memory) Counts(rank int) []Count {
	r, tick := m.ranks[rank], m.tickOf(rank)
	counts := make([]Count, len(abi.Functions()))
	r.slots(func(at int64) {
		for i := range counts {
			counts[i].add(r.part, at+int64(i*CountSize), tick)
		}
	})
	return counts
}

// Windows returns what a rank has counted of each window, in the order in which they were made.
func (m *Memory) Windows(rank int) []Window {
	r, tick := m.ranks[rank], m.tickOf(rank)
	n := int(min(atomic.LoadUint32(u32(r.part, PartWindows)), MaxWindows-1)) // pairs with the release in windows.c
	windows := make([]Window, n, n+1)
	for i := range windows {
		w := r.part[PartWindowAt+i*WindowSize:][:WindowSize]
		name, _, _ := bytes.Cut(w[WindowLabel:][:LabelSize], []byte{0})
		windows[i] = Window{Leader: int(int32(*u32(w, WindowLeader))), Members: int(*u32(w, WindowMembers)),
			Ordinal: int(*u32(w, WindowOrdinal)), Name: string(name), Told: *u32(w, WindowWays) != 0}
		windows[i].count(r, i, tick)
	}
	others := Window{Leader: -1, Others: true,
		Told: *u32(r.part, PartWindowAt+(MaxWindows-1)*WindowSize+WindowWays) != 0}
	if others.count(r, MaxWindows-1, tick) {
		windows = append(windows, others)
	}
	return windows
}

// count adds what was counted at an index, and reports whether that is something.
func (w *Window) count(r *Rank, index int, tick float64) (some bool) {
	r.slots(func(at int64) {
		for u := range w.Uses {
			w.Uses[u].add(r.part, at+int64(SlotWindows+(index*int(Uses)+u)*UseSize), tick)
			some = some || w.Uses[u].Calls > 0
		}
	})
	w.countWays(r, index)
	return some
}

// countWays adds what the library has counted; what is left of all operations is direct.
func (w *Window) countWays(r *Rank, index int) {
	if !w.Told {
		return
	}
	for u := range w.Ways {
		left := w.Uses[u]
		for way := Direct + 1; way < Ways; way++ {
			at := int64(PartWaysAt + index*WaysSize + (u*int(Ways)+int(way))*16)
			c := Count{Calls: atomic.LoadUint64(u64(r.part, at)),
				Bytes: atomic.LoadUint64(u64(r.part, at+8))}
			w.Ways[u][way] = c
			left.Calls -= min(c.Calls, left.Calls) // more: of threads that were not counted
			left.Bytes -= min(c.Bytes, left.Bytes)
		}
		w.Ways[u][Direct] = Count{Calls: left.Calls, Bytes: left.Bytes}
	}
}
