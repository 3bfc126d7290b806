package insight

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"gompirma/core/abi"
)

// ErrorParam returns the window or communicator parameter of f on which a call of f raises an error, if the call is the
// later one of a conflict. It returns nil if f raises none and does not wait for an answer. Functions that access a
// window's memory or have buffers raise errors. All calls on windows raise errors too: they raise a conflict that is
// found too late for its own call.
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

// Position returns the position in the ring after the record read last, in words since the rank began.
func (r *Rank) Position() uint64 { return r.tail }

// ReportChecked reports to the rank that all its calls with records that end at or before position have been checked.
// The argument conflictEnds holds the ends of the records of calls that were the later ones of conflicts.
func (r *Rank) ReportChecked(position uint64, conflictEnds []uint64) {
	n := atomic.LoadUint32(u32(r.part, PartConflicts))
	for _, at := range conflictEnds {
		atomic.StoreUint64(u64(r.part, int64(PartConflictEnds+8*(n%MaxConflictEnds))), at)
		n++
	}
	atomic.StoreUint32(u32(r.part, PartConflicts), n)
	// The store pairs with the acquire in await_check (capi/insight/sync_check.c): a call that sees the position
	// must also see the conflicts stored above. It also precedes the load of PartCheckWanted:
	// gompi_insight_await_reader stores PartCheckWanted and then loads PartChecked, so one of the two sees the
	// other.
	atomic.StoreUint64(u64(r.part, PartChecked), position)
	if atomic.LoadUint32(u32(r.part, PartCheckWanted)) != 0 && atomic.SwapUint32(u32(r.part, PartCheckWanted),
		0) != 0 {
		atomic.AddUint32(u32(r.part, PartCheckFutex), 1)
		futexWakeAll(u32(r.part, PartCheckFutex))
	}
}

// PendingOps tracks operations of which only the entry has been recorded (mode SyncCheck). A load from their target's
// memory may see their effect already, and must be checked after them.
type PendingOps struct {
	entryTimes map[[2]int]time.Duration // time of entry by rank and thread
	hasLoads   bool                     // programs report their loads
}

// Add processes the words of a record of a rank.
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

// QuiescentTime returns the latest time, at most until, at which no operation was under way whose effect a load may
// have seen. It ignores operations that have taken longer than maxDuration.
func (u *PendingOps) QuiescentTime(until, maxDuration time.Duration) time.Duration {
	latest := until
	for _, began := range u.entryTimes {
		if u.hasLoads && began <= latest && until-began < maxDuration {
			latest = began - 1
		}
	}
	return latest
}
