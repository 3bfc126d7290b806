package browser

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/cmd/internal/report"
	"gompirma/cmd/internal/trace"
)

// sums holds a number of events and their bytes.
type sums struct{ number, bytes int64 }

// expected holds the numbers that a page must show.
type expected struct {
	events             int
	oneSided, messages sums
	waited             int64
	calls              map[string]sums
}

// sample is a trace that is being written, and the numbers that its page must show.
type sample struct {
	w    *trace.Writer
	want expected
}

func (s *sample) event(e trace.Event) {
	s.w.Event(e)
	s.want.events++
	s.want.waited += e.Waited
	if e.Kind == trace.Wait {
		s.want.waited += e.Dur
		return
	}
	add := func(to *sums) { to.number, to.bytes = to.number+1, to.bytes+e.Bytes }
	if e.Kind == trace.RMA {
		add(&s.want.oneSided)
	}
	if e.Kind == trace.Message && e.Dest >= 0 {
		add(&s.want.messages)
	}
	of := s.want.calls[e.Name]
	add(&of)
	s.want.calls[e.Name] = of
}

// made writes a trace and its page, and returns the path of the page and the numbers that it must show.
func made(t *testing.T, name string, job trace.Job, fill func(s *sample)) (page string, want expected) {
	dir := t.TempDir()
	in := filepath.Join(dir, name+".json")
	f, err := os.Create(in)
	require.NoError(t, err)
	buffered := bufio.NewWriterSize(f, 1<<20)
	s := &sample{w: trace.NewWriter(buffered), want: expected{calls: map[string]sums{}}}
	for rank := range job.Ranks {
		s.w.Process(rank, fmt.Sprintf("rank %d", rank), job.Nodes[job.NodeOf[rank]])
	}
	fill(s)
	require.NoError(t, s.w.Close(job))
	require.NoError(t, buffered.Flush())
	require.NoError(t, f.Close())
	page = filepath.Join(dir, name+".html")
	_, err = report.File(in, page)
	require.NoError(t, err)
	return page, s.want
}

func jobOf(ranks, perNode int) trace.Job {
	job := trace.Job{Producer: "gompirma test", Command: fmt.Sprintf("gompirun -n %d ./halo", ranks), Ranks: ranks,
		Started: "2026-01-02T03:04:05Z", Dropped: make([]int64, ranks)}
	for rank := range ranks {
		if rank%perNode == 0 {
			job.Nodes = append(job.Nodes, fmt.Sprint("host", rank/perNode))
		}
		job.NodeOf = append(job.NodeOf, rank/perNode)
	}
	return job
}

// small returns the trace of a program with two ranks and known numbers. Its names would be harmful as HTML.
func small(t *testing.T) (page string, want expected) {
	job := jobOf(2, 2)
	job.Jobs = []int{0, 1}
	job.Windows = []trace.Window{{Name: "halo </script><b>", Sizes: []int64{4096, 4096}}}
	job.Checked = true
	job.Conflicts = []trace.Conflict{{What: "MPI_Put and MPI_Get of the same bytes, not ordered",
		Window: "halo </script><b>",
		Target: 1, From: 1024, To: 1032, Count: 3, Advice: "MPI_Win_fence between the two",
		Accesses: []trace.Access{{Rank: 0, Call: "MPI_Put", File: "halo.c", Line: 41, Function: "exchange",
			Epoch: "fence"},
			{Rank: 1, Call: "MPI_Get", File: "halo.c", Line: 57, Function: "<img src=x onerror=alert(1)>",
				Epoch: "fence"}}}}
	return made(t, "small", job, func(s *sample) {
		const us = 1000
		for rank := range 2 {
			s.event(trace.NewEvent(trace.Other, "MPI_Init", rank, 0, 0, 300*us))
			create := trace.NewEvent(trace.Sync, "MPI_Win_allocate", rank, 0, 320*us, 90*us)
			create.Window = job.Windows[0].Name
			s.event(create)
			for i := range 5 {
				at := int64(450+400*i) * us
				put := trace.NewEvent(trace.RMA, "MPI_Put", rank, 0, at+int64(20*rank)*us, 30*us)
				put.Target, put.Bytes, put.Window, put.Disp = 1-rank, 512, job.Windows[0].Name,
					int64(512*i)
				s.event(put)
				get := trace.NewEvent(trace.RMA, "MPI_Get", rank, 0, at+60*us, 25*us)
				get.Target, get.Bytes, get.Window, get.Disp = 1-rank, 64, job.Windows[0].Name, 3072
				s.event(get)
				fence := trace.NewEvent(trace.Sync, "MPI_Win_fence", rank, 0, at+int64(100+150*rank)*us,
					int64(220-150*rank)*us)
				fence.Window = job.Windows[0].Name
				if rank == 0 {
					fence.Waited, fence.For = 150*us, 1
				}
				s.event(fence)
			}
			name, to := "MPI_Send", 1-rank
			if rank == 1 {
				name = "MPI_Recv"
			}
			m := trace.NewEvent(trace.Message, name, rank, 0, int64(2500+10*rank)*us, 40*us)
			m.Tag, m.Bytes, m.Comm = 7, 4096, "MPI_COMM_WORLD"
			if rank == 0 {
				m.Dest = to
			} else {
				m.Source = to
			}
			s.event(m)
			reduce := trace.NewEvent(trace.Collective, "MPI_Allreduce", rank, 0, 2600*us, 100*us)
			reduce.Bytes, reduce.Comm = 8, "MPI_COMM_WORLD"
			s.event(reduce)
			wait := trace.NewEvent(trace.Wait, "wait", rank, 0, 2620*us, 60*us)
			s.event(wait)
		}
		s.w.Flow(trace.Flow{ID: 1, Rank: 0, Time: 2500 * us})
		s.w.Flow(trace.Flow{ID: 1, End: true, Rank: 1, Time: 2549 * us})
	})
}

// large returns the trace of a program with halo exchanges on a grid of 8 x 8 ranks, with a million events. Rank 9 is
// slow. Every tenth step has messages, and all ranks take part in collectives.
func large(t *testing.T) (page string, want expected) {
	const side, ranks, target = 8, 64, 1_000_000
	job := jobOf(ranks, 16)
	sizes := make([]int64, ranks)
	for i := range sizes {
		sizes[i] = 1 << 20
	}
	job.Windows = []trace.Window{{Name: "halo", Sizes: sizes}, {Name: "queue", Sizes: sizes}}
	job.Dropped[5] = 12
	return made(t, "large", job, func(s *sample) {
		random := rand.New(rand.NewPCG(1, 2))
		var now [ranks]int64
		var id uint64
		for step := 0; s.want.events < target; step++ {
			for r := range ranks { // computation
				now[r] += int64(random.ExpFloat64()*20_000) + 60_000
				if r == 9 {
					now[r] += 45_000
				}
			}
			for r := range ranks {
				x, y := r%side, r/side
				for d, to := range []int{(x+1)%side + y*side, (x+side-1)%side + y*side, x +
					(y+1)%side*side,
					x + (y+side-1)%side*side} {
					put := trace.NewEvent(trace.RMA, "MPI_Put", r, 0, now[r],
						900+int64(random.ExpFloat64()*800))
					put.Target, put.Bytes, put.Window, put.Disp = to, 2048, "halo",
						int64(d)*256<<10+int64(step%16)*2048
					if d > 1 {
						put.Bytes, put.Span = 256, 64<<10
					}
					s.event(put)
					now[r] += put.Dur + 150
				}
				if r%5 == 0 {
					add := trace.NewEvent(trace.RMA, "MPI_Fetch_and_op", r, 0, now[r], 700)
					add.Target, add.Bytes, add.Window, add.Disp = 0, 8, "queue", 64
					s.event(add)
					now[r] += 800
				}
			}
			if step%10 == 9 { // a message to the next rank
				for r := 0; r < ranks; r += 2 {
					send := trace.NewEvent(trace.Message, "MPI_Send", r, 0, now[r], 3000)
					send.Dest, send.Tag, send.Bytes, send.Comm = r+1, 3, 16<<10, "MPI_COMM_WORLD"
					s.event(send)
					recv := trace.NewEvent(trace.Message, "MPI_Recv", r+1, 0, now[r+1],
						max(now[r]+3500-now[r+1], 1200))
					recv.Source, recv.Tag, recv.Bytes, recv.Comm = r, 3, 16<<10, "MPI_COMM_WORLD"
					if late := now[r] - now[r+1]; late > 0 {
						recv.Waited, recv.For = late, r
					}
					s.event(recv)
					id++
					s.w.Flow(trace.Flow{ID: id, Rank: r, Time: now[r] + 10})
					s.w.Flow(trace.Flow{ID: id, End: true, Rank: r + 1, Time: now[r+1] +
						recv.Dur - 1})
					now[r], now[r+1] = now[r]+send.Dur, now[r+1]+recv.Dur
				}
			}
			meet := func(kind trace.Kind, name string) {
				last := 0
				for r := range ranks {
					if now[r] > now[last] {
						last = r
					}
				}
				late := now[last]
				end := late + 2000
				for r := range ranks {
					e := trace.NewEvent(kind, name, r, 0, now[r],
						end-now[r]+int64(random.IntN(300)))
					if kind == trace.Sync {
						e.Window = "halo"
					} else {
						e.Bytes, e.Comm = 8, "MPI_COMM_WORLD"
					}
					if r != last {
						e.Waited, e.For = late-now[r], last
					}
					s.event(e)
					now[r] = e.Start + e.Dur
				}
			}
			meet(trace.Sync, "MPI_Win_fence")
			if step%20 == 19 {
				meet(trace.Collective, "MPI_Allreduce")
			}
		}
	})
}
