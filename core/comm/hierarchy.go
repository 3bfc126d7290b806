package comm

import (
	"slices"

	"gompirma/core/group"
)

// Hierarchy describes how a communicator's members are distributed over several nodes. Nodes are numbered in the order
// of their lowest ranks. The member with the lowest rank on a node is its leader.
type Hierarchy struct {
	Node            int     // number of this member's node
	NodeOf          []int32 // number of the node of each rank
	Leaders         []int32 // the lowest rank of each node
	Local           []int32 // the ranks on this member's node, ascending
	MaxRanksPerNode int     // largest number of members on a node
	Regular         bool    // the ranks of each node are consecutive
}

// hierarchyOf returns the hierarchy of a communicator of g, as seen by the member of the given rank; nil if all members
// are on one node.
func hierarchyOf(host Host, g *group.Group, rank int) *Hierarchy {
	nodeOf := func(i int) int { return host.Node(g.World(i)) }
	first := nodeOf(0)
	i := 1
	for i < g.Size() && nodeOf(i) == first {
		i++
	}
	if i == g.Size() {
		return nil
	}
	return newHierarchy(g.Size(), nodeOf, rank)
}

// newHierarchy returns the hierarchy of n members, as seen by the member of the given rank. The function nodeOf returns
// a number of the node of each rank.
func newHierarchy(n int, nodeOf func(rank int) int, rank int) *Hierarchy {
	s := &Hierarchy{NodeOf: make([]int32, n), Regular: true}
	number := map[int]int32{}
	for i := range s.NodeOf {
		node := nodeOf(i)
		k, known := number[node]
		if !known {
			k = int32(len(s.Leaders))
			number[node] = k
			s.Leaders = append(s.Leaders, int32(i))
		}
		s.NodeOf[i] = k
		s.Regular = s.Regular && (i == 0 || k >= s.NodeOf[i-1])
	}
	s.Node = int(s.NodeOf[rank])
	members := make([]int, len(s.Leaders))
	for i, k := range s.NodeOf {
		members[k]++
		s.MaxRanksPerNode = max(s.MaxRanksPerNode, members[k])
		if int(k) == s.Node {
			s.Local = append(s.Local, int32(i))
		}
	}
	return s
}

// LocalMembers returns the number of members on this node, this one included, and the index of this member among them.
func (c *Comm) LocalMembers() (n, place int) {
	if c.Hierarchy == nil {
		return c.size, c.rank
	}
	return len(c.Hierarchy.Local), slices.Index(c.Hierarchy.Local, int32(c.rank))
}

// LocalMember returns the rank of the member with index `place` among the members on this node.
func (c *Comm) LocalMember(place int) int {
	if c.Hierarchy == nil {
		return place
	}
	return int(c.Hierarchy.Local[place])
}

// localTeam returns the team of the members on this node, in the order of their ranks in c. Precondition: t has all
// members of c.
func (t *team) localTeam(c *Comm) *team {
	if c.Hierarchy == nil {
		return t
	}
	ranks := make([]int32, len(c.Hierarchy.Local))
	for i, r := range c.Hierarchy.Local {
		ranks[i] = int32(t.member(int(r)))
	}
	_, me := c.LocalMembers()
	return &team{c: t.c, x: t.x, tag: t.tag, members: group.Of(ranks), me: me, processes: t.processes}
}
