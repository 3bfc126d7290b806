package comm

import (
	"encoding/binary"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// extent is memory that the members of a communicator share besides its control block.
type extent struct {
	b   []byte // its last line is the number of members that have unmapped it
	off int64
}

// Extend maps size more bytes of zeroed memory that all members of a node share, until the communicator is released.
// Collective over them; they have a Block. 3 messages a member along a tree. MPI_ERR_NO_MEM: a member could not have
// it, so none has.
func (c *Comm) Extend(size int64) ([]byte, error) {
	whole := (size + cacheLine + pageSize - 1) / pageSize * pageSize
	t := c.everyone(Creation, 0).sharers(c)
	var words [16]byte
	var mine error
	if t.me == 0 {
		var off int64
		off, mine = c.host.NewBlock(whole)
		binary.LittleEndian.PutUint64(words[0:], uint64(off))
		binary.LittleEndian.PutUint64(words[8:], uint64(mpierr.ClassOf(mine)))
	}
	if err := t.down(words[:]); err != nil {
		return nil, err
	}
	if class := int32(binary.LittleEndian.Uint64(words[8:])); class != 0 {
		if mine != nil {
			return nil, mine
		}
		return nil, mpierr.New(class, "rank %d could not reserve %d bytes of shared memory", c.Sharer(0), whole)
	}
	x := extent{off: int64(binary.LittleEndian.Uint64(words[0:]))}
	x.b, mine = c.host.MapBlock(x.off, whole)
	class, err := t.worst(mpierr.ClassOf(mine))
	if err == nil && class == 0 {
		c.extents = append(c.extents, x)
		return x.b[:size:size], nil
	}
	last := t.me == 0
	c.host.DropBlock(x.b, c.local.World(c.Sharer(0)), x.off, whole, last)
	switch {
	case err != nil:
		return nil, err
	case mine != nil:
		return nil, mine
	}
	return nil, mpierr.New(abi.MPI_ERR_NO_MEM, "a member could not map %d bytes of shared memory", whole)
}

// dropExtents leaves all that Extend gave. Whoever leaves an extent last has its memory given back.
func (c *Comm) dropExtents() {
	n, _ := c.Sharers()
	for _, x := range c.extents {
		last := leave(x.b, n)
		c.host.DropBlock(x.b, c.local.World(c.Sharer(0)), x.off, int64(len(x.b)), last)
	}
	c.extents = nil
}
