package coll

import (
	"gompirma/core/comm"
	"gompirma/core/p2p"
)

// Run executes a blocking collective (MPI-5.0 6). It checks the arguments first; Call.Check lists the error classes.
// MPI_ERR_TRUNCATE may also mean that another member passed a greater length, MPI_ERR_COUNT that it passed a smaller
// one. MPI_ERR_OTHER and MPI_ERR_ROOT may mean that another member made a different call. If lengths differ, Run still
// returns at every member (shm.go, schedule.go).
func (e *Engine) Run(k *Call) error {
	if err := k.Check(); err != nil {
		return err
	}
	st := e.state(k.Comm)
	if st.operands == nil {
		st.operands = new(operands)
	}
	o := st.operands
	used := *k // prepare may change the types of k
	used.retainTypes()
	defer used.releaseTypes()
	err := e.execute(k, st, o)
	// The communicator must not keep references to the application's buffers.
	*o = operands{}
	return err
}

func (e *Engine) execute(k *Call, st *state, o *operands) (err error) {
	defer recoverNoMemory(&err)
	if err := k.prepare(o); err != nil {
		return err
	}
	if err := o.runBefore(); err != nil {
		return err
	}
	if k.Comm.Size() == 1 && !k.Comm.IsInter() && !k.Kind.neighborhood() {
		k.runSingle(o)
		return k.complete(o, nil)
	}
	agreed := k.Agreed
	if agreed.DeferredErr != nil {
		// Memory for the root's data, which does not fit this member's buffer and is discarded.
		o.out, o.after = alloc(agreed.Bytes), nil
		k.deferredErr = agreed.DeferredErr
	}
	if agreed.Known && k.isTwoLevel(o) {
		return k.complete(o, e.runTwoLevel(k, st, o))
	}
	s := e.blocking(k.Comm)
	s.fixed = !agreed.Known
	if err := k.build(s.local, o); err != nil {
		return err
	}
	return k.complete(o, e.run(s, k.Comm))
}

// Start begins a nonblocking collective (MPI-5.0 6.12). The request keeps the communicator, the types and the operation
// alive.
func (e *Engine) Start(k *Call) (p2p.Request, error) {
	if k.Tag != 0 {
		return e.request(k, p2p.PlanOnceCached)
	}
	return e.request(k, p2p.PlanOnce)
}

// Init creates an inactive persistent request of a collective (MPI-5.0 6.13). The application's data is accessed only
// after the request has been started.
func (e *Engine) Init(k *Call) (p2p.Request, error) { return e.request(k, p2p.PlanPersistent) }

func (e *Engine) request(k *Call, use p2p.PlanUse) (r p2p.Request, err error) {
	defer recoverNoMemory(&err)
	if err := k.Check(); err != nil {
		return nil, err
	}
	number := k.Tag
	if number == 0 {
		st := e.state(k.Comm)
		st.startedCount++
		number = tag(st.startedCount)
	}
	s := e.schedule(k.Comm, comm.Nonblocking, number)
	s.fixed = true
	var o operands
	x := *k // a copy, which prepare may change
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
	if x.deferredErr != nil {
		s.finish(func() error { return x.deferredErr })
	}
	p := s.plan(k.Comm)
	p.Urgent = true
	p.GoBytes += o.allocBytes
	x.Comm.Ref()
	x.retainTypes()
	p.OnFree = func() {
		x.releaseTypes()
		x.Comm.Unref()
	}
	if r, err = e.msg.StartPlan(p, use); err != nil {
		p.OnFree()
	}
	return r, err
}
