package comm

import (
	"encoding/binary"

	"gompirma/core/abi"
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

// agree gives a new communicator its identity and its control block: the leader draws and reserves, all map, and all
// know whether all could. On an error no member has kept anything. g is the new group; the team's order is its order.
func (t *team) agree(c *Comm) error {
	host := t.c.host
	wants := wantsBlock(host, c.local)
	size := BlockSize(c.size)
	var b [24]byte
	var mine error
	if t.me == 0 {
		class := int32(0)
		off := int64(0)
		if wants {
			if off, mine = host.NewBlock(size); mine != nil {
				class = mpierr.ClassOf(mine)
			}
		}
		binary.LittleEndian.PutUint64(b[0:], host.NewID())
		binary.LittleEndian.PutUint64(b[8:], uint64(off))
		binary.LittleEndian.PutUint64(b[16:], uint64(class))
	}
	if err := t.down(b[:]); err != nil {
		return err
	}
	if class := int32(binary.LittleEndian.Uint64(b[16:])); class != 0 {
		if mine != nil {
			return mine
		}
		return mpierr.New(class, "rank %d of the new communicator could not reserve %d bytes of shared "+
			"memory for it", 0, size)
	}
	c.id = binary.LittleEndian.Uint64(b[0:])
	if !wants {
		return nil
	}
	c.blockOff, c.leader = int64(binary.LittleEndian.Uint64(b[8:])), c.local.World(0)
	c.Block, mine = host.MapBlock(c.blockOff, size)
	class, err := t.worst(mpierr.ClassOf(mine))
	if err == nil && class == 0 {
		return nil
	}
	// Nobody has used it: the leader gives it back whether or not the others have unmapped theirs yet.
	last := t.me == 0
	host.DropBlock(c.Block, c.leader, c.blockOff, size, last)
	c.Block = nil
	switch {
	case err != nil:
		return err
	case mine != nil:
		return mine
	}
	return mpierr.New(abi.MPI_ERR_NO_MEM,
		"a member of the new communicator could not map %d bytes of shared memory", size)
}
