package comm

import (
	"slices"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// Graph is a graph topology in which every member stores all edges (MPI_Graph_create). The neighbors of rank i are
// Edges[Index[i-1]:Index[i]].
type Graph struct{ Index, Edges []int32 }

// NewGraph creates the communicator of a graph of the first len(index) members. It returns nil at the other members.
// Collective. Errors: MPI_ERR_ARG if the graph has more nodes than c has members, if an index decreases or exceeds
// len(edges), or if an edge leads to a node that does not exist.
func (c *Comm) NewGraph(index, edges []int32) (*Comm, error) {
	if err := c.checkGraph(index, edges); err != nil {
		return nil, err
	}
	if len(index) == 0 {
		return nil, nil
	}
	x, err := c.prefix(len(index))
	if x != nil {
		x.Topology = &Graph{Index: slices.Clone(index), Edges: slices.Clone(edges)}
	}
	return x, err
}

func (c *Comm) checkGraph(index, edges []int32) error {
	if len(index) > c.size {
		return mpierr.New(abi.MPI_ERR_ARG, "the graph has %d nodes, but the size of the communicator is %d",
			len(index), c.size)
	}
	last := int32(0)
	for i, x := range index {
		if x < last || int(x) > len(edges) {
			return mpierr.New(abi.MPI_ERR_ARG, "index[%d] is %d; it must be from %d (previous entry) "+
				"to %d (number of edges)", i, x, last, len(edges))
		}
		last = x
	}
	for i, x := range edges {
		if x < 0 || int(x) >= len(index) {
			return mpierr.New(abi.MPI_ERR_ARG, "edges[%d] is %d; valid nodes of the graph are 0 to %d",
				i, x, len(index)-1)
		}
	}
	return nil
}

// Neighbors returns the neighbors of a rank, which the caller has validated.
func (t *Graph) Neighbors(rank int) []int32 {
	from := int32(0)
	if rank > 0 {
		from = t.Index[rank-1]
	}
	return t.Edges[from:t.Index[rank]]
}

// DistGraph is one member's part of a distributed graph.
type DistGraph struct {
	Sources, Destinations             []int32
	SourceWeights, DestinationWeights []int32 // nil if unweighted
	Weighted                          bool
}

// NewDistGraphAdjacent creates a communicator with the neighbors that each member passes
// (MPI_Dist_graph_create_adjacent). Collective. Errors: MPI_ERR_RANK if a neighbor is not a rank; MPI_ERR_ARG if a
// weight is negative.
func (c *Comm) NewDistGraphAdjacent(t *DistGraph) (*Comm, error) {
	for what, list := range map[string][]int32{"sources": t.Sources, "destinations": t.Destinations} {
		for i, r := range list {
			if r < 0 || int(r) >= c.size {
				return nil, mpierr.New(abi.MPI_ERR_RANK,
					"%s[%d] is %d; valid ranks of the communicator are 0 to %d",
					what, i, r, c.size-1)
			}
		}
	}
	for what, list := range map[string][]int32{"sourceweights": t.SourceWeights,
		"destweights": t.DestinationWeights} {
		if err := checkWeights(what, list); err != nil {
			return nil, err
		}
	}
	n, err := c.Dup()
	if err != nil {
		return nil, err
	}
	n.Topology = t
	return n, nil
}

func checkWeights(what string, list []int32) error {
	for i, w := range list {
		if w < 0 {
			return mpierr.New(abi.MPI_ERR_ARG, "%s[%d] is %d; it must not be negative", what, i, w)
		}
	}
	return nil
}

// Edge is an edge of a distributed graph.
type Edge struct{ From, To, Weight int32 }

// NewDistGraph creates a communicator with a distributed graph (MPI_Dist_graph_create). Any member may pass any edge of
// the graph. Collective. During the call every member holds all edges, 12 bytes each. Errors as for
// NewDistGraphAdjacent.
func (c *Comm) NewDistGraph(edges []Edge, weighted bool) (*Comm, error) {
	flat := make([]int32, 0, 3*len(edges))
	for i, e := range edges {
		if e.From < 0 || int(e.From) >= c.size || e.To < 0 || int(e.To) >= c.size {
			return nil, mpierr.New(abi.MPI_ERR_RANK,
				"edge %d connects ranks %d and %d; valid ranks of the communicator are 0 to %d",
				i, e.From, e.To,
				c.size-1)
		}
		if e.Weight < 0 {
			return nil, mpierr.New(abi.MPI_ERR_ARG, "weights[%d] is %d; it must not be negative", i,
				e.Weight)
		}
		flat = append(flat, e.From, e.To, e.Weight)
	}
	b, err := c.collect(packInts(flat))
	if err != nil {
		return nil, err
	}
	t := &DistGraph{Weighted: weighted}
	me := int32(c.rank)
	for all := unpackInts(b); len(all) >= 3; all = all[3:] {
		if all[1] == me {
			t.Sources, t.SourceWeights = append(t.Sources, all[0]), append(t.SourceWeights, all[2])
		}
		if all[0] == me {
			t.Destinations, t.DestinationWeights = append(t.Destinations, all[1]),
				append(t.DestinationWeights, all[2])
		}
	}
	n, err := c.Dup()
	if err != nil {
		return nil, err
	}
	n.Topology = t
	return n, nil
}
