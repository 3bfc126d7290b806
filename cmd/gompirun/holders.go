package main

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"time"

	"golang.org/x/sys/unix"

	"gompirma/core/shm"
)

// Who holds the locks of windows that others wait for. The lock itself does not say it: that would cost every lock an
// instruction. Each process notes in its own memory what it has locked, and that is read from outside; so it is known
// of ranks that compute, too. Of locks between nodes it is not known.

// lockAt is the lock of a window at a target.
type lockAt struct {
	window key
	target int32
}

// holding is that a rank has had a lock since it was first seen with it.
type holding struct {
	rank      int
	exclusive bool
	since     time.Time
}

// held are the locks that are waited for, by who holds them.
type held map[lockAt][]holding

// of returns who holds the lock that a thread waits for.
func (h held) of(w *shm.Waiting) []holding {
	k, _ := keyOf(w)
	return h[lockAt{k, w.Tag}]
}

// mostAsked bounds how many ranks are asked at a look: there may be many locks, and waits for them that are short.
const mostAsked = 4096

// holders finds out who holds the locks that ranks of a picture wait for; before is what was found at the last look.
func (j *job) holders(p picture, before held, now time.Time) held {
	h, asked := held{}, 0
	for r := range p {
		for i := range p[r].ws {
			w := &p[r].ws[i]
			k, ok := keyOf(w)
			at := lockAt{k, w.Tag}
			if w.Reason != shm.ForLock || !ok || h[at] != nil || !w.Members.Known() {
				continue
			}
			if asked += w.Members.N; asked > mostAsked {
				return h
			}
			h[at] = []holding{}
			for m := range w.Members.N {
				rank := w.Members.At(m)
				if rank < 0 || rank >= len(p) || p[rank].is != "" {
					continue
				}
				exclusive, holds := j.holds(p, rank, w)
				if !holds {
					continue
				}
				one := holding{rank, exclusive, now}
				for _, b := range before[at] {
					if b.rank == rank {
						one.since = b.since
					}
				}
				h[at] = append(h[at], one)
			}
		}
	}
	return h
}

// holds returns whether a rank holds the lock that w waits for, and how.
func (j *job) holds(p picture, rank int, w *shm.Waiting) (exclusive, holds bool) {
	node := j.nodeOf(rank)
	in := node.memory.Inside(rank - node.first)
	pid := node.memory.Pid(rank - node.first)
	if in.Windows == 0 || pid <= 0 {
		return false, false
	}
	index := w.Object % shm.WindowIndices
	if number, ok := readWord(pid, in.Windows+8*index); !ok || number != w.Object {
		return false, false
	}
	slot, ok := readWord(pid, in.Windows+shm.WindowSlots+8*index)
	var win [shm.WindowNoCheck + 1]byte
	if !ok || !readMemory(pid, slot, win[:]) {
		return false, false
	}
	word := func(b []byte, at int) uint32 { return binary.NativeEndian.Uint32(b[at:]) }
	var target [shm.TargetSize]byte
	targets := binary.NativeEndian.Uint64(win[shm.WindowTargets:])
	if uint32(w.Tag) >= word(win[:], shm.WindowN) ||
		!readMemory(pid, targets+shm.TargetSize*uint64(w.Tag), target[:]) {
		return false, false
	}
	state := word(target[:], shm.TargetState)
	switch {
	case state&shm.TargetNear == 0:
		return false, false
	case state&shm.TargetLocked != 0:
		return state&shm.TargetExclusive != 0, state&shm.TargetNoCheck == 0
	case word(win[:], shm.WindowAccess)&shm.AccessLockAll != 0 && win[shm.WindowNoCheck] == 0:
		return false, !p.locksAll(rank, w)
	}
	return false, false
}

// locksAll returns whether a rank is still about to take the locks of w's window one after the other, so that it is not
// known which it has.
func (p picture) locksAll(rank int, w *shm.Waiting) bool {
	return slices.ContainsFunc(p[rank].ws, func(o shm.Waiting) bool {
		return o.Reason == shm.ForLock && o.Object == w.Object && o.Call == "MPI_Win_lock_all"
	})
}

func readWord(pid int, at uint64) (uint64, bool) {
	var b [8]byte
	ok := readMemory(pid, at, b[:])
	return binary.NativeEndian.Uint64(b[:]), ok
}

// readMemory reads memory of a process; false: it is not there, or the system does not allow it.
func readMemory(pid int, at uint64, b []byte) bool {
	if at == 0 {
		return false
	}
	local := []unix.Iovec{{Base: &b[0], Len: uint64(len(b))}}
	n, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(b)}}, 0)
	return err == nil && n == len(b)
}

// lines says who holds what, and what the holder does.
func (h held) lines(p picture, now time.Time) (lines []string) {
	for r := range p {
		for i := range p[r].ws {
			w := &p[r].ws[i]
			if w.Reason != shm.ForLock {
				continue
			}
			for _, one := range h.of(w) {
				how := ""
				if !one.exclusive {
					how = ", shared"
				}
				what := "it " + p.says(&p[one.rank])
				if d := &p[one.rank]; len(d.ws) == 0 && d.more == 0 && d.is == "" {
					what = "it is not in MPI, or does not wait there"
				}
				lines = append(lines, fmt.Sprintf("rank %d has held %s at target %d since %.0f s%s: %s",
					one.rank, object(w), w.Tag, now.Sub(one.since).Seconds(), how, what))
			}
		}
	}
	sort.Strings(lines)
	return slices.Compact(lines)
}
