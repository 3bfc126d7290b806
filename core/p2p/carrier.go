package p2p

import "gompirma/core/proc"

// Carrier carries the messages of a process: matching, the protocols, requests, and plans of several messages. It is
// implemented in C (capi/message); capi/engine adapts it to this interface. A Carrier is safe for concurrent use.
type Carrier interface {
	// Enter makes C's message calls use this carrier, so that every wait in C makes progress on its messages. Leave
	// undoes this.
	Enter()
	Leave()
	// Close frees the memory. Preconditions: nothing is in progress, and no call uses the carrier.
	Close()
	// Progress receives arrived messages, retries sends that could not proceed before, and copies data of matched
	// messages. It does not block. It returns whether it made any progress.
	Progress() bool
	// NotifyReceivers notifies the receivers of all sends in progress that this process waits for these sends to
	// end.
	NotifyReceivers()
	// OpenNetwork makes the carrier use the network, which has been opened after the carrier.
	OpenNetwork()
	// AllSent returns whether no send of this process is in progress any longer.
	AllSent() bool
	// ErrorClass returns an error class if no more messages can arrive because of a failure. Otherwise it returns
	// 0.
	ErrorClass() int32

	// Failed returns whether the process with this number is known to have failed.
	Failed(process int32) bool
	// RequestDelivery asks a process on another node to acknowledge the messages that this process has sent to it.
	// The function that it returns returns true if they have arrived, or the process has failed.
	RequestDelivery(process int32) (isDelivered func() bool)

	// Start starts an operation. The result `ok` is false if there is no memory. The result `r` is nil if the
	// operation has completed already.
	Start(o Operation) (r Request, ok bool)
	// Do executes an operation to its end, like a blocking call in C. Precondition: C's calls use this carrier (see
	// Enter). Otherwise Do returns ok = false without any effect.
	Do(o Operation) (x Result, ok bool)
	// Forget frees the queues of n contexts of one communicator.
	Forget(context uint64, n int)

	// Plan creates a plan. Addresses in its steps refer to memory of the application, or to Go memory that the
	// caller keeps alive. The carrier passes the argument `object`, which must not be 0, to PlanStep and FreePlan.
	// Plan returns ok = false if there is no memory.
	Plan(h *PlanHead, steps []Step, object uintptr) (p StartedPlan, ok bool)
	// ProgressThread declares that the calling thread is the process' progress thread. That thread never calls
	// functions of the application, because these may only work in the application's own threads, or only in one of
	// them.
	ProgressThread()
}

// CarrierConfig describes the processes of the job and their message rings.
type CarrierConfig struct {
	Control               []byte // the control segment
	Rings                 int64  // offset of the message rings in Control
	CellStride, RingBytes int64
	N, Me                 int // number of processes on this node, index of this process
	Processes             proc.Table
	Oversubscribed, NoCMA bool
}

// Operation describes a send or a receive.
type Operation struct {
	Context      uint64  // number that the communicator's messages carry (comm.Comm.Context)
	Comm         uintptr // handle of the communicator on which errors are raised
	Source       int32   // for a send: rank of this process in the communicator
	Process      int32   // for a send: number of the destination (core/proc)
	Peer, Tag    int32   // rank of the destination or source, and tag; a receive may have wildcards
	Mode         uint8   // for a send: standard, synchronous or ready
	Receive      bool
	Blocking     bool // the thread that starts the operation waits for it at once
	Urgent       bool // the receiver's progress thread polls for the message while the receiver computes
	Persistent   bool
	DependsOnAll bool // a failure of any member ends the operation, since the peer may then have left the call
	// The buffer. If neither Datatype nor Program is set, it has Size bytes at Addr. Otherwise it is the data of
	// Count elements at Addr. Program (core/datatype) is used if C does not know the datatype's handle. The caller
	// keeps the program alive until the request is released.
	Addr              uintptr
	Size, Count       int64
	Datatype, Program uintptr
	// Numbers of the processes on which a receive depends if the communicator has no handle, because it is being
	// created, or if only a part of its members take part in the call. The caller keeps the list alive.
	Members     uintptr
	MemberCount int32
	Outer       uintptr // comm.Comm.Outer
}

// Request is a send, a receive or a plan in progress. The application completes, tests, starts and frees requests in C.
type Request interface {
	// Cancel implements MPI_Cancel for a message.
	Cancel()
	// Free removes the handle of a request. It releases the request at once if it is complete, else on completion.
	Free()
	// IsComplete returns whether the operation is done. An inactive request is not complete.
	IsComplete() bool
	// Handle assigns a handle for the application and returns it; 0 if no handle is free.
	Handle() uintptr
	// Finish returns the result of a complete request, makes a persistent request inactive, and frees any other
	// request.
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
	Via         uint8 // index in PlanHead.Context: 0 within the group, 1 for the remote group
	CallsUser   bool  // calls a function of the application, so the progress thread does not execute it
	SkipOnError bool  // the step is not executed after an error
	Peer        int32 // rank in the communicator
	Process     int32 // process number of the peer
	From, To    uintptr
	Bytes       int64
}

// PlanHead holds the properties that all steps of a plan share (struct gompi_plan_params).
type PlanHead struct {
	Context     [2]uint64 // numbers that messages carry: within the group, and to and from the remote group
	Comm        uintptr   // handle of the communicator on which errors are raised
	Source, Tag int32     // rank of this process and tag, which the messages carry
	Urgent      bool      // receivers may be computing, so their progress threads poll for large messages
	// For StepReduce steps: handles of the predefined operation and datatype, and the bytes of an element.
	Op, Datatype uintptr
	Element      int
	GoBytes      int // bytes of Go memory that the plan allocates
}

// PlanUse states whether a request runs its plan once or, if persistent, any number of times (enum gompi_plan_use).
type PlanUse uint32

// StartedPlan is the interface to a plan in C (capi/message/plan.h).
type StartedPlan interface {
	// Free ends a plan that has no request.
	Free()
	// Do runs a plan to its end. It returns false if C's calls do not use the plan's carrier. The caller must then
	// call Poll. `members` are the numbers of the processes on which it depends if its communicator has no handle.
	Do(members []int32) bool
	// Poll runs a plan as far as possible without waiting and returns whether it has ended. Between Enter and
	// Leave, the process polls the plan whenever it makes progress.
	Poll() bool
	Enter()
	Leave()
	// Abandon ends a plan whose messages cannot arrive any longer, with an error class and text.
	Abandon(class int32, text string)
	// ErrorDetail returns the error class and text with which a plan has ended. The class is 0 if there was no
	// error.
	ErrorDetail() (class int32, text string)
	// Request creates a request of a plan. With PlanPersistent, the request is inactive; otherwise Request starts
	// the plan. The request owns the plan, which is freed with the request, or after the only run. Request returns
	// nil if there is no memory or if the maximum number of requests exists.
	Request(use PlanUse) Request
}
