package message

/*
#include <stdlib.h>

#include "message/engine.h"
#include "message/plan.h"

_Static_assert(STEP_SEND == 0 && STEP_PASS == 1 && STEP_RECV == 2 && STEP_WAIT == 3 && STEP_COPY == 4 &&
	STEP_COMBINE == 5 && STEP_GO == 6, "StepKind");

extern int gompi_plan_go_step(uintptr_t object, int64_t what, char *text);
extern void gompi_plan_go_gone(uintptr_t object);
*/
import "C"

import "unsafe"

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

// Step is a step of a plan.
type Step struct {
	Kind     StepKind
	Via      uint8 // of Plan.Context
	Asks     bool  // calls a function of the application: not for the agent
	Right    bool  // left out if something is wrong
	Peer     int32 // the rank that messages are told by
	World    int32 // rank of that in MPI_COMM_WORLD
	From, To uintptr
	Bytes    int64
}

// The layout is C's.
var _ = [1]struct{}{}[unsafe.Sizeof(Step{})-C.sizeof_struct_gompi_step]
var _ = [1]struct{}{}[unsafe.Offsetof(Step{}.Right)-unsafe.Offsetof(C.struct_gompi_step{}.right)]
var _ = [1]struct{}{}[unsafe.Offsetof(Step{}.Peer)-unsafe.Offsetof(C.struct_gompi_step{}.peer)]
var _ = [1]struct{}{}[unsafe.Offsetof(Step{}.From)-unsafe.Offsetof(C.struct_gompi_step{}.from)]
var _ = [1]struct{}{}[unsafe.Offsetof(Step{}.Bytes)-unsafe.Offsetof(C.struct_gompi_step{}.bytes)]

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

// Plan is an operation of several messages: see capi/message/plan.h.
type Plan struct{ c *C.struct_gompi_plan }

// Plan makes a plan. Addresses in its steps are of the application's memory, or of Go's that the caller keeps. object,
// not 0, is what PlanStep and PlanGone are told. ok is false if there is no memory.
func (m *Messages) Plan(h *PlanHead, steps []Step, object uintptr) (p Plan, ok bool) {
	head := C.struct_gompi_plan_head{source: C.int32_t(h.Source), tag: C.int32_t(h.Tag), urgent: C.bool(h.Urgent),
		comm: C.uintptr_t(h.Comm), op: C.uintptr_t(h.Op), datatype: C.uintptr_t(h.Datatype),
		element: C.uint64_t(h.Element), own: C.int64_t(h.Own), _go: C.uintptr_t(object)}
	head.context[0], head.context[1] = C.uint64_t(h.Context[0]), C.uint64_t(h.Context[1])
	p.c = C.gompi_plan_new(m.c, &head, (*C.struct_gompi_step)(unsafe.Pointer(unsafe.SliceData(steps))),
		C.uint32_t(len(steps)))
	return p, p.c != nil
}

// Free ends a plan that has no request.
func (p Plan) Free() { C.gompi_plan_free(p.c) }

// Do does a plan to its end; false: it is not of the application's messages, and Poll is for it.
func (p Plan) Do() bool {
	here := bool(C.gompi_plan_is_here(p.c))
	if here {
		C.gompi_plan_do(p.c)
	}
	return here
}

// Poll goes on with a plan as far as possible without waiting and returns whether it is over. Between Enter and Leave
// the process does so whenever it makes progress.
func (p Plan) Poll() bool { return bool(C.gompi_plan_poll(p.c)) }
func (p Plan) Enter()     { C.gompi_plan_enter(p.c) }
func (p Plan) Leave()     { C.gompi_plan_leave(p.c) }

// Abandon ends a plan whose messages cannot come any longer, with an error class and text.
func (p Plan) Abandon(class int32, text string) {
	t := C.CString(text)
	defer C.free(unsafe.Pointer(t))
	C.gompi_plan_abandon(p.c, C.int(class), t)
}

// Why returns the error class that a plan has ended with, 0: none, and what was wrong.
func (p Plan) Why() (class int32, text string) {
	if p.c.why.class == 0 {
		return 0, ""
	}
	return int32(p.c.why.class), C.GoString(&p.c.why.text[0])
}

// PlanUse is what a request is made of a plan for: enum gompi_plan_use.
type PlanUse uint32

// The uses of plans.
const (
	PlanOnce  PlanUse = C.PLAN_ONCE
	PlanKeep  PlanUse = C.PLAN_KEEP // once, and C may keep the plan for others
	PlanAgain PlanUse = C.PLAN_AGAIN
)

// Request makes a request of a plan, inactive if it is to be started again and again; else the plan begins. It goes
// with its request, or when it is over. A zero Request: there is no memory, or too many are live.
func (p Plan) Request(use PlanUse) Request {
	return Request{C.gompi_plan_request(p.c, C.enum_gompi_plan_use(use))}
}

// AgentThread tells that the calling thread is the process' agent. It calls no function of the application: those were
// written for the threads that the application knows of, and often for one of them only.
func AgentThread() { C.gompi_plan_agent() }

// PlanStep does step number what, of kind StepGo, of the plan with this object, and returns 0 or an error class with
// what is wrong. PlanGone is called when there is nothing left of it. Set before the first plan is made.
var (
	PlanStep func(object uintptr, what int) (class int32, text string)
	PlanGone func(object uintptr)
)

func init() {
	C.gompi_plan_tell(unsafe.Pointer(C.gompi_plan_go_step), unsafe.Pointer(C.gompi_plan_go_gone))
}

//export gompi_plan_go_step
func gompi_plan_go_step(object C.uintptr_t, what C.int64_t, text *C.char) C.int {
	class, why := PlanStep(uintptr(object), int(what))
	if class != 0 {
		const room = len(C.struct_gompi_verdict{}.text)
		b := unsafe.Slice((*byte)(unsafe.Pointer(text)), room)
		b[min(copy(b, why), room-1)] = 0
	}
	return C.int(class)
}

//export gompi_plan_go_gone
func gompi_plan_go_gone(object C.uintptr_t) { PlanGone(uintptr(object)) }
