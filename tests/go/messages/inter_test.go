package messages

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/group"
	"gompirma/core/p2p"
)

// bridge checks an intercommunicator: every member of each group sends a byte to every member of the other group.
func bridge(e *Engine, c *comm.Comm) error {
	if !c.IsInter() || c.Block != nil {
		return fmt.Errorf("not an intercommunicator")
	}
	var rs []*Request
	for r := 0; r < c.RemoteSize(); r++ {
		s, err := e.Isend(c, 0, Bytes([]byte{byte(c.Rank()), byte(e.world)}), r, 3, Standard)
		if err != nil {
			return err
		}
		rs = append(rs, s)
	}
	for r := 0; r < c.RemoteSize(); r++ {
		got := make([]byte, 2)
		var st p2p.Result
		if err := e.Recv(c, 0, Bytes(got), r, 3, &st); err != nil {
			return err
		}
		if int(got[0]) != r || int32(got[1]) != c.RemoteGroup().World(r) || st.Source != int32(r) {
			return fmt.Errorf("%v from %d", got, r)
		}
	}
	if err := exchange(e, c.Local); err != nil {
		return err
	}
	return waitAll(e, rs...)
}

// halves creates an intercommunicator between the processes of even rank and those of odd rank. Process 3 is the leader
// of the odd group.
func halves(e *Engine) (*comm.Comm, error) {
	half, err := e.World.Split(int32(e.world%2), 0)
	if err != nil {
		return nil, err
	}
	defer half.Free()
	if e.world%2 == 0 {
		return half.NewInter(0, e.World, 3, 12)
	}
	return half.NewInter(1, e.World, 0, 12)
}

func TestIntercommunicators(t *testing.T) {
	es := job(t, 5)
	all(t, es, func(e *Engine) error {
		c, err := halves(e)
		if err != nil {
			return err
		}
		if err := bridge(e, c); err != nil {
			return err
		}
		want := [][]int32{{0, 2, 4}, {1, 3}}
		if e.world%2 == 1 {
			slices.Reverse(want)
		}
		if got := [][]int32{c.Group().Members(), c.RemoteGroup().Members()}; fmt.Sprint(got) != fmt.Sprint(
			want) {
			return fmt.Errorf("groups %v", got)
		}
		d, err := c.Dup()
		if err != nil {
			return err
		}
		if !slices.Equal(d.Group().Members(), want[0]) || !slices.Equal(d.RemoteGroup().Members(), want[1]) {
			return fmt.Errorf("groups of the duplicate %v", d.Group().Members())
		}
		if err := bridge(e, d); err != nil {
			return err
		}
		d.Free()
		for _, high := range []func() bool{
			func() bool { return e.world%2 == 0 },
			func() bool { return e.world%2 == 1 },
			func() bool { return false },
			func() bool { return true },
		} {
			m, err := c.Merge(high())
			if err != nil {
				return err
			}
			want := []int32{0, 2, 4, 1, 3}
			if high() && e.world%2 == 0 && !(high() && m.Group().World(0) == 0) || m.Group().World(0) == 1 {
				want = []int32{1, 3, 0, 2, 4}
			}
			if fmt.Sprint(m.Group().Members()) != fmt.Sprint(want) ||
				m.Group().World(m.Rank()) != int32(e.world) {
				return fmt.Errorf("merged %v", m.Group().Members())
			}
			if err := exchange(e, m); err != nil {
				return err
			}
			m.Free()
		}
		c.Free()
		return nil
	})
}

func TestMergeOrder(t *testing.T) {
	es := job(t, 2)
	for _, x := range []struct {
		high [2]bool
		want []int32
	}{
		{[2]bool{false, true}, []int32{0, 1}},
		{[2]bool{true, false}, []int32{1, 0}},
		{[2]bool{false, false}, []int32{0, 1}},
		{[2]bool{true, true}, []int32{0, 1}},
	} {
		all(t, es, func(e *Engine) error {
			c, err := e.Self.NewInter(0, e.World, 1-e.world, 0)
			if err != nil {
				return err
			}
			defer c.Free()
			m, err := c.Merge(x.high[e.world])
			if err != nil {
				return err
			}
			defer m.Free()
			if !slices.Equal(m.Group().Members(), x.want) {
				return fmt.Errorf("%v: %v", x.high, m.Group().Members())
			}
			return exchange(e, m)
		})
	}
}

func TestSplitIntercomm(t *testing.T) {
	es := job(t, 6)
	all(t, es, func(e *Engine) error {
		c, err := halves(e)
		if err != nil {
			return err
		}
		defer c.Free()
		// Color 0: ranks 0 and 1 of both groups, in reverse order. Color 1: rank 2 of the even group only.
		color := int32(c.Rank() / 2)
		if color == 1 && e.world%2 == 1 {
			color = abi.MPI_UNDEFINED
		}
		x, err := c.Split(color, int32(-c.Rank()))
		if err != nil {
			return err
		}
		if (x != nil) != (c.Rank() < 2) {
			return fmt.Errorf("rank %d: %v", c.Rank(), x)
		}
		if x != nil {
			want := [][]int32{{2, 0}, {3, 1}}
			if e.world%2 == 1 {
				slices.Reverse(want)
			}
			if got := [][]int32{x.Group().Members(), x.RemoteGroup().Members()}; fmt.Sprint(
				got) != fmt.Sprint(want) {
				return fmt.Errorf("groups %v", got)
			}
			if err := bridge(e, x); err != nil {
				return err
			}
			x.Free()
		}
		g := group.Of([]int32{4, 0})
		if e.world%2 == 1 {
			g = group.Of([]int32{1})
		}
		y, err := c.Create(g)
		if err != nil {
			return err
		}
		if (y != nil) != (g.Rank(int32(e.world)) >= 0) {
			return fmt.Errorf("created: %v", y)
		}
		if y != nil {
			defer y.Free()
			return bridge(e, y)
		}
		return nil
	})
}

func TestOverlappingGroupsAreRefused(t *testing.T) {
	es := job(t, 2)
	errs := make(chan error, 2)
	for _, e := range es {
		go func() {
			_, err := e.World.NewInter(0, e.World, 1, 0)
			errs <- err
		}()
	}
	for range es {
		require.Equal(t, int32(abi.MPI_ERR_COMM), class(<-errs))
	}
}
