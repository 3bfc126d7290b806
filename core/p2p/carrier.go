package p2p

import "gompirma/core/proc"

// Carrier carries the messages of a process: matching, the protocols, requests, and plans of several messages. It is
// implemented in C (capi/message); capi/engine adapts it to this interface. Safe for concurrent use.
type Carrier interface {
	// Enter makes this carrier the one that the calls in C use, so that every wait in C serves it. Leave ends that.
	Enter()
	Leave()
	// Close frees the memory. Preconditions: nothing is in progress, and no call uses the carrier.
	Close()
	// Progress receives arrived messages, retries sends that could not proceed before, and copies data of matched
	// messages. It does not block. It returns whether there was anything to do.
	Progress() bool
	// NotifyReceivers notifies the receivers of all sends in progress that this process waits for them.
	NotifyReceivers()
	// AllSent returns whether this process has sent all of its messages.
	AllSent() bool
	// ErrorClass returns an error class once no more messages can arrive, else 0.
	ErrorClass() int32

	// Start starts an operation. ok is false if there is no memory. r is nil if the operation has completed
	// already.
	Start(o Operation) (r Request, ok bool)
	// Do executes an operation to its end, as a call in C does. If the calls in C do not use this carrier (Enter),
	// it does nothing and returns ok = false.
	Do(o Operation) (x Result, ok bool)
	// Forget frees the queues of n contexts of one communicator.
	Forget(context uint64, n int)

	// Plan creates a plan. Addresses in its steps refer to memory of the application, or to Go memory that the
	// caller keeps alive. The carrier passes the argument `object`, which must not be 0, to PlanStep and FreePlan.
	// Plan returns ok = false if there is no memory.
	Plan(h *PlanHead, steps []Step, object uintptr) (p StartedPlan, ok bool)
	// ProgressThread declares that the calling thread is the process' progress thread. That thread never calls
	// functions of the application: they are written for the application's own threads, often for one of them only.
	ProgressThread()
}

// CarrierConfig describes the processes of the job and their message rings.
type CarrierConfig struct {
	Control               []byte // the control segment
	Rings                 int64  // offset in it of the message rings
	CellStride, RingBytes int64
	N, Me                 int // number of processes on this node, index of this one
	Processes             proc.Table
	Oversubscribed, NoCMA bool
}

// Operation describes a send or receive.
type Operation struct {
	Context    uint64  // of the communicator's messages
	Comm       uintptr // handle of the communicator on which errors are raised
	Source     int32   // of a send: rank of this process in the communicator
	Process    int32   // of a send: number of the destination (core/proc)
	Peer, Tag  int32   // rank in the communicator of the destination or source; a receive may have wildcards
	Mode       uint8   // of a send: standard, synchronous, ready
	Receive    bool
	Blocking   bool // the thread that starts it waits for it at once
	Urgent     bool // the receiver's process polls for it even while it computes
	Persistent bool
	// The buffer: Size bytes at Addr, or, with a datatype, the data of Count elements.
	// Program (core/datatype) is used if C does not know the datatype's handle; the caller keeps it alive until the
	// request is released.
	Addr              uintptr
	Size, Count       int64
	Datatype, Program uintptr
}

// Request is a send, a receive or a plan in progress. The application completes, tests, starts and frees requests in C.
type Request interface {
	// Cancel implements MPI_Cancel for a message.
	Cancel()
	// Free removes the handle of a request and releases it: at once if it is complete, else on completion.
	Free()
	// IsComplete returns whether the operation is done. An inactive request is not complete.
	IsComplete() bool
	// Handle returns a handle for the application, 0 if no handle is free.
	Handle() uintptr
	// Finish returns the result of a complete request, makes a persistent request inactive, and frees any other.
	Finish() Result
}

// Result is the result of a complete request. Text describes the error if Class is not 0.
type Result struct {
	Source, Tag, Class int32
	Cancelled          bool
	Bytes              int64
	Text               string
}

// StepKind is the kind of a plan's step (enum gompi_step_kind).
type StepKind uint8

// Step is a step of a plan. It has the layout of struct gompi_step.
type Step struct {
	Kind        StepKind
	Via         uint8 // index in PlanHead.Context
	CallsUser   bool  // calls a function of the application: not for the progress thread
	SkipOnError bool  // skipped after an error
	Peer        int32 // rank in the communicator
	WorldRank   int32 // rank of Peer in MPI_COMM_WORLD
	From, To    uintptr
	Bytes       int64
}

// PlanHead is the common part of a plan: see struct gompi_plan_params.
type PlanHead struct {
	Context     [2]uint64 // of messages in the group, and with the remote group
	Comm        uintptr   // handle on which errors are raised
	Source, Tag int32     // this process' rank, as its messages carry it; their tag
	Urgent      bool      // the receivers may compute: their progress threads poll for large messages
	// The predefined operation and datatype of StepReduce steps, and the bytes of an element.
	Op, Datatype uintptr
	Element      int
	GoBytes      int // bytes of Go memory that the plan allocates
}

// PlanUse is how often a request of a plan starts it: enum gompi_plan_use.
type PlanUse uint32

// StartedPlan is a plan in C: see capi/message/plan.h.
type StartedPlan interface {
	// Free ends a plan that has no request.
	Free()
	// Do runs a plan to its end. It returns false if the calls in C do not use its carrier; the caller then uses
	// Poll.
	Do() bool
	// Poll runs a plan as far as possible without waiting and returns whether it has ended. Between Enter and
	// Leave, the process polls the plan whenever it makes progress.
	Poll() bool
	Enter()
	Leave()
	// Abandon ends a plan whose messages cannot arrive any longer, with an error class and text.
	Abandon(class int32, text string)
	// ErrorDetail returns the error class and text with which a plan has ended; class 0: no error.
	ErrorDetail() (class int32, text string)
	// Request creates a request of a plan. With PlanPersistent, the request is inactive; otherwise Request starts
	// the plan. The request owns the plan, which is freed with the request, or after the only run. Returns nil if
	// there is no memory or if too many requests exist.
	Request(use PlanUse) Request
}
