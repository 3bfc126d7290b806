package coll

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/core/comm"
	"gompirma/core/p2p"
)

// job is n processes of one node inside this one; COMM_WORLD has a control block if block is set.
func job(t testing.TB, n int, block bool) []*Engine {
	es := make([]*Engine, n)
	for i, nd := range nodes(t, n) {
		msg, err := p2p.New(nd, p2p.Config{Rank: i, Size: n})
		require.NoError(t, err)
		es[i] = New(msg)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for _, e := range es {
		wg.Add(1)
		go func() { // the agent of the process; here it looks from time to time
			defer wg.Done()
			for {
				select {
				case <-stop:
					return
				case <-time.After(50 * time.Microsecond):
					e.msg.Progress()
				}
			}
		}()
	}
	t.Cleanup(func() { close(stop); wg.Wait() })
	if block {
		everywhere(t, es, func(e *Engine, c *comm.Comm) error { return c.AttachBlock() })
	}
	return es
}

// everywhere runs f on COMM_WORLD of every process at once.
func everywhere(t testing.TB, es []*Engine, f func(e *Engine, c *comm.Comm) error) {
	t.Helper()
	errs := make([]error, len(es))
	var wg sync.WaitGroup
	var first sync.Once
	who := 0
	for i, e := range es {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if errs[i] = f(e, e.msg.World); errs[i] != nil {
				first.Do(func() { who = i; e.msg.Shared().MarkDead(i) }) // or the others would wait
			}
		}()
	}
	wg.Wait()
	require.NoError(t, errs[who], "process %d", who)
}

// both runs f on jobs of 1 to 5 processes, with and without a control block.
func both(t *testing.T, f func(t *testing.T, es []*Engine)) {
	for _, n := range []int{1, 2, 3, 5} {
		for _, block := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d/block=%v", n, block), func(t *testing.T) { f(t, job(t, n, block)) })
		}
	}
}

func TestForOtherPackages(t *testing.T) {
	both(t, func(t *testing.T, es []*Engine) {
		n := len(es)
		everywhere(t, es, func(e *Engine, c *comm.Comm) error {
			for k, size := range []int{0, 8, 100, 5000, 100000} {
				if err := e.Barrier(c); err != nil {
					return err
				}
				var want []byte
				for i := 0; i < n; i++ {
					want = append(want, input(k, i, size)...)
				}
				got, err := e.Allgather(c, input(k, c.Rank(), size))
				if err != nil || !bytes.Equal(want, got) {
					return fmt.Errorf("allgather of %d bytes: %v", size, err)
				}
				b := input(k, c.Rank(), size)
				if err := e.Bcast(c, b, k%n); err != nil || !bytes.Equal(input(k, k%n, size), b) {
					return fmt.Errorf("bcast of %d bytes: %v", size, err)
				}
			}
			got, err := e.AllreduceMax(c, int64(c.Rank()), -int64(c.Rank()), 7)
			if err != nil || fmt.Sprint(got) != fmt.Sprint([]int64{int64(n - 1), 0, 7}) {
				return fmt.Errorf("max: %v %v", got, err)
			}
			return nil
		})
	})
}
