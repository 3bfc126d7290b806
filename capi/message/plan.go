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

import (
	"unsafe"

	"gompirma/core/abi"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
)

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
	StepGo                      // Plan.Go[Bytes]
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

// Plan is an operation of several messages: see capi/message/plan.h. Addresses in its steps are of the application's
// memory, or of Go's that Keep refers to.
type Plan struct {
	Context     [2]uint64 // of messages among the group's own, and with the remote group
	Comm        uintptr   // handle, which errors are raised on
	Source, Tag int32     // this process' rank, as its messages tell it; their tag
	Urgent      bool      // others may compute: progress threads look at what is much
	Steps       []Step
	// The predefined operation and datatype of steps StepCombine, and bytes of an element.
	Op, Datatype uintptr
	Element      int
	Go           []func() error // of steps StepGo
	Gone         func()         // called when the request of the plan is no more
	Own          int            // bytes of memory that it has for itself
	Keep         any
}

// plans has those that C refers to.
var plans = handle.NewTable[Plan](handle.Request)

func init() {
	C.gompi_plan_tell(unsafe.Pointer(C.gompi_plan_go_step), unsafe.Pointer(C.gompi_plan_go_gone))
}

var noMemoryForPlan = mpierr.New(abi.MPI_ERR_NO_MEM, "no memory for a collective")

// open makes C's plan.
func (m *Messages) open(p *Plan) (*C.struct_gompi_plan, error) {
	object, ok := plans.Add(p)
	if !ok {
		return nil, noMemoryForPlan
	}
	head := C.struct_gompi_plan_head{source: C.int32_t(p.Source), tag: C.int32_t(p.Tag), urgent: C.bool(p.Urgent),
		comm: C.uintptr_t(p.Comm), op: C.uintptr_t(p.Op), datatype: C.uintptr_t(p.Datatype),
		element: C.uint64_t(p.Element), own: C.int64_t(p.Own), _go: C.uintptr_t(object)}
	head.context[0], head.context[1] = C.uint64_t(p.Context[0]), C.uint64_t(p.Context[1])
	steps := (*C.struct_gompi_step)(unsafe.Pointer(unsafe.SliceData(p.Steps)))
	c := C.gompi_plan_new(m.c, &head, steps, C.uint32_t(len(p.Steps)))
	if c == nil {
		plans.Remove(object)
		return nil, noMemoryForPlan
	}
	return c, nil
}

func (p *Plan) close(c *C.struct_gompi_plan) {
	plans.Remove(uintptr(c.head._go))
	C.gompi_plan_free(c)
}

// Run does a plan to its end. wait, which is not needed if m is the application's, waits until done says that it is
// over, or returns an error: MPI_ERR_PROC_ABORTED. MPI_ERR_TRUNCATE, MPI_ERR_COUNT: another process' message had
// another length; MPI_ERR_NO_MEM; an error of Plan.Go.
func (m *Messages) Run(p *Plan, wait func(done func() bool) error) error {
	c, err := m.open(p)
	if err != nil {
		return err
	}
	defer p.close(c)
	if bool(C.gompi_plan_is_here(c)) {
		C.gompi_plan_do(c)
	} else if !bool(C.gompi_plan_poll(c)) {
		C.gompi_plan_enter(c)
		if err := wait(func() bool { return bool(C.gompi_plan_poll(c)) }); err != nil {
			text := C.CString(err.Error())
			C.gompi_plan_abandon(c, C.int(mpierr.ClassOf(err)), text)
			C.free(unsafe.Pointer(text))
		}
		C.gompi_plan_leave(c)
	}
	if c.why.class == abi.MPI_SUCCESS {
		return nil
	}
	return mpierr.New(int32(c.why.class), "%s", C.GoString(&c.why.text[0]))
}

// StartPlan makes a request of a plan, inactive if it is persistent; else the plan begins. MPI_ERR_NO_MEM.
func (m *Messages) StartPlan(p *Plan, persistent bool) (Request, error) {
	c, err := m.open(p)
	if err != nil {
		return Request{}, err
	}
	r := C.gompi_plan_request(c, C.bool(persistent))
	if r == nil {
		p.close(c)
		return Request{}, mpierr.New(abi.MPI_ERR_NO_MEM, "no memory for a request, or too many are live")
	}
	return Request{r}, nil
}

// AgentThread tells that the calling thread is the process' agent. It calls no function of the application: those were
// written for the threads that the application knows of, and often for one of them only.
func AgentThread() { C.gompi_plan_agent() }

//export gompi_plan_go_step
func gompi_plan_go_step(object C.uintptr_t, what C.int64_t, text *C.char) C.int {
	err := step(plans.Get(uintptr(object)), int(what))
	if err == nil {
		return abi.MPI_SUCCESS
	}
	const room = len(C.struct_gompi_verdict{}.text)
	b := unsafe.Slice((*byte)(unsafe.Pointer(text)), room)
	b[min(copy(b, err.Error()), room-1)] = 0
	return C.int(mpierr.ClassOf(err))
}

// step does a step of a plan. A panic must not get into C: it becomes an error.
func step(p *Plan, what int) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = mpierr.New(abi.MPI_ERR_INTERN, "a collective panicked: %v", x)
		}
	}()
	return p.Go[what]()
}

//export gompi_plan_go_gone
func gompi_plan_go_gone(object C.uintptr_t) {
	if p := plans.Remove(uintptr(object)); p != nil && p.Gone != nil {
		p.Gone()
	}
}
