package p2p

import (
	"fmt"
	"os"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

// Plan is an operation of several messages on a communicator, which C runs (capi/message/plan.h). Addresses in its
// steps refer to memory of the application, or to Go memory that KeepAlive keeps alive.
type Plan struct {
	PlanHead
	Steps     []Step
	Funcs     []func() error // functions of StepCallGo steps; the field Bytes of such a step is an index into Funcs
	OnFree    func()         // called when the plan's request has been freed; may be nil
	KeepAlive any
}

// plans holds the plans to which C refers, by the argument `object` of Carrier.Plan.
var plans = handle.NewTable[Plan](handle.Request)

// PlanStep executes a StepCallGo step: it calls Funcs[what] of the plan that is registered as `object`. It returns 0 or
// an error class with its text. The carrier calls it.
func PlanStep(object uintptr, what int) (class int32, text string) {
	if err := recoverPanic(func() error { return plans.Get(object).Funcs[what]() }); err != nil {
		return mpierr.ClassOf(err), err.Error()
	}
	return abi.MPI_SUCCESS, ""
}

// FreePlan removes the plan that is registered as `object`. The carrier calls it when the plan and its request have
// ended.
func FreePlan(object uintptr) {
	err := recoverPanic(func() error {
		if p := plans.Remove(object); p.OnFree != nil {
			p.OnFree()
		}
		return nil
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "gompirma: %v\n", err)
	}
}

// recoverPanic calls f and converts a panic to an error, since a panic must not unwind into C.
func recoverPanic(f func() error) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = mpierr.New(abi.MPI_ERR_INTERN, "internal error in a collective operation: %v", x)
		}
	}()
	return f()
}

// open creates a plan in C for p and registers p in plans.
func (e *Engine) open(p *Plan) (c StartedPlan, object uintptr, err error) {
	object, ok := plans.Add(p)
	if ok {
		if c, ok = e.m.Plan(&p.PlanHead, p.Steps, object); ok {
			return c, object, nil
		}
		plans.Remove(object)
	}
	return nil, 0, mpierr.New(abi.MPI_ERR_NO_MEM, "out of memory for a collective operation")
}

// Run executes a plan on c to its end. Errors: MPI_ERR_TRUNCATE or MPI_ERR_COUNT if a message has another length than
// the plan expects; MPI_ERR_PROC_ABORTED; MPI_ERR_NO_MEM; an error of Plan.Funcs.
func (e *Engine) Run(p *Plan, c *comm.Comm) error {
	x, object, err := e.open(p)
	if err != nil {
		return err
	}
	defer func() {
		plans.Remove(object)
		x.Free()
	}()
	var members []int32
	if c.Handle == 0 { // C does not know the members
		members = c.Processes()
	}
	// Do returns false in tests, where several carriers run in one process. Run then polls the plan.
	if !x.Do(members) && !x.Poll() {
		x.Enter()
		if err := e.AwaitFor(x.Poll, shm.Waiting{Peer: -1, Object: uint64(c.Handle)}); err != nil {
			x.Abandon(mpierr.ClassOf(err), err.Error())
		}
		x.Leave()
	}
	if class, text := x.ErrorDetail(); class != abi.MPI_SUCCESS {
		return mpierr.New(class, "%s", text)
	}
	return nil
}

// StartPlan creates a request of a plan. With PlanPersistent, the request is inactive until MPI_Start; otherwise the
// plan starts. Errors: MPI_ERR_NO_MEM.
func (e *Engine) StartPlan(p *Plan, use PlanUse) (Request, error) {
	x, object, err := e.open(p)
	if err != nil {
		return nil, err
	}
	r := x.Request(use)
	if r == nil {
		plans.Remove(object)
		x.Free()
		return nil, mpierr.New(abi.MPI_ERR_NO_MEM,
			"out of memory for a request, or too many requests are active")
	}
	return r, nil
}

// ProgressThread declares that the calling thread is the process' progress thread: it never calls functions of the
// application.
func (e *Engine) ProgressThread() { e.m.ProgressThread() }
