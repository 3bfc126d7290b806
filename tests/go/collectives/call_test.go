package collectives

import (
	"bytes"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"gompirma/capi/engine"
	"gompirma/core/abi"
	"gompirma/core/coll"
	"gompirma/core/comm"
	"gompirma/core/datatype"
	"gompirma/core/handle"
	"gompirma/core/op"
	"gompirma/core/p2p"
	"gompirma/tests/go/types"
)

// testTypes returns two datatypes whose elements have two bytes of data. The bytes of `tight` are contiguous. `gappy`
// has gaps, and the first byte in its type map has the higher address.
func testTypes(t testing.TB) (tight, gappy *datatype.Type) {
	b, err := datatype.Get(abi.MPI_BYTE)
	require.NoError(t, err)
	tight, err = types.Contiguous(types.Small, 2, b)
	require.NoError(t, err)
	two, err := types.Hindexed(types.Small, []int64{1, 1}, []int64{7, 3}, b)
	require.NoError(t, err)
	gappy, err = types.Resized(types.Small, two, 1, 10)
	require.NoError(t, err)
	types.Commit(tight)
	types.Commit(gappy)
	return tight, gappy
}

// piece describes the data of several elements at a position in a buffer.
type piece struct {
	at   int64 // position of the elements: offset in bytes from the buffer's address
	t    *datatype.Type
	data []byte
}

const margin = 64

// image returns memory with the given pieces. All other bytes have a fill value. The buffer begins `margin` bytes after
// the start of the memory.
func image(size int64, pieces []piece) []byte {
	b := bytes.Repeat([]byte{0xee}, int(size)+2*margin)
	put(b, pieces)
	return b
}

func put(b []byte, pieces []piece) {
	for _, p := range pieces {
		if len(p.data) > 0 {
			unpack(&coll.Buffer{Addr: address(b) + margin + uintptr(p.at),
				Count: int64(len(p.data)) / p.t.Size(), Type: p.t}, p.data)
		}
	}
}

func span(pieces []piece) int64 {
	end := int64(0)
	for _, p := range pieces {
		end = max(end, p.at+(int64(len(p.data))/p.t.Size()+1)*p.t.Extent()+p.t.Extent())
	}
	return end
}

// callSetup is a collective call of one process. It has the arguments, the contents of the send buffer, and the
// contents of the receive buffer before and after the call.
type callSetup struct {
	call                coll.Call
	send, before, after []piece
}

// variant holds the parameters from which its method `scene` makes a callSetup.
type variant struct {
	kind     coll.Kind
	n, me    int
	elements int
	root     int
	inPlace  bool
	seed     int
	st, rt   *datatype.Type
}

// layoutBlocks places the blocks of a v or w collective in a buffer, in reverse order and with a gap of one element
// after each. It stores counts and displacements to `v`. Displacements are in elements, or in bytes in a w collective.
// In a w collective every second block has the type `other`.
func (x *variant) layoutBlocks(data [][]byte, t, other *datatype.Type, v *coll.Blocks, w bool) []piece {
	out := make([]piece, len(data))
	at := int64(0)
	v.Counts, v.Displs = make([]int64, len(data)), make([]int64, len(data))
	if w {
		v.Types = make([]*datatype.Type, len(data))
	}
	for i := len(data) - 1; i >= 0; i-- {
		v.Counts[i] = int64(len(data[i]) / 2)
		bt := t
		if w {
			if i%2 == 1 {
				bt = other
			}
			v.Types[i], v.Displs[i] = bt, at
			out[i] = piece{at, bt, data[i]}
			at += (v.Counts[i] + 1) * 10
			continue
		}
		v.Displs[i] = at
		out[i] = piece{at * t.Extent(), t, data[i]}
		at += v.Counts[i] + 1
	}
	return out
}

func row(data [][]byte, t *datatype.Type) []piece {
	out := make([]piece, len(data))
	at := int64(0)
	for i, d := range data {
		out[i] = piece{at, t, d}
		at += int64(len(d)/2) * t.Extent()
	}
	return out
}

// scene returns the callSetup for a variant.
func (x *variant) scene() *callSetup {
	s := &callSetup{call: coll.Call{Kind: x.kind, Root: int32(x.root)}}
	k := &s.call
	size := 2 * x.elements
	own := input(x.seed, x.me, size)
	uneven := func(i int) int { return size / 4 * (i % 3) * 2 }
	all := func(length func(i int) int) [][]byte {
		out := make([][]byte, x.n)
		for i := range out {
			out[i] = input(x.seed, i, length(i))
		}
		return out
	}
	same := func(int) int { return size }
	atRoot := x.me == x.root
	mine := func(ps []piece) []piece { return ps[x.me : x.me+1] }
	k.Send = coll.Buffer{Type: x.st, Count: int64(x.elements)}
	k.Recv = coll.Buffer{Type: x.rt, Count: int64(x.elements)}
	switch x.kind {
	case coll.KindBcast:
		if atRoot {
			s.before = []piece{{0, x.rt, own}}
		}
		s.after = []piece{{0, x.rt, input(x.seed, x.root, size)}}
	case coll.KindReduce, coll.KindAllreduce, coll.KindScan, coll.KindExscan:
		lo, hi := 0, x.n
		if x.kind == coll.KindScan {
			hi = x.me + 1
		} else if x.kind == coll.KindExscan {
			hi = x.me
		}
		s.send = []piece{{0, x.rt, own}} // a reduction has one type for both buffers
		if hi > lo && (x.kind != coll.KindReduce || atRoot) {
			s.after = []piece{{0, x.rt, reduction(x.seed, lo, hi, size)}}
		}
		if x.inPlace && (x.kind != coll.KindReduce || atRoot) {
			s.before = s.send
		}
	case coll.KindReduceScatter, coll.KindReduceScatterBlock:
		length := same
		if x.kind == coll.KindReduceScatter {
			length = uneven
		}
		total, from := 0, 0
		for i := 0; i < x.n; i++ {
			if i == x.me {
				from = total
			}
			k.RecvBlocks.Counts = append(k.RecvBlocks.Counts, int64(length(i)/2))
			total += length(i)
		}
		s.send = []piece{{0, x.rt, input(x.seed, x.me, total)}}
		s.after = []piece{{0, x.rt, reduction(x.seed, 0, x.n, total)[from : from+length(x.me)]}}
		if x.inPlace {
			s.before = s.send
		}
	case coll.KindGather, coll.KindAllgather:
		s.send = []piece{{0, x.st, own}}
		if x.kind == coll.KindAllgather || atRoot {
			s.after = row(all(same), x.rt)
			s.before = mine(s.after)
		}
	case coll.KindGatherv, coll.KindAllgatherv:
		s.send = []piece{{0, x.st, input(x.seed, x.me, uneven(x.me))}}
		k.Send.Count = int64(uneven(x.me) / 2)
		if x.kind == coll.KindAllgatherv || atRoot {
			s.after = x.layoutBlocks(all(uneven), x.rt, nil, &k.RecvBlocks, false)
			s.before = mine(s.after)
		}
	case coll.KindScatter, coll.KindScatterv:
		length := same
		if x.kind == coll.KindScatterv {
			length = uneven
			k.Recv.Count = int64(uneven(x.me) / 2)
		}
		if atRoot {
			if x.kind == coll.KindScatter {
				s.send = row(all(length), x.st)
			} else {
				s.send = x.layoutBlocks(all(length), x.st, nil, &k.SendBlocks, false)
			}
		}
		s.after = []piece{{0, x.rt, input(x.seed, x.me, length(x.me))}}
	case coll.KindAlltoall, coll.KindAlltoallv, coll.KindAlltoallw:
		in, out := make([][]byte, x.n), make([][]byte, x.n)
		for i := range in {
			length := size
			if x.kind != coll.KindAlltoall {
				length = uneven(x.me + i)
			}
			in[i], out[i] = input(x.seed+100*x.me, i, length), input(x.seed+100*i, x.me, length)
		}
		if x.kind == coll.KindAlltoall {
			s.send, s.after, s.before = row(in, x.st), row(out, x.rt), row(in, x.rt)
		} else {
			w := x.kind == coll.KindAlltoallw
			s.send = x.layoutBlocks(in, x.st, x.rt, &k.SendBlocks, w)
			s.before = x.layoutBlocks(in, x.rt, x.st, &k.RecvBlocks, w)
			s.after = x.layoutBlocks(out, x.rt, x.st, &k.RecvBlocks, w)
		}
	}
	scatters := x.kind == coll.KindScatter || x.kind == coll.KindScatterv
	switch {
	case scatters && x.inPlace && atRoot:
		s.after = nil
	case scatters, x.kind == coll.KindBcast:
	case !x.inPlace, x.kind.Rooted() && !atRoot:
		s.before = nil
	}
	return s
}

// run makes the call of a setup, and compares the buffers afterwards with the expected contents, gaps included. `how`
// selects the form: 0 blocking; 1 nonblocking; 2 persistent, started twice.
func (s *callSetup) run(e *Engine, c *comm.Comm, inPlaceHere bool, how int) error {
	k := &s.call
	k.Comm = c
	send := image(span(s.send), s.send)
	untouched := bytes.Clone(send)
	size := max(span(s.before), span(s.after))
	recv := image(size, s.before)
	want := bytes.Clone(recv)
	put(want, s.after)
	k.Send.Addr, k.Recv.Addr = address(send)+margin, address(recv)+margin
	if inPlaceHere {
		switch k.Kind {
		case coll.KindScatter, coll.KindScatterv:
			k.Recv = coll.Buffer{Addr: abi.MPI_IN_PLACE}
		default:
			k.Send = coll.Buffer{Addr: abi.MPI_IN_PLACE}
			k.SendBlocks = coll.Blocks{}
		}
	}
	if k.Kind.Rooted() && k.Kind != coll.KindBcast && c.Rank() != int(k.Root) {
		// The standard ignores these arguments at this rank, so they may have any value.
		if k.Kind == coll.KindScatter || k.Kind == coll.KindScatterv {
			k.Send = coll.Buffer{Addr: 1, Count: -1}
		} else if !k.Kind.Reduces() {
			k.Recv = coll.Buffer{Addr: 1, Count: -1}
		}
	}
	compare := func() error {
		if !bytes.Equal(untouched, send) {
			return fmt.Errorf("the call changed the send buffer")
		}
		if !bytes.Equal(want, recv) {
			for i := range want {
				if want[i] != recv[i] {
					return fmt.Errorf("byte %d of the receive buffer is %#x, not %#x", i-margin,
						recv[i], want[i])
				}
			}
		}
		return nil
	}
	defer runtime.KeepAlive(send)
	switch how {
	case 0:
		if err := e.Run(k); err != nil {
			return err
		}
		return compare()
	case 1:
		r, err := e.Start(k)
		if err == nil {
			err = e.wait(r)
		}
		if err != nil {
			return err
		}
		return compare()
	}
	r, err := e.Init(k)
	if err != nil {
		return err
	}
	for i := 0; i < 2; i++ {
		copy(recv, image(size, s.before))
		r.(engine.Request).Restart()
		if err := e.wait(r); err != nil {
			return err
		}
		if err := compare(); err != nil {
			return fmt.Errorf("start %d: %w", i+1, err)
		}
	}
	r.Free()
	return nil
}

// composeOp creates a user-defined operation that calls the function `compose`.
func composeOp(t testing.TB) *op.Op {
	op.CallUser = func(_ uintptr, _ bool, in, inout uintptr, n int64, h uintptr) {
		ty, err := datatype.Get(h)
		if err != nil {
			panic(err)
		}
		x, y := coll.Buffer{Addr: in, Count: n, Type: ty}, coll.Buffer{Addr: inout, Count: n, Type: ty}
		a, b := make([]byte, 2*n), make([]byte, 2*n)
		pack(a, &x)
		pack(b, &y)
		if err := compose(a, b); err != nil {
			panic(err)
		}
		unpack(&y, b)
	}
	t.Cleanup(func() { op.CallUser = nil })
	return op.New(handle.Make(handle.Op, 1), 1, false, false)
}

// TestCalls checks every collective in its blocking, nonblocking and persistent form, with and without MPI_IN_PLACE,
// and with both datatypes of testTypes on each side.
func TestCalls(t *testing.T) {
	tight, gappy := testTypes(t)
	o := composeOp(t)
	onSizes(t, func(t *testing.T, es []*Engine) {
		n := len(es)
		onAllRanks(t, es, func(e *Engine, c *comm.Comm) error {
			seed := 0
			for kind := coll.KindBarrier; kind < coll.KindNeighborAllgather; kind++ {
				for _, elements := range []int{0, 9, 5000} {
					for i := 0; i < 4; i++ {
						seed++
						// The bits of v select MPI_IN_PLACE and the two types. All sizes and
						// numbers of processes together cover all 8 values.
						v := (i*2 + seed/4%2) % 8
						x := variant{kind: kind, n: n, me: c.Rank(), elements: elements,
							root: seed % n, inPlace: v&1 != 0, seed: seed, st: tight,
							rt: gappy}
						if v&2 != 0 {
							x.st = gappy
						}
						if v&4 != 0 {
							x.rt = tight
						}
						if kind == coll.KindBarrier || kind == coll.KindBcast {
							x.inPlace = false
						}
						// Processes may use different types with the same signature.
						if (c.Rank()+seed)%3 == 0 && !kind.Reduces() {
							x.st, x.rt = x.rt, x.st
						}
						s := x.scene()
						s.call.Op = o
						here := x.inPlace && (!kind.Rooted() || c.Rank() == x.root)
						if err := s.run(e, c, here, seed%3); err != nil {
							return fmt.Errorf("%v of %d elements, root %d, in place %v, "+
								"form %d, types %v %v: %w", kind, elements, x.root,
								x.inPlace, seed%3, x.st, x.rt, err)
						}
					}
				}
			}
			return nil
		})
	})
}

// TestNonblockingOverlap checks that nonblocking calls may overlap with each other and with a blocking call, and that
// they may be completed in another order than they were started.
func TestNonblockingOverlap(t *testing.T) {
	tight, gappy := testTypes(t)
	o := composeOp(t)
	onSizes(t, func(t *testing.T, es []*Engine) {
		n := len(es)
		onAllRanks(t, es, func(e *Engine, c *comm.Comm) error {
			type started struct {
				r          p2p.Request
				recv, want []byte
			}
			var all []started
			for i := 0; i < 40; i++ {
				x := variant{kind: []coll.Kind{coll.KindBcast, coll.KindAllreduce,
					coll.KindAllgather, coll.KindAlltoallw,
					coll.KindScan}[i%5], n: n, me: c.Rank(), elements: []int{1, 3000, 20}[i%3],
					root: i % n, seed: i, st: gappy, rt: tight}
				s := x.scene()
				s.call.Op, s.call.Comm = o, c
				send, recv := image(span(s.send), s.send), image(max(span(s.before), span(s.after)),
					s.before)
				want := bytes.Clone(recv)
				put(want, s.after)
				s.call.Send.Addr, s.call.Recv.Addr = address(send)+margin, address(recv)+margin
				defer runtime.KeepAlive(send)
				r, err := e.Start(&s.call)
				if err != nil {
					return err
				}
				all = append(all, started{r, recv, want})
				if i%7 == 0 {
					if err := e.Barrier(c); err != nil {
						return err
					}
				}
			}
			for i := range all {
				a := all[(i*7+c.Rank())%len(all)]
				if err := e.wait(a.r); err != nil {
					return err
				}
				if !bytes.Equal(a.want, a.recv) {
					return fmt.Errorf("call %d: wrong result", (i*7+c.Rank())%len(all))
				}
			}
			return nil
		})
	})
}

func BenchmarkRun(b *testing.B) {
	double, err := datatype.Get(abi.MPI_DOUBLE)
	require.NoError(b, err)
	sum, err := op.Get(abi.MPI_SUM)
	require.NoError(b, err)
	for _, n := range []int{1, 2} {
		for _, kind := range []coll.Kind{coll.KindBarrier, coll.KindBcast, coll.KindAllreduce,
			coll.KindAllgather} {
			b.Run(fmt.Sprintf("%v/%d", kind, n), func(b *testing.B) {
				es := job(b, n)
				b.ReportAllocs()
				b.ResetTimer()
				onAllRanks(b, es, func(e *Engine, c *comm.Comm) error {
					in, out := make([]byte, 8), make([]byte, 16)
					k := coll.Call{Kind: kind, Comm: c, Op: sum,
						Send: coll.Buffer{Addr: address(in), Count: 1, Type: double},
						Recv: coll.Buffer{Addr: address(out), Count: 1, Type: double}}
					for i := 0; i < b.N; i++ {
						if err := e.Run(&k); err != nil {
							return err
						}
					}
					return nil
				})
			})
		}
	}
}

// TestProgressThreadCallsNoFunction checks that the progress thread transfers the messages of a nonblocking reduction,
// but never calls a user-defined operation. A waiting thread of the application calls it.
func TestProgressThreadCallsNoFunction(t *testing.T) {
	byteType, err := datatype.Get(abi.MPI_BYTE)
	require.NoError(t, err)
	var progressThread atomic.Int32
	var onProgressThread, calls atomic.Int32
	op.CallUser = func(uintptr, bool, uintptr, uintptr, int64, uintptr) {
		calls.Add(1)
		if int32(unix.Gettid()) == progressThread.Load() {
			onProgressThread.Add(1)
		}
	}
	defer func() { op.CallUser = nil }()
	o := op.New(handle.Make(handle.Op, 1), 1, false, false)
	es := job(t, 2)
	stop, gone := make(chan struct{}), make(chan struct{})
	ready := make(chan struct{})
	go func() {
		defer close(gone)
		runtime.LockOSThread()
		es[0].msg.ProgressThread()
		progressThread.Store(int32(unix.Gettid()))
		close(ready)
		for {
			select {
			case <-stop:
				return
			default:
				es[0].msg.Progress()
				time.Sleep(20 * time.Microsecond)
			}
		}
	}()
	<-ready
	onAllRanks(t, es, func(e *Engine, c *comm.Comm) error {
		for i := 0; i < 50; i++ {
			in, out := make([]byte, 4), make([]byte, 4)
			k := coll.Call{Kind: coll.KindAllreduce, Comm: c, Op: o, Send: coll.Buffer{Addr: address(in)},
				Recv: coll.Buffer{Addr: address(out), Count: 4, Type: byteType}}
			r, err := e.Start(&k)
			if err != nil {
				return err
			}
			if c.Rank() == 1 && i%4 == 0 {
				time.Sleep(time.Millisecond)
			}
			if err := e.wait(r); err != nil {
				return err
			}
			runtime.KeepAlive(in)
		}
		return nil
	})
	close(stop)
	<-gone
	require.EqualValues(t, 100, calls.Load())
	require.Zero(t, onProgressThread.Load())
}
