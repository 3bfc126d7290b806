package shm

import (
	"bytes"
	mathbits "math/bits"
	"sync/atomic"
)

// Reason is the kind of event that ends a wait, if the awaited process must call an MPI function to cause the event.
// Its values are those of enum gompi_wait_reason in capi/base/node.h.
type Reason uint32

// Waiting describes what a thread waits for, so that a launcher can explain a hang.
type Waiting struct {
	// Name of the MPI function that the application called, at most 31 bytes. The caller of Await need not set it.
	Call   string
	Peer   int32  // number of the awaited process, or PeersAll, PeersAny, PeersSeveral
	Object uint64 // handle of the window or communicator; 0 for no object

	// Survives is true for a wait that no failure of a process ends. A failure makes it check its condition.
	Survives bool

	// Further fields, which the waiting thread sets itself in the record.
	WaitDetails
}

// WaitDetails holds those fields of a wait record that are not arguments of a wait.
type WaitDetails struct {
	Record  int    // index of its wait record in the process' cell
	Number  uint32 // number of waits that have used this record so far
	Wakes   uint32 // number of wake-ups so far of threads that used this record
	Thread  int    // thread id of the operating system
	Reason  Reason
	All     bool   // Peer is awaited now, but the wait may depend on any member of the object
	Foreign bool   // the process is connected to processes of other jobs
	Tag     int32  // tag of a message; if Reason is ForLock, rank in the window of the locked target
	ID      uint64 // identity of the object, equal at all members; 0 if not known
	// The members of the object. If Reason is ForComplete, these are the processes whose MPI_Win_complete ends the
	// wait, and PendingCount of them have not called it.
	Members      Members
	PendingCount int    // number of members that have not made the awaited call; -1 if not known
	Name         string // the first bytes of the object's name; "" if it has no name
	// Operation is the name of a function. If Reason is ForCollective, the members must call it, and those at the
	// indices in Missing have not called it yet. If Reason is ForSelf, another thread of this process must call it.
	Operation string
	Missing   []int
	// Crossing is the address of the stack frame in which the thread has called Go; 0 if it is not inside Go.
	Crossing uint64
	// Events has an element for each event that can end the wait, if there are several events. The list may be
	// incomplete.
	Events       []Waiting
	HasAllEvents bool // Events is complete
}

// Members describes the group of processes in a wait record.
type Members struct {
	N      int
	Stride int // distance between consecutive members; 0 if it varies: only the first WaitRecordMembers are known
	First  [WaitRecordMembers]int32
}

// Known returns whether all members are known.
func (m *Members) Known() bool { return m.N > 0 && (m.Stride != 0 || m.N <= WaitRecordMembers) }

// At returns the i-th member. Precondition: Known.
func (m *Members) At(i int) int {
	if i < WaitRecordMembers {
		return int(m.First[i])
	}
	return int(m.First[0]) + i*m.Stride
}

// Waits returns the wait records of the sleeping threads of process i, and the number of threads that sleep without a
// record. It does not read a record atomically: a thread may change the record meanwhile. For a report this is
// sufficient.
func (nd *Node) Waits(i int) (ws []Waiting, more int) {
	cell := nd.cell(i)
	record := func(k int) []byte {
		r := cell[CellWaitRecords+k*WaitRecordBytes:][:WaitRecordBytes]
		if atomic.LoadUint32(u32(r, recordState)) != recordPublished {
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
		parts := int(int32(atomic.LoadUint32(u32(r, recordEventCount))))
		for part := WaitThreads; parts > 0 && part < WaitRecords; part++ {
			if r := record(part); r != nil && atomic.LoadUint32(u32(r, recordParentRecord)) == uint32(k)+1 {
				w.Events = append(w.Events, readWait(r, part))
			}
		}
		w.HasAllEvents = len(w.Events) == parts
		ws = append(ws, w)
	}
	return ws, int(atomic.LoadUint32(u32(cell, CellUnrecordedWaits)))
}

func readWait(r []byte, k int) Waiting {
	word := func(at int64) uint32 { return atomic.LoadUint32(u32(r, at)) }
	text := func(at, size int) string {
		name, _, _ := bytes.Cut(r[at:at+size], []byte{0})
		return string(name)
	}
	reason := word(recordReason)
	w := Waiting{Call: text(recordCall, 32), Peer: int32(word(recordPeer)), Object: atomic.LoadUint64(u64(r,
		recordObject)),
		WaitDetails: WaitDetails{Record: k, Number: word(recordWaitCount), Wakes: word(recordWakeupCount),
			Thread: int(word(recordThread)),
			Reason: Reason(reason & (recordAll - 1)), All: reason&recordAll != 0,
			Foreign: reason&recordOtherJobs != 0,
			Tag:     int32(word(recordTag)), ID: atomic.LoadUint64(u64(r, recordID)),
			PendingCount: int(int32(word(recordPendingCount))),
			Name:         text(recordName, WaitRecordNameBytes), Operation: text(recordOperation, 32),
			Crossing: atomic.LoadUint64(u64(r, recordGoCallerFrame))}}
	for word := range WaitMissingWords {
		for bits := atomic.LoadUint64(u64(r, recordMissingBitmap+8*int64(word))); bits != 0; bits &= bits - 1 {
			w.Missing = append(w.Missing, 64*word+mathbits.TrailingZeros64(bits))
		}
	}
	w.Members.N, w.Members.Stride = int(int32(word(recordMemberCount))), int(int32(word(recordStride)))
	for i := range w.Members.First {
		w.Members.First[i] = int32(word(recordMember + 4*int64(i)))
	}
	return w
}

// Blocked returns the number of application threads of process i that are inside a blocking call, polling or asleep.
func (nd *Node) Blocked(i int) int {
	return int(int32(atomic.LoadUint32(u32(nd.cell(i), CellBlockedCount))))
}

// DebugInfo holds the addresses that a debugger or launcher needs to read the state of another process.
type DebugInfo struct {
	Code            uint64 // an address in the library's code
	Windows         uint64 // address of the table of windows; 0 if no window has been created
	Comms           uint64 // address of the table of communicators; 0 if none has been created
	World           uint64 // address of MPI_COMM_WORLD
	ProgressThreads []int  // thread ids of the library's progress threads
}

// DebugInfo returns the debug information that process i has published in its cell.
func (nd *Node) DebugInfo(i int) (in DebugInfo) {
	cell := nd.cell(i)
	address := func(at int64) uint64 { return atomic.LoadUint64(u64(cell, at)) }
	in.Code, in.Windows = address(CellCodeAddress), address(CellWindowsAddress)
	in.Comms, in.World = address(CellCommsAddress), address(CellCommWorldAddress)
	for k := range ProgressThreads {
		if thread := atomic.LoadUint32(u32(cell, CellProgressThreads+4*int64(k))); thread != 0 {
			in.ProgressThreads = append(in.ProgressThreads, int(thread))
		}
	}
	return in
}

func (nd *Node) cell(i int) []byte { return nd.control[CellOffset(nd.Slots, i):] }
