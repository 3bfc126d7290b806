package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"golang.org/x/sys/unix"

	"gompirma/core/shm"
)

// This file finds the holders of window locks that other ranks wait for. A lock does not store its holders, because
// that would cost every lock operation an instruction. Each process records in its own memory the locks that it holds,
// and gompirun reads this memory, also while the rank computes. If origin and target are on different nodes, the target
// acquires the lock on behalf of the origin. In this case gompirun reads the target's memory.

// lockAt identifies the lock of a window at a target.
type lockAt struct {
	window objectKey
	target int32
}

// lockHolder is a rank that holds a lock. The field `since` is the time when gompirun first saw that the rank holds it.
type lockHolder struct {
	rank      int
	exclusive bool
	since     time.Time
}

// lockHolders maps the locks that ranks wait for to their holders.
type lockHolders map[lockAt][]lockHolder

func (h lockHolders) holdersFor(w *shm.Waiting) []lockHolder {
	k, _ := objectKeyOf(w)
	return h[lockAt{k, w.Tag}]
}

// maxLockReads is the largest number of ranks whose locks one poll (hang.go) reads. It limits the time of
// a poll.
const maxLockReads = 4096

// holders returns the holders of the locks that ranks of a snapshot wait for. The argument `before` is the result of
// the previous poll. It provides the times since which ranks have held their locks.
func (j *job) holders(p snapshot, before lockHolders, now time.Time) lockHolders {
	h, asked := lockHolders{}, 0
	for r := range p {
		for i := range p[r].waits {
			w := &p[r].waits[i]
			k, ok := objectKeyOf(w)
			at := lockAt{k, w.Tag}
			if w.Reason != shm.ForLock || !ok || h[at] != nil || !w.Members.Known() {
				continue
			}
			if asked += w.Members.N; asked > maxLockReads {
				return h
			}
			h[at] = []lockHolder{}
			for m := range w.Members.N {
				rank := w.Members.At(m)
				if rank < 0 || rank >= len(p) || p[rank].text != "" {
					continue
				}
				exclusive, holds := j.holds(p, rank, m, w)
				if !holds {
					continue
				}
				one := lockHolder{rank, exclusive, now}
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

// holds reports whether a rank holds the lock that w waits for, and whether it holds the lock exclusively. The argument
// `member` is the index of the rank in the group of w's window.
func (j *job) holds(p snapshot, rank, member int, w *shm.Waiting) (exclusive, holds bool) {
	var win [shm.WinLockAllNocheck + 1]byte
	pid, ok := j.readWindow(rank, w, win[:])
	if !ok {
		return false, false
	}
	word := func(b []byte, at int) uint32 { return binary.NativeEndian.Uint32(b[at:]) }
	var target [shm.TargetBytes]byte
	targets := binary.NativeEndian.Uint64(win[shm.WinTargets:])
	if uint32(w.Tag) >= word(win[:], shm.WinN) ||
		!readMemory(pid, targets+shm.TargetBytes*uint64(w.Tag), target[:]) {
		return false, false
	}
	state := word(target[:], shm.TargetState)
	switch {
	case state&shm.TargetLocal == 0:
		return j.holdsRemote(w.Members.At(int(w.Tag)), member, w)
	case state&shm.TargetLocked != 0:
		return state&shm.TargetExclusive != 0, state&shm.TargetNocheck == 0
	case word(win[:], shm.WinAccess)&shm.AccessLockAll != 0 && win[shm.WinLockAllNocheck] == 0:
		return false, !p.isLockingAll(rank, w)
	}
	return false, false
}

// holdsRemote reports whether a target holds its own lock on behalf of a member on another node, and whether it holds
// the lock exclusively.
func (j *job) holdsRemote(target, member int, w *shm.Waiting) (exclusive, holds bool) {
	var win [shm.WinStreams + 8]byte
	if target < 0 || target >= len(j.ranks) {
		return false, false
	}
	pid, ok := j.readWindow(target, w, win[:])
	streams := binary.NativeEndian.Uint64(win[shm.WinStreams:])
	if !ok || streams == 0 {
		return false, false
	}
	stream, ok := readWord(pid, streams+shm.StreamsByRank+8*uint64(member))
	var how [4]byte
	if !ok || stream == 0 || !readMemory(pid, stream+shm.StreamLockHeld, how[:]) {
		return false, false
	}
	lock := binary.NativeEndian.Uint32(how[:])
	return lock == shm.HoldsExclusive, lock == shm.HoldsExclusive || lock == shm.HoldsShared
}

// readWindow reads the first bytes of the descriptor of w's window in the memory of a rank.
func (j *job) readWindow(rank int, w *shm.Waiting, win []byte) (pid int, ok bool) {
	node := j.nodeOf(rank)
	in := node.memory.DebugInfo(rank - node.first)
	pid = node.memory.Pid(rank - node.first)
	if in.Windows == 0 || pid <= 0 {
		return 0, false
	}
	index := w.Object % shm.WinIndices
	if number, ok := readWord(pid, in.Windows+8*index); !ok || number != w.Object {
		return 0, false
	}
	descriptor, ok := readWord(pid, in.Windows+shm.WinTableDescriptor+8*index)
	return pid, ok && readMemory(pid, descriptor, win)
}

// startedCount reads from a rank's memory how many nonblocking collectives over messages the rank has started on the
// communicator `id`. The result ok is false if the rank has no such communicator or its memory cannot be read.
func (j *job) startedCount(rank int, id uint64) (n int32, ok bool) {
	const mostComms = 1 << 16
	node := j.nodeOf(rank)
	in := node.memory.DebugInfo(rank - node.first)
	pid := node.memory.Pid(rank - node.first)
	if in.Comms == 0 || pid <= 0 {
		return 0, false
	}
	of := func(comm uint64) (int32, bool) {
		var b [shm.CommPlanTag + 4]byte
		if !readMemory(pid, comm, b[:]) || binary.NativeEndian.Uint64(b[shm.CommID:]) != id {
			return 0, false
		}
		return int32(binary.NativeEndian.Uint32(b[shm.CommPlanTag:])), true
	}
	if n, ok := of(in.World); ok {
		return n, true
	}
	table, ok := readWord(pid, in.Comms)
	if !ok {
		return 0, false
	}
	mask, ok := readWord(pid, table+shm.TableMask)
	if !ok || mask >= mostComms {
		return 0, false
	}
	entries := make([]byte, 16*(mask+1))
	if !readMemory(pid, table+shm.TableEntry, entries) {
		return 0, false
	}
	for i := range mask + 1 {
		handle := binary.NativeEndian.Uint64(entries[16*i:])
		if handle&mask != i {
			continue // free entry
		}
		if n, ok := of(binary.NativeEndian.Uint64(entries[16*i+8:])); ok {
			return n, true
		}
	}
	return 0, false
}

// findMissing adds to each wait for a collective over messages the members that have not started this collective.
func (j *job) findMissing(p snapshot) {
	type of struct {
		rank int
		id   uint64
	}
	known := map[of]int32{}
	started := func(rank int, id uint64) int32 {
		n, ok := known[of{rank, id}]
		if !ok {
			if n, ok = j.startedCount(rank, id); !ok {
				n = math.MaxInt32
			}
			known[of{rank, id}] = n
		}
		return n
	}
	for r := range p {
		for i := range p[r].waits {
			w := &p[r].waits[i]
			p.findMissing(w, started)
			for k := range w.Events {
				p.findMissing(&w.Events[k], started)
			}
		}
	}
}

func (p snapshot) findMissing(w *shm.Waiting, started func(rank int, id uint64) int32) {
	if w.Reason != shm.ForCollective || w.PendingCount >= 0 || !w.Members.Known() || w.Members.N > maxLockReads {
		return
	}
	if isPersistent(w.Operation) {
		return // no counter shows which members have started a persistent collective
	}
	some := w.Missing // indexes of the members from which messages are missing
	w.Missing = nil
	for i := range w.Members.N {
		rank := w.Members.At(i)
		if rank < 0 || rank >= len(p) || p[rank].text != "" ||
			!synchronizing[blockingOf(w.Operation)] && !slices.Contains(some, i) {
			continue
		}
		if started(rank, w.ID) < w.Tag {
			w.Missing = append(w.Missing, i)
		}
	}
}

// isLockingAll reports whether a rank is still acquiring the locks of w's window one after the other. In that case it
// is unknown which locks it holds.
func (p snapshot) isLockingAll(rank int, w *shm.Waiting) bool {
	return slices.ContainsFunc(p[rank].waits, func(o shm.Waiting) bool {
		return o.Reason == shm.ForLock && o.Object == w.Object && o.Call == "MPI_Win_lock_all"
	})
}

func readWord(pid int, at uint64) (uint64, bool) {
	var b [8]byte
	ok := readMemory(pid, at, b[:])
	return binary.NativeEndian.Uint64(b[:]), ok
}

// readMemory reads memory of a process. It returns false if the memory does not exist or the system denies access.
func readMemory(pid int, at uint64, b []byte) bool {
	if at == 0 {
		return false
	}
	local := []unix.Iovec{{Base: &b[0], Len: uint64(len(b))}}
	n, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(b)}}, 0)
	return err == nil && n == len(b)
}

// lines returns a line for each holder of a lock that a rank waits for, with what the holder does.
func (h lockHolders) lines(p snapshot, now time.Time) (lines []string) {
	for r := range p {
		for i := range p[r].waits {
			w := &p[r].waits[i]
			if w.Reason != shm.ForLock {
				continue
			}
			for _, one := range h.holdersFor(w) {
				how := "exclusive"
				if !one.exclusive {
					how = "shared"
				}
				what := "it " + p.stateText(&p[one.rank])
				if d := &p[one.rank]; len(d.waits) == 0 && d.unrecorded == 0 && d.text == "" {
					what = "it is not blocked in MPI (computing, or polling with MPI_Test)"
				}
				lines = append(lines, fmt.Sprintf("%s has held the %s lock of target %d in %s for "+
					"%.0f s: %s", p.name(one.rank), how, w.Tag, objectText(w),
					now.Sub(one.since).Seconds(), what))
			}
		}
	}
	sort.Strings(lines)
	return slices.Compact(lines)
}
