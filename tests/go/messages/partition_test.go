package messages

import (
	"bytes"
	"fmt"
	"math/rand"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/p2p"
	"gompirma/core/request"
)

// TestPartitions divides the same data differently on the two sides, marks the partitions ready from several threads in
// random order, several rounds.
func TestPartitions(t *testing.T) {
	const total = 120_000
	for _, c := range []struct{ out, in int }{{1, 1}, {4, 4}, {1, 8}, {10, 3}, {3, 10}, {60, 1}} {
		es := job(t, 2)
		all(t, es, func(e *Engine) error {
			rnd := rand.New(rand.NewSource(int64(c.out)))
			mem := newMemory(rnd, total)
			parts, init, other := c.out, e.PsendInit, 1
			if e.world == 1 {
				parts, init, other = c.in, e.PrecvInit, 0
			}
			r, err := init(e.World, mem.buffer(), parts, other, 5)
			if err != nil {
				return err
			}
			p, size := r.Op.(*p2p.Partitioned), int64(total/parts)
			for round := 0; round < 5; round++ {
				want := pattern(total, round)
				if e.world == 0 {
					mem.fill(want)
				} else {
					mem.scribble()
				}
				if err := r.Op.Start(); err != nil {
					return err
				}
				if e.world == 0 {
					var wg sync.WaitGroup
					order := rnd.Perm(parts)
					for th := 0; th < 2; th++ {
						wg.Add(1)
						go func() {
							defer wg.Done()
							for i := th; i < parts; i += 2 {
								if err := p.Ready(order[i], order[i]); err != nil {
									panic(err)
								}
							}
						}()
					}
					wg.Wait()
				} else {
					arrived, last := 0, 0
					for arrived < parts {
						ok, err := p.Arrived(arrived)
						if err != nil {
							return err
						}
						if ok {
							at, n := int64(arrived)*size, size
							got := make([]byte, n)
							mem.layout.Pack(got, mem.addr(), at)
							if !bytes.Equal(got, want[at:at+n]) {
								return fmt.Errorf("partition %d has arrived with "+
									"wrong data", arrived)
							}
							arrived++
						}
						last++
					}
				}
				var st request.Status
				if err := e.Wait(r, &st); err != nil {
					return err
				}
				if e.world == 1 && (!bytes.Equal(mem.data(), want) ||
					st != (request.Status{Source: 0, Tag: 5, Bytes: total})) {
					return fmt.Errorf("round %d: wrong data or status %+v", round, st)
				}
			}
			return r.Free()
		})
	}
}

func TestPartitionsRefuse(t *testing.T) {
	es := job(t, 2)
	out, in := make([]byte, 100), make([]byte, 50)
	s, err := es[0].PsendInit(es[0].World, p2p.Bytes(out), 4, 1, 0)
	require.NoError(t, err)
	r, err := es[1].PrecvInit(es[1].World, p2p.Bytes(in), 1, 0, 0)
	require.NoError(t, err)
	p := s.Op.(*p2p.Partitioned)
	require.Equal(t, int32(abi.MPI_ERR_REQUEST), class(p.Ready(0, 0)), "not started")
	require.NoError(t, p.Start())
	require.Equal(t, int32(abi.MPI_ERR_REQUEST), class(p.Start()))
	require.Equal(t, int32(abi.MPI_ERR_ARG), class(p.Ready(3, 4)))
	require.NoError(t, p.Ready(1, 2))
	require.Equal(t, int32(abi.MPI_ERR_ARG), class(p.Ready(0, 1)), "1 is ready")
	_, err = p.Arrived(0)
	require.Equal(t, int32(abi.MPI_ERR_REQUEST), class(err))
	require.NoError(t, r.Op.Start())
	require.Equal(t, int32(abi.MPI_ERR_TRUNCATE), class(es[1].Wait(r, nil)))
	require.NoError(t, p.Ready(0, 0))
	require.NoError(t, p.Ready(3, 3))
	require.NoError(t, es[0].Wait(s, nil))
	// What was sent on the channel has no receiver.
	require.Eventually(t, func() bool {
		return es[1].m.Stock().Held == 4*(25+entryCost)
	}, 10*time.Second, time.Millisecond)
	require.NoError(t, r.Free())
	// Nobody at the other end.
	n, err := es[0].PsendInit(es[0].World, p2p.Buffer{}, 2, abi.MPI_PROC_NULL, 0)
	require.NoError(t, err)
	require.NoError(t, n.Op.Start())
	require.NoError(t, n.Op.(*p2p.Partitioned).Ready(0, 1))
	require.NoError(t, es[0].Wait(n, nil))
	n, err = es[0].PrecvInit(es[0].World, p2p.Buffer{}, 2, abi.MPI_PROC_NULL, 0)
	require.NoError(t, err)
	require.NoError(t, n.Op.Start())
	var st request.Status
	require.NoError(t, es[0].Wait(n, &st))
	require.Equal(t, request.ProcNull, st)
}

// TestPartitionsOfLess receives less than there is room for: the partitions that nothing comes for arrive with the last
// data.
func TestPartitionsOfLess(t *testing.T) {
	es := job(t, 2)
	out, in := make([]byte, 50), make([]byte, 100)
	s, err := es[0].PsendInit(es[0].World, p2p.Bytes(out), 2, 1, 0)
	require.NoError(t, err)
	r, err := es[1].PrecvInit(es[1].World, p2p.Bytes(in), 4, 0, 0)
	require.NoError(t, err)
	require.NoError(t, s.Op.Start())
	require.NoError(t, r.Op.Start())
	arrived := func(part int) bool {
		ok, err := r.Op.(*p2p.Partitioned).Arrived(part)
		require.NoError(t, err)
		return ok
	}
	require.NoError(t, s.Op.(*p2p.Partitioned).Ready(0, 0))
	for !arrived(0) {
	}
	for part := 1; part < 4; part++ {
		require.False(t, arrived(part), "partition %d", part)
	}
	require.NoError(t, s.Op.(*p2p.Partitioned).Ready(1, 1))
	for part := 3; part > 0; part-- {
		for !arrived(part) {
		}
	}
	require.NoError(t, es[0].Wait(s, nil))
	require.NoError(t, es[1].Wait(r, nil))
}
