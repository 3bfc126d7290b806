package coll

import (
	"gompirma/core/comm"
	"gompirma/core/p2p"
	"gompirma/core/request"
)

// Run executes a blocking collective (MPI-5.0 6). It checks the arguments first; Call.Check lists the error classes.
// MPI_ERR_TRUNCATE and MPI_ERR_COUNT may also mean that another member passed a greater or a smaller length.
// MPI_ERR_OTHER and MPI_ERR_ROOT may mean that another member made a different call, if this was detected. Members
// whose lengths differ all return: see slots.go and schedule.go.
func (e *Engine) Run(k *Call) error {
	if err := k.Check(); err != nil {
		return err
	}
	st := e.state(k.Comm)
	if st.operands == nil {
		st.operands = new(operands)
	}
	o := st.operands
	err := e.move(k, st, o)
	// The communicator must not keep references to the application's buffers.
	*o = operands{}
	return err
}

func (e *Engine) move(k *Call, st *state, o *operands) (err error) {
	defer orNoRoom(&err)
	if err := k.prepare(o); err != nil {
		return err
	}
	if err := o.begin(); err != nil {
		return err
	}
	if k.Comm.Size() == 1 && !k.Comm.IsInter() && !k.Kind.neighborhood() {
		k.alone(o)
		return k.done(o, nil)
	}
	agreed := k.Agreed
	if !agreed.Known {
		var done bool
		if done, agreed, err = k.viaSlots(st, o); done || err != nil {
			return k.done(o, err)
		}
	}
	if agreed.Late != nil {
		o.out, o.after = room(agreed.Bytes), nil // discarded
		k.late = agreed.Late
	}
	if agreed.Known && k.nodeFirst(o) {
		return k.done(o, e.overNodes(k, st, o))
	}
	s := e.blocking(k.Comm)
	s.fixed = !agreed.Known
	if err := k.build(s.local, o); err != nil {
		return err
	}
	return k.done(o, e.run(s, k.Comm))
}

// Start begins a nonblocking collective (MPI-5.0 6.12). The request keeps the communicator, the types and the operation
// alive.
func (e *Engine) Start(k *Call) (*request.Request, error) {
	if k.Tag != 0 {
		return e.request(k, p2p.PlanKeep)
	}
	return e.request(k, p2p.PlanOnce)
}

// Init creates an inactive persistent request of a collective (MPI-5.0 6.13). Only its starts access the data.
func (e *Engine) Init(k *Call) (*request.Request, error) { return e.request(k, p2p.PlanAgain) }

func (e *Engine) request(k *Call, use p2p.PlanUse) (r *request.Request, err error) {
	defer orNoRoom(&err)
	if err := k.Check(); err != nil {
		return nil, err
	}
	number := k.Tag
	if number == 0 {
		st := e.state(k.Comm)
		st.started++
		number = tag(st.started)
	}
	s := e.schedule(k.Comm, comm.Nonblocking, number)
	s.fixed = true
	var o operands
	x := *k // prepare may change the copy
	if err := x.prepare(&o); err != nil {
		return nil, err
	}
	for _, f := range o.before {
		s.do(f)
	}
	if err := x.build(s.local, &o); err != nil {
		return nil, err
	}
	s.finish(o.after...)
	if x.late != nil {
		s.finish(func() error { return x.late })
	}
	p := s.plan(k.Comm)
	p.Urgent = true
	p.Own += o.own
	x.Comm.Ref()
	x.hold()
	p.Gone = func() {
		x.letGo()
		x.Comm.Unref()
	}
	if r, err = e.msg.StartPlan(p, k.Comm, use); err != nil {
		p.Gone()
	}
	return r, err
}
