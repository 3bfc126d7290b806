package coll

import (
	"sync"
	"sync/atomic"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
	"gompirma/core/p2p"
	"gompirma/core/request"
)

// Run does a blocking collective (MPI-5.0 6). It checks the arguments first: see Call.Check for the error classes.
// MPI_ERR_TRUNCATE, MPI_ERR_COUNT may also mean that another member passed a greater or a smaller length, MPI_ERR_OTHER
// and MPI_ERR_ROOT that it made a different call, if that was seen. Members whose lengths differ all return: see
// slots.go and schedule.go.
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
	// The communicator must not keep the application's buffers.
	*o = operands{}
	return err
}

func (e *Engine) move(k *Call, st *state, o *operands) (err error) {
	defer orNoRoom(&err)
	if err := k.prepare(o); err != nil {
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
		o.out, o.after = room(agreed.Bytes), nil // nobody sees it
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

// operation is a nonblocking or persistent collective behind a request.
type operation struct {
	request.Request
	request.None
	e    *Engine
	call Call
	tag  int32
}

// start is one start of an operation; the next one has its own, so that a thread that is still at an old one does no
// harm.
type start struct {
	x    *operation
	s    *schedule
	over atomic.Bool

	mu   sync.Mutex
	hook *p2p.Hook
}

// Start begins a nonblocking collective (MPI-5.0 6.12). The request keeps the communicator, the types and the operation
// alive.
func (e *Engine) Start(k *Call) (*request.Request, error) {
	x, err := e.operation(k)
	if err != nil {
		return nil, err
	}
	if err := x.begin(); err != nil {
		x.Release()
		return nil, err
	}
	return &x.Request, nil
}

// Init makes an inactive persistent request of a collective (MPI-5.0 6.13). Only request.Operation.Start looks at the
// data.
func (e *Engine) Init(k *Call) (*request.Request, error) {
	x, err := e.operation(k)
	if err != nil {
		return nil, err
	}
	x.Persistent = true
	x.SetInactive()
	return &x.Request, nil
}

func (e *Engine) operation(k *Call) (*operation, error) {
	if err := k.Check(); err != nil {
		return nil, err
	}
	s := e.state(k.Comm)
	s.started++
	x := &operation{e: e, call: *k, tag: tag(s.started)}
	x.Kind, x.Op, x.Owner = request.Collective, x, k.Comm
	k.Comm.Ref()
	x.call.hold()
	return x, nil
}

// begin starts the schedule, and completes the request if there is nothing to wait for.
func (x *operation) begin() (err error) {
	defer orNoRoom(&err)
	var o operands
	k := x.call // preparing may change it
	if err := k.prepare(&o); err != nil {
		return err
	}
	s := x.e.schedule(k.Comm, comm.Nonblocking, x.tag, p2p.Urgent)
	s.fixed = true
	if err := k.build(s.local, &o); err != nil {
		return err
	}
	s.finish = append(o.after, func() error { return k.late })
	x.Status = request.Empty
	r := &start{x: x, s: s}
	if r.progress(); r.over.Load() {
		return nil
	}
	hook := x.e.msg.AddHook(r.progress)
	r.mu.Lock()
	r.hook = hook
	r.mu.Unlock()
	// What arrived before the hook was there has been seen by nobody, and whoever completed the request has not
	// seen the hook. Nor has anybody copied what the first steps receive: others may wait for what this process
	// passes on of it, and the application be away from MPI.
	x.e.msg.Progress()
	if r.progress(); r.over.Load() {
		r.unhook()
	}
	return nil
}

// progress advances the schedule and returns whether that completed the request.
func (r *start) progress() bool {
	done, err := r.s.poll()
	if r.s.stalled.Load() && !done {
		// The agent leaves the next step to a thread of the application: one that sleeps in a call is woken for
		// it.
		nd := r.x.e.msg.Shared()
		nd.Wake(nd.Me)
	}
	if !done || !r.over.CompareAndSwap(false, true) {
		return false
	}
	r.unhook()
	x := r.x
	if err != nil {
		x.Err, x.Status.Error = err, mpierr.ClassOf(err)
	}
	x.Complete()
	nd := x.e.msg.Shared()
	nd.Wake(nd.Me)
	return true
}

func (r *start) unhook() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hook != nil {
		r.x.e.msg.RemoveHook(r.hook)
		r.hook = nil
	}
}

// Start implements request.Operation: MPI_Start.
func (x *operation) Start() error {
	if !x.Persistent {
		return x.None.Start()
	}
	if !x.Inactive() {
		return mpierr.New(abi.MPI_ERR_REQUEST,
			"the persistent request is active: it must be completed before it is started again")
	}
	x.SetActive()
	if err := x.begin(); err != nil {
		x.SetInactive()
		return err
	}
	return nil
}

// Release implements request.Operation.
func (x *operation) Release() error {
	x.call.letGo()
	x.call.Comm.Unref()
	return nil
}
