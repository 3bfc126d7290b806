package comm

import (
	"encoding/binary"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// The control block of n members of a node:
//
//	0                BarrierSize(n) bytes  the barrier's (capi/base/barrier.h)
//	CollOffset(n)    CollSize(n) bytes     the other collectives' (core/coll)
//	tail             64 bytes              number of members that have unmapped it

const (
	cacheLine = 64
	pageSize  = 4096
)

// BarrierSize returns the size of the memory of a barrier of n members: a line of arrivals, one of the phase and two a
// member.
func BarrierSize(n int) int64 { return cacheLine * (2 + 2*int64(n)) }

// CollSize returns the size of the memory that core/coll uses in the control block of n members; core/coll sets it
// before the first communicator is made.
var CollSize = func(n int) int64 { return 0 }

// CollOffset returns where the memory of core/coll begins, on a page of its own.
func CollOffset(n int) int64 { return (BarrierSize(n) + pageSize - 1) / pageSize * pageSize }

// BlockSize returns the size of the control block of n members.
func BlockSize(n int) int64 {
	used := CollOffset(n) + (CollSize(n)+cacheLine-1)/cacheLine*cacheLine + cacheLine
	return (used + pageSize - 1) / pageSize * pageSize
}

// The leader of those who share a block reserves it and tells the others where it is, or which class of error it was,
// in 16 bytes.

func (c *Comm) blockSize() int64 {
	n, _ := c.Sharers()
	return BlockSize(n)
}

// reserveBlock is the leader's part.
func (c *Comm) reserveBlock(b []byte) error {
	off, err := c.host.NewBlock(c.blockSize())
	binary.LittleEndian.PutUint64(b, uint64(off))
	binary.LittleEndian.PutUint64(b[8:], uint64(mpierr.ClassOf(err)))
	return err
}

// blockRefused returns what b says of the leader's part; mine is the leader's own error.
func (c *Comm) blockRefused(b []byte, mine error) error {
	class := int32(binary.LittleEndian.Uint64(b[8:]))
	if class == 0 || mine != nil {
		return mine
	}
	return mpierr.New(class, "rank %d of the new communicator could not reserve %d bytes of shared memory for it",
		c.Sharer(0), c.blockSize())
}

func (c *Comm) mapBlock(b []byte) (err error) {
	c.blockOff, c.leader = int64(binary.LittleEndian.Uint64(b)), c.local.World(c.Sharer(0))
	c.Block, err = c.host.MapBlock(c.blockOff, c.blockSize())
	return err
}

// keepBlock keeps the block if all members could map theirs: mine is this one's error, class the worst of all, err says
// that this is not known.
func (c *Comm) keepBlock(mine error, class int32, err error) error {
	if err == nil && class == 0 {
		return nil
	}
	// Nobody has used it: the leader gives it back whether or not the others have unmapped theirs yet.
	if n, place := c.Sharers(); n > 1 {
		c.host.DropBlock(c.Block, c.leader, c.blockOff, BlockSize(n), place == 0)
	}
	c.Block = nil
	switch {
	case err != nil:
		return err
	case mine != nil:
		return mine
	}
	return mpierr.New(abi.MPI_ERR_NO_MEM, "a member of the new communicator could not map its shared memory")
}

// dropBlock leaves the control block. The member that leaves last has its memory given back.
func (c *Comm) dropBlock() {
	if c.Block == nil {
		return
	}
	b := c.Block
	c.Block = nil
	n, _ := c.Sharers()
	last := leave(b, n)
	c.host.DropBlock(b, c.leader, c.blockOff, int64(len(b)), last)
}
