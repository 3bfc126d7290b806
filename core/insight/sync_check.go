package insight

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"gompirma/core/abi"
)

// ErrorParam returns the parameter of f, a window or a communicator, whose error handler gets an error if the call made
// the later access of a conflict. For this purpose, a call of f waits for the result of its check. ErrorParam returns
// nil if calls of f do not wait, and so raise no errors. Functions that access a window's memory or have buffers raise
// errors. All other functions on windows raise errors too, because a conflict may be found only after the conflicting
// call has got its result.
func ErrorParam(f *abi.Function) *abi.Param {
	param := func(kind string) *abi.Param {
		for _, p := range f.CParams() {
			if p.Kind.Name == kind && p.Dir == abi.In && !p.Pointer() {
				return p
			}
		}
		return nil
	}
	const windows = 12
	if IsUnrecorded(f) || strings.HasSuffix(strings.TrimSuffix(f.Name, "_c"), "_init") {
		return nil
	}
	if win := param("WINDOW"); f.Chapter == windows && win != nil {
		return win
	}
	makes := slices.ContainsFunc(f.CParams(), func(p *abi.Param) bool {
		return p.Kind.Name == "WINDOW" && p.Dir == abi.Out
	})
	buffers := slices.ContainsFunc(f.CParams(), func(p *abi.Param) bool { return p.Kind.Name == "BUFFER" })
	if makes || buffers && f.Chapter != windows {
		return param("COMMUNICATOR")
	}
	return nil
}

// Position returns the ring position after the last record that has been read, in words since the rank began.
func (r *Rank) Position() uint64 { return r.tail }

// ReportChecked reports to the rank that all its calls whose records end at or before position have been checked. The
// argument conflictEnds has the ends of the records of those calls that made the later access of a conflict.
func (r *Rank) ReportChecked(position uint64, conflictEnds []uint64) {
	n := atomic.LoadUint32(u32(r.part, PartConflicts))
	for _, at := range conflictEnds {
		atomic.StoreUint64(u64(r.part, int64(PartConflictEnds+8*(n%MaxConflictEnds))), at)
		n++
	}
	atomic.StoreUint32(u32(r.part, PartConflicts), n)
	// The store pairs with the acquire in await_check (capi/insight/sync_check.c): a call that sees the position
	// must also see the conflicts stored above. The store also precedes the load of PartCheckWanted below.
	// gompi_insight_await_reader stores PartCheckWanted and then loads PartChecked, so either the waiter sees the
	// new position or this function sees the waiter.
	atomic.StoreUint64(u64(r.part, PartChecked), position)
	if atomic.LoadUint32(u32(r.part, PartCheckWanted)) != 0 && atomic.SwapUint32(u32(r.part, PartCheckWanted),
		0) != 0 {
		atomic.AddUint32(u32(r.part, PartCheckFutex), 1)
		futexWakeAll(u32(r.part, PartCheckFutex))
	}
}

// PendingOps tracks operations that have been recorded at entry but not at return (mode SyncCheck). A load from the
// target's memory may already see the effect of a tracked operation. Therefore the load must be checked after the
// operation.
type PendingOps struct {
	entryTimes map[[2]int]time.Duration // time of entry by rank and thread
	hasLoads   bool                     // a program has reported its own memory accesses
}

// Add processes a record of a rank.
func (u *PendingOps) Add(rank int, words []uint64) {
	if u.hasLoads = u.hasLoads || IsProgramRecord(words); !ChangesWindow(int(words[0] & 0xffff)) {
		return
	}
	if u.entryTimes == nil {
		u.entryTimes = map[[2]int]time.Duration{}
	}
	if key := [2]int{rank, int(words[1])}; words[0]>>16&flagEntry != 0 {
		u.entryTimes[key] = time.Duration(words[2])
	} else {
		delete(u.entryTimes, key)
	}
}

// QuiescentTime returns the latest time, not after the argument `until`, at which no operation was pending whose effect
// a load may have seen. It ignores operations that have taken longer than maxDuration.
func (u *PendingOps) QuiescentTime(until, maxDuration time.Duration) time.Duration {
	latest := until
	for _, began := range u.entryTimes {
		if u.hasLoads && began <= latest && until-began < maxDuration {
			latest = began - 1
		}
	}
	return latest
}
