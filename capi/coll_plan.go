package main

/*
#include <stdlib.h>
#include "base/call.h"
#include "datatype/op.h"
#include "plan/plan.h"

_Static_assert(STEP_SEND == 0 && STEP_PASS == 1 && STEP_RECV == 2 && STEP_WAIT == 3 && STEP_COPY == 4 &&
	STEP_COMBINE == 5 && STEP_PACK == 6 && STEP_UNPACK == 7 && STEP_GO == 8, "core/coll.PlanStepKind");
*/
import "C"

import (
	"runtime"
	"runtime/cgo"
	"unsafe"

	"gompirma/core/abi"
	"gompirma/core/coll"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
)

// Plans of core/coll, run in C (capi/plan).

// planOfGo is what Go knows of a run.
type planOfGo struct {
	plan   *coll.Plan
	err    error // of Go's part
	gone   func()
	red    reduction  // that Go carries out, if
	handle cgo.Handle // this is not 0
}

func (g *planOfGo) end() {
	if g.handle != 0 {
		g.handle.Delete()
	}
	if g.gone != nil {
		g.gone()
	}
}

// plansOfGo has those that C refers to.
var plansOfGo = handle.NewTable[planOfGo](handle.Request)

type planRunner struct{}

func init() { coll.RunPlans = planRunner{} }

func (planRunner) Agent() { C.gompi_plan_agent() }

var noMemoryForPlan = mpierr.New(abi.MPI_ERR_NO_MEM, "no memory for a collective")

// open makes C's run of a plan.
func (planRunner) open(p *coll.Plan, gone func()) (*C.struct_gompi_plan_run, *planOfGo, error) {
	c := C.gompi_plan_new(C.uint32_t(len(p.Steps)))
	if c == nil {
		return nil, nil, noMemoryForPlan
	}
	c.most, c.once, c.source, c.comm = C.uint32_t(p.Most), true, C.int32_t(p.Source), C.uintptr_t(p.Comm.Handle)
	c.context[0], c.context[1] = C.uint64_t(p.Context[0]), C.uint64_t(p.Context[1])
	steps := unsafe.Slice(C.gompi_plan_steps(c), len(p.Steps))
	for i := range p.Steps {
		from, to := &p.Steps[i], &steps[i]
		to.kind, to.via = C.uint8_t(from.Kind), C.uint8_t(from.Via)
		to.peer, to.world = C.int32_t(from.Peer), C.int32_t(from.World)
		to.from = C.struct_gompi_spot{offset: C.int64_t(from.From), base: C.BASE_SEND}
		to.to = C.struct_gompi_spot{offset: C.int64_t(from.To), base: C.BASE_SEND}
		to.bytes, to.count = C.int64_t(from.Bytes), C.int64_t(from.Number)
	}
	g := &planOfGo{plan: p, gone: gone}
	var object uintptr
	if gone != nil || len(p.Go) > 0 || p.Reducer != nil && p.Reducer.Combine != nil {
		var ok bool
		if object, ok = plansOfGo.Add(g); !ok {
			C.free(unsafe.Pointer(c))
			return nil, nil, noMemoryForPlan
		}
	}
	if r := p.Reducer; r != nil {
		c.asks = C.bool(r.Op != nil && r.Op.User())
		c.reduction.size = C.uint64_t(r.Elem)
		switch {
		case r.Combine != nil:
			g.red.combine = r.Combine
			g.handle = cgo.NewHandle(&g.red)
			c.reduction._go = C.uintptr_t(g.handle)
		case r.Op.User():
			c.reduction.function, c.reduction.large = C.uintptr_t(r.Op.Function()), C.bool(r.Op.Large())
			c.reduction._type = C.uintptr_t(r.Type.Handle())
		default:
			c.reduction.kernel = C.gompi_op_kernel(C.MPI_Op(pointer(r.Op.Handle())),
				C.MPI_Datatype(pointer(r.Type.Basic().Handle)))
		}
	}
	run := C.gompi_plan_open(c, C.gompi_plan_home(), nil, nil, C.int32_t(p.Tag), C.bool(p.Urgent))
	if run == nil {
		if object != 0 {
			plansOfGo.Remove(object)
		}
		g.gone = nil
		g.end()
		C.free(unsafe.Pointer(c))
		return nil, nil, noMemoryForPlan
	}
	run._go = C.uintptr_t(object)
	return run, g, nil
}

// Run implements coll.Runner.
func (r planRunner) Run(p *coll.Plan) error {
	run, g, err := r.open(p, nil)
	if err != nil {
		return err
	}
	class := C.gompi_plan_do(run, C.gompi_current_call())
	if g.err != nil {
		err = g.err
	} else if g.red.err != nil {
		err = g.red.err
	} else if class != abi.MPI_SUCCESS {
		err = mpierr.New(int32(class), "%s", C.GoString(&run.why.text[0]))
	}
	if run._go != 0 {
		plansOfGo.Remove(uintptr(run._go))
	}
	g.end()
	C.gompi_plan_close(run)
	runtime.KeepAlive(p)
	return err
}

// Start implements coll.Runner.
func (r planRunner) Start(p *coll.Plan, gone func()) (uintptr, error) {
	run, g, err := r.open(p, gone)
	if err != nil {
		return 0, err
	}
	var h C.uintptr_t
	if C.gompi_plan_request(run, false, &h) == nil {
		plansOfGo.Remove(uintptr(run._go))
		g.gone = nil // it is the caller's
		g.end()
		C.gompi_plan_close(run)
		return 0, mpierr.New(abi.MPI_ERR_NO_MEM, "no memory for a request, or too many are live")
	}
	return uintptr(h), nil
}

// gompi_plan_go_step is gompi_plan_go.
//
//export gompi_plan_go_step
func gompi_plan_go_step(object uintptr, what int64, text uintptr) (rc int32) {
	defer guard("a collective", 0, 0, &rc)
	g := plansOfGo.Get(object)
	err := g.plan.Go[what]()
	if err == nil {
		return abi.MPI_SUCCESS
	}
	g.err = err
	storeText(text, err)
	return mpierr.ClassOf(err)
}

// gompi_plan_go_gone is gompi_plan_gone.
//
//export gompi_plan_go_gone
func gompi_plan_go_gone(object uintptr) {
	if g := plansOfGo.Remove(object); g != nil {
		g.end()
	}
}
