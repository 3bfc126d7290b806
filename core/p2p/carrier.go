package p2p

import "gompirma/core/proc"

// Carrier is what carries the messages of a process: matching, the protocols, requests, and plans of several messages.
// That is in C (capi/message), which capi/engine has for this package. Safe for concurrent use.
type Carrier interface {
	// Enter makes these the messages that the calls in C are about, so that every wait in C serves them. Leave ends
	// that.
	Enter()
	Leave()
	// Close gives the memory back; nothing is under way, and no call uses it.
	Close()
	// Progress takes what has arrived, sends what could not be sent before and copies data of matched messages. It
	// returns whether there was anything to do, and does not block.
	Progress() bool
	// Remind tells the receivers of all sends under way that this process waits for them.
	Remind()
	// Flushed returns whether nothing that this process has to send is left here.
	Flushed() bool
	// Broken returns an error class once messages can no longer come, else 0.
	Broken() int32

	// Start starts an operation. ok is false if there is no memory; nil: it is over already.
	Start(o Operation) (r Request, ok bool)
	// Do does an operation to its end as a call of C does; ok is false, and nothing done, if these are not the
	// messages that those are about.
	Do(o Operation) (x Result, ok bool)
	// Probe looks for the message that a receive of that pattern would take, nil if there is none; with take it is
	// taken out and will be received by Matched.Receive only.
	Probe(context uint64, source, tag int32, take bool, comm uintptr) (Matched, Result)
	// Arrived counts the unexpected messages that have come for a context: without a new one a probe finds what it
	// has found before.
	Arrived(context uint64) uint64
	// Forget ends the queues of n contexts of one communicator.
	Forget(context uint64, n int)

	// Plan makes a plan. Addresses in its steps are of the application's memory, or of Go's that the caller keeps.
	// object, not 0, is what PlanStep and PlanGone are told. ok is false if there is no memory.
	Plan(h *PlanHead, steps []Step, object uintptr) (p Running, ok bool)
	// ProgressThread tells that the calling thread is the process' progress thread. It calls no function of the
	// application: those were written for the threads that the application knows of, and often for one of them
	// only.
	ProgressThread()
}

// Place says where the processes of the job are.
type Place struct {
	Control               []byte // the control segment
	Rings                 int64  // where the rings of messages begin in it
	CellStride, RingBytes int64
	N, Me                 int // processes on this node, index of this one
	Processes             proc.Table
	Oversubscribed, NoCMA bool
}

// Operation describes a send or receive.
type Operation struct {
	Context    uint64  // of the communicator's messages
	Comm       uintptr // its handle, which errors are raised on
	Source     int32   // of a send: rank of this process in the communicator
	World      int32   // of a send: number of the destination (core/proc)
	Peer, Tag  int32   // rank in the communicator of the destination, or of the source; these may be wildcards
	Mode       uint8   // of a send: standard, synchronous, ready
	Receive    bool
	Blocking   bool // the thread that starts it waits for it at once
	Urgent     bool // the receiver's process is to look at it even if it computes
	Persistent bool
	// The buffer: Size bytes at Addr, or, with a datatype, the bytes behind the first Skip of Count copies of it.
	// Its program (core/datatype) counts if C does not know the handle; the caller keeps it alive until the request
	// is released.
	Addr              uintptr
	Size, Count, Skip int64
	Datatype, Program uintptr
}

// Request is a send, a receive or a plan under way.
type Request interface {
	// Restart starts a persistent request that is inactive.
	Restart()
	// Cancel is MPI_Cancel.
	Cancel()
	// Free lets a request go, and takes its handle away: at once if it is over, else when it is over.
	Free()
	// State returns the word that says how far the request is; the values are core/request's.
	State() *uint32
	// Result returns what a complete request has ended with.
	Result() Result
	// Handle returns a handle for the application; 0: there are as many as can be.
	Handle() uintptr
	// IsReceive and IsPersistent return what kind of request it is.
	IsReceive() bool
	IsPersistent() bool
}

// Result is what a complete request has ended with. Text says what is wrong if Class is not 0.
type Result struct {
	Source, Tag, Class int32
	Cancelled          bool
	Bytes              int64
	Text               string
}

// Matched is a message that a probe has found.
type Matched interface {
	// Receive starts the receive of a message that has been taken out, which is used up. nil: there is no memory.
	Receive(o Operation) Request
}

// StepKind says what a step of a plan does.
type StepKind uint8

// The kinds of steps: enum gompi_step_kind.
const (
	StepSend    StepKind = iota // From, Bytes, to Peer
	StepPass                    // the same, of what came from others: has another length if what came had
	StepRecv                    // To, Bytes, from Peer
	StepWait                    // ends a round: what is behind it needs all messages started so far
	StepCopy                    // To gets From, Bytes
	StepCombine                 // To = From op To, Bytes
	StepGo                      // PlanStep, number Bytes
)

// Step is a step of a plan: struct gompi_step, whose layout it has.
type Step struct {
	Kind     StepKind
	Via      uint8 // of Plan.Context
	Asks     bool  // calls a function of the application: not for the progress thread
	Right    bool  // left out if something is wrong
	Peer     int32 // the rank that messages are told by
	World    int32 // rank of that in MPI_COMM_WORLD
	From, To uintptr
	Bytes    int64
}

// PlanHead is what a plan is made of besides its steps: see struct gompi_plan_head.
type PlanHead struct {
	Context     [2]uint64 // of messages among the group's own, and with the remote group
	Comm        uintptr   // handle, which errors are raised on
	Source, Tag int32     // this process' rank, as its messages tell it; their tag
	Urgent      bool      // others may compute: progress threads look at what is much
	// The predefined operation and datatype of steps StepCombine, and bytes of an element.
	Op, Datatype uintptr
	Element      int
	Own          int // bytes of Go's memory that it has for itself
}

// PlanUse is what a request is made of a plan for: enum gompi_plan_use.
type PlanUse uint32

// The uses of plans.
const (
	PlanOnce  PlanUse = iota
	PlanKeep          // once, and C may keep the plan for others
	PlanAgain         // by a persistent request, and then the same
)

// Running is a plan in C: see capi/message/plan.h.
type Running interface {
	// Free ends a plan that has no request.
	Free()
	// Do does a plan to its end; false: it is not of the application's messages, and Poll is for it.
	Do() bool
	// Poll goes on with a plan as far as possible without waiting and returns whether it is over. Between Enter and
	// Leave the process does so whenever it makes progress.
	Poll() bool
	Enter()
	Leave()
	// Abandon ends a plan whose messages cannot come any longer, with an error class and text.
	Abandon(class int32, text string)
	// Why returns the error class that a plan has ended with, 0: none, and what was wrong.
	Why() (class int32, text string)
	// Request makes a request of a plan, inactive if it is to be started again and again; else the plan begins. It
	// goes with its request, or when it is over. nil: there is no memory, or too many are live.
	Request(use PlanUse) Request
}
