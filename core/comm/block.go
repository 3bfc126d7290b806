package comm

import (
	"encoding/binary"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// The control block of n members of a node:
//
//	0                BarrierSize(n) bytes  of the barrier (capi/base/barrier.h)
//	                 8 bytes               number of members that have released the block (countLeave)
//	                 8 bytes               the shared file pointer, if it is the communicator of a file (capi/file)
//	                 48 bytes              name of the memory of agreements, or 0 (agreement.open)
//	CollOffset(n)    CollSize(n) bytes     of the other collectives (core/coll)
//
// The barrier's memory comes first, so that a communicator that is created and freed without use touches only the first
// page. The first access to a page costs microseconds.

const (
	cacheLine = 64
	pageSize  = 4096
)

// BarrierSize returns the size of a barrier of n members in bytes: one cache line for arrivals, one for the phase, and
// two for each member.
func BarrierSize(n int) int64 { return cacheLine * (2 + 2*int64(n)) }

// CollSize returns the size of the memory that core/coll uses in the control block of n members. core/coll sets it
// before the first communicator is created.
var CollSize = func(n int) int64 { return 0 }

// CollOffset returns the offset of the memory of core/coll, which begins on a page of its own.
func CollOffset(n int) int64 {
	return (BarrierSize(n) + cacheLine + pageSize - 1) / pageSize * pageSize
}

// BlockSize returns the size of the control block of n members.
func BlockSize(n int) int64 {
	used := CollOffset(n) + CollSize(n)
	return (used + pageSize - 1) / pageSize * pageSize
}

// blockMsgBytes is the size of the announcement of a block. The leader of the members that share the block sends it to
// the other members. It holds the name of the block (8 bytes), an error class if no block is available (4 bytes), and a
// flag (1 byte). The flag is set if no member can fail to open the block.
const blockMsgBytes = 16

// offerBytes is the size of the leader's message if all members share memory: the identity of the new communicator,
// followed by the announcement of its block.
const offerBytes = 8 + blockMsgBytes

// writeOffer allocates the block and writes the leader's message to b, if this member is the leader.
func (c *Comm) writeOffer(b []byte) (err error) {
	if c.rank == 0 {
		binary.LittleEndian.PutUint64(b, c.host.NewID())
		err = c.allocBlock(b[8:])
	}
	return err
}

// readOffer reads the leader's message and opens the block. The argument `mine` is the error of writeOffer. The result
// `sure` is true if readOffer certainly returns the same error at all members, so that they need not exchange their
// errors.
func (c *Comm) readOffer(b []byte, mine error) (sure bool, err error) {
	if err := c.blockError(b[8:], mine); err != nil {
		return true, err
	}
	c.id = binary.LittleEndian.Uint64(b)
	return cannotFailToOpen(b[8:]), c.openBlock(b[8:])
}

func (c *Comm) blockSize() int64 {
	n, _ := c.LocalMembers()
	return BlockSize(n)
}

// allocBlock is the leader's part: it allocates the block and writes the announcement.
func (c *Comm) allocBlock(b []byte) (err error) {
	c.Block, c.block, err = c.host.AllocBlock(c.blockSize())
	encodeBlock(b, c.block, err, err == nil && c.isMappedAtAll(c.block))
	return err
}

func encodeBlock(b []byte, name uint64, err error, sure bool) {
	binary.LittleEndian.PutUint64(b, name)
	binary.LittleEndian.PutUint32(b[8:], uint32(mpierr.ClassOf(err)))
	b[12] = 0
	if sure {
		b[12] = 1
	}
}

// isMappedAtAll returns whether all members on this node have mapped the memory of the block. If so, no member can fail
// to open it.
func (c *Comm) isMappedAtAll(name uint64) bool {
	n, place := c.LocalMembers()
	for i := range n {
		if i != place && !c.host.BlockMapped(name, c.local.World(c.LocalMember(i))) {
			return false
		}
	}
	return true
}

// cannotFailToOpen returns the flag of the announcement b: true if no member can fail to open the block.
func cannotFailToOpen(b []byte) bool { return b[12] != 0 }

// blockError returns the error that the announcement reports. At the leader, the argument `mine` is the error itself.
func (c *Comm) blockError(b []byte, mine error) error {
	class := int32(binary.LittleEndian.Uint32(b[8:]))
	if class == 0 || mine != nil {
		return mine
	}
	return mpierr.New(class, "rank %d cannot allocate %d bytes of shared memory for the new communicator",
		c.LocalMember(0), c.blockSize())
}

// openBlock is the part of the members other than the leader: it opens the announced block.
func (c *Comm) openBlock(b []byte) (err error) {
	if c.Block == nil {
		c.block = binary.LittleEndian.Uint64(b)
		c.Block, err = c.host.OpenBlock(c.block, c.blockSize())
	}
	return err
}

// commitBlock keeps the block if all members could open it. Otherwise it drops the block and returns an error. The
// arguments are the results of the exchange: `mine` is this member's error, `class` the largest error class of all
// members, and `err` the error of the exchange itself.
func (c *Comm) commitBlock(mine error, class int32, err error) error {
	if err == nil && class == 0 {
		return nil
	}
	// If the exchange has succeeded, no member has used the block, so all of it is still zero. Otherwise, other
	// members may use the block, which stays allocated until the job ends.
	if _, place := c.LocalMembers(); place == 0 && c.Block != nil && err == nil {
		c.host.FreeBlock(c.block, c.blockSize(), 0)
	}
	c.Block = nil
	switch {
	case err != nil:
		return err
	case mine != nil:
		return mine
	}
	return mpierr.New(abi.MPI_ERR_NO_MEM, "a process of the new communicator cannot map the shared memory of the "+
		"communicator")
}

// releaseBlock releases this member's use of the control block. The last member clears the bytes that were used and
// frees the block.
func (c *Comm) releaseBlock() {
	if c.Block == nil {
		return
	}
	b := c.Block
	c.Block = nil
	n, _ := c.LocalMembers()
	coll, _ := c.Coll.(interface {
		Used() bool
		Clean()
	})
	last, used := countLeave(b[BarrierSize(n):], n, coll != nil && coll.Used())
	if !last {
		return
	}
	if used && coll != nil {
		coll.Clean()
	}
	c.agreement.release()
	dirty := BarrierSize(n) + cacheLine
	if used && coll == nil {
		dirty = int64(len(b))
	}
	c.host.FreeBlock(c.block, int64(len(b)), dirty)
}
