package p2p

import (
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
	"gompirma/core/request"
	"gompirma/core/shm"
	"gompirma/core/trim"
)

// TagUB is the largest tag, the value of the attribute MPI_TAG_UB.
const TagUB = 1<<31 - 1

// eagerMax is the size of the largest message that is sent with its record.
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
	nodes []int32 // index on this node of each process of the job; -1: on another node. nil: all are here, in order

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
	probe   *probePage
	noCMA   bool
	hasWork atomic.Bool // work is not empty
	dead    atomic.Bool // broken is set

	mu        sync.Mutex
	in        inbox
	broken    error // the ring is damaged
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
	congested bool
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
	if err := nd.Commit(shm.MessageRing(nd.N, nd.Me), shm.MessageRingSize); err != nil {
		return nil, mpierr.Wrap(err, "message ring of process %d", nd.Me)
	}
	e := &Engine{
		nd: nd, world: cfg.Rank, nodes: cfg.Nodes,
		peers:  make([]atomic.Pointer[peer], nd.N),
		in:     inbox{b: nd.MessageRing(nd.Me)},
		queues: map[uint64]*queue{},
		picked: list[Message]{messages: true},
		blocks: map[int64]int64{},
		noCMA:  os.Getenv("GOMPIRMA_NO_CMA") == "1",
	}
	e.watch = trim.NewWatch(e.settle)
	if err := e.openProbe(); err != nil {
		return nil, err
	}
	// Where Yama lets only ancestors read a process' memory, this lets the peers, too. It fails where there is no
	// Yama.
	unix.Prctl(unix.PR_SET_PTRACER, ^uintptr(0), 0, 0, 0)
	e.World = comm.NewWorld(host{e}, cfg.Rank, cfg.Size)
	e.Self = comm.NewSelf(host{e}, cfg.Rank)
	nd.AddService(e.Progress)
	nd.AddReminder(e.remind)
	return e, nil
}

// Shared returns the shared memory of the node that the engine works on.
func (e *Engine) Shared() *shm.Node { return e.nd }

// NodeIndex returns the index on this node of the process with world rank w, -1 if it is on another node.
func (e *Engine) NodeIndex(w int32) int {
	if e.nodes == nil {
		return int(w)
	}
	return int(e.nodes[w])
}

// peer is another process of this node.
type peer struct {
	out  outbox
	node int
	cma  cmaState

	waiting atomic.Int32 // records and streams below: while there are any, nothing may overtake them
	// The rest is guarded by the engine's lock.
	records []pending // in order
	streams []*op     // sends whose data goes out in pieces
}

// pending is a record that found no room in the ring.
type pending struct {
	h    record
	k    kind
	op   *op // the send whose data or segments it carries; nil: it has none
	data []byte
	// Nobody needs to be woken for it: who waits for it looks by itself.
	quiet bool
}

func (e *Engine) peer(node int) *peer {
	if p := e.peers[node].Load(); p != nil {
		return p
	}
	p := &peer{out: outbox{b: e.nd.MessageRing(node)}, node: node}
	if !e.peers[node].CompareAndSwap(nil, p) {
		p = e.peers[node].Load()
	}
	return p
}

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
	if e.in.ready() || e.backlog.Load() > 0 || e.hasWork.Load() {
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

// drainLocked takes all records there are. It looks once more after it has announced the new head: a thread that found
// nothing at the old head may have gone to sleep over what came meanwhile.
func (e *Engine) drainLocked() bool {
	var rec record
	taken := false
	for e.broken == nil {
		payload, ok, err := e.in.take(&rec)
		if err != nil {
			e.broken = err
			e.dead.Store(true)
			e.nd.Wake(e.nd.Me)
			break
		}
		if !ok {
			if e.in.unpublished() == 0 {
				break
			}
			e.publishLocked()
			continue
		}
		taken = true
		if rec.kind() != kindPad {
			e.handleLocked(&rec, payload)
		}
		e.in.drop(rec.length())
		if e.in.unpublished() >= ringData/4 {
			e.publishLocked()
		}
	}
	return taken
}

func (e *Engine) publishLocked() {
	if e.in.publish() {
		e.in.waiting(e.nd.N, e.room)
	}
}

// room tells a process that there is room in this one's ring. It does so with a record, since whoever serves that
// process looks at its ring only. If there is no room for the record, there is something to look at.
func (e *Engine) room(node int) {
	if node == e.nd.Me {
		return
	}
	p := e.peer(node)
	if room, _ := p.out.reserve(recordSize); room != nil {
		commit(room, &record{node: int32(e.nd.Me)}, kindRoom, 0, recordSize)
	}
	e.nd.Wake(node)
	e.nd.RingDoorbell(node)
}

// handleLocked does what a record of another process asks for. Nothing in it is trusted.
func (e *Engine) handleLocked(r *record, payload []byte) {
	if r.node < 0 || int(r.node) >= e.nd.N {
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
			func(m *Message) bool { return m.node == r.node && m.id == r.id && m.id != 0 })
	case kindLook:
		e.wantedLocked(r)
	case kindGone:
		if o := e.sends.get(r.id); o != nil && o.to != nil && o.to.node == int(r.node) {
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

// congestLocked asks the other processes to keep their messages, or to send them along again.
func (e *Engine) congestLocked(on bool) {
	e.congested = on
	v := uint32(0)
	if on {
		v = 1
	}
	atomic.StoreUint32(u32(e.in.b, ringCongested), v)
}
