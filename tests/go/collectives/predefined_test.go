package collectives

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/coll"
	"gompirma/core/comm"
	"gompirma/core/datatype"
	"gompirma/core/op"
)

// TestPredefinedOperations checks every predefined operation on every predefined type for which MPI defines it, with
// few and many elements. All processes must get the same bits, and these must be the result of a reduction in rank
// order. Gaps in the receive buffer must not change. Types that core/op does not support are tested by programs in C.
func TestPredefinedOperations(t *testing.T) {
	type pair struct {
		o *op.Op
		t *datatype.Type
	}
	var pairs []pair
	for h := uintptr(abi.MPI_SUM); h <= abi.MPI_MAXLOC; h++ {
		o, err := op.Get(h)
		if err != nil {
			continue
		}
		datatype.Predefined(func(ty *datatype.Type) {
			if b := ty.Basic(); op.Defined(h, b) && o.Combine(b, make([]byte, b.Extent),
				make([]byte, b.Extent), 1) == nil {
				pairs = append(pairs, pair{o, ty})
			}
		})
	}
	require.Greater(t, len(pairs), 200)
	onSizes(t, func(t *testing.T, es []*Engine) {
		n := len(es)
		onAllRanks(t, es, func(e *Engine, c *comm.Comm) error {
			for i, p := range pairs {
				b := p.t.Basic()
				count := []int{1, 3, 2500}[i%3]
				if i%3 == 2 && i%7 != 2 {
					count = 40
				}
				size := int(b.Extent) * count
				// fold reduces in the order of the shared-memory collectives: from the last rank to the
				// first, where each rank's data is the left operand.
				fold := func(lo, hi int) []byte {
					acc := input(i, hi-1, size)
					for r := hi - 2; r >= lo; r-- {
						if err := p.o.Combine(b, input(i, r, size), acc, count); err != nil {
							panic(err)
						}
					}
					return acc
				}
				own, recv, want := input(i, c.Rank(), size), bytes.Repeat([]byte{0xee}, size),
					bytes.Repeat([]byte{0xee}, size)
				k := coll.Call{Kind: []coll.Kind{coll.KindAllreduce, coll.KindScan,
					coll.KindReduce}[i%3], Comm: c, Op: p.o,
					Root: int32(i % n), Send: coll.Buffer{Addr: address(own)},
					Recv: coll.Buffer{Addr: address(recv), Count: int64(count), Type: p.t}}
				if err := e.Run(&k); err != nil {
					return fmt.Errorf("%v on %v: %w", p.o, p.t, err)
				}
				hi := n
				if k.Kind == coll.KindScan {
					hi = c.Rank() + 1
				}
				if k.Kind != coll.KindReduce || c.Rank() == i%n {
					result := fold(0, hi)
					from, to := coll.Buffer{Addr: address(result), Count: int64(count), Type: p.t},
						coll.Buffer{Addr: address(want), Count: int64(count), Type: p.t}
					packed := make([]byte, p.t.Size()*int64(count))
					pack(packed, &from)
					unpack(&to, packed)
				}
				// In an algorithm over messages the reduction may begin at the root instead. Then
				// rounding and the bits of NaN may differ.
				inexact := b.Class == datatype.Floating || b.Class == datatype.Complex ||
					b.Class == datatype.Pair
				if !bytes.Equal(want, recv) && !inexact {
					return fmt.Errorf("%v of %v on %d %v: wrong result", k.Kind, p.o, count, p.t)
				}
				if k.Kind == coll.KindAllreduce {
					all, err := e.Allgather(c, recv)
					if err != nil {
						return err
					}
					for r := 0; r < n; r++ {
						if !bytes.Equal(recv, all[r*size:(r+1)*size]) {
							return fmt.Errorf("%v on %v: ranks %d and %d have different "+
								"results", p.o, p.t, c.Rank(), r)
						}
					}
				}
				runtime.KeepAlive(own)
			}
			return nil
		})
	})
}
