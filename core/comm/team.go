package comm

import (
	"encoding/binary"

	"gompirma/core/group"
	"gompirma/core/mpierr"
)

// A team consists of the members of a communicator that together create another communicator, in the order of their
// ranks in the new communicator. Messages within a team follow a binomial tree with member 0, the leader, at the root.
type team struct {
	c            *Comm
	x            Context
	tag          int32
	members      *group.Group // as ranks of c; nil: all members of c, from rank root on, cyclically
	root         int
	me           int  // index of this process in members
	isCollective bool // this is a collective call of all members of c: see collectiveTeam
	// Numbers of the members if they are a part of c and the other members of c do not take part in the call, else
	// nil. Of the team of a node: also of the members on other nodes.
	processes []int32
}

func (c *Comm) newTeam(x Context, tag int32) *team {
	return &team{c: c, x: x, tag: tag, me: c.rank}
}

// collectiveTeam returns the team of all members during a collective call on c. Such calls do not overlap, so the team
// may use Host.Bcast and Host.Allgather.
func (c *Comm) collectiveTeam() *team {
	t := c.newTeam(Creation, 0)
	t.isCollective = true
	return t
}

// rootedTeam returns the team of collectiveTeam with another order: the process of rank `root` is member 0, and the
// others follow it cyclically.
func (c *Comm) rootedTeam(root int) *team {
	t := c.collectiveTeam()
	t.root, t.me = root, (c.rank-root+c.size)%c.size
	return t
}

func (t *team) size() int {
	if t.members == nil {
		return t.c.size
	}
	return t.members.Size()
}

// member returns the rank in c of the member with index `place`.
func (t *team) member(place int) int {
	if t.members == nil {
		return (place + t.root) % t.c.size
	}
	return int(t.members.World(place))
}

func (t *team) send(to int, b []byte) error {
	return t.c.host.Send(t.c, t.x, t.member(to), t.tag, b)
}

func (t *team) recv(from int, b []byte) error {
	return t.c.host.Recv(t.c, t.x, t.member(from), t.tag, b, t.processes)
}

// bcast broadcasts b from the leader to all members.
func (t *team) bcast(b []byte) error {
	if t.isCollective && len(b) <= MaxShortBytes {
		if done, err := t.c.host.Bcast(t.c, t.root, b); done || err != nil {
			return err
		}
	}
	mask := 1
	for ; mask < t.size(); mask <<= 1 {
		if t.me&mask != 0 {
			if err := t.recv(t.me-mask, b); err != nil {
				return err
			}
			break
		}
	}
	for mask >>= 1; mask > 0; mask >>= 1 {
		if t.me+mask < t.size() {
			if err := t.send(t.me+mask, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// gatherToLeader gathers the slices `mine` of all members, which have the same length, into the slice `all` of the
// leader. len(all) is size() times len(mine). Other members need `all` as a temporary buffer.
func (t *team) gatherToLeader(mine, all []byte) error {
	w := len(mine)
	copy(all, mine)
	have := 1
	for mask := 1; mask < t.size(); mask <<= 1 {
		if t.me&mask != 0 {
			return t.send(t.me-mask, all[:have*w])
		}
		if child := t.me + mask; child < t.size() {
			n := min(mask, t.size()-child)
			if err := t.recv(child, all[mask*w:(mask+n)*w]); err != nil {
				return err
			}
			have = mask + n
		}
	}
	return nil
}

// allgather returns at every member the concatenation of the slices `mine` of all members, in the order of the members.
// The slices have the same length.
func (t *team) allgather(mine []byte) ([]byte, error) {
	if t.isCollective && len(mine) <= MaxShortBytes {
		if all, done, err := t.c.host.Allgather(t.c, mine); done || err != nil {
			return all, err
		}
	}
	all := make([]byte, len(mine)*t.size())
	if err := t.gatherToLeader(mine, all); err != nil {
		return nil, err
	}
	return all, t.bcast(all)
}

// maxClass returns, at every member, the maximum of the argument `class` over all members.
func (t *team) maxClass(class int32) (int32, error) {
	var b [4]byte
	if t.isCollective {
		binary.LittleEndian.PutUint32(b[:], uint32(class))
		all, err := t.allgather(b[:])
		for ; len(all) > 0; all = all[4:] {
			class = max(class, int32(binary.LittleEndian.Uint32(all)))
		}
		return class, err
	}
	for mask := 1; mask < t.size(); mask <<= 1 {
		if t.me&mask != 0 {
			binary.LittleEndian.PutUint32(b[:], uint32(class))
			if err := t.send(t.me-mask, b[:]); err != nil {
				return 0, err
			}
			break
		}
		if child := t.me + mask; child < t.size() {
			if err := t.recv(child, b[:]); err != nil {
				return 0, err
			}
			class = max(class, int32(binary.LittleEndian.Uint32(b[:])))
		}
	}
	binary.LittleEndian.PutUint32(b[:], uint32(class))
	err := t.bcast(b[:])
	return int32(binary.LittleEndian.Uint32(b[:])), err
}

// agree sets the identity and the control blocks of the new communicator `c`, whose group has the order of the team.
// The leader creates the identity, and the leader of each node allocates a block. All members open the block of their
// node and exchange the results. If any member has an error, every member drops its block.
func (t *team) agree(c *Comm) error {
	if c.size == 1 {
		c.id = c.host.NewID()
		return nil
	}
	c.Hierarchy = hierarchyOf(t.c.host, c.local, c.rank)
	switch {
	case c.Hierarchy == nil:
		return t.agreeLocal(c)
	case t.isCollective:
		return t.c.agreeSubgroups(c, group.Range(0, int32(c.size), 1))
	}
	var b [8]byte
	if t.me == 0 {
		binary.LittleEndian.PutUint64(b[:], t.c.host.NewID())
	}
	if err := t.bcast(b[:]); err != nil {
		return err
	}
	c.id = binary.LittleEndian.Uint64(b[:])
	if len(c.Hierarchy.Leaders) == c.size {
		return nil
	}
	var mine, err error
	if part := t.localTeam(c); part.size() > 1 {
		mine, err = part.shareBlock(c)
	}
	var class int32
	if err == nil {
		class, err = t.maxClass(mpierr.ClassOf(mine))
	}
	return c.commitBlock(mine, class, err)
}

// agreeLocal implements agree for members that all share memory. The leader broadcasts one message. Further messages
// are needed only if a member has to map memory.
func (t *team) agreeLocal(c *Comm) error {
	b := make([]byte, offerBytes)
	mine := c.writeOffer(b)
	if err := t.bcast(b); err != nil {
		return c.commitBlock(mine, 0, err)
	}
	sure, mine := c.readOffer(b, mine)
	if sure {
		return mine
	}
	class, err := t.maxClass(mpierr.ClassOf(mine))
	return c.commitBlock(mine, class, err)
}

// shareBlock allocates and opens the control block of the members of one node, which are the team. It returns this
// member's error, and the error of the exchange.
func (t *team) shareBlock(c *Comm) (mine, err error) {
	var b [blockMsgBytes]byte
	if t.me == 0 {
		mine = c.allocBlock(b[:])
	}
	if err := t.bcast(b[:]); err != nil {
		return mine, err
	}
	if mine = c.blockError(b[:], mine); mine == nil {
		mine = c.openBlock(b[:])
	}
	return mine, nil
}

// agreeSubgroups implements agree for several new communicators of disjoint sets of members of c. The argument `n` is
// the new communicator of this member, nil if this member is in no set. The argument `ranks` has the ranks in c of the
// members of `n`. Collective over c: one allgather carries the messages of all leaders. If any member has to map
// memory, the members also exchange the results of mapping.
func (c *Comm) agreeSubgroups(n *Comm, ranks *group.Group) error {
	const size = 8 + blockMsgBytes
	b := make([]byte, size)
	b[size-blockMsgBytes+12] = 1 // the announcement's flag that no member can fail: true, since there is no block
	var mine error
	sharers := 0
	if n != nil {
		n.Hierarchy = hierarchyOf(c.host, n.local, n.rank)
		if n.rank == 0 {
			binary.LittleEndian.PutUint64(b, c.host.NewID())
		}
		var place int
		if sharers, place = n.LocalMembers(); sharers > 1 && place == 0 {
			mine = n.allocBlock(b[8:])
		}
	}
	t := c.collectiveTeam()
	all, err := t.allgather(b)
	if err != nil {
		if n != nil {
			return n.commitBlock(mine, 0, err)
		}
		return err
	}
	of := func(rank int) []byte { return all[size*rank+8 : size*(rank+1)] }
	sure := true
	for i := range c.size {
		sure = sure && cannotFailToOpen(of(i))
	}
	if n != nil {
		for i := 0; i < n.size && mine == nil; i++ {
			mine = n.blockError(of(int(ranks.World(i))), nil)
		}
		if mine == nil && sharers > 1 {
			mine = n.openBlock(of(int(ranks.World(n.LocalMember(0)))))
		}
		n.id = binary.LittleEndian.Uint64(all[size*int(ranks.World(0)):])
	}
	class := mpierr.ClassOf(mine)
	if !sure {
		binary.LittleEndian.PutUint32(b, uint32(class))
		if all, err = t.allgather(b[:4]); err == nil && n != nil {
			for i := range n.size {
				class = max(class, int32(binary.LittleEndian.Uint32(all[4*ranks.World(i):])))
			}
		}
	}
	if n == nil {
		return err
	}
	return n.commitBlock(mine, class, err)
}
