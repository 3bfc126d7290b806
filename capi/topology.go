package main

import "C"

import (
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
)

// Topologies (MPI-5.0 chapter 8).

// onTopology is onComm for calls that need a topology of type T.
func onTopology[T any](function string, h uintptr, f func(c *comm.Comm, t *T) error) int32 {
	return onComm(function, h, func(c *comm.Comm) error {
		t, ok := c.Topology.(*T)
		if !ok {
			return mpierr.New(abi.MPI_ERR_TOPOLOGY, "the communicator has no topology of this kind")
		}
		return f(c, t)
	})
}

// intsAt returns the n ints at an address. MPI_ERR_ARG: n is negative, or there is none there.
func intsAt(what string, n int32, at uintptr) ([]int32, error) {
	return listAt[int32](what, n, at)
}

// logicals returns the n logical values at an address.
func logicals(what string, n int32, at uintptr) ([]bool, error) {
	ints, err := intsAt(what, n, at)
	if err != nil {
		return nil, err
	}
	out := make([]bool, n)
	for i, x := range ints {
		out[i] = x != 0
	}
	return out, nil
}

// memberError returns an error if rank is not that of a member.
func memberError(c *comm.Comm, rank int32) error {
	if rank < 0 || int(rank) >= c.Size() {
		return mpierr.New(abi.MPI_ERR_RANK, "rank is %d: the communicator has %d processes", rank, c.Size())
	}
	return nil
}

//export gompi_topo_test
func gompi_topo_test(comm_, status uintptr) int32 {
	return onComm("MPI_Topo_test", comm_, func(c *comm.Comm) error {
		return store(status, func() (int32, error) { return c.TopologyKind(), nil })
	})
}

//export gompi_dims_create
func gompi_dims_create(nnodes, ndims int32, dims uintptr) (rc int32) {
	defer guard("MPI_Dims_create", 0, 0, &rc)
	list, err := intsAt("dims", ndims, dims)
	if err == nil {
		err = comm.DimsCreate(nnodes, list)
	}
	return finish("MPI_Dims_create", 0, 0, err)
}

// grid reads the arguments of a grid.
func grid(c *comm.Comm, ndims int32, dims, periods uintptr) ([]int32, []bool, error) {
	if err := needIntra(c); err != nil {
		return nil, nil, err
	}
	d, err := intsAt("dims", ndims, dims)
	if err != nil {
		return nil, nil, err
	}
	p, err := logicals("periods", ndims, periods)
	return d, p, err
}

//export gompi_cart_create
func gompi_cart_create(old uintptr, ndims int32, dims, periods uintptr, reorder int32, newcomm uintptr) int32 {
	return newComm("MPI_Cart_create", old, abi.MPI_INFO_NULL, newcomm, func(c *comm.Comm) (*comm.Comm, error) {
		d, p, err := grid(c, ndims, dims, periods)
		if err != nil {
			return nil, err
		}
		return c.NewCart(d, p)
	})
}

//export gompi_cart_map
func gompi_cart_map(comm_ uintptr, ndims int32, dims, periods, newrank uintptr) int32 {
	return onComm("MPI_Cart_map", comm_, func(c *comm.Comm) error {
		return store(newrank, func() (int32, error) {
			d, _, err := grid(c, ndims, dims, periods)
			if err != nil {
				return 0, err
			}
			return c.CartMap(d)
		})
	})
}

//export gompi_cartdim_get
func gompi_cartdim_get(comm_, ndims uintptr) int32 {
	return onTopology("MPI_Cartdim_get", comm_, func(c *comm.Comm, t *comm.Cart) error {
		return store(ndims, func() (int32, error) { return int32(len(t.Dims)), nil })
	})
}

//export gompi_cart_get
func gompi_cart_get(comm_ uintptr, maxdims int32, dims, periods, coords uintptr) int32 {
	return onTopology("MPI_Cart_get", comm_, func(c *comm.Comm, t *comm.Cart) error {
		d, err := room("maxdims", maxdims, dims, len(t.Dims))
		if err != nil {
			return err
		}
		p, err := room("maxdims", maxdims, periods, len(t.Dims))
		if err != nil {
			return err
		}
		x, err := room("maxdims", maxdims, coords, len(t.Dims))
		if err != nil {
			return err
		}
		copy(d, t.Dims)
		for i, periodic := range t.Periods {
			p[i] = 0
			if periodic {
				p[i] = 1
			}
		}
		copy(x, t.Coords(c.Rank()))
		return nil
	})
}

// room returns the first need of the limit ints at an address. MPI_ERR_ARG: they are fewer.
func room(what string, limit int32, at uintptr, need int) ([]int32, error) {
	if int(limit) < need {
		return nil, mpierr.New(abi.MPI_ERR_ARG, "%s is %d where %d are needed", what, limit, need)
	}
	return intsAt("results", int32(need), at)
}

//export gompi_cart_rank
func gompi_cart_rank(comm_, coords, rank uintptr) int32 {
	return onTopology("MPI_Cart_rank", comm_, func(c *comm.Comm, t *comm.Cart) error {
		return store(rank, func() (int32, error) {
			x, err := intsAt("coordinates", int32(len(t.Dims)), coords)
			if err != nil {
				return 0, err
			}
			return t.Rank(x)
		})
	})
}

//export gompi_cart_coords
func gompi_cart_coords(comm_ uintptr, rank, maxdims int32, coords uintptr) int32 {
	return onTopology("MPI_Cart_coords", comm_, func(c *comm.Comm, t *comm.Cart) error {
		if err := memberError(c, rank); err != nil {
			return err
		}
		x, err := room("maxdims", maxdims, coords, len(t.Dims))
		if err == nil {
			copy(x, t.Coords(int(rank)))
		}
		return err
	})
}

//export gompi_cart_shift
func gompi_cart_shift(comm_ uintptr, direction, disp int32, source, dest uintptr) int32 {
	return onTopology("MPI_Cart_shift", comm_, func(c *comm.Comm, t *comm.Cart) error {
		if direction < 0 || int(direction) >= len(t.Dims) {
			return mpierr.New(abi.MPI_ERR_ARG, "direction is %d: the grid has %d dimensions", direction,
				len(t.Dims))
		}
		if err := null(source, dest); err != nil {
			return err
		}
		*out[int32](source), *out[int32](dest) = t.Shift(c.Rank(), int(direction), disp)
		return nil
	})
}

//export gompi_cart_sub
func gompi_cart_sub(comm_, remain, newcomm uintptr) int32 {
	return onTopology("MPI_Cart_sub", comm_, func(c *comm.Comm, t *comm.Cart) error {
		keep, err := logicals("remain_dims", int32(len(t.Dims)), remain)
		if err == nil {
			err = null(newcomm)
		}
		if err != nil {
			return err
		}
		n, err := c.CartSub(keep)
		if err != nil {
			return err
		}
		return storeComm(n, newcomm)
	})
}

// nodes reads the arguments of a graph.
func nodes(c *comm.Comm, nnodes int32, index, edges uintptr) ([]int32, []int32, error) {
	if err := needIntra(c); err != nil {
		return nil, nil, err
	}
	x, err := intsAt("indices", nnodes, index)
	if err != nil {
		return nil, nil, err
	}
	n := int32(0)
	if nnodes > 0 {
		n = x[nnodes-1]
	}
	e, err := intsAt("edges", n, edges)
	return x, e, err
}

//export gompi_graph_create
func gompi_graph_create(old uintptr, nnodes int32, index, edges uintptr, reorder int32, newcomm uintptr) int32 {
	return newComm("MPI_Graph_create", old, abi.MPI_INFO_NULL, newcomm, func(c *comm.Comm) (*comm.Comm, error) {
		x, e, err := nodes(c, nnodes, index, edges)
		if err != nil {
			return nil, err
		}
		return c.NewGraph(x, e)
	})
}

//export gompi_graph_map
func gompi_graph_map(comm_ uintptr, nnodes int32, index, edges, newrank uintptr) int32 {
	return onComm("MPI_Graph_map", comm_, func(c *comm.Comm) error {
		return store(newrank, func() (int32, error) {
			x, e, err := nodes(c, nnodes, index, edges)
			if err != nil {
				return 0, err
			}
			return c.GraphMap(x, e)
		})
	})
}

//export gompi_graphdims_get
func gompi_graphdims_get(comm_, nnodes, nedges uintptr) int32 {
	return onTopology("MPI_Graphdims_get", comm_, func(c *comm.Comm, t *comm.Graph) error {
		if err := null(nnodes, nedges); err != nil {
			return err
		}
		*out[int32](nnodes), *out[int32](nedges) = int32(len(t.Index)), int32(len(t.Edges))
		return nil
	})
}

//export gompi_graph_get
func gompi_graph_get(comm_ uintptr, maxindex, maxedges int32, index, edges uintptr) int32 {
	return onTopology("MPI_Graph_get", comm_, func(c *comm.Comm, t *comm.Graph) error {
		x, err := intsAt("indices", min(maxindex, int32(len(t.Index))), index)
		if err != nil {
			return err
		}
		e, err := intsAt("edges", min(maxedges, int32(len(t.Edges))), edges)
		if err != nil {
			return err
		}
		copy(x, t.Index)
		copy(e, t.Edges)
		return nil
	})
}

//export gompi_graph_neighbors_count
func gompi_graph_neighbors_count(comm_ uintptr, rank int32, nneighbors uintptr) int32 {
	return onTopology("MPI_Graph_neighbors_count", comm_, func(c *comm.Comm, t *comm.Graph) error {
		if err := memberError(c, rank); err != nil {
			return err
		}
		return store(nneighbors, func() (int32, error) { return int32(len(t.Neighbors(int(rank)))), nil })
	})
}

//export gompi_graph_neighbors
func gompi_graph_neighbors(comm_ uintptr, rank, maxneighbors int32, neighbors uintptr) int32 {
	return onTopology("MPI_Graph_neighbors", comm_, func(c *comm.Comm, t *comm.Graph) error {
		if err := memberError(c, rank); err != nil {
			return err
		}
		from := t.Neighbors(int(rank))
		to, err := intsAt("neighbors", min(maxneighbors, int32(len(from))), neighbors)
		if err == nil {
			copy(to, from)
		}
		return err
	})
}

// weightsAt returns the weights at an address; weighted is false for MPI_UNWEIGHTED.
func weightsAt(n int32, at uintptr) (weights []int32, weighted bool, err error) {
	switch at {
	case abi.MPI_UNWEIGHTED:
		return nil, false, nil
	case abi.MPI_WEIGHTS_EMPTY:
		if n != 0 {
			return nil, false, mpierr.New(abi.MPI_ERR_ARG, "MPI_WEIGHTS_EMPTY for %d edges", n)
		}
		return nil, true, nil
	}
	weights, err = intsAt("weights", n, at)
	return weights, true, err
}

// cloned copies application memory that outlives the call.
func cloned(x []int32) []int32 { return append([]int32(nil), x...) }

//export gompi_dist_graph_create_adjacent
func gompi_dist_graph_create_adjacent(old uintptr, indegree int32, sources, sourceweights uintptr, outdegree int32,
	destinations, destweights, info uintptr,
	reorder int32, newcomm uintptr) int32 {
	return newComm("MPI_Dist_graph_create_adjacent", old, info, newcomm, func(c *comm.Comm) (*comm.Comm, error) {
		if err := needIntra(c); err != nil {
			return nil, err
		}
		t := &comm.DistGraph{}
		in, err := intsAt("sources", indegree, sources)
		if err != nil {
			return nil, err
		}
		outgoing, err := intsAt("destinations", outdegree, destinations)
		if err != nil {
			return nil, err
		}
		inWeights, weighted, err := weightsAt(indegree, sourceweights)
		if err != nil {
			return nil, err
		}
		outWeights, both, err := weightsAt(outdegree, destweights)
		if err != nil {
			return nil, err
		}
		if weighted != both {
			return nil, mpierr.New(abi.MPI_ERR_ARG,
				"MPI_UNWEIGHTED is given for one of the two lists of weights only")
		}
		t.Sources, t.Destinations, t.Weighted = cloned(in), cloned(outgoing), weighted
		t.SourceWeights, t.DestinationWeights = cloned(inWeights), cloned(outWeights)
		return c.NewDistGraphAdjacent(t)
	})
}

//export gompi_dist_graph_create
func gompi_dist_graph_create(old uintptr, n int32, sources, degrees, destinations, weights, info uintptr, reorder int32,
	newcomm uintptr) int32 {
	return newComm("MPI_Dist_graph_create", old, info, newcomm, func(c *comm.Comm) (*comm.Comm, error) {
		if err := needIntra(c); err != nil {
			return nil, err
		}
		from, err := intsAt("sources", n, sources)
		if err != nil {
			return nil, err
		}
		degree, err := intsAt("degrees", n, degrees)
		if err != nil {
			return nil, err
		}
		total := int64(0)
		for i, d := range degree {
			if total += int64(d); d < 0 || total > 1<<31-1 {
				return nil, mpierr.New(abi.MPI_ERR_ARG, "degrees[%d] is %d", i, d)
			}
		}
		to, err := intsAt("destinations", int32(total), destinations)
		if err != nil {
			return nil, err
		}
		w, weighted, err := weightsAt(int32(total), weights)
		if err != nil {
			return nil, err
		}
		edges := make([]comm.Edge, 0, total)
		for i, d := range degree {
			for ; d > 0; d-- {
				e := comm.Edge{From: from[i], To: to[len(edges)]}
				if weighted {
					e.Weight = w[len(edges)]
				}
				edges = append(edges, e)
			}
		}
		return c.NewDistGraph(edges, weighted)
	})
}

//export gompi_dist_graph_neighbors_count
func gompi_dist_graph_neighbors_count(comm_, indegree, outdegree, weighted uintptr) int32 {
	return onTopology("MPI_Dist_graph_neighbors_count", comm_, func(c *comm.Comm, t *comm.DistGraph) error {
		if err := null(indegree, outdegree, weighted); err != nil {
			return err
		}
		*out[int32](indegree), *out[int32](outdegree) = int32(len(t.Sources)), int32(len(t.Destinations))
		putFlag(weighted, t.Weighted)
		return nil
	})
}

//export gompi_dist_graph_neighbors
func gompi_dist_graph_neighbors(comm_ uintptr, maxindegree int32, sources, sourceweights uintptr, maxoutdegree int32,
	destinations, destweights uintptr) int32 {
	return onTopology("MPI_Dist_graph_neighbors", comm_, func(c *comm.Comm, t *comm.DistGraph) error {
		side := func(limit int32, ranks, weights uintptr, from int) (to, w []int32, err error) {
			n := min(limit, int32(from))
			if to, err = intsAt("neighbors", n, ranks); err != nil {
				return nil, nil, err
			}
			if !t.Weighted || weights == abi.MPI_UNWEIGHTED || weights == abi.MPI_WEIGHTS_EMPTY {
				return to, nil, nil
			}
			w, err = intsAt("weights", n, weights)
			return to, w, err
		}
		in, inWeights, err := side(maxindegree, sources, sourceweights, len(t.Sources))
		if err != nil {
			return err
		}
		out, outWeights, err := side(maxoutdegree, destinations, destweights, len(t.Destinations))
		if err != nil {
			return err
		}
		copy(in, t.Sources)
		copy(inWeights, t.SourceWeights)
		copy(out, t.Destinations)
		copy(outWeights, t.DestinationWeights)
		return nil
	})
}
