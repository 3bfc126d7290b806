package insight

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"gompirma/core/abi"
)

// Raises returns the parameter of f, a window or communicator, on which a call of f raises an error if the call is the
// later one of a conflict. It returns nil if f raises none and does not wait for an answer. Functions that access a
// window's memory or have buffers raise errors. All calls on windows do so too: they raise a conflict that is found too
// late for its own call.
func Raises(f *abi.Function) *abi.Param {
	param := func(kind string) *abi.Param {
		for _, p := range f.CParams() {
			if p.Kind.Name == kind && p.Dir == abi.In && !p.Pointer() {
				return p
			}
		}
		return nil
	}
	const windows = 12
	if Quiet(f) || strings.HasSuffix(strings.TrimSuffix(f.Name, "_c"), "_init") {
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

// Position returns the position in the ring behind the record read last, in words since the rank began.
func (r *Rank) Position() uint64 { return r.tail }

// Answer reports to the rank that all its calls with records that end at or before position have been checked. The
// argument later holds the ends of the records of calls that were the later ones of conflicts.
func (r *Rank) Answer(position uint64, later []uint64) {
	n := atomic.LoadUint32(u32(r.part, PartConflicts))
	for _, at := range later {
		atomic.StoreUint64(u64(r.part, int64(PartLater+8*(n%MaxLater))), at)
		n++
	}
	atomic.StoreUint32(u32(r.part, PartConflicts), n)
	// The store pairs with the acquire in await_answer (capi/insight/raise.c): a call that sees the position must
	// also see the conflicts stored above. It also precedes the load of PartAsking: gompi_insight_await stores
	// PartAsking and then loads PartAnswered, so one of the two sees the other.
	atomic.StoreUint64(u64(r.part, PartAnswered), position)
	if atomic.LoadUint32(u32(r.part, PartAsking)) != 0 && atomic.SwapUint32(u32(r.part, PartAsking), 0) != 0 {
		atomic.AddUint32(u32(r.part, PartAnswer), 1)
		futexWakeAll(u32(r.part, PartAnswer))
	}
}

// Underway tracks operations of which only the entry has been recorded (mode Answers). A load from their target's
// memory may see their effect already, and must be checked after them.
type Underway struct {
	began map[[2]int]time.Duration // time of entry by rank and thread
	loads bool                     // programs report their loads
}

// Add processes the words of a record of a rank.
func (u *Underway) Add(rank int, words []uint64) {
	if u.loads = u.loads || OfProgram(words); !Operates(int(words[0] & 0xffff)) {
		return
	}
	if u.began == nil {
		u.began = map[[2]int]time.Duration{}
	}
	if key := [2]int{rank, int(words[1])}; words[0]>>16&flagEntry != 0 {
		u.began[key] = time.Duration(words[2])
	} else {
		delete(u.began, key)
	}
}

// Before returns the latest time, at most until, at which no operation was under way whose effect a load may have seen.
// It ignores operations that have taken longer than patience.
func (u *Underway) Before(until, patience time.Duration) time.Duration {
	most := until
	for _, began := range u.began {
		if u.loads && began <= most && until-began < patience {
			most = began - 1
		}
	}
	return most
}
