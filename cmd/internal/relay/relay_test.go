package relay

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/insight"
)

const secret = "a-secret-of-this-job"

// here starts a receiver in this process, and returns the receiver and its address.
func here(t *testing.T, m *insight.Memory) (r *Receiver, where string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	r = NewReceiver(m, insight.MinRing, secret)
	go r.Serve(l)
	return r, l.Addr().String()
}

func memory(t *testing.T, ranks int) *insight.Memory {
	m, err := insight.Create(ranks, insight.Records|insight.WaitForSpace, insight.MinRing)
	require.NoError(t, err)
	t.Cleanup(m.Close)
	return m
}

// words returns a record of MPI_Barrier, in which n is stored in place of the caller's address.
func words(n uint64, at time.Duration) []uint64 {
	f := slices.IndexFunc(abi.Functions(), func(f *abi.Function) bool { return f.Name == "MPI_Barrier" })
	w := []uint64{uint64(f), 0, uint64(at), uint64(at) + 5, n, 0, abi.MPI_COMM_WORLD}
	w[0] |= uint64(len(w)) << 32
	return w
}

// Checks that records of two remote ranks arrive unchanged although their size exceeds the size of the rings, and that
// no record is missing after Close.
func TestRelay(t *testing.T) {
	const many = 3 * insight.MinRing / 8 / 7
	all := memory(t, 2)
	r, where := here(t, all)
	r.now = func() time.Duration { return monotonic() + 24*time.Hour }
	var senders sync.WaitGroup
	for rank := range 2 {
		senders.Add(1)
		go func() {
			defer senders.Done()
			s, err := Connect("127.0.0.1:1 "+where+" "+secret, rank)
			if err != nil {
				t.Error(err)
				return
			}
			part, err := insight.Create(1, s.Mode, s.Ring)
			if err != nil {
				t.Error(err)
				return
			}
			defer part.Close()
			stop, done := make(chan struct{}), make(chan error)
			go func() { done <- s.Follow(part, stop) }()
			for i := range uint64(many) {
				if err := part.Rank(0).Write(words(i, time.Hour), nil); err != nil {
					t.Error(err)
				}
			}
			close(stop)
			if err := <-done; err != nil {
				t.Error(err)
			}
		}()
	}
	got := [2]int{}
	var reached []time.Duration
	stop, done := make(chan struct{}), make(chan error)
	go func() {
		done <- all.Follow(stop, func(rank int, w []uint64) error {
			late := time.Duration(w[2]) - 25*time.Hour
			if w[4] != uint64(got[rank]) || w[3]-w[2] != 5 || late.Abs() > time.Minute {
				return fmt.Errorf("record %d is %v", got[rank], w)
			}
			got[rank]++
			return nil
		}, func(until time.Duration) { reached = append(reached, until) })
	}()
	senders.Wait()
	r.Close(time.Minute)
	close(stop)
	require.NoError(t, <-done)
	require.Equal(t, [2]int{many, many}, got)
	require.True(t, slices.IsSorted(reached))
	silent, err := r.Problems()
	require.NoError(t, err)
	require.Empty(t, silent)
}

// Checks connections without the secret, and connections with an invalid rank: the receiver must not answer, and must
// accept no data. Also checks that the error for an unreachable address names the address.
func TestStrangers(t *testing.T) {
	all := memory(t, 2)
	r, where := here(t, all)
	for name, c := range map[string]struct {
		where string
		rank  int
	}{
		"another secret": {where + " " + strings.Repeat("x", len(secret)), 0},
		"a short one":    {where + " x", 0},
		"no such rank":   {where + " " + secret, 2},
		"nobody there":   {"127.0.0.1:1 " + secret, 0},
		"nothing said":   {where, 0},
	} {
		_, err := Connect(c.where, c.rank)
		require.Error(t, err, name)
	}
	conn, err := net.Dial("tcp", where)
	require.NoError(t, err)
	_, err = conn.Write(append([]byte{hello, 0xff, 0xff, 0xff, 0xff}, make([]byte, 100)...))
	require.NoError(t, err)
	one := make([]byte, 1)
	n, _ := conn.Read(one)
	require.Zero(t, n, "an answer to what is too long")
	s, err := Connect(where+" "+secret, 1)
	require.NoError(t, err)
	_, err = s.conn.Write(frame('?', nil))
	require.NoError(t, err)
	r.Close(10 * time.Second)
	silent, err := r.Problems()
	require.Equal(t, []int{0}, silent)
	require.ErrorContains(t, err, "rank 1: invalid message '?' of 0 bytes")
}

// Checks that the offset to another host's clock is computed from the fastest answer, and that later estimates change
// the offset slowly.
func TestClock(t *testing.T) {
	require.Equal(t, 50*time.Second, estimateOffset([]clockSample{{0, 900, 50*time.Second + 800},
		{1000, 1100, 50*time.Second + 1050}, {2000, 3000, 50*time.Second + 2001}}))
	c := clock{offset: 100, target: 100}
	require.Equal(t, time.Duration(100), c.now(time.Second))
	c.target = 100 + time.Second
	require.Equal(t, 100+100*time.Microsecond, c.now(2*time.Second))
	c.target = 0
	require.Equal(t, 100+50*time.Microsecond, c.now(2500*time.Millisecond))
	require.Equal(t, time.Duration(0), c.now(time.Hour))
}
