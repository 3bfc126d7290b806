package p2p

import (
	"gompirma/capi/message"
	"gompirma/core/comm"
	"gompirma/core/request"
	"gompirma/core/shm"
)

// planRequest is the request of a plan.
type planRequest struct{ op }

// Cancel implements request.Operation.
func (*planRequest) Cancel() error { return request.None{}.Cancel() }

// Run does a plan on c to its end: see message.Messages.Run.
func (e *Engine) Run(p *message.Plan, c *comm.Comm) error {
	return e.m.Run(p, func(done func() bool) error {
		return e.AwaitFor(done, shm.Waiting{Peer: -1, Object: uint64(c.Handle)})
	})
}

// StartPlan makes a request of a plan on c, inactive if it is persistent; else the plan begins. MPI_ERR_NO_MEM.
func (e *Engine) StartPlan(p *message.Plan, c *comm.Comm, persistent bool) (*request.Request, error) {
	r, err := e.m.StartPlan(p, persistent)
	if err != nil {
		return nil, err
	}
	o := &planRequest{*e.known(r, &Buffer{})}
	o.Op, o.Owner = o, c
	return &o.Request, nil
}

// AgentThread tells that the calling thread is the process' agent, which calls no function of the application.
func (e *Engine) AgentThread() { message.AgentThread() }
