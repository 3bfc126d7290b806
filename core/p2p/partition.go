package p2p

import (
	"encoding/binary"
	"sync"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
	"gompirma/core/request"
)

// Partitioned messages (MPI-5.0 chapter 4). The two sides meet once, when both have made their request: the sender
// tells the receiver the number and size of its partitions and a channel, contexts for these two requests alone. From
// then on each partition is a message on the channel, with its number as tag, sent by MPI_Pready and received by what
// MPI_Start has posted; so the sides may divide the data differently.

// Partitioned is a request of MPI_Psend_init or MPI_Precv_init.
type Partitioned struct {
	request.Request
	request.None
	e     *Engine
	buf   Buffer
	parts int   // on this side
	size  int64 // bytes of each
	peer  int
	tag   int32

	mu      sync.Mutex
	channel *comm.Comm // nil: the sender's word has not come yet
	word    []byte     // what the sender tells: channel, number of its partitions, size of each
	meeting *request.Request
	theirs  int   // partitions of the sender
	their   int64 // bytes of each
	posted  bool  // the receives of this round are
	subs    []*request.Request
	started []bool // sender: partitions that are ready
	count   int    // of them
	hook    *Hook
}

const wordSize = 24

// PsendInit makes the inactive request of a partitioned send of parts parts, which together are b. The caller has
// checked dest and tag, and that parts divides the elements.
func (e *Engine) PsendInit(c *comm.Comm, b Buffer, parts, dest int, tag int32) (*request.Request, error) {
	p := e.newPartitioned(c, b, parts, dest, tag)
	p.started = make([]bool, parts)
	if dest == abi.MPI_PROC_NULL {
		return &p.Request, nil
	}
	id := c.NewChannel()
	p.channel = c.Channel(id)
	p.word = binary.LittleEndian.AppendUint64(nil, id)
	p.word = binary.LittleEndian.AppendUint64(p.word, uint64(parts))
	p.word = binary.LittleEndian.AppendUint64(p.word, uint64(p.size))
	var err error
	p.meeting, err = e.Isend(c, comm.Partition, Bytes(p.word), dest, tag, Standard|Urgent)
	return &p.Request, err
}

// PrecvInit is PsendInit of the receiver.
func (e *Engine) PrecvInit(c *comm.Comm, b Buffer, parts, source int, tag int32) (*request.Request, error) {
	p := e.newPartitioned(c, b, parts, source, tag)
	if source == abi.MPI_PROC_NULL {
		return &p.Request, nil
	}
	p.word = make([]byte, wordSize)
	var err error
	p.meeting, err = e.Irecv(c, comm.Partition, Bytes(p.word), source, tag)
	return &p.Request, err
}

func (e *Engine) newPartitioned(c *comm.Comm, b Buffer, parts, peer int, tag int32) *Partitioned {
	p := &Partitioned{e: e, buf: b, parts: parts, peer: peer, tag: tag}
	if parts > 0 {
		p.size = b.size / int64(parts)
	}
	p.Kind, p.Op, p.Owner, p.Persistent = request.Partitioned, p, c, true
	p.SetInactive()
	return p
}

// Start implements request.Operation.
func (p *Partitioned) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.Inactive() {
		return mpierr.New(abi.MPI_ERR_REQUEST,
			"the partitioned request is active: it must be completed before it is started again")
	}
	p.SetActive()
	p.posted, p.count, p.subs = false, 0, nil
	clear(p.started)
	p.Status = request.Empty
	if p.peer == abi.MPI_PROC_NULL {
		p.Status = request.ProcNull
		if p.started == nil || p.parts == 0 {
			p.Complete()
		}
		return nil
	}
	p.hook = p.e.AddHook(p.progress)
	p.progressLocked()
	return nil
}

// progress is the request's hook.
func (p *Partitioned) progress() bool {
	if !p.mu.TryLock() {
		return false
	}
	defer p.mu.Unlock()
	return p.progressLocked()
}

func (p *Partitioned) progressLocked() bool {
	if p.hook == nil {
		return false
	}
	worked := false
	if p.started == nil && !p.posted {
		if p.channel == nil && !p.meetLocked() {
			return false
		}
		if p.hook == nil { // it has failed
			return true
		}
		worked = true
		p.posted = true
		for i := 0; i < p.theirs; i++ {
			b := p.buf.slice(int64(i)*p.their, p.their)
			r, _ := p.e.Irecv(p.channel, comm.Partition, b, p.peer, int32(i))
			p.subs = append(p.subs, r)
		}
	}
	if p.started != nil && p.count < p.parts {
		return worked
	}
	for _, r := range p.subs {
		if !r.IsComplete() {
			return worked
		}
	}
	var first error
	for _, r := range p.subs {
		if _, err := r.Finish(nil); err != nil && first == nil {
			first = err
		}
	}
	p.subs = nil
	if p.started == nil {
		p.Status = request.Status{Source: int32(p.peer), Tag: p.tag, Bytes: int64(p.theirs) * p.their}
	}
	p.endLocked(first)
	return true
}

// meetLocked looks whether the sender's word has come.
func (p *Partitioned) meetLocked() bool {
	if p.meeting == nil || !p.meeting.IsComplete() {
		return false
	}
	var st request.Status
	_, err := p.meeting.Finish(&st)
	p.meeting = nil
	if err == nil && st.Bytes == wordSize {
		p.channel = p.Owner.(*comm.Comm).Channel(binary.LittleEndian.Uint64(p.word))
		n, size := binary.LittleEndian.Uint64(p.word[8:]), binary.LittleEndian.Uint64(p.word[16:])
		if n < 1<<31 && size < 1<<62 && (n == 0 || size <= 1<<62/n) && int64(n*size) <= p.buf.size {
			p.theirs, p.their = int(n), int64(size)
			return true
		}
		err = mpierr.New(abi.MPI_ERR_TRUNCATE,
			"the sender's %d partitions of %d bytes do not fit into the %d bytes of the receiver", n, size,
			p.buf.size)
	}
	if err == nil {
		err = mpierr.New(abi.MPI_ERR_OTHER, "the sender's word has %d bytes", st.Bytes)
	}
	p.endLocked(err)
	return true
}

// endLocked completes the round.
func (p *Partitioned) endLocked(err error) {
	p.e.RemoveHook(p.hook)
	p.hook = nil
	if err != nil {
		p.Err = err
		p.Status.Error = mpierr.ClassOf(err)
	}
	p.Complete()
	p.e.nd.Wake(p.e.nd.Me)
}

// Ready is MPI_Pready for partitions [low, high]. MPI_ERR_REQUEST: not an active partitioned send; MPI_ERR_ARG: a
// partition does not exist or is ready already.
func (p *Partitioned) Ready(low, high int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.started == nil || p.Inactive() {
		return mpierr.New(abi.MPI_ERR_REQUEST, "the request is not an active partitioned send")
	}
	for i := low; i <= high; i++ {
		if i < 0 || i >= p.parts {
			return mpierr.New(abi.MPI_ERR_ARG, "partition %d: the request has %d", i, p.parts)
		}
		if p.started[i] {
			return mpierr.New(abi.MPI_ERR_ARG, "partition %d is ready already", i)
		}
	}
	for i := low; i <= high; i++ {
		p.started[i] = true
		p.count++
		if p.peer == abi.MPI_PROC_NULL {
			continue
		}
		b := p.buf.slice(int64(i)*p.size, p.size)
		r, err := p.e.Isend(p.channel, comm.Partition, b, p.peer, int32(i), Standard|Urgent)
		if err != nil {
			return err
		}
		if r != request.Completed {
			p.subs = append(p.subs, r)
		}
	}
	if p.peer != abi.MPI_PROC_NULL {
		p.progressLocked()
	} else if p.count == p.parts {
		p.Complete()
	}
	return nil
}

// Arrived is MPI_Parrived: whether a partition of an active receive has come; true for an inactive one.
// MPI_ERR_REQUEST: not a partitioned receive; MPI_ERR_ARG: the partition does not exist.
func (p *Partitioned) Arrived(part int) (bool, error) {
	if p.started != nil {
		return false, mpierr.New(abi.MPI_ERR_REQUEST, "the request is a partitioned send")
	}
	if part < 0 || part >= p.parts {
		return false, mpierr.New(abi.MPI_ERR_ARG, "partition %d: the request has %d", part, p.parts)
	}
	p.e.Progress()
	if p.IsComplete() || p.Inactive() {
		return true, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hook == nil {
		return true, nil
	}
	if !p.posted {
		return false, nil
	}
	none := true
	for i, r := range p.subs {
		if p.holds(part, i) {
			if none = false; !r.IsComplete() {
				return false, nil
			}
		}
	}
	// A partition that the sender has nothing for is there when all is: then the request is complete.
	return !none, nil
}

// holds returns whether the sender's partition i has data of this side's partition part. Without any data it is the
// share of the whole that counts.
func (p *Partitioned) holds(part, i int) bool {
	own, size, other, their := int64(part), p.size, int64(i), p.their
	if size == 0 && their == 0 {
		size, their = int64(p.theirs), int64(p.parts)
	}
	return other*their < (own+1)*size && (other+1)*their > own*size
}

// Release implements request.Operation.
func (p *Partitioned) Release() error {
	if p.meeting != nil && p.meeting != request.Completed {
		p.meeting.Free()
	}
	if p.channel != nil {
		p.channel.Forget()
	}
	return nil
}
