package engine

/*
#include <stdlib.h>

#include "message/engine.h"
#include "message/plan.h"

extern int gompi_plan_go_step(uintptr_t object, int64_t what, char *text);
extern void gompi_plan_go_on_free(uintptr_t object);
*/
import "C"

import (
	"unsafe"

	"gompirma/core/p2p"
)

// Checks at compile time that p2p.Step has the layout of struct gompi_step.
var _ = [1]struct{}{}[unsafe.Sizeof(p2p.Step{})-C.sizeof_struct_gompi_step]
var _ = [1]struct{}{}[unsafe.Offsetof(p2p.Step{}.SkipOnError)-unsafe.Offsetof(C.struct_gompi_step{}.skip_on_error)]
var _ = [1]struct{}{}[unsafe.Offsetof(p2p.Step{}.Peer)-unsafe.Offsetof(C.struct_gompi_step{}.peer)]
var _ = [1]struct{}{}[unsafe.Offsetof(p2p.Step{}.From)-unsafe.Offsetof(C.struct_gompi_step{}.from)]
var _ = [1]struct{}{}[unsafe.Offsetof(p2p.Step{}.Bytes)-unsafe.Offsetof(C.struct_gompi_step{}.bytes)]

// Plan implements p2p.StartedPlan: an operation that consists of several messages.
type Plan struct{ c *C.struct_gompi_plan }

// Plan implements p2p.Carrier.
func (m *Messages) Plan(h *p2p.PlanHead, steps []p2p.Step, object uintptr) (p p2p.StartedPlan, ok bool) {
	head := C.struct_gompi_plan_params{source: C.int32_t(h.Source), tag: C.int32_t(h.Tag), urgent: C.bool(h.Urgent),
		comm: C.uintptr_t(h.Comm), op: C.uintptr_t(h.Op), datatype: C.uintptr_t(h.Datatype),
		element_bytes: C.uint64_t(h.Element), go_bytes: C.int64_t(h.GoBytes), go_handle: C.uintptr_t(object)}
	head.context[0], head.context[1] = C.uint64_t(h.Context[0]), C.uint64_t(h.Context[1])
	c := C.gompi_plan_new(m.c, &head, (*C.struct_gompi_step)(unsafe.Pointer(unsafe.SliceData(steps))),
		C.uint32_t(len(steps)))
	return Plan{c}, c != nil
}

// Free and the following methods implement p2p.StartedPlan.
func (p Plan) Free()      { C.gompi_plan_free(p.c) }
func (p Plan) Poll() bool { return bool(C.gompi_plan_poll(p.c)) }
func (p Plan) Enter()     { C.gompi_plan_activate(p.c) }
func (p Plan) Leave()     { C.gompi_plan_deactivate(p.c) }

// Do implements p2p.StartedPlan.
func (p Plan) Do(members []int32) bool {
	here := bool(C.gompi_plan_is_app(p.c))
	if here {
		C.gompi_plan_run(p.c, (*C.int32_t)(unsafe.SliceData(members)), C.int(len(members)))
	}
	return here
}

// Abandon implements p2p.StartedPlan.
func (p Plan) Abandon(class int32, text string) {
	t := C.CString(text)
	defer C.free(unsafe.Pointer(t))
	C.gompi_plan_abandon(p.c, C.int(class), t)
}

// ErrorDetail implements p2p.StartedPlan.
func (p Plan) ErrorDetail() (class int32, text string) {
	if p.c.error.class == 0 {
		return 0, ""
	}
	return int32(p.c.error.class), C.GoString(&p.c.error.text[0])
}

// Request implements p2p.StartedPlan.
func (p Plan) Request(use p2p.PlanUse) p2p.Request {
	return requestOf(C.gompi_plan_request(p.c, C.enum_gompi_plan_use(use)))
}

// ProgressThread implements p2p.Carrier.
func (m *Messages) ProgressThread() { C.gompi_set_progress_thread() }

func init() {
	C.gompi_plan_set_callbacks(unsafe.Pointer(C.gompi_plan_go_step), unsafe.Pointer(C.gompi_plan_go_on_free))
}

//export gompi_plan_go_step
func gompi_plan_go_step(object C.uintptr_t, what C.int64_t, text *C.char) C.int {
	class, detail := p2p.PlanStep(uintptr(object), int(what))
	if class != 0 {
		const capacity = len(C.struct_gompi_error_status{}.text)
		b := unsafe.Slice((*byte)(unsafe.Pointer(text)), capacity)
		b[min(copy(b, detail), capacity-1)] = 0
	}
	return C.int(class)
}

//export gompi_plan_go_on_free
func gompi_plan_go_on_free(object C.uintptr_t) { p2p.FreePlan(uintptr(object)) }
