package comm

import (
	"encoding/binary"
	"slices"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// extent is memory that the members of a communicator on one node share in addition to the control block.
type extent struct {
	b    []byte // shared memory; its last cache line is for countLeave
	name uint64
}

// Extend allocates size bytes of zeroed memory that all members of a node share. The memory lives until Shrink or until
// the communicator is released. Collective over the members on a node. Precondition: they have a Block. It costs one
// message for each member along a tree, or three messages for each member if any member has to map the memory. Errors:
// MPI_ERR_NO_MEM at all members if any member cannot allocate or map the memory.
func (c *Comm) Extend(size int64) ([]byte, error) {
	whole := (size + cacheLine + pageSize - 1) / pageSize * pageSize
	t := c.newTeam(Creation, 0).localTeam(c)
	var words [blockMsgBytes]byte
	var mine error
	var x extent
	if t.me == 0 {
		x.b, x.name, mine = c.host.AllocBlock(whole)
		clear(x.b) // an earlier user of this block may have left data in it
		encodeBlock(words[:], x.name, mine, mine == nil && c.isMappedAtAll(x.name))
	}
	err := t.bcast(words[:])
	if class := int32(binary.LittleEndian.Uint32(words[8:])); err == nil && class != 0 {
		if mine != nil {
			return nil, mine
		}
		return nil, mpierr.New(class, "rank %d cannot allocate %d bytes of shared memory", c.LocalMember(0),
			whole)
	}
	var class int32
	if err == nil && t.me != 0 {
		x.name = binary.LittleEndian.Uint64(words[:])
		x.b, mine = c.host.OpenBlock(x.name, whole)
	}
	if err == nil && !cannotFailToOpen(words[:]) {
		class, err = t.maxClass(mpierr.ClassOf(mine))
	}
	if err == nil && class == 0 {
		c.extents = append(c.extents, x)
		return x.b[:size:size], nil
	}
	// If the exchange has failed, other members may use the memory, so it stays allocated until the job ends.
	if t.me == 0 && x.b != nil && err == nil {
		c.host.FreeBlock(x.name, whole, 0)
	}
	switch {
	case err != nil:
		return nil, err
	case mine != nil:
		return nil, mine
	}
	return nil, mpierr.New(abi.MPI_ERR_NO_MEM, "a process of the communicator cannot map %d bytes of shared "+
		"memory", whole)
}

// Shrink releases this member's use of memory that Extend returned, before the communicator is released. Each member
// calls it when it no longer needs the memory.
func (c *Comm) Shrink(b []byte) {
	i := slices.IndexFunc(c.extents, func(x extent) bool { return &x.b[0] == &b[0] })
	c.releaseExtent(c.extents[i])
	c.extents = slices.Delete(c.extents, i, i+1)
}

// AllocBlock allocates size bytes of zeroed memory that the members of this node can share, and returns its name. Only
// this member knows the name, so it sends the name to the other members. One member frees the block. Errors:
// MPI_ERR_NO_MEM.
func (c *Comm) AllocBlock(size int64) (name uint64, err error) {
	b, name, err := c.host.AllocBlock(size)
	clear(b) // an earlier user of this block may have left data in it
	return name, err
}

// OpenBlock maps and returns memory that a member has allocated by AllocBlock. Errors: MPI_ERR_NO_MEM.
func (c *Comm) OpenBlock(name uint64, size int64) ([]byte, error) {
	return c.host.OpenBlock(name, size)
}

// FreeBlock frees memory that no member uses any longer.
func (c *Comm) FreeBlock(name uint64, size int64) {
	if _, err := c.host.OpenBlock(name, size); err == nil { // Host.FreeBlock requires that the block is open
		c.host.FreeBlock(name, size, size)
	}
}

// releaseExtents releases this member's use of all memory that Extend returned.
func (c *Comm) releaseExtents() {
	for _, x := range c.extents {
		c.releaseExtent(x)
	}
	c.extents = nil
}

// releaseExtent releases this member's use of an extent. The last member frees it.
func (c *Comm) releaseExtent(x extent) {
	n, _ := c.LocalMembers()
	if last, _ := countLeave(x.b[len(x.b)-cacheLine:], n, true); last {
		c.host.FreeBlock(x.name, int64(len(x.b)), -1)
	}
}
