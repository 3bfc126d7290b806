package shm

import (
	"bytes"
	mathbits "math/bits"
	"sync/atomic"
)

// Which processes a wait depends on if it is not one: all of its object's, or nobody has said; any of them, where the
// next to come ends it; several, of different objects, say.
const (
	PeersAll     = -1
	PeersAny     = -2
	PeersSeveral = -3
)

// Reason is what ends a wait, if the process that it needs must call something for it: enum gompi_awaited of
// capi/base/node.h.
type Reason uint32

// The reasons, in the order of C.
const (
	ForUnsaid Reason = iota
	ForMessage
	ForReceipt
	ForPost
	ForComplete
	ForLock
	ForCollective
	ForPartitions
	ForSelf
)

// Waiting says what a thread waits for, so that a launcher can explain a hang.
type Waiting struct {
	// name of the MPI function that the application called, at most 31 bytes. Whoever waits need not say it.
	Call   string
	Peer   int32  // rank in MPI_COMM_WORLD of the process waited for, or PeersAll and so on
	Object uint64 // handle of the window or communicator, 0: none

	// What a thread that waits adds to that itself.
	Told
}

// Told is what a thread tells of its wait besides whom it needs.
type Told struct {
	Record  int    // its place among those of the process
	Number  uint32 // of waits that were told there so far
	Wakes   uint32 // times that threads which told there were woken
	Thread  int    // of the system
	Reason  Reason
	All     bool   // Peer is the next to do something, of the members
	Foreign bool   // the process knows processes of other jobs
	Tag     int32  // of a message; ForLock: the rank in the window whose memory is locked
	ID      uint64 // of the object, the same at all members; 0: not known
	// The members of the object; ForComplete: the processes whose MPI_Win_complete ends the wait, of whom Lacks
	// have not called it.
	Members Members
	Lacks   int    // -1: not known
	Name    string // of the object, or how it begins; "": it was given none
	// Operation is a function: ForCollective: that the members call, of whom the places in Missing have not;
	// ForSelf: that another thread of the process calls.
	Operation string
	Missing   []int
	// Crossing is the address of the frame by which the thread has called Go, 0: it has not.
	Crossing uint64
	// Parts are what may end the wait, if any of several things does; there may be more than are known here.
	Parts    []Waiting
	AllParts bool // there are no more
}

// Members are the processes that are told of.
type Members struct {
	N      int
	Stride int // from one to the next, 0: they are not regular, and only the first ToldMembers are known
	First  [ToldMembers]int32
}

// Known returns whether it is known who they are.
func (m *Members) Known() bool { return m.N > 0 && (m.Stride != 0 || m.N <= ToldMembers) }

// At returns the process of the i-th, if they are known.
func (m *Members) At(i int) int {
	if i < ToldMembers {
		return int(m.First[i])
	}
	return int(m.First[0]) + i*m.Stride
}

// Waits returns what the threads of process i wait for that sleep, and how many more there are. The fields are read one
// by one while a thread may change them: good enough for a report.
func (nd *Node) Waits(i int) (ws []Waiting, more int) {
	cell := nd.cell(i)
	record := func(k int) []byte {
		r := cell[CellWaits+k*WaitRecord:][:WaitRecord]
		if atomic.LoadUint32(u32(r, WaitState)) != WaitTold {
			return nil
		}
		return r
	}
	for k := range WaitThreads {
		r := record(k)
		if r == nil {
			continue
		}
		w := readWait(r, k)
		parts := int(int32(atomic.LoadUint32(u32(r, WaitParts))))
		for part := WaitThreads; parts > 0 && part < WaitRecords; part++ {
			if r := record(part); r != nil && atomic.LoadUint32(u32(r, WaitPartOf)) == uint32(k)+1 {
				w.Parts = append(w.Parts, readWait(r, part))
			}
		}
		w.AllParts = len(w.Parts) == parts
		ws = append(ws, w)
	}
	return ws, int(atomic.LoadUint32(u32(cell, CellWaitMore)))
}

func readWait(r []byte, k int) Waiting {
	word := func(at int64) uint32 { return atomic.LoadUint32(u32(r, at)) }
	text := func(at, size int) string {
		name, _, _ := bytes.Cut(r[at:at+size], []byte{0})
		return string(name)
	}
	reason := word(WaitReason)
	w := Waiting{Call: text(WaitCall, 32), Peer: int32(word(WaitPeer)), Object: atomic.LoadUint64(u64(r,
		WaitObject)),
		Told: Told{Record: k, Number: word(WaitNumber), Wakes: word(WaitWakes), Thread: int(word(WaitThread)),
			Reason: Reason(reason & (ToldAll - 1)), All: reason&ToldAll != 0,
			Foreign: reason&ToldForeign != 0,
			Tag:     int32(word(WaitTag)), ID: atomic.LoadUint64(u64(r, WaitID)),
			Lacks: int(int32(word(WaitLacks))),
			Name:  text(WaitName, ToldName), Operation: text(WaitOperation, 32),
			Crossing: atomic.LoadUint64(u64(r, WaitCrossing))}}
	for word := range ToldMissing {
		for bits := atomic.LoadUint64(u64(r, WaitMissing+8*int64(word))); bits != 0; bits &= bits - 1 {
			w.Missing = append(w.Missing, 64*word+mathbits.TrailingZeros64(bits))
		}
	}
	w.Members.N, w.Members.Stride = int(int32(word(WaitMembers))), int(int32(word(WaitStride)))
	for i := range w.Members.First {
		w.Members.First[i] = int32(word(WaitMember + 4*int64(i)))
	}
	return w
}

// Blocked returns how many threads of the application of process i are inside of a blocking call, polling or asleep.
func (nd *Node) Blocked(i int) int {
	return int(int32(atomic.LoadUint32(u32(nd.cell(i), CellBlocked))))
}

// Inside is what is needed to look at a process from outside.
type Inside struct {
	Code    uint64 // an address in the library's code
	Windows uint64 // the address of the table of windows, 0: there were none
	Comms   uint64 // the address of the table of communicators, 0: there were none
	World   uint64 // the address of MPI_COMM_WORLD
	Own     []int  // the library's threads that make progress, as the system numbers them
}

// Inside returns what process i has told of itself.
func (nd *Node) Inside(i int) (in Inside) {
	cell := nd.cell(i)
	in.Code, in.Windows = atomic.LoadUint64(u64(cell, CellCode)), atomic.LoadUint64(u64(cell, CellWindows))
	in.Comms, in.World = atomic.LoadUint64(u64(cell, CellComms)), atomic.LoadUint64(u64(cell, CellWorld))
	for k := range OwnThreads {
		if thread := atomic.LoadUint32(u32(cell, CellOwn+4*int64(k))); thread != 0 {
			in.Own = append(in.Own, int(thread))
		}
	}
	return in
}

func (nd *Node) cell(i int) []byte { return nd.control[CellOffset(nd.N, i):] }
