package p2p

import (
	"sync"
	"sync/atomic"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
	"gompirma/core/request"
	"gompirma/core/shm"
	"gompirma/core/trim"
)

// TagUB is the largest tag, the value of the attribute MPI_TAG_UB.
const TagUB = 1<<31 - 1

// eagerMax is the size of the largest message to this process itself that is copied before it is received.
const eagerMax = maxRecord - recordSize

// Unexpected messages may take up so many bytes before other processes are asked to keep theirs, and those when they
// need no longer.
const (
	congestedFrom  = 32 << 20
	congestedUntil = 16 << 20
	entryCost      = 256 // what an unexpected message costs besides its data
)

// Engine is the messages of one process. Safe for concurrent use.
type Engine struct {
	nd    *shm.Node
	world int     // world rank of this process
	size  int     // processes of the job
	nodes []int32 // index on this node of each process of the job; -1: on another node. nil: all are here, in order
	rings *rings  // the links to the processes of this node
	// other ports than the rings, and what all of them call
	others []Port
	handle func(word uint64, record []byte) // recordLocked

	World *comm.Comm
	Self  *comm.Comm

	peers   []atomic.Pointer[peer] // by index on this node
	backlog atomic.Int32           // peers that something waits to be sent to
	missed  atomic.Uint32          // a thread found the lock taken while it wanted to make progress
	polls   atomic.Uint32          // calls of Polled
	arrived atomic.Uint64          // unexpected messages so far, for probes
	hooks   atomic.Pointer[[]*Hook]
	hooking atomic.Bool // a thread runs the hooks, and again if stepped is set then
	stepped atomic.Bool // something has completed that a hook may go on with
	ids     atomic.Uint64
	hasWork atomic.Bool // work is not empty
	dead    atomic.Bool // broken is set

	mu        sync.Mutex
	broken    error // a port is damaged
	queues    map[uint64]*queue
	picked    list[Message] // messages that matched probes have handed out
	lastCtx   uint64        // the queue looked up last
	lastQueue *queue
	sends     slots      // sends that wait for an acknowledgement or are sent in pieces
	receives  slots      // receives whose data comes in pieces
	work      []*op      // receives whose data is to be copied from a sender's memory
	due       bool       // now: the sender waits for one of them
	reminded  uint64     // what sends.added was the last time that receivers were reminded
	mustFlush bool       // there may be room for what waits to be sent
	behind    []*peer    // those that something waits to be sent to
	held      int64      // bytes in unexpected messages
	watch     trim.Watch // of those messages
	flow      Flow       // what has been asked of those who send
	freeOps   []*op
	freeMsgs  []*Message
	process   attached // buffer of MPI_Buffer_attach
	hooksMu   sync.Mutex
	blocks    map[int64]int64 // control blocks reserved here and their sizes
}

// Config says where the processes of the job are.
type Config struct {
	Rank int // world rank of this process
	Size int // number of processes of the job
	// Nodes holds, for each world rank, the index on this node, -1 for a process on another one; nil if all are on
	// this node and index equals world rank.
	Nodes []int32
}

// New makes the engine of this process, with COMM_WORLD and COMM_SELF, and registers it as a service of nd. Messages
// can be sent as soon as all processes of the node have called it. The control block of COMM_WORLD is made by
// World.AttachBlock, collectively. MPI_ERR_NO_MEM: no memory for the message ring.
func New(nd *shm.Node, cfg Config) (*Engine, error) {
	if cfg.Nodes == nil && cfg.Size != nd.N {
		return nil, mpierr.New(abi.MPI_ERR_INTERN,
			"%d processes in the job, %d on this node, and no map of them", cfg.Size, nd.N)
	}
	r, err := newRings(nd, cfg.Rank)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		nd: nd, world: cfg.Rank, size: cfg.Size, nodes: cfg.Nodes,
		rings:  r,
		peers:  make([]atomic.Pointer[peer], nd.N),
		queues: map[uint64]*queue{},
		picked: list[Message]{messages: true},
		blocks: map[int64]int64{},
	}
	e.handle = e.recordLocked
	e.watch = trim.NewWatch(e.settle)
	e.World = comm.NewWorld(host{e}, cfg.Rank, cfg.Size)
	e.Self = comm.NewSelf(host{e}, cfg.Rank)
	nd.AddService(e.Progress)
	nd.AddReminder(e.remind)
	return e, nil
}

// Shared returns the shared memory of the node that the engine works on.
func (e *Engine) Shared() *shm.Node { return e.nd }

// Hook is work done at every progress; see AddHook.
type Hook struct{ f func() bool }

// AddHook has f called whenever the process makes progress, without the engine's lock, by one thread at a time or
// several. It returns whether it found something to do and must not block. For operations made of several messages,
// such as non-blocking collectives.
func (e *Engine) AddHook(f func() bool) *Hook {
	h := &Hook{f}
	e.changeHooks(func(hs []*Hook) []*Hook { return append(hs, h) })
	return h
}

// RemoveHook ends what AddHook began; f may be called once more by a thread that is at it.
func (e *Engine) RemoveHook(h *Hook) {
	e.changeHooks(func(hs []*Hook) []*Hook {
		for i, x := range hs {
			if x == h {
				return append(hs[:i], hs[i+1:]...)
			}
		}
		return hs
	})
}

func (e *Engine) changeHooks(change func([]*Hook) []*Hook) {
	e.hooksMu.Lock()
	defer e.hooksMu.Unlock()
	var hs []*Hook
	if old := e.hooks.Load(); old != nil {
		hs = append(hs, *old...)
	}
	hs = change(hs)
	if len(hs) == 0 {
		e.hooks.Store(nil)
		return
	}
	e.hooks.Store(&hs)
}

// Progress takes what has arrived, sends what could not be sent before, copies data of matched messages, and runs the
// hooks. It returns whether there was anything to do. It does not block: if another thread is at it, that one does this
// thread's part as well.
func (e *Engine) Progress() bool {
	worked, again := false, false
	for {
		now := e.progress()
		now = e.runHooks() || now
		worked = worked || now
		// A hook may have started a receive whose data is there, whatever it returns. If the work does not go
		// away another thread has the lock, and does it.
		if !e.hasWork.Load() || again && !now {
			return worked
		}
		again = true
	}
}

// runHooks runs the hooks, again if something completes meanwhile that they may go on with. Of several threads the
// first does that.
func (e *Engine) runHooks() bool {
	worked := false
	for {
		hs := e.hooks.Load()
		if hs == nil {
			if e.stepped.Load() {
				e.stepped.Store(false)
			}
			return worked
		}
		first := e.hooking.CompareAndSwap(false, true)
		if first { // for another thread's hooks may have been skipped because the first one was at them
			e.stepped.Store(false)
		}
		for _, h := range *hs {
			worked = h.f() || worked
		}
		if !first {
			return worked
		}
		e.hooking.Store(false)
		if !e.stepped.Load() {
			return worked
		}
	}
}

// step makes progress if something has completed that hooks may go on with and nobody runs them. For calls that would
// make none: they may have taken it out of the ring before the agent that was rung for it looked.
func (e *Engine) step() {
	if e.stepped.Load() && !e.hooking.Load() {
		e.Progress()
	}
}

// progress is Progress without the hooks.
func (e *Engine) progress() bool {
	worked := false
	if e.ready() || e.backlog.Load() > 0 || e.hasWork.Load() {
		if !e.mu.TryLock() {
			// The thread that has the lock looks at missed after it has given it away. If it did so before
			// it was set, the lock is free now.
			e.missed.Store(1)
			if !e.mu.TryLock() {
				return false
			}
		}
		worked = e.progressLocked()
		e.giveAway()
	}
	return worked
}

// unlock does what has been found to do under the lock and gives it away.
func (e *Engine) unlock() {
	if len(e.work) > 0 || e.mustFlush {
		e.progressLocked()
	}
	e.giveAway()
	e.step()
}

// unlockStarted is unlock for calls that start something and return. They do not copy: what else the application is
// about to start would have to wait, and those that wait for that. Who waits for the data copies it later, at the
// latest when its sender waits too. If that is another thread of this process, which sleeps, it is woken.
func (e *Engine) unlockStarted() {
	switch {
	case e.due:
		e.progressLocked()
	case e.mustFlush:
		e.mustFlush = false
		e.flushLocked()
	}
	e.giveAway()
	e.step()
	if e.hasWork.Load() {
		e.nd.Wake(e.nd.Me)
	}
}

// giveAway unlocks, and makes the progress that others wanted to make meanwhile.
func (e *Engine) giveAway() {
	e.mu.Unlock()
	for e.missed.Load() != 0 && e.missed.Swap(0) != 0 {
		if !e.mu.TryLock() {
			e.missed.Store(1)
			if !e.mu.TryLock() {
				return
			}
		}
		e.progressLocked()
		e.mu.Unlock()
	}
}

// progressLocked is progress with the lock. It gives the lock away while it copies, and between the pieces that it
// sends.
func (e *Engine) progressLocked() bool {
	worked := e.drainLocked()
	for {
		again := false
		if e.mustFlush || e.backlog.Load() > 0 {
			e.mustFlush = false
			again = e.flushLocked()
		}
		if len(e.work) > 0 {
			o := e.work[0]
			e.work = append(e.work[:0], e.work[1:]...)
			e.hasWork.Store(len(e.work) > 0)
			e.due = e.due && len(e.work) > 0
			e.pullLocked(o)
			again = true
		}
		again = e.drainLocked() || again
		worked = worked || again
		if !again {
			return worked
		}
	}
}

// ready returns whether anything has come for this process. Every poll and every message comes by here, and every
// process has the rings: they are asked without an interface between, which costs a small message some 10 ns of 350.
func (e *Engine) ready() bool {
	if e.rings.Ready() {
		return true
	}
	for _, from := range e.others {
		if from.Ready() {
			return true
		}
	}
	return false
}

// drainLocked takes all records there are.
func (e *Engine) drainLocked() bool {
	if e.broken != nil {
		return false
	}
	taken, err := e.rings.Drain(e.handle)
	for _, from := range e.others {
		if err == nil {
			var some bool
			some, err = from.Drain(e.handle)
			taken = taken || some
		}
	}
	if err != nil {
		e.broken = err
		e.dead.Store(true)
		e.nd.Wake(e.nd.Me)
	}
	return taken
}

// recordLocked handles a record that has arrived: its first word, and its bytes.
func (e *Engine) recordLocked(word uint64, bytes []byte) {
	r := *recordAt(bytes, 0)
	r.word = word
	e.handleLocked(&r, bytes[recordSize:])
}

// handleLocked does what a record of another process asks for. Nothing in it is trusted.
func (e *Engine) handleLocked(r *record, payload []byte) {
	if !e.isPeer(r.from) {
		return
	}
	switch r.kind() {
	case kindEager, kindRTS:
		e.arriveLocked(r, payload)
	case kindCTS:
		e.clearToSendLocked(r, payload)
	case kindPiece:
		e.pieceLocked(r, payload)
	case kindAck:
		e.acknowledgedLocked(r)
	case kindRoom:
		e.mustFlush = e.mustFlush || e.backlog.Load() > 0
	case kindBlock:
		e.releaseBlockLocked(int64(r.ctx), int64(r.size))
	case kindCancel:
		e.withdrawLocked(r.ctx, r.src, r.tag,
			func(m *Message) bool { return m.from == r.from && m.id == r.id && m.id != 0 })
	case kindLook:
		e.wantedLocked(r)
	case kindGone:
		if o := e.sends.get(r.id); o != nil && o.to != nil && o.to.world == r.from {
			e.lostLocked(o)
		}
	}
}

// queueLocked returns the queue of a context.
func (e *Engine) queueLocked(ctx uint64) *queue {
	if e.lastQueue != nil && e.lastCtx == ctx {
		return e.lastQueue
	}
	q := e.queues[ctx]
	if q == nil {
		q = &queue{unexpected: list[Message]{messages: true}}
		e.queues[ctx] = q
	}
	e.lastCtx, e.lastQueue = ctx, q
	return q
}

// wait waits for done, serving this process meanwhile.
func (e *Engine) wait(done func() bool) error {
	return e.nd.Wait(done)
}

// completeLocked publishes the result of an operation and wakes who waits for it.
func (e *Engine) completeLocked(o *op, err error) {
	if o.fetches != nil {
		e.fetchedLocked(o, err)
		return
	}
	if err != nil {
		o.Err = err
		o.Status.Error = mpierr.ClassOf(err)
	}
	steps := o.x != comm.PointToPoint
	o.Complete()
	if steps && e.hooks.Load() != nil {
		e.stepped.Store(true)
	}
	e.nd.Wake(e.nd.Me)
}

var _ comm.Host = host{}
var _ request.Operation = (*op)(nil)

// flowLocked asks those who send to this process to keep their messages, or to send them along again.
func (e *Engine) flowLocked(f Flow) {
	e.flow = f
	e.rings.Ask(f)
	for _, from := range e.others {
		from.Ask(f)
	}
}
