package messages

import (
	"bytes"
	"fmt"
	"math/rand"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/p2p"
)

// plan lists the messages of a random job. All processes know it.
type plan struct {
	n    int
	from [][]planned // messages by sender
}

type planned struct {
	dest int
	tag  int32
	size int
	mode Mode
	seq  int // index among the messages of the same sender, destination and tag
}

const planTags = 3

func newPlan(rnd *rand.Rand, n, each int) *plan {
	p := &plan{n: n, from: make([][]planned, n)}
	for s := range p.from {
		seq := map[[2]int]int{}
		for i := 0; i < each; i++ {
			m := planned{dest: rnd.Intn(n), tag: int32(rnd.Intn(planTags))}
			switch rnd.Intn(10) {
			case 0:
				m.size = rnd.Intn(200_000)
			case 1, 2:
				m.size = eagerMax - 8 + rnd.Intn(16)
			case 3:
				m.size = rnd.Intn(eagerMax)
			default:
				m.size = rnd.Intn(300)
			}
			m.size = m.size / 8 * 8
			m.mode = []Mode{Standard, Standard, Standard, Synchronous,
				Ready, Standard | Urgent}[rnd.Intn(6)]
			k := [2]int{m.dest, int(m.tag)}
			m.seq = seq[k]
			seq[k]++
			p.from[s] = append(p.from[s], m)
		}
	}
	return p
}

func content(src int, m planned) []byte {
	return pattern(m.size, src*1_000_003+int(m.tag)*10_007+m.seq)
}

// TestRandomTraffic checks random jobs. Each process sends its messages in order and in all modes. It receives in
// another order, by receives with an exact source and tag and by matched probes with wildcards. Buffers are contiguous
// or strided.
func TestRandomTraffic(t *testing.T) {
	for seed := int64(1); seed <= 6; seed++ {
		for _, noCMA := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d cma %v", seed, !noCMA), func(t *testing.T) {
				rnd := rand.New(rand.NewSource(seed))
				p := newPlan(rnd, 2+int(seed)%3, 250)
				setCMA(t, noCMA)
				es := job(t, p.n)
				all(t, es, func(e *Engine) error {
					return runPlan(e, p, rand.New(rand.NewSource(seed*100+int64(e.world))))
				})
			})
		}
	}
}

func runPlan(e *Engine, p *plan, rnd *rand.Rand) error {
	me := e.world
	// expected[src][tag] holds the messages that were not yet received.
	expected := make([][planTags][]planned, p.n)
	left := 0
	for s, ms := range p.from {
		for _, m := range ms {
			if m.dest == me {
				expected[s][m.tag] = append(expected[s][m.tag], m)
				left++
			}
		}
	}
	type receive struct {
		r    *Request
		src  int
		m    planned
		mem  *guardedBuffer
		once bool
	}
	var posted []receive
	var sends []*Request
	var keep [][]byte
	toSend := p.from[me]
	for left > 0 || len(posted) > 0 || len(toSend) > 0 {
		switch k := rnd.Intn(6); {
		case k < 2 && len(toSend) > 0:
			m := toSend[0]
			toSend = toSend[1:]
			mem := newMemory(rnd, m.size)
			mem.fill(content(me, m))
			r, err := e.Isend(e.World, comm.PointToPoint, mem.buffer(), m.dest, m.tag, m.mode)
			if err != nil {
				return err
			}
			if r.Request == nil {
				mem.scribble()
			}
			sends = append(sends, r)
			keep = append(keep, mem.all)
		case k == 2 && left > 0:
			src, tag := rnd.Intn(p.n), rnd.Intn(planTags)
			if len(expected[src][tag]) == 0 {
				continue
			}
			m := expected[src][tag][0]
			expected[src][tag] = expected[src][tag][1:]
			left--
			mem := newMemory(rnd, m.size)
			r, err := e.Irecv(e.World, comm.PointToPoint, mem.buffer(), src, m.tag)
			if err != nil {
				return err
			}
			posted = append(posted, receive{r: r, src: src, m: m, mem: mem})
		case k == 3 && left > 0:
			src, tag := abi.MPI_ANY_SOURCE, int32(abi.MPI_ANY_TAG)
			if rnd.Intn(2) == 0 {
				tag = int32(rnd.Intn(planTags))
			}
			if rnd.Intn(2) == 0 {
				src = rnd.Intn(p.n)
			}
			var st p2p.Result
			msg := e.Improbe(e.World, comm.PointToPoint, src, tag, &st)
			if msg == nil {
				continue
			}
			ms := &expected[st.Source][st.Tag]
			if len(*ms) == 0 || int(st.Bytes) != (*ms)[0].size {
				return fmt.Errorf("probe from %d tag %d: %d bytes, not the next one expected",
					st.Source, st.Tag, st.Bytes)
			}
			m := (*ms)[0]
			*ms = (*ms)[1:]
			left--
			mem := newMemory(rnd, m.size)
			r, err := e.Imrecv(mem.buffer(), msg)
			if err != nil {
				return err
			}
			posted = append(posted, receive{r: r, src: int(st.Source), m: m, mem: mem})
		case len(posted) > 0:
			i := rnd.Intn(len(posted))
			x := posted[i]
			// Wait only if this process has nothing left to send or the receive is complete. Otherwise the
			// processes could wait for each other because of the order in the plan, without an error of the
			// engine.
			if len(toSend) > 0 && !x.r.IsComplete() {
				e.Progress()
				continue
			}
			posted = append(posted[:i], posted[i+1:]...)
			var st p2p.Result
			if err := e.Wait(x.r, &st); err != nil {
				return err
			}
			if st != (p2p.Result{Source: int32(x.src), Tag: x.m.tag, Bytes: int64(x.m.size)}) {
				return fmt.Errorf("status %+v of message %+v from %d", st, x.m, x.src)
			}
			if !bytes.Equal(x.mem.data(), content(x.src, x.m)) {
				return fmt.Errorf("wrong data in message %+v from %d", x.m, x.src)
			}
			if !x.mem.isIntact() {
				return fmt.Errorf("the receive wrote outside of its buffer: message %+v from %d",
					x.m, x.src)
			}
		}
	}
	err := waitAll(e, sends...)
	runtime.KeepAlive(keep)
	return err
}

// guardedBuffer is a contiguous or strided buffer of size bytes in a larger slice. All other bytes of the slice must
// stay 0xAA.
type guardedBuffer struct {
	all    []byte
	layout strided
	count  int64
	size   int64
}

func newMemory(rnd *rand.Rand, size int) *guardedBuffer {
	m := &guardedBuffer{layout: strided{1, 8, 8}, count: int64(size / 8), size: int64(size)}
	switch {
	case size == 0:
	case rnd.Intn(3) == 0:
		m.layout = strided{1, 8, 8 + int64(rnd.Intn(3))*8}
	case rnd.Intn(3) == 0 && size%(8*40) == 0 || size > 5000 && rnd.Intn(2) == 0: // a few large blocks
		blocks := int64(1 + rnd.Intn(40))
		for int64(size)%blocks != 0 {
			blocks--
		}
		m.layout, m.count = strided{blocks, int64(size) / blocks, int64(size)/blocks + 16}, 1
	}
	m.all = bytes.Repeat([]byte{0xAA}, 64+int(m.count*m.layout.blocks*m.layout.stride))
	return m
}

func (m *guardedBuffer) addr() uintptr { return uintptr(unsafe.Pointer(&m.all[32])) }

func (m *guardedBuffer) buffer() Buffer {
	return m.layout.at(m.addr(), m.count)
}

func (m *guardedBuffer) fill(data []byte) { m.layout.Unpack(m.addr(), 0, data) }

func (m *guardedBuffer) scribble() { m.fill(make([]byte, m.size)) }

func (m *guardedBuffer) data() []byte {
	out := make([]byte, m.size)
	m.layout.Pack(out, m.addr(), 0)
	return out
}

// isIntact reports whether all bytes outside of the buffer are unchanged. It overwrites the buffer.
func (m *guardedBuffer) isIntact() bool {
	m.fill(bytes.Repeat([]byte{0xAA}, int(m.size)))
	return bytes.Equal(m.all, bytes.Repeat([]byte{0xAA}, len(m.all)))
}

// TestFloods checks that all processes can send to each other before they receive anything, with much more data than an
// inbox holds.
func TestFloods(t *testing.T) {
	const each = 250
	for _, size := range []int{8, 4000, 40_000} {
		for _, noCMA := range []bool{false, true} {
			setCMA(t, noCMA)
			es := job(t, 3)
			all(t, es, func(e *Engine) error {
				var rs []*Request
				for i := 0; i < each; i++ {
					for d := 0; d < 3; d++ {
						r, err := e.Isend(e.World, 0, Bytes(pattern(size, i+e.world)), d,
							int32(i), Standard)
						if err != nil {
							return err
						}
						rs = append(rs, r)
					}
				}
				got := make([]byte, size)
				for i := each - 1; i >= 0; i-- {
					for s := 0; s < 3; s++ {
						if err := e.Recv(e.World, 0, Bytes(got), s, int32(i),
							nil); err != nil {
							return err
						}
						if !bytes.Equal(got, pattern(size, i+s)) {
							return fmt.Errorf("message %d from %d", i, s)
						}
					}
				}
				return waitAll(e, rs...)
			})
		}
	}
}

// TestBlockingFlood checks that standard-mode sends of small messages complete without receives, as long as the
// messages fit into the receiver's memory for unexpected messages.
func TestBlockingFlood(t *testing.T) {
	es := job(t, 2)
	all(t, es, func(e *Engine) error {
		other := 1 - e.world
		for i := 0; i < 2000; i++ {
			if err := e.Send(e.World, 0, Bytes(pattern(2000, i)), other, 5, Standard); err != nil {
				return err
			}
		}
		got := make([]byte, 2000)
		for i := 0; i < 2000; i++ {
			if err := e.Recv(e.World, 0, Bytes(got), other, 5, nil); err != nil {
				return err
			}
			if !bytes.Equal(got, pattern(2000, i)) {
				return fmt.Errorf("message %d", i)
			}
		}
		return nil
	})
}

// TestUnexpectedMessagesAreBounded checks a process that receives nothing for a while. It must store unexpected
// messages only up to the limit. When it receives the messages, all of them must arrive.
func TestUnexpectedMessagesAreBounded(t *testing.T) {
	es := job(t, 2)
	const size, count = 4000, 20_000
	most := int64(0)
	all(t, es, func(e *Engine) error {
		if e.world == 0 {
			var rs []*Request
			b := pattern(size, 1)
			for i := 0; i < count; i++ {
				r, err := e.Isend(e.World, 0, Bytes(b), 1, 0, Standard)
				if err != nil {
					return err
				}
				rs = append(rs, r)
			}
			if err := e.Send(e.World, 0, Bytes(nil), 1, 1, Standard); err != nil {
				return err
			}
			return waitAll(e, rs...)
		}
		if err := e.Recv(e.World, 0, Bytes(nil), 0, 1, nil); err != nil {
			return err
		}
		most = e.m.Counts().UnexpectedBytes
		got := make([]byte, size)
		for i := 0; i < count; i++ {
			if err := e.Recv(e.World, 0, Bytes(got), 0, 0, nil); err != nil {
				return err
			}
		}
		return nil
	})
	require.Less(t, most, int64(congestedFrom+count*entryCost+1<<20))
	require.Greater(t, most, int64(congestedFrom/2))
}

// TestProgressWhileTheTargetComputes checks that a posted receive gets its data, and its send completes, although the
// receiver makes no call in the meantime.
func TestProgressWhileTheTargetComputes(t *testing.T) {
	for _, noCMA := range []bool{false, true} {
		for _, size := range []int{8, 1 << 20} {
			setCMA(t, noCMA)
			es := job(t, 2)
			posted, sent := make(chan struct{}), make(chan struct{})
			want, got := pattern(size, 3), make([]byte, size)
			all(t, es, func(e *Engine) error {
				if e.world == 0 {
					<-posted
					defer close(sent)
					return e.Send(e.World, 0, Bytes(want), 1, 0, Synchronous)
				}
				r, err := e.Irecv(e.World, 0, Bytes(got), 0, 0)
				close(posted)
				if err != nil {
					return err
				}
				select {
				case <-sent:
				case <-time.After(20 * time.Second):
					return fmt.Errorf("%d bytes: the sender waits for the receiver's next call",
						size)
				}
				return e.Wait(r, nil)
			})
			require.Equal(t, want, got)
		}
	}
}
