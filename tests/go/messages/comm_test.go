package messages

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/group"
)

// This file tests core/comm with messages. It is in this package because communicators need a message engine, which
// core/comm does not have.

// exchange checks a communicator: every member sends its rank to each member. A communicator of several members must
// have a control block (shared memory of its members).
func exchange(e *Engine, c *comm.Comm) error {
	n, me := c.Size(), c.Rank()
	got := make([]byte, 8)
	for d := 0; d < n; d++ {
		to, from := (me+d)%n, (me-d+n)%n
		if err := e.Sendrecv(c, comm.PointToPoint, Bytes([]byte{byte(me), byte(d)}), to, 1,
			Bytes(got[:2]), from, 1, nil); err != nil {
			return err
		}
		if got[0] != byte(from) || got[1] != byte(d) {
			return fmt.Errorf("rank %d of %d: %v from %d", me, n, got, from)
		}
	}
	if (c.Block != nil) != (n > 1) {
		return fmt.Errorf("control block of %d bytes for %d members", len(c.Block), n)
	}
	return nil
}

func TestWorldAndSelf(t *testing.T) {
	es := job(t, 4)
	all(t, es, func(e *Engine) error {
		if err := e.World.AttachBlock(); err != nil {
			return err
		}
		if err := exchange(e, e.Self); err != nil {
			return err
		}
		return exchange(e, e.World)
	})
	for i, e := range es {
		require.Equal(t, i, e.World.Rank())
		require.Equal(t, 4, e.World.Size())
		require.Equal(t, 0, e.Self.Rank())
		require.Equal(t, int64(len(e.World.Block)), comm.BlockSize(4))
	}
	es[0].World.Block[100] = 5
	require.Equal(t, byte(5), es[3].World.Block[100])
}

func TestDupAndFree(t *testing.T) {
	es := job(t, 5)
	var mu sync.Mutex
	ids := map[uint64]int{}
	all(t, es, func(e *Engine) error {
		parent := e.World
		for i := 0; i < 20; i++ {
			c, err := parent.Dup()
			if err != nil {
				return err
			}
			mu.Lock()
			ids[c.Context(0)]++
			mu.Unlock()
			if !slices.Equal(c.Group().Members(), e.World.Group().Members()) {
				return fmt.Errorf("another group")
			}
			if err := exchange(e, c); err != nil {
				return err
			}
			if parent != e.World {
				parent.Free()
			}
			parent = c
		}
		parent.Free()
		return nil
	})
	require.Len(t, ids, 20)
	for id, n := range ids {
		require.Equal(t, 5, n, "%#x", id)
	}
	// All blocks return to the processes that have allocated them, although these processes make no call.
	for i, e := range es {
		require.LessOrEqual(t, e.m.Counts().Queues, int64(2))
		require.Zero(t, e.nd.BlocksInUse(), "process %d", i)
	}
}

// TestQueueOutlivesComm checks that the queue of a freed communicator stays until its posted receives are matched.
func TestQueueOutlivesComm(t *testing.T) {
	es := job(t, 2)
	got := make([]byte, 3)
	all(t, es, func(e *Engine) error {
		c, err := e.World.Dup()
		if err != nil {
			return err
		}
		if e.world == 1 {
			r, err := e.Irecv(c, 0, Bytes(got), 0, 0)
			if err != nil {
				return err
			}
			c.Free()
			return e.Wait(r, nil)
		}
		time.Sleep(5 * time.Millisecond)
		defer c.Free()
		return e.Send(c, 0, Bytes([]byte{1, 2, 3}), 1, 0, Standard)
	})
	require.Equal(t, []byte{1, 2, 3}, got)
	for _, e := range es {
		require.LessOrEqual(t, e.m.Counts().Queues, int64(2))
	}
}

func TestSplit(t *testing.T) {
	const n = 6
	es := job(t, n)
	for _, c := range []struct {
		name       string
		color, key func(r int32) int32
		want       map[int32][]int32 // expected members of each color, in rank order
	}{
		{"one", func(r int32) int32 { return 7 }, func(r int32) int32 { return 0 },
			map[int32][]int32{7: {0, 1, 2, 3, 4, 5}}},
		{"parity, reversed", func(r int32) int32 { return r % 2 }, func(r int32) int32 { return -r },
			map[int32][]int32{0: {4, 2, 0}, 1: {5, 3, 1}}},
		{"equal keys keep the order", func(r int32) int32 { return r / 4 },
			func(r int32) int32 { return r % 2 }, map[int32][]int32{0: {0, 2, 1, 3}, 1: {4, 5}}},
		{"undefined", func(r int32) int32 {
			if r > 1 {
				return abi.MPI_UNDEFINED
			}
			return r
		}, func(r int32) int32 { return 1<<31 - 1 }, map[int32][]int32{0: {0}, 1: {1}}},
		{"nobody", func(r int32) int32 { return abi.MPI_UNDEFINED }, func(r int32) int32 { return 0 }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			all(t, es, func(e *Engine) error {
				me := int32(e.world)
				x, err := e.World.Split(c.color(me), c.key(me))
				if err != nil {
					return err
				}
				want := c.want[c.color(me)]
				if x == nil {
					if want != nil {
						return fmt.Errorf("no communicator")
					}
					return nil
				}
				if got := x.Group().Members(); fmt.Sprint(got) != fmt.Sprint(want) ||
					want[x.Rank()] != me {
					return fmt.Errorf("rank %d of %v, want %v", x.Rank(), got, want)
				}
				defer x.Free()
				return exchange(e, x)
			})
		})
	}
	_, err := es[0].World.Split(-5, 0)
	require.Equal(t, int32(abi.MPI_ERR_ARG), class(err))
}

func TestSplitType(t *testing.T) {
	es := job(t, 3)
	for _, c := range []struct {
		kind   int32
		guided string
		size   int
	}{
		{abi.MPI_COMM_TYPE_SHARED, "", 3},
		{abi.MPI_COMM_TYPE_HW_GUIDED, "mpi_shared_memory", 3},
		{abi.MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_shared_memory", 3},
		{abi.MPI_COMM_TYPE_HW_GUIDED, "hwloc://Core", 0},
		{abi.MPI_COMM_TYPE_HW_UNGUIDED, "", 0},
		{abi.MPI_UNDEFINED, "", 0},
	} {
		all(t, es, func(e *Engine) error {
			x, err := e.World.SplitType(c.kind, int32(-e.world), comm.Resource{Hardware: c.guided})
			if err != nil {
				return err
			}
			if x == nil {
				if c.size != 0 {
					return fmt.Errorf("%d %s: no communicator", c.kind, c.guided)
				}
				return nil
			}
			if x.Size() != c.size || x.Rank() != c.size-1-e.world {
				return fmt.Errorf("rank %d of %d", x.Rank(), x.Size())
			}
			defer x.Free()
			return exchange(e, x)
		})
	}
	_, err := es[0].World.SplitType(12345, 0, comm.Resource{})
	require.Equal(t, int32(abi.MPI_ERR_ARG), class(err))
}

func TestCreateAndCreateGroup(t *testing.T) {
	es := job(t, 5)
	members := []int32{3, 0, 4}
	all(t, es, func(e *Engine) error {
		c, err := e.World.Create(group.Of(members))
		if err != nil {
			return err
		}
		in := group.Of(members).Rank(int32(e.world)) >= 0
		if (c != nil) != in {
			return fmt.Errorf("member %v, communicator %v", in, c)
		}
		if !in {
			return nil
		}
		if err := exchange(e, c); err != nil {
			return err
		}
		// Two threads of each process concurrently create communicators of the same group. Only the tags
		// distinguish the two calls.
		errs := make(chan error, 2)
		var made [2]*comm.Comm
		for tag := int32(0); tag < 2; tag++ {
			go func() {
				var err error
				made[tag], err = c.CreateGroup(group.Of([]int32{4, 3}), 10+tag)
				errs <- err
			}()
		}
		for range made {
			if err := <-errs; err != nil {
				return err
			}
		}
		c.Free()
		for _, x := range made {
			if (x != nil) != (e.world >= 3) {
				return fmt.Errorf("communicator of two: %v", x)
			}
			if x != nil {
				if err := exchange(e, x); err != nil {
					return err
				}
				x.Free()
			}
		}
		return nil
	})
	_, err := es[0].Self.Create(group.Of([]int32{0, 1}))
	require.Equal(t, int32(abi.MPI_ERR_GROUP), class(err))
}

// TestIdups checks that several communicators can be duplicated concurrently with each other and with messages.
func TestIdups(t *testing.T) {
	es := job(t, 3)
	all(t, es, func(e *Engine) error {
		var wg sync.WaitGroup
		var made [8]*comm.Comm
		var errs [8]error
		for i := range made {
			number := e.World.NextIdup()
			wg.Add(1)
			go func() {
				defer wg.Done()
				made[i], errs[i] = e.World.Idup(number)
			}()
		}
		wg.Wait()
		for i, c := range made {
			if errs[i] != nil {
				return errs[i]
			}
			if err := exchange(e, c); err != nil {
				return err
			}
			c.Free()
		}
		return nil
	})
}

// TestCommBlockFailure checks communicator creation if the memory for the control block cannot be allocated: all
// members get an error, and no member gets a communicator.
func TestCommBlockFailure(t *testing.T) {
	es := job(t, 3)
	old := comm.CollSize
	defer func() { comm.CollSize = old }()
	comm.CollSize = func(int) int64 { return 1 << 41 }
	errs := make(chan error, 3)
	for _, e := range es {
		go func() {
			c, err := e.World.Dup()
			if c != nil {
				err = nil
			}
			errs <- err
		}()
	}
	for range es {
		require.Equal(t, int32(abi.MPI_ERR_NO_MEM), class(<-errs))
	}
}
