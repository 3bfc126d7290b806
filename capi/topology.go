package main

import "C"

import (
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
)

// Topologies (MPI-5.0 chapter 8).

// intsAt returns the n ints at an address. It returns MPI_ERR_ARG if n is negative, or if n > 0 and the address is
// null.
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

// grid checks that c is an intracommunicator, and returns the dimensions and periods of a grid.
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

//export gompi_cart_sub
func gompi_cart_sub(comm_, remain, newcomm uintptr) int32 {
	return newComm("MPI_Cart_sub", comm_, abi.MPI_INFO_NULL, newcomm, func(c *comm.Comm) (*comm.Comm, error) {
		t, ok := c.Topology.(*comm.Cart)
		if !ok {
			return nil, mpierr.New(abi.MPI_ERR_TOPOLOGY, "the communicator has no Cartesian topology")
		}
		keep, err := logicals("remain_dims", int32(len(t.Dims)), remain)
		if err != nil {
			return nil, err
		}
		return c.CartSub(keep)
	})
}

// nodes checks that c is an intracommunicator, and returns the indices and edges of a graph.
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

// weightsAt returns the n weights at an address. The result `weighted` is false for MPI_UNWEIGHTED. For
// MPI_WEIGHTS_EMPTY, n must be 0.
func weightsAt(n int32, at uintptr) (weights []int32, weighted bool, err error) {
	switch at {
	case abi.MPI_UNWEIGHTED:
		return nil, false, nil
	case abi.MPI_WEIGHTS_EMPTY:
		if n != 0 {
			return nil, false, mpierr.New(abi.MPI_ERR_ARG, "the weights are MPI_WEIGHTS_EMPTY, but the "+
				"number of edges is %d", n)
		}
		return nil, true, nil
	}
	weights, err = intsAt("weights", n, at)
	return weights, true, err
}

// cloned returns a copy of application memory, because the contents are needed after the MPI call.
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
				"sourceweights and destweights must both be MPI_UNWEIGHTED, or neither of them")
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
			if d < 0 {
				return nil, mpierr.New(abi.MPI_ERR_ARG, "degrees[%d] is %d; it must not be "+
					"negative", i, d)
			}
			if total += int64(d); total > 1<<31-1 {
				return nil, mpierr.New(abi.MPI_ERR_ARG, "the sum of degrees[0] to degrees[%d] is "+
					"%d; the maximum is %d", i, total, 1<<31-1)
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
