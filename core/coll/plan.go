package coll

import (
	"gompirma/core/comm"
	"gompirma/core/p2p"
)

// Plan is a schedule in the form that C runs (capi/plan/plan.h), with the addresses of its data: of the application's
// memory, or of Go's, which stays as long as the plan does.
type Plan struct {
	Comm    *comm.Comm
	Context [2]uint64 // of messages inside of the group, and to the remote one of an intercommunicator
	Source  int
	Tag     int32
	Urgent  bool
	Steps   []PlanStep
	Most    int            // messages that are under way at once, at most
	Reducer *PlanReducer   // of the steps PlanCombine, nil: there is none
	Go      []func() error // of the steps PlanGo
	keep    *schedule
}

// PlanStepKind says what a step does.
type PlanStepKind uint8

// The kinds of steps: as enum gompi_step_kind, compared in capi/coll_plan.go.
const (
	PlanSend PlanStepKind = iota
	PlanPass
	PlanRecv
	PlanWait
	PlanCopy
	PlanCombine
	PlanPack
	PlanUnpack
	PlanGo
)

// PlanStep is a step of a plan. Number is of PlanGo: which of Plan.Go.
type PlanStep struct {
	Kind        PlanStepKind
	Via         uint8 // of Plan.Context
	Peer, World int32
	From, To    uintptr
	Bytes       int
	Number      int
}

// PlanReducer is the reduction of a plan, as Exchange has it.
type PlanReducer struct {
	Exchange
}

// Runner runs plans.
type Runner interface {
	// Run does a plan to its end. MPI_ERR_TRUNCATE, MPI_ERR_COUNT: a member passed another length;
	// MPI_ERR_PROC_ABORTED, MPI_ERR_NO_MEM; an error of Plan.Go or of the operation.
	Run(p *Plan) error
	// Start begins a plan and returns the handle of its request. gone is called when that is no more. MPI_ERR_NO_MEM.
	Start(p *Plan, gone func()) (handle uintptr, err error)
	// Agent tells that the calling thread calls no function of the application.
	Agent()
}

// RunPlans runs the plans of the process in C. Without it, in tests of this package, Go runs schedules. Set before New.
var RunPlans Runner

// plan returns a schedule as a plan; nil: it is not for C.
func (e *Engine) plan(s *schedule, c *comm.Comm, finish []func() error) *Plan {
	if e.runner == nil {
		return nil
	}
	p := &Plan{Comm: c, Source: c.Rank(), Steps: make([]PlanStep, 0, len(s.steps)+1+len(finish)), keep: s}
	p.Context[1] = c.Context(comm.PointToPoint)
	do := func(f func() error) {
		p.Steps = append(p.Steps, PlanStep{Kind: PlanGo, Number: len(p.Go)})
		p.Go = append(p.Go, f)
	}
	for i := range s.steps {
		st := &s.steps[i]
		t := PlanStep{Bytes: len(st.buf)}
		switch st.kind {
		case stepSend, stepPass, stepRecv:
			t.Kind, t.Peer = PlanStepKind(st.kind), int32(st.peer)
			via := st.via
			if r, ok := via.(relay); ok {
				t.Peer, via = r.ranks[st.peer], r.link
			}
			l, ok := via.(*channel)
			if !ok {
				return nil
			}
			if l.c != c || !c.IsInter() {
				t.Via = 0
			} else {
				t.Via = 1
			}
			p.Context[t.Via] = l.c.Context(l.x)
			p.Tag, p.Urgent = l.tag, l.mode&p2p.Urgent != 0
			t.World = l.c.Peers().World(int(t.Peer))
			t.From, t.To = address(st.buf), address(st.buf)
			p.Most++
		case stepWait:
			t.Kind = PlanWait
		case stepCopy:
			t.Kind, t.From, t.To, t.Bytes = PlanCopy, address(st.buf), address(st.dst), min(len(st.buf), len(st.dst))
		case stepCombine:
			if p.Reducer == nil {
				p.Reducer = st.red.exchange()
			}
			t.Kind, t.From, t.To = PlanCombine, address(st.buf), address(st.dst)
		case stepDo, stepCall:
			do(st.do)
			continue
		}
		p.Steps = append(p.Steps, t)
	}
	if len(finish) > 0 {
		p.Steps = append(p.Steps, PlanStep{Kind: PlanWait})
		for _, f := range finish {
			do(f)
		}
	}
	return p
}

// exchange returns the reduction as C gets it.
func (r *reducer) exchange() *PlanReducer {
	x := &PlanReducer{Exchange{Elem: max(r.size, 1), Op: r.op, Type: r.typ}}
	if r.asks() && !r.laidOut {
		x.Combine = r.combine
	}
	return x
}
