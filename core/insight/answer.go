package insight

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"gompirma/core/abi"
)

// Raises returns the parameter of f, a window or communicator, on which a call of it raises an error when it is the
// later one of a conflict; nil: it is none, and never asks. Those ask that access a window's memory or buffers, and all
// calls on windows: what has been found too late for its own call is raised at one of those.
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

// Position returns where in the ring the record ends that was read last, in words since the rank began.
func (r *Rank) Position() uint64 { return r.tail }

// Answer tells the rank's calls whose records end at or before a position that they have been looked at. Records that
// end at those of later are of calls that were the later ones of conflicts.
func (r *Rank) Answer(position uint64, later []uint64) {
	n := atomic.LoadUint32(u32(r.part, PartConflicts))
	for _, at := range later {
		atomic.StoreUint64(u64(r.part, int64(PartLater+8*(n%MaxLater))), at)
		n++
	}
	atomic.StoreUint32(u32(r.part, PartConflicts), n)
	atomic.StoreUint64(u64(r.part, PartAnswered), position) // pairs with the acquire in capi/insight/raise.c
	if atomic.LoadUint32(u32(r.part, PartAsking)) != 0 && atomic.SwapUint32(u32(r.part, PartAsking), 0) != 0 {
		atomic.AddUint32(u32(r.part, PartAnswer), 1)
		futexWakeAll(u32(r.part, PartAnswer))
	}
}

// Underway knows the operations of which no more than the beginning has been recorded (Answers): who loads from their
// targets' memory may see them already, and is to be looked at after them.
type Underway struct {
	began map[[2]int]time.Duration // by rank and thread
	loads bool                     // programs tell what they load
}

// Add takes the words of a record of a rank.
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

// Before returns the latest time, not after until, at which no operation was under way that a load may have seen. One
// that takes longer than patience is not waited for.
func (u *Underway) Before(until, patience time.Duration) time.Duration {
	most := until
	for _, began := range u.began {
		if u.loads && began <= most && until-began < patience {
			most = began - 1
		}
	}
	return most
}
