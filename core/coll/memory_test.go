package coll

import (
	"fmt"
	"runtime"
	"sync"
)

// mailbox carries the messages of schedules in tests, in the memory of one process. It copies messages of up to `eager`
// bytes when they are sent. Longer messages stay in the sender's memory until they are received, as in core/p2p.
type mailbox struct {
	mu    sync.Mutex
	eager int
	lanes map[[2]int]*lane // by sender and receiver
}

type lane struct{ sends, recvs []*parcel }

type parcel struct {
	b    []byte
	done bool
	err  error
	mu   *sync.Mutex
}

func (p *parcel) poll() (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done, p.err
}

// pending is a message in progress.
type pending interface{ poll() (done bool, err error) }

func newMailbox(eager int) *mailbox { return &mailbox{eager: eager, lanes: map[[2]int]*lane{}} }

// end is the access of process `me` to a mailbox. toMe and toIt return the key of the lane from or to another process.
// Messages within a group and messages between two groups use different mailboxes.
type end struct {
	box  *mailbox
	me   int
	toMe func(from int) [2]int
	toIt func(to int) [2]int
}

func (m *mailbox) end(me int) *end {
	return &end{m, me, func(from int) [2]int { return [2]int{from, me} },
		func(to int) [2]int { return [2]int{me, to} }}
}

// across returns the end with which process me of group g (0 or 1) sends to the other group and receives from it.
func (m *mailbox) across(g, me int) *end {
	id := func(group, rank int) int { return rank*2 + group }
	return &end{m, me, func(from int) [2]int { return [2]int{id(1-g, from), id(g, me)} },
		func(to int) [2]int { return [2]int{id(g, me), id(1-g, to)} }}
}

func (e *end) lane(key [2]int) *lane {
	l := e.box.lanes[key]
	if l == nil {
		l = &lane{}
		e.box.lanes[key] = l
	}
	return l
}

func match(l *lane) {
	for len(l.sends) > 0 && len(l.recvs) > 0 {
		s, r := l.sends[0], l.recvs[0]
		l.sends, l.recvs = l.sends[1:], l.recvs[1:]
		if len(s.b) != len(r.b) {
			r.err = fmt.Errorf("a message of %d bytes where %d were expected", len(s.b), len(r.b))
		}
		copy(r.b, s.b)
		s.done, r.done = true, true
	}
}

func (e *end) send(to int, b []byte) pending {
	e.box.mu.Lock()
	defer e.box.mu.Unlock()
	p := &parcel{b: b, mu: &e.box.mu}
	if len(b) <= e.box.eager {
		p.b = append([]byte(nil), b...)
		p.done = true
	}
	l := e.lane(e.toIt(to))
	l.sends = append(l.sends, p)
	match(l)
	return p
}

func (e *end) recv(from int, b []byte) pending {
	e.box.mu.Lock()
	defer e.box.mu.Unlock()
	p := &parcel{b: b, mu: &e.box.mu}
	l := e.lane(e.toMe(from))
	l.recvs = append(l.recvs, p)
	match(l)
	return p
}

// left returns the number of sends and receives that have not been matched.
func (m *mailbox) left() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, l := range m.lanes {
		n += len(l.sends) + len(l.recvs)
	}
	return n
}

// finish executes the steps of a schedule whose links are mailboxes.
func finish(s *schedule) error {
	var waiting []pending
	await := func() error {
		for _, p := range waiting {
			for {
				done, err := p.poll()
				if err != nil {
					return err
				}
				if done {
					break
				}
				runtime.Gosched()
			}
		}
		waiting = nil
		return nil
	}
	for i := range s.steps {
		var err error
		switch st := &s.steps[i]; st.kind {
		case stepSend, stepForward:
			waiting = append(waiting, st.via.(*end).send(st.peer, st.buf))
		case stepRecv:
			waiting = append(waiting, st.via.(*end).recv(st.peer, st.buf))
		case stepWait:
			err = await()
		default:
			err = st.local()
		}
		if err != nil {
			return err
		}
	}
	return await()
}
