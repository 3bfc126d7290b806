package collectives

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/capi/engine"
	"gompirma/core/abi"
	"gompirma/core/coll"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
)

// neighborsOf returns the sources and destinations of rank r in the named topology of n processes.
func neighborsOf(name string, n, r int) (sources, destinations []int32) {
	switch name {
	case "ring": // periodic grid of one dimension
		sources = []int32{int32((r + n - 1) % n), int32((r + 1) % n)}
		return sources, sources
	case "line":
		sources = []int32{int32(r - 1), int32(r + 1)}
		for i, s := range sources {
			if s < 0 || int(s) >= n {
				sources[i] = abi.MPI_PROC_NULL
			}
		}
		return sources, sources
	case "torus": // n x 1, both periodic
		sources = []int32{int32((r + n - 1) % n), int32((r + 1) % n), int32(r), int32(r)}
		return sources, sources
	}
	// The directed graph: each process has two edges to the next process and one to the process after it. Rank 0
	// also has an edge to each process.
	edges := func(p int) []int32 {
		out := []int32{int32((p + 1) % n), int32((p + 2) % n), int32((p + 1) % n)}
		for q := 0; p == 0 && q < n; q++ {
			out = append(out, int32(q))
		}
		return out
	}
	for p := 0; p < n; p++ {
		for _, q := range edges(p) {
			if int(q) == r {
				sources = append(sources, int32(p))
			}
		}
	}
	return sources, edges(r)
}

func withTopology(c *comm.Comm, name string) (*comm.Comm, error) {
	n := int32(c.Size())
	switch name {
	case "ring":
		return c.NewCart([]int32{n}, []bool{true})
	case "line":
		return c.NewCart([]int32{n}, []bool{false})
	case "torus":
		return c.NewCart([]int32{n, 1}, []bool{true, true})
	}
	sources, destinations := neighborsOf(name, c.Size(), c.Rank())
	return c.NewDistGraphAdjacent(&comm.DistGraph{Sources: sources, Destinations: destinations})
}

// counterpart finds the edge of source number i of process `me`, from the view of process `from` at its other end. It
// returns the index of this edge among the destinations of `from`.
func counterpart(name string, n, me, i int) int {
	sources, _ := neighborsOf(name, n, me)
	if name != "graph" {
		return i ^ 1
	}
	nth := 0
	for _, s := range sources[:i] {
		if s == sources[i] {
			nth++
		}
	}
	_, destinations := neighborsOf(name, n, int(sources[i]))
	for k, d := range destinations {
		if int(d) == me {
			if nth == 0 {
				return k
			}
			nth--
		}
	}
	panic("no such edge")
}

func TestNeighborhoods(t *testing.T) {
	const first, last = coll.KindNeighborAllgather, coll.KindNeighborAlltoallw
	tight, gappy := testTypes(t)
	for _, n := range []int{1, 2, 3, 5} {
		es := job(t, n)
		for _, name := range []string{"ring", "line", "torus", "graph"} {
			t.Run(fmt.Sprintf("%d/%s", n, name), func(t *testing.T) {
				onAllRanks(t, es, func(e *Engine, world *comm.Comm) error {
					c, err := withTopology(world, name)
					if err != nil {
						return err
					}
					defer c.Free()
					sources, destinations := neighborsOf(name, n, c.Rank())
					seed := 0
					for kind := first; kind <= last; kind++ {
						for _, elements := range []int{0, 5, 6000} {
							seed++
							// `uneven` is true if the collective permits blocks of
							// different sizes. `block` returns the data of block k of
							// process `from`.
							uneven := kind == coll.KindNeighborAllgatherv ||
								kind == coll.KindNeighborAlltoallv ||
								kind == coll.KindNeighborAlltoallw
							block := func(from, k int) []byte {
								size := 2 * elements
								if kind <= coll.KindNeighborAllgatherv {
									k = 0
								}
								if uneven {
									size = elements * ((from + k) % 3) / 2 * 2
								}
								return input(seed+100*from, k, size)
							}
							x := variant{st: gappy, rt: tight}
							w := kind == coll.KindNeighborAlltoallw
							var s callSetup
							k := &s.call
							*k = coll.Call{Kind: kind, Send: coll.Buffer{Type: gappy,
								Count: int64(elements)}, Recv: coll.Buffer{Type: tight,
								Count: int64(elements)}}
							var in, out [][]byte
							for i := range destinations {
								in = append(in, block(c.Rank(), i))
							}
							for i, p := range sources {
								if p == abi.MPI_PROC_NULL {
									// the block of the receive buffer must not
									// change
									out = append(out, bytes.Repeat([]byte{0xee},
										2*elements))
									if uneven {
										out[i] = nil
									}
									continue
								}
								out = append(out, block(int(p),
									counterpart(name, n, c.Rank(), i)))
							}
							switch kind {
							case coll.KindNeighborAllgather, coll.KindNeighborAllgatherv:
								own := block(c.Rank(), 0)
								k.Send.Count = int64(len(own) / 2)
								s.send = []piece{{0, gappy, own}}
							case coll.KindNeighborAlltoall:
								s.send = row(in, gappy)
							default:
								s.send = x.layoutBlocks(in, gappy, tight,
									&k.SendBlocks, w)
							}
							if uneven {
								s.after = x.layoutBlocks(out, tight, gappy,
									&k.RecvBlocks, w)
							} else {
								s.after = row(out, tight)
							}
							if err := s.run(e, c, false, seed%3); err != nil {
								return fmt.Errorf("%v of %d elements, form %d: %w",
									kind, elements, seed%3, err)
							}
						}
					}
					return nil
				})
			})
		}
	}
}

func TestNeighborhoodErrors(t *testing.T) {
	tight, _ := testTypes(t)
	es := job(t, 1)
	b := make([]byte, 64)
	k := coll.Call{Kind: coll.KindNeighborAllgather, Comm: es[0].msg.World,
		Send: coll.Buffer{Addr: address(b), Count: 1, Type: tight},
		Recv: coll.Buffer{Addr: address(b) + 8, Count: 1, Type: tight}}
	require.EqualValues(t, abi.MPI_ERR_TOPOLOGY, mpierr.ClassOf(es[0].Run(&k)))
	c, err := k.Comm.NewCart([]int32{1}, []bool{true})
	require.NoError(t, err)
	k.Comm = c
	require.NoError(t, es[0].Run(&k))
	k.Send.Addr = abi.MPI_IN_PLACE
	require.EqualValues(t, abi.MPI_ERR_BUFFER, mpierr.ClassOf(es[0].Run(&k)))
	// The request must keep the communicator and the types alive until it completes.
	k.Send.Addr = address(b)
	r, err := es[0].Init(&k)
	require.NoError(t, err)
	c.Free()
	r.(engine.Request).Restart()
	require.NoError(t, es[0].wait(r))
	r.Free()
	runtime.KeepAlive(b)
}
