package comm

import (
	"encoding/binary"

	"gompirma/core/abi"
	"gompirma/core/group"
	"gompirma/core/mpierr"
)

// A topology (MPI-5.0 chapter 8) is a *Cart, *Graph or *DistGraph in Comm.Topology. It never changes, so a communicator
// and its duplicates share it. The argument reorder has no effect, because all processes of a node have the same
// distance from each other.

// TopologyKind returns MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH, or MPI_UNDEFINED (MPI_Topo_test).
func (c *Comm) TopologyKind() int32 {
	switch c.Topology.(type) {
	case *Cart:
		return abi.MPI_CART
	case *Graph:
		return abi.MPI_GRAPH
	case *DistGraph:
		return abi.MPI_DIST_GRAPH
	}
	return abi.MPI_UNDEFINED
}

// Neighbors returns the ranks that the calling process receives from and sends to in neighborhood collectives (MPI-5.0
// 8.6), with MPI_PROC_NULL at the edges of a grid. Errors: MPI_ERR_TOPOLOGY if c has no topology.
func (c *Comm) Neighbors() (sources, destinations []int32, err error) {
	switch t := c.Topology.(type) {
	case *Cart:
		for d := range t.Dims {
			before, after := t.Shift(c.rank, d, 1)
			sources = append(sources, before, after)
		}
		return sources, sources, nil
	case *Graph:
		n := t.Neighbors(c.rank)
		return n, n, nil
	case *DistGraph:
		return t.Sources, t.Destinations, nil
	}
	return nil, nil, mpierr.New(abi.MPI_ERR_TOPOLOGY, "the communicator has no topology")
}

// prefix creates the communicator of the first n members. It returns nil at the other members.
func (c *Comm) prefix(n int) (*Comm, error) {
	if n == c.size {
		return c.Dup()
	}
	if c.rank >= n {
		return nil, c.agreeSubgroups(nil, nil)
	}
	g, err := group.RangeInclude(c.local, []group.Triplet{{First: 0, Last: int32(n - 1), Stride: 1}})
	if err != nil {
		return nil, err
	}
	return c.createSubgroup(g, group.Range(0, int32(n), 1))
}

// collect returns, at every member, the concatenation of the slices `mine` of all members in the order of their ranks.
// Their lengths may differ.
func (c *Comm) collect(mine []byte) ([]byte, error) {
	t := c.collectiveTeam()
	head := make([]byte, MaxShortBytes)
	head[0] = byte(min(len(mine), MaxShortBytes))
	copy(head[1:], mine)
	heads, err := t.allgather(head)
	if err != nil {
		return nil, err
	}
	all := heads[:0]
	for ; len(heads) > 0 && heads[0] < MaxShortBytes; heads = heads[MaxShortBytes:] {
		all = append(all, heads[1:1+heads[0]]...)
	}
	if len(heads) == 0 {
		return all, nil
	}
	all = mine // a member's data is longer than its head, so all data is sent by messages
	var n [8]byte
	for mask := 1; mask < t.size(); mask <<= 1 {
		if t.me&mask != 0 {
			binary.LittleEndian.PutUint64(n[:], uint64(len(all)))
			if err := t.send(t.me-mask, n[:]); err != nil {
				return nil, err
			}
			if err := t.send(t.me-mask, all); err != nil {
				return nil, err
			}
			break
		}
		if child := t.me + mask; child < t.size() {
			if err := t.recv(child, n[:]); err != nil {
				return nil, err
			}
			part := make([]byte, binary.LittleEndian.Uint64(n[:]))
			if err := t.recv(child, part); err != nil {
				return nil, err
			}
			all = append(all[:len(all):len(all)], part...)
		}
	}
	return t.bcastOrError(all, nil)
}
