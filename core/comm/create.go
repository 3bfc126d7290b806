package comm

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"slices"

	"gompirma/core/abi"
	"gompirma/core/group"
	"gompirma/core/mpierr"
)

// AttachBlock creates the control block of COMM_WORLD. Collective over all processes of the job. It is called once, as
// soon as messages can be sent.
func (c *Comm) AttachBlock() error {
	id := c.id
	err := c.newTeam(Creation, 0).agree(c)
	c.id = id
	return err
}

// child returns an intracommunicator of g without an identity.
func (c *Comm) child(g *group.Group, rank int) *Comm {
	return &Comm{host: c.host, local: g, rank: rank, size: g.Size(), Outer: cmp.Or(c.Handle, c.Outer)}
}

// Dup returns a communicator of the same group with a context of its own (MPI-5.0 7.4.2 MPI_Comm_dup). The caller
// copies the attributes. Collective: it costs a broadcast, and an allgather of 4 bytes if a member has to map memory
// for the control block. Errors: MPI_ERR_NO_MEM at all members if memory for the control block is short at any member.
func (c *Comm) Dup() (*Comm, error) { return c.dup(c.collectiveTeam()) }

// dup implements Dup. The members communicate as the team `all`, which consists of all members of c.
func (c *Comm) dup(all *team) (*Comm, error) {
	if c.remote != nil {
		return c.dupInter(all)
	}
	n := c.child(c.local, c.rank)
	n.Topology = c.Topology
	if err := all.agree(n); err != nil {
		return nil, err
	}
	return n, nil
}

// Split returns the communicator of the members that pass the same color, ordered by key and then by rank
// (MPI_Comm_split). It returns nil at a member that passes MPI_UNDEFINED. Collective. Every member holds the colors and
// keys of all members (8 bytes each) during the call. Errors: MPI_ERR_ARG for another negative color; then nothing has
// been sent.
func (c *Comm) Split(color, key int32) (*Comm, error) {
	if color < 0 && color != abi.MPI_UNDEFINED {
		return nil, mpierr.New(abi.MPI_ERR_ARG, "color is %d; it must be at least 0, or MPI_UNDEFINED (%d)",
			color, int32(abi.MPI_UNDEFINED))
	}
	if c.remote != nil {
		return c.splitInter(color, key)
	}
	table, err := c.colors(color, key)
	if err != nil {
		return nil, err
	}
	if color == abi.MPI_UNDEFINED {
		return nil, c.agreeSubgroups(nil, nil)
	}
	ranks := ranksOf(table, color)
	g, err := group.Include(c.local, ranks)
	if err != nil {
		return nil, err
	}
	return c.createSubgroup(g, group.Of(ranks))
}

// createSubgroup creates the communicator of g, whose members have the given ranks in c. Collective over c: other
// members call createSubgroup for their own groups, and members that are in no group call agreeSubgroups.
func (c *Comm) createSubgroup(g, ranks *group.Group) (*Comm, error) {
	n := c.child(g, ranks.Rank(int32(c.rank)))
	if err := c.agreeSubgroups(n, ranks); err != nil {
		return nil, err
	}
	return n, nil
}

// colors returns the colors and keys of all members, 8 bytes each.
func (c *Comm) colors(color, key int32) ([]byte, error) {
	return c.collectiveTeam().allgather(packInts([]int32{color, key}))
}

// ranksOf returns the ranks whose entry in the table of colors has the given color, ordered by key and then by rank.
func ranksOf(table []byte, color int32) []int32 {
	keyOf := func(r int32) int32 { return int32(binary.LittleEndian.Uint32(table[8*r+4:])) }
	var ranks []int32
	for r := int32(0); r < int32(len(table)/8); r++ {
		if int32(binary.LittleEndian.Uint32(table[8*r:])) == color {
			ranks = append(ranks, r)
		}
	}
	slices.SortStableFunc(ranks, func(a, b int32) int { return cmp.Compare(keyOf(a), keyOf(b)) })
	return ranks
}

// createSub creates the communicator of g, whose members have the given ranks in c. Collective over g.
func (c *Comm) createSub(x Context, tag int32, g, ranks *group.Group) (*Comm, error) {
	me := ranks.Rank(int32(c.rank))
	n := c.child(g, me)
	t := &team{c: c, x: x, tag: tag, members: ranks, me: me}
	if x == GroupCreation {
		t.processes = g.Members()
	}
	if err := t.agree(n); err != nil {
		return nil, err
	}
	return n, nil
}

// Resource is what the info argument of MPI_Comm_split_type names.
type Resource struct {
	Hardware string // value of mpi_hw_resource_type, "" if not given
	// Set is the process set mpi_pset_name, to which this process belongs; nil if not given or unknown. Kind is the
	// number of its name, below setKinds. Two sets with one name are equal or disjoint.
	Set  *group.Group
	Kind int32
}

const setKinds = 8

// SplitType implements MPI_Comm_split_type. It returns the communicator of the members that share memory, or of the
// members in the same process set. It returns nil for other resources, since the library does not divide the processes
// of a node further. Errors: MPI_ERR_ARG for an unknown type. Collective.
func (c *Comm) SplitType(kind, key int32, resource Resource) (*Comm, error) {
	color := int32(abi.MPI_UNDEFINED)
	node := int32(c.host.Node(c.local.World(c.rank)))
	switch kind {
	case abi.MPI_UNDEFINED:
	case abi.MPI_COMM_TYPE_SHARED:
		color = node
	case abi.MPI_COMM_TYPE_HW_UNGUIDED: // a strict subset of the members
		if c.Hierarchy != nil {
			color = node
		}
	case abi.MPI_COMM_TYPE_HW_GUIDED, abi.MPI_COMM_TYPE_RESOURCE_GUIDED:
		if resource.Hardware == "mpi_shared_memory" {
			color = node
		} else if kind == abi.MPI_COMM_TYPE_RESOURCE_GUIDED && resource.Set != nil && c.remote == nil {
			color = setKinds*c.lowestRank(resource.Set) + resource.Kind
		}
	default:
		return nil, mpierr.New(abi.MPI_ERR_ARG, "split_type is %d, which is not an MPI_COMM_TYPE_ constant",
			kind)
	}
	return c.Split(color, key)
}

// lowestRank returns the lowest rank of the members that belong to g. Precondition: this process belongs to g.
func (c *Comm) lowestRank(g *group.Group) int32 {
	for r := range c.rank {
		if g.Rank(c.local.World(r)) != group.Undefined {
			return int32(r)
		}
	}
	return int32(c.rank)
}

// Create returns the communicator of g (MPI_Comm_create). It returns nil at a member of c that is not in g. Collective
// over c. Errors: MPI_ERR_GROUP if a process of g is not a member of c.
func (c *Comm) Create(g *group.Group) (*Comm, error) {
	if c.remote != nil {
		return c.createInter(g)
	}
	ranks, err := c.ranksIn(g)
	if err != nil {
		return nil, err
	}
	if g.Rank(c.local.World(c.rank)) == group.Undefined {
		return nil, c.agreeSubgroups(nil, nil)
	}
	return c.createSubgroup(g, group.Of(ranks))
}

// CreateGroup is Create called by the members of g only (MPI_Comm_create_group). The argument tag distinguishes
// concurrent calls. Errors: MPI_ERR_PROC_ABORTED if a process of g has failed; c can then be used for other groups.
func (c *Comm) CreateGroup(g *group.Group, tag int32) (*Comm, error) {
	if c.remote != nil {
		return nil, mpierr.New(abi.MPI_ERR_COMM, "MPI_Comm_create_group needs an intracommunicator")
	}
	ranks, err := c.ranksIn(g)
	if err != nil || g.Rank(c.local.World(c.rank)) == group.Undefined {
		return nil, err
	}
	if IsFaultTolerant {
		tag = groupTag(tag, ranks)
	}
	return c.createSub(GroupCreation, tag, g, group.Of(ranks))
}

// IsFaultTolerant is true if the job continues when a process fails.
var IsFaultTolerant bool

// groupTag returns the tag of the messages that create a communicator of the given ranks in a fault-tolerant job. It
// differs for different tags and equal ranks, and for different ranks except with the probability 2^-31. So a call for
// the remaining ranks does not receive messages of a call that failed because a rank had failed.
func groupTag(tag int32, ranks []int32) int32 {
	sum := fnv.New64a()
	sum.Write(packInts(ranks))
	return tag ^ int32(sum.Sum64()>>33)
}

// Synchronize waits until all members, including those of the remote group, have called it. Collective.
func (c *Comm) Synchronize() (err error) {
	local := c
	if c.remote != nil {
		local = c.Local
	}
	if local.size > 1 {
		_, err = local.collectiveTeam().maxClass(0)
	}
	if c.remote != nil && err == nil {
		_, err = c.remoteBytes(nil)
	}
	return err
}

// Confirm returns nil if the argument is nil at all members of an intracommunicator. Otherwise every member gets an
// error: its own one, if it has one. Collective. Precondition: no earlier part of the call has failed because of a
// failed process, since the other members may still execute that part.
func (c *Comm) Confirm(mine error) error {
	if c.size == 1 {
		return mine
	}
	class, err := c.collectiveTeam().maxClass(mpierr.ClassOf(mine))
	switch {
	case mine != nil:
		return mine
	case err == nil && class != abi.MPI_SUCCESS:
		err = mpierr.New(class, "the call failed on another process of the communicator")
	}
	return err
}

// ranksIn returns the ranks in c of the members of g. Errors: MPI_ERR_GROUP if a process of g is not a member of c.
func (c *Comm) ranksIn(g *group.Group) ([]int32, error) {
	ranks := make([]int32, g.Size())
	for i := range ranks {
		r := c.local.Rank(g.World(i))
		if r == group.Undefined {
			return nil, mpierr.New(abi.MPI_ERR_GROUP,
				"process %d of the group (rank %d in MPI_COMM_WORLD) does not belong to the "+
					"communicator", i,
				g.World(i))
		}
		ranks[i] = int32(r)
	}
	return ranks, nil
}
