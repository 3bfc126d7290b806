package comm

import (
	"encoding/binary"

	"gompirma/core/group"
	"gompirma/core/mpierr"
)

// team is the members of a communicator that create a new one, in the order of the new ranks. Its messages follow a
// binomial tree with member 0, the leader, at the root.
type team struct {
	c       *Comm
	x       Context
	tag     int32
	members *group.Group // as ranks of c; nil: all members of c, in rank order from root on
	root    int
	me      int  // index of this process in members
	all     bool // this is a collective call of all members of c: see together
}

func (c *Comm) everyone(x Context, tag int32) *team {
	return &team{c: c, x: x, tag: tag, me: c.rank}
}

// together returns the team of all members during a collective call on c. Such calls do not overlap, so the team may
// communicate by other collectives.
func (c *Comm) together() *team {
	t := c.everyone(Creation, 0)
	t.all = true
	return t
}

// rooted is together with root as member 0.
func (c *Comm) rooted(root int) *team {
	t := c.together()
	t.root, t.me = root, (c.rank-root+c.size)%c.size
	return t
}

func (t *team) size() int {
	if t.members == nil {
		return t.c.size
	}
	return t.members.Size()
}

// member returns the rank in c of the member with an index.
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
	return t.c.host.Recv(t.c, t.x, t.member(from), t.tag, b)
}

// down broadcasts b from the leader to all members.
func (t *team) down(b []byte) error {
	if t.all && len(b) <= MostShared {
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

// up gathers len(mine) bytes of each member into all (size() times as long) at the leader. Other members need all as a
// temporary buffer.
func (t *team) up(mine, all []byte) error {
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

// gather returns the contributions of all members, which have equal lengths, to every member, in the order of members.
func (t *team) gather(mine []byte) ([]byte, error) {
	if t.all && len(mine) <= MostShared {
		if all, done, err := t.c.host.Allgather(t.c, mine); done || err != nil {
			return all, err
		}
	}
	all := make([]byte, len(mine)*t.size())
	if err := t.up(mine, all); err != nil {
		return nil, err
	}
	return all, t.down(all)
}

// worst returns the maximum of class over all members to every member.
func (t *team) worst(class int32) (int32, error) {
	var b [4]byte
	if t.all {
		binary.LittleEndian.PutUint32(b[:], uint32(class))
		all, err := t.gather(b[:])
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
	err := t.down(b[:])
	return int32(binary.LittleEndian.Uint32(b[:])), err
}

// agree sets the identity and the control blocks of a new communicator. The leader draws the identity, the leader of
// each node allocates a block, and all members open it and learn whether all could. On an error no member keeps
// anything. c has the new group, whose order is the order of the team.
func (t *team) agree(c *Comm) error {
	if c.size == 1 {
		c.id = c.host.NewID()
		return nil
	}
	c.Hierarchy = hierarchyOf(t.c.host, c.local, c.rank)
	switch {
	case c.Hierarchy == nil:
		return t.agreeOnNode(c)
	case t.all:
		return t.c.agreeAmong(c, group.Range(0, int32(c.size), 1))
	}
	var b [8]byte
	if t.me == 0 {
		binary.LittleEndian.PutUint64(b[:], t.c.host.NewID())
	}
	if err := t.down(b[:]); err != nil {
		return err
	}
	c.id = binary.LittleEndian.Uint64(b[:])
	if len(c.Hierarchy.Leaders) == c.size {
		return nil
	}
	var mine error
	if part := t.sharers(c); part.size() > 1 {
		mine = part.share(c)
	}
	class, err := t.worst(mpierr.ClassOf(mine))
	return c.keepBlock(mine, class, err)
}

// agreeOnNode is agree for members that all share memory: the leader sends one message, and no other is needed unless a
// member has to map something.
func (t *team) agreeOnNode(c *Comm) error {
	b := make([]byte, offerSize)
	mine := c.offer(b)
	if err := t.down(b); err != nil {
		return c.keepBlock(mine, 0, err)
	}
	sure, mine := c.accept(b, mine)
	if sure {
		return mine
	}
	class, err := t.worst(mpierr.ClassOf(mine))
	return c.keepBlock(mine, class, err)
}

// share sets the control block of the members of one node.
func (t *team) share(c *Comm) error {
	var b [blockWords]byte
	var mine error
	if t.me == 0 {
		mine = c.takeBlock(b[:])
	}
	if err := t.down(b[:]); err != nil {
		return err
	}
	if err := c.blockRefused(b[:], mine); err != nil {
		return err
	}
	return c.openBlock(b[:])
}

// agreeAmong is agree for new communicators of parts of c. n is that of this member, nil if it is in none; ranks are
// the ranks in c of its members. Collective over c: all members exchange their messages as leaders. If any member has
// to map something, they also exchange whether that succeeded.
func (c *Comm) agreeAmong(n *Comm, ranks *group.Group) error {
	const size = 8 + blockWords
	b := make([]byte, size)
	b[size-blockWords+12] = 1 // sure, unless there is a block
	var mine error
	sharers := 0
	if n != nil {
		n.Hierarchy = hierarchyOf(c.host, n.local, n.rank)
		if n.rank == 0 {
			binary.LittleEndian.PutUint64(b, c.host.NewID())
		}
		var place int
		if sharers, place = n.Sharers(); sharers > 1 && place == 0 {
			mine = n.takeBlock(b[8:])
		}
	}
	t := c.together()
	all, err := t.gather(b)
	if err != nil {
		if n != nil {
			return n.keepBlock(mine, 0, err)
		}
		return err
	}
	of := func(rank int) []byte { return all[size*rank+8 : size*(rank+1)] }
	sure := true
	for i := range c.size {
		sure = sure && blockIsSure(of(i))
	}
	if n != nil {
		for i := 0; i < n.size && mine == nil; i++ {
			mine = n.blockRefused(of(int(ranks.World(i))), nil)
		}
		if mine == nil && sharers > 1 {
			mine = n.openBlock(of(int(ranks.World(n.Sharer(0)))))
		}
		n.id = binary.LittleEndian.Uint64(all[size*int(ranks.World(0)):])
	}
	class := mpierr.ClassOf(mine)
	if !sure {
		binary.LittleEndian.PutUint32(b, uint32(class))
		if all, err = t.gather(b[:4]); err == nil && n != nil {
			for i := range n.size {
				class = max(class, int32(binary.LittleEndian.Uint32(all[4*ranks.World(i):])))
			}
		}
	}
	if n == nil {
		return err
	}
	return n.keepBlock(mine, class, err)
}
