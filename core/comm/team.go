package comm

import (
	"encoding/binary"

	"gompirma/core/group"
	"gompirma/core/mpierr"
)

// team is those members of a communicator that take part in making a new one, in the order of the new ranks. Its
// messages run along a binomial tree with member 0, the leader, at the root.
type team struct {
	c       *Comm
	x       Context
	tag     int32
	members *group.Group // as ranks of c
	me      int          // my place in members
}

func (c *Comm) everyone(x Context, tag int32) *team {
	return &team{c: c, x: x, tag: tag, members: group.Range(0, int32(c.size), 1), me: c.rank}
}

func (t *team) size() int { return t.members.Size() }

func (t *team) send(to int, b []byte) error {
	return t.c.host.Send(t.c, t.x, int(t.members.World(to)), t.tag, b)
}

func (t *team) recv(from int, b []byte) error {
	return t.c.host.Recv(t.c, t.x, int(t.members.World(from)), t.tag, b)
}

// down carries b from the leader to all.
func (t *team) down(b []byte) error {
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

// up collects len(mine) bytes from each member into all (size() times as long) at the leader; other members need all as
// working space.
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

// worst returns to every member the largest of what the members pass.
func (t *team) worst(class int32) (int32, error) {
	var b [4]byte
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

// agree gives a new communicator its identity and its control blocks: the leader draws an identity, the leader of each
// node reserves a block, all map, and all know whether all could. On an error no member has kept anything. c has the
// new group; the team's order is its order.
func (t *team) agree(c *Comm) error {
	c.Span = spanOf(t.c.host, c.local, c.rank)
	if c.Span == nil {
		return t.agreeOnNode(c)
	}
	var b [8]byte
	if t.me == 0 {
		binary.LittleEndian.PutUint64(b[:], t.c.host.NewID())
	}
	if err := t.down(b[:]); err != nil {
		return err
	}
	c.id = binary.LittleEndian.Uint64(b[:])
	if len(c.Span.Leaders) == c.size {
		return nil
	}
	var mine error
	if part := t.sharers(c); part.size() > 1 {
		mine = part.share(c)
	}
	class, err := t.worst(mpierr.ClassOf(mine))
	return c.keepBlock(mine, class, err)
}

// agreeOnNode is agree where all members share memory: what the leader has for them goes in one message.
func (t *team) agreeOnNode(c *Comm) error {
	var b [24]byte
	var mine error
	wants := c.size > 1
	if t.me == 0 {
		binary.LittleEndian.PutUint64(b[:], t.c.host.NewID())
		if wants {
			mine = c.reserveBlock(b[8:])
		}
	}
	if err := t.down(b[:]); err != nil {
		return err
	}
	if err := c.blockRefused(b[8:], mine); err != nil {
		return err
	}
	c.id = binary.LittleEndian.Uint64(b[:])
	if !wants {
		return nil
	}
	mine = c.mapBlock(b[8:])
	class, err := t.worst(mpierr.ClassOf(mine))
	return c.keepBlock(mine, class, err)
}

// share gives the members of one node their block.
func (t *team) share(c *Comm) error {
	var b [16]byte
	var mine error
	if t.me == 0 {
		mine = c.reserveBlock(b[:])
	}
	if err := t.down(b[:]); err != nil {
		return err
	}
	if err := c.blockRefused(b[:], mine); err != nil {
		return err
	}
	return c.mapBlock(b[:])
}
