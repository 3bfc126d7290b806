package p2p

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/comm"
)

// narrow is another kind of link than a ring's: its records are small, there is no room for every third at first, and
// nobody reads another's memory.
type narrow struct {
	Link
	asked, most atomic.Int64
}

const narrowest = 2 << 10

func (l *narrow) MaxRecord() int64 { return narrowest }
func (l *narrow) Shows() bool      { return false }
func (l *narrow) Reads() bool      { return false }

func (l *narrow) Reserve(n int64) []byte {
	if n > l.most.Load() {
		l.most.Store(n)
	}
	if l.asked.Add(1)%3 == 0 {
		return nil
	}
	return l.Link.Reserve(n)
}

func (l *narrow) Read([]Segment, *Buffer, int64) (bool, error) { panic("the link does not read") }

// TestAnotherLink: the engine keeps to what a link says of itself.
func TestAnotherLink(t *testing.T) {
	es := job(t, 2)
	var links [2]*narrow
	for i, e := range es {
		links[i] = &narrow{Link: e.rings.link(1 - i)}
		e.peers[1-i].Store(peerBy(links[i], int32(1-i)))
	}
	for _, mode := range []Mode{Standard, Synchronous} {
		for i, n := range []int{0, 8, narrowest - recordSize, narrowest - recordSize + 1, eagerMax, 100_000} {
			all(t, es, func(e *Engine) error {
				other := 1 - e.world
				out, in := pattern(n, i+e.world), make([]byte, n)
				r, err := e.Irecv(e.World, 0, Bytes(in), other, int32(i))
				if err != nil {
					return err
				}
				if err := e.Send(e.World, 0, Bytes(out), other, int32(i), mode); err != nil {
					return err
				}
				if err := e.Wait(r, nil); err != nil {
					return err
				}
				if !bytes.Equal(pattern(n, i+other), in) {
					return fmt.Errorf("%d bytes of process %d", n, other)
				}
				return nil
			})
		}
	}
	for _, l := range links {
		require.EqualValues(t, narrowest, l.most.Load(), "the largest record")
	}
}

// mailbox is another kind of port: what is in it has arrived.
type mailbox struct {
	records [][]byte
	flow    Flow
}

func (m *mailbox) Ready() bool { return len(m.records) > 0 }
func (m *mailbox) Ask(f Flow)  { m.flow = f }

func (m *mailbox) Drain(handle func(word uint64, record []byte)) (some bool, err error) {
	for len(m.records) > 0 {
		r := m.records[0]
		m.records = m.records[1:]
		handle(firstWord(kindEager, 0, int64(len(r))), r)
		some = true
	}
	return some, nil
}

// TestAnotherPort: what arrives at another port than the ring is received, and its senders are told to keep theirs.
func TestAnotherPort(t *testing.T) {
	e := jobWithout(t, 2)[0]
	m := &mailbox{}
	e.others = append(e.others, m)
	b := alignedBytes(recordSize + 8)
	h := record{ctx: e.World.Context(comm.PointToPoint), src: 1, tag: 3, from: 1, size: 8}
	h.fill(b)
	copy(b[recordSize:], pattern(8, 1))
	m.records = append(m.records, b)
	got := make([]byte, 8)
	require.NoError(t, e.Recv(e.World, 0, Bytes(got), 1, 3, nil))
	require.Equal(t, pattern(8, 1), got)
	e.mu.Lock()
	defer e.unlock()
	e.flowLocked(KeepBack)
	require.Equal(t, KeepBack, m.flow)
	e.flowLocked(SendAlong)
}
