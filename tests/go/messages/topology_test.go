package messages

import (
	"fmt"
	"slices"
	"testing"

	"gompirma/core/abi"
	"gompirma/core/comm"
)

func TestGrids(t *testing.T) {
	es := job(t, 6)
	all(t, es, func(e *Engine) error {
		c, err := e.World.NewCart([]int32{2, 2}, []bool{true, false})
		if err != nil {
			return err
		}
		if (c != nil) != (e.world < 4) {
			return fmt.Errorf("grid: %v", c)
		}
		if c == nil {
			return nil
		}
		defer c.Free()
		if err := exchange(e, c); err != nil {
			return err
		}
		row, err := c.CartSub([]bool{false, true})
		if err != nil {
			return err
		}
		defer row.Free()
		if want := []int32{int32(e.world / 2 * 2), int32(e.world/2*2 + 1)}; !slices.Equal(row.Group().Members(),
			want) || row.TopologyKind() != abi.MPI_CART {
			return fmt.Errorf("row %v", row.Group().Members())
		}
		point, err := c.CartSub([]bool{false, false})
		if err != nil {
			return err
		}
		defer point.Free()
		if point.Size() != 1 {
			return fmt.Errorf("point of %d", point.Size())
		}
		src, dst, err := c.Neighbors()
		if err != nil || len(src) != 4 || !slices.Equal(src, dst) {
			return fmt.Errorf("neighbors %v %v %v", src, dst, err)
		}
		return exchange(e, row)
	})
}

func TestGraphs(t *testing.T) {
	es := job(t, 4)
	all(t, es, func(e *Engine) error {
		g, err := e.World.NewGraph([]int32{1, 3, 4}, []int32{1, 0, 2, 1})
		if err != nil {
			return err
		}
		if (g != nil) != (e.world < 3) {
			return fmt.Errorf("graph %v", g)
		}
		if g != nil {
			want := [][]int32{{1}, {0, 2}, {1}}
			if n, _, _ := g.Neighbors(); !slices.Equal(n, want[e.world]) {
				return fmt.Errorf("neighbors %v", n)
			}
			g.Free()
		}
		// Process i specifies the edge from i+1 to i, and an edge from 0 to i.
		me := int32(e.world)
		d, err := e.World.NewDistGraph([]comm.Edge{{From: (me + 1) % 4, To: me, Weight: 10 + me},
			{From: 0, To: me, Weight: me}}, true)
		if err != nil {
			return err
		}
		src, dst, err := d.Neighbors()
		if err != nil {
			return err
		}
		slices.Sort(src)
		want := []int32{0, (me + 1) % 4}
		slices.Sort(want)
		outs := 1
		if me == 0 {
			outs = 5
		}
		if !slices.Equal(src, want) || len(dst) != outs {
			return fmt.Errorf("%d: from %v to %v", me, src, dst)
		}
		d.Free()
		return nil
	})
}
