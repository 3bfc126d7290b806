package p2p

import (
	"gompirma/core/comm"
	"gompirma/core/request"
	"gompirma/core/shm"
)

// await waits for an operation that no handle refers to, and gives it back to the pool.
func (e *Engine) await(o *op, st *request.Status) error {
	if !o.IsComplete() {
		if err := e.nd.WaitFor(func() bool { return o.IsComplete() || e.dead.Load() },
			e.waiting(o.c, o.peer)); err != nil || !o.IsComplete() {
			return e.abandon(o, err)
		}
	}
	e.mu.Lock()
	if st != nil {
		*st = o.Status
	}
	err := o.Err
	e.recycleLocked(o)
	e.unlock()
	return err
}

// waiting is what a thread waits for that needs the process with this rank on c, which may be MPI_ANY_SOURCE.
func (e *Engine) waiting(c *comm.Comm, rank int32) shm.Waiting {
	what := shm.Waiting{Process: -1, Object: uint64(c.Handle)}
	if rank >= 0 {
		what.Process = int32(e.NodeIndex(c.Peers().World(int(rank))))
	}
	return what
}

// abandon takes an operation back that will not complete, as far as that is possible, and returns why.
func (e *Engine) abandon(o *op, err error) error {
	e.mu.Lock()
	defer e.unlock()
	if o.IsComplete() {
		return o.Err
	}
	if err == nil {
		err = e.broken
	}
	if o.entry.of != nil {
		e.unpostLocked(o)
	}
	return err
}

// Wait waits for a request and finishes it (MPI_Wait): st, which may be nil, gets its status. A request that is not
// persistent must not be used afterwards.
func (e *Engine) Wait(r *request.Request, st *request.Status) error {
	if err := e.Await(r); err != nil {
		return err
	}
	_, err := r.Finish(st)
	return err
}

// Await waits until a request is complete or inactive and leaves it so. MPI_ERR_PROC_ABORTED: it will not be, because a
// process has died.
func (e *Engine) Await(r *request.Request) error {
	if r.IsComplete() || r.Inactive() {
		return nil
	}
	what := shm.Waiting{Process: -1}
	if o, ok := r.Op.(*op); ok {
		what = e.waiting(o.c, o.peer)
	}
	if err := e.nd.WaitFor(func() bool { return r.IsComplete() || e.dead.Load() }, what); err != nil {
		return err
	}
	if !r.IsComplete() {
		e.mu.Lock()
		defer e.unlock()
		return e.broken
	}
	return nil
}

// AwaitAny waits until done says so; done is about requests. For MPI_Waitany and MPI_Waitsome.
func (e *Engine) AwaitAny(done func() bool) error {
	return e.AwaitFor(done, shm.Waiting{Process: -1})
}

// AwaitFor is AwaitAny that tells what done is about.
func (e *Engine) AwaitFor(done func() bool, what shm.Waiting) error {
	if err := e.nd.WaitFor(func() bool { return done() || e.dead.Load() }, what); err != nil {
		return err
	}
	if e.dead.Load() && !done() {
		e.mu.Lock()
		defer e.unlock()
		return e.broken
	}
	return nil
}

// Persist turns a new, never started operation into an inactive persistent request: MPI_Send_init, MPI_Recv_init and
// their relatives.
func (e *Engine) Persist(k request.Kind, c *comm.Comm, x comm.Context, b Buffer, peer int, tag int32,
	mode Mode) *request.Request {
	e.mu.Lock()
	defer e.unlock()
	o := e.newOpLocked(k, c, x, &b, int32(peer), tag, mode)
	o.Persistent = true
	o.SetInactive()
	return &o.Request
}

// Flushed waits until nothing that this process has to send is left here: part of MPI_Finalize. What nobody has
// received by the time that its receiver is in MPI_Finalize too is taken back.
func (e *Engine) Flushed() error {
	return e.wait(func() bool {
		if e.backlog.Load() > 0 {
			return false
		}
		if !e.mu.TryLock() {
			return false
		}
		for i := 0; i < len(e.sends.at); i++ { // of which there may be none from one to the next
			if o := e.sends.at[i].op; o != nil && o.to.link.Finishing() {
				e.cancelSendLocked(o)
			}
		}
		left := e.sends.used + len(e.work)
		e.unlock()
		return left == 0
	})
}

// remind tells the receivers of all sends under way that this process waits for them: those whose threads compute have
// their agents match and copy. Called by each wait that lasts, which may be for one of them. To wake them with each
// message would have cost more than most messages: the receiver mostly comes at once.
func (e *Engine) remind() {
	e.mu.Lock()
	defer e.unlock()
	if e.sends.used == 0 || e.sends.added == e.reminded {
		return
	}
	e.reminded = e.sends.added
	for i := 0; i < len(e.sends.at); i++ { // which changes when what waits for room leaves
		o := e.sends.at[i].op
		if o == nil || o.looked || o.limit != 0 {
			continue
		}
		o.looked = true
		e.postLocked(o.to, pending{k: kindLook, h: record{ctx: o.c.Context(o.x),
			src: int32(o.c.Rank()), tag: o.tag, from: int32(e.world), id: o.id}})
	}
}

// wantedLocked handles kindLook. If the message is matched the caller copies it, even if it only starts something.
func (e *Engine) wantedLocked(r *record) {
	wanted := func(m *Message) bool { return m.from == r.from && m.id == r.id && m.id != 0 }
	if q := e.queues[r.ctx]; q != nil {
		if m := q.unexpected.find(r.src, r.tag, wanted); m != nil {
			m.waits = true
			return
		}
	}
	if m := e.picked.find(r.src, r.tag, wanted); m != nil {
		m.waits = true
		return
	}
	e.due = len(e.work) > 0
}

// Polled is called where a call that programs repeat until it succeeds, such as MPI_Test, found nothing: it may be a
// wait.
func (e *Engine) Polled() {
	if e.polls.Add(1)%pollsToWait == 0 {
		e.remind()
	}
}

const pollsToWait = 1024
