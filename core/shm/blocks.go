package shm

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// Blocks are parts of the node's memory that some of its processes share temporarily: the control memory of
// communicators and windows. Allocating memory, mapping it, faulting its pages in and releasing it costs 100 us. A loop
// that creates and frees a communicator would do this in each iteration. To avoid this, blocks lie in arenas. A process
// maps another process' arena when it first opens a block there, and keeps it mapped. Unused blocks of up to
// MaxCachedBytes bytes keep their memory.
//
// An arena belongs to the process in whose heap it lies. Only this owner allocates its blocks. All blocks of an arena
// have one size. The last user of a block returns it by setting a bit in the arena's head, without a message to the
// owner:
//
//	0     opened       MaxProcesses bits: processes that have the arena mapped, by index; never cleared
//	512   returned     maxBlocks bits: returned blocks that the owner has not collected yet
//	1024  uncommitted  maxBlocks bits: returned blocks that have no memory
//	1536  returns      uint32: number of blocks returned so far

// BlockRef names a block for the processes of its node. It is the block's offset in the node's memory. The low bits,
// which are 0 in the offset of a page, hold the base-2 logarithm of the size of the block's arena. An arena begins at a
// multiple of its size.
type BlockRef uint64

const (
	arenaReturned    = MaxProcesses / 8
	arenaUncommitted = arenaReturned + maxBlocks/8
	arenaReturns     = arenaUncommitted + maxBlocks/8
	arenaHead        = PageSize

	minArenaLog   = 20 // base-2 logarithms of sizes in bytes
	usualArenaLog = 26
	maxArenaLog   = 40
	maxBlocks     = 4096
)

// MaxCachedBytes limits how many bytes of unused blocks of a process keep their memory. When a large block is returned,
// of more than half of MaxCachedBytes, the limit is instead twice the size of this block.
const MaxCachedBytes = 1 << 20

func (r BlockRef) log() uint        { return uint(r % PageSize) }
func (r BlockRef) offset() int64    { return int64(r &^ (PageSize - 1)) }
func (r BlockRef) arenaOff() int64  { return r.offset() &^ (1<<r.log() - 1) }
func (r BlockRef) arenaSize() int64 { return 1 << r.log() }

// blocks is the state of a process' blocks.
type blocks struct {
	mu     sync.Mutex
	mapped map[int64]*arena     // arenas of all processes, by offset
	bySize map[int64]*sizeClass // blocks that this process allocates, by size
}

// sizeClass holds the blocks of one size that this process allocates.
type sizeClass struct {
	size        int64
	arenas      []*arena
	free        []BlockRef // returned blocks that have memory
	uncommitted []BlockRef // returned blocks without memory
}

// arena is an arena that this process has mapped.
type arena struct {
	off   int64
	bytes []byte

	// The fields below are used only by the owner.
	log         uint
	count       int    // capacity: number of blocks
	fresh       int    // blocks from this index on have never been handed out
	committed   int    // blocks from this index on have no memory
	returnsSeen uint32 // value of the head's counter `returns` at the last collect
}

// AllocBlock allocates size bytes of memory that processes of the node can share. It returns their mapping in this
// process and their name. The memory is zeroed, with one exception: bytes that an earlier user has changed and has not
// counted in the argument `used` of FreeBlock. For example, a communicator's control block may keep data of
// collectives. Errors: MPI_ERR_NO_MEM.
func (nd *Node) AllocBlock(size int64) ([]byte, BlockRef, error) {
	size = roundUp(max(size, 1), PageSize)
	b := &nd.blocks
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.bySize[size]
	if k == nil {
		k = &sizeClass{size: size}
		if b.bySize == nil {
			b.bySize = map[int64]*sizeClass{}
		}
		b.bySize[size] = k
	}
	if len(k.free) == 0 {
		k.collect()
	}
	if n := len(k.free); n > 0 {
		r := k.free[n-1]
		k.free = k.free[:n-1]
		atomic.AddInt64(nd.i64(nd.Me, CellCachedBytes), -size)
		return b.mapped[r.arenaOff()].block(r, size), r, nil
	}
	if n := len(k.uncommitted); n > 0 {
		r := k.uncommitted[n-1]
		if err := nd.Commit(r.offset(), size); err != nil {
			return nil, 0, err
		}
		k.uncommitted = k.uncommitted[:n-1]
		return b.mapped[r.arenaOff()].block(r, size), r, nil
	}
	return nd.freshBlockLocked(k)
}

// collect adds each returned block to a free list of k.
func (k *sizeClass) collect() {
	for _, a := range k.arenas {
		// Acquire: pairs with the increment in FreeBlock, which sets a bit and then increments the count.
		// Without acquire, collect could see the new count and not yet the bit. It would then not read that bit
		// before the next return.
		if n := atomic.LoadUint32(u32(a.bytes, arenaReturns)); n == a.returnsSeen {
			continue
		} else {
			a.returnsSeen = n
		}
		for w := 0; w*64 < a.fresh; w++ {
			word := u64(a.bytes, int64(arenaReturned+8*w))
			if atomic.LoadUint64(word) == 0 {
				continue
			}
			returned := atomic.SwapUint64(word, 0)
			bare := u64(a.bytes, int64(arenaUncommitted+8*w))
			for ; returned != 0; returned &= returned - 1 {
				bit := returned & -returned
				i := 64*w + bits.TrailingZeros64(bit)
				if i >= a.fresh { // never handed out: ignore the bit
					continue
				}
				r := a.ref(i, k.size)
				if atomic.AndUint64(bare, ^bit)&bit != 0 {
					k.uncommitted = append(k.uncommitted, r)
				} else {
					k.free = append(k.free, r)
				}
			}
		}
	}
}

// freshBlockLocked hands out a block for the first time.
func (nd *Node) freshBlockLocked(k *sizeClass) ([]byte, BlockRef, error) {
	var a *arena
	if n := len(k.arenas); n > 0 && k.arenas[n-1].fresh < k.arenas[n-1].count {
		a = k.arenas[n-1]
	} else {
		var err error
		if a, err = nd.newArenaLocked(k); err != nil {
			return nil, 0, err
		}
	}
	if a.fresh == a.committed {
		// Allocates memory for as many further blocks as the arena has already handed out, within the limits
		// below. If memory is short, it allocates memory for one block only.
		more := min(max(a.fresh, 1), max(int(MaxCachedBytes/k.size), 1), a.count-a.fresh)
		at := a.ref(a.fresh, k.size).offset()
		err := nd.Commit(at, int64(more)*k.size)
		if err != nil && more > 1 {
			more = 1
			err = nd.Commit(at, k.size)
		}
		if err != nil {
			return nil, 0, err
		}
		a.committed += more
	}
	r := a.ref(a.fresh, k.size)
	a.fresh++
	return a.block(r, k.size), r, nil
}

// newArenaLocked creates an arena of twice the size of the previous arena, up to the usual maximum.
func (nd *Node) newArenaLocked(k *sizeClass) (*arena, error) {
	log := uint(minArenaLog)
	if n := len(k.arenas); n > 0 {
		log = min(k.arenas[n-1].log+1, usualArenaLog)
	}
	log = max(log, uint(bits.Len64(uint64(arenaHead+k.size-1))))
	off, err := nd.Reserve(1<<log, 1<<log)
	if err != nil {
		return nil, err
	}
	if err := nd.Commit(off, arenaHead); err != nil {
		nd.Release(off, 1<<log)
		return nil, err
	}
	a, err := nd.openArenaLocked(off, 1<<log)
	if err != nil {
		nd.Release(off, 1<<log)
		return nil, err
	}
	a.log, a.count = log, int(min((1<<log-arenaHead)/k.size, maxBlocks))
	k.arenas = append(k.arenas, a)
	return a, nil
}

// openArenaLocked maps an arena and sets this process' bit in its head.
func (nd *Node) openArenaLocked(off, size int64) (*arena, error) {
	bytes, err := nd.Map(off, size)
	if err != nil {
		return nil, err
	}
	a := &arena{off: off, bytes: bytes}
	if nd.blocks.mapped == nil {
		nd.blocks.mapped = map[int64]*arena{}
	}
	nd.blocks.mapped[off] = a
	atomic.OrUint64(u64(bytes, int64(nd.Me/64*8)), 1<<(nd.Me%64))
	return a, nil
}

// ref returns the name of the i-th block.
func (a *arena) ref(i int, size int64) BlockRef {
	return BlockRef(a.off+arenaHead+int64(i)*size) | BlockRef(a.log)
}

// block returns the bytes of a block, nil if it does not lie in the arena.
func (a *arena) block(r BlockRef, size int64) []byte {
	at := r.offset() - a.off
	if at < arenaHead || size < 0 || at+size > int64(len(a.bytes)) {
		return nil
	}
	return a.bytes[at : at+size : at+size]
}

// OpenBlock returns a block of size bytes that a process of this node has allocated. Errors: MPI_ERR_NO_MEM if this
// process cannot map it; MPI_ERR_INTERN if r does not name such a block.
func (nd *Node) OpenBlock(r BlockRef, size int64) ([]byte, error) {
	size = roundUp(max(size, 1), PageSize)
	nd.blocks.mu.Lock()
	defer nd.blocks.mu.Unlock()
	if r.log() >= minArenaLog && r.log() <= maxArenaLog {
		a := nd.blocks.mapped[r.arenaOff()]
		if a == nil {
			var err error
			if a, err = nd.openArenaLocked(r.arenaOff(), r.arenaSize()); err != nil {
				return nil, err
			}
		}
		if b := a.block(r, size); b != nil {
			return b, nil
		}
	}
	return nil, mpierr.New(abi.MPI_ERR_INTERN, "%#x is not a block of %d bytes of shared memory (internal error)",
		uint64(r), size)
}

// BlockMapped returns whether process i has mapped the arena of r, so that OpenBlock cannot fail in that process.
// Precondition: r is open in this process.
func (nd *Node) BlockMapped(r BlockRef, i int) bool {
	nd.blocks.mu.Lock()
	defer nd.blocks.mu.Unlock()
	a := nd.blocks.mapped[r.arenaOff()]
	return a != nil && i >= 0 && i < nd.Slots && atomic.LoadUint64(u64(a.bytes, int64(i/64*8)))>>(i%64)&1 != 0
}

// Dirty is the argument `used` of FreeBlock if any byte of the block may differ from zero.
const Dirty = -1

// FreeBlock returns a block to its owner. Preconditions: the block is open in this process, no process uses it any
// longer, and only its first `used` bytes may differ from zero. The argument `used` may be Dirty.
func (nd *Node) FreeBlock(r BlockRef, size, used int64) {
	size = roundUp(max(size, 1), PageSize)
	nd.blocks.mu.Lock()
	a := nd.blocks.mapped[r.arenaOff()]
	nd.blocks.mu.Unlock()
	owner := (r.offset() - nd.heapOff) / nd.heapStride
	if a == nil || a.block(r, size) == nil || owner < 0 || owner >= int64(nd.Slots) {
		return
	}
	i := (r.offset() - a.off - arenaHead) / size
	word, bit := i/64*8, uint64(1)<<(i%64)
	kept := nd.i64(int(owner), CellCachedBytes)
	clean := used >= 0
	if clean && atomic.AddInt64(kept, size) > max(MaxCachedBytes, 2*size) {
		atomic.AddInt64(kept, -size)
		clean = false
	}
	if clean {
		clearUsed(a.block(r, size)[:roundUp(used, 8)])
	} else {
		nd.memory.release(r.offset(), size)
		atomic.OrUint64(u64(a.bytes, arenaUncommitted+word), bit)
	}
	atomic.OrUint64(u64(a.bytes, arenaReturned+word), bit)
	// Release: pairs with the load in collect. The count must change after the bits. Otherwise collect could see
	// the new count but not yet the bit, and would not read the bit before the next return.
	atomic.AddUint32(u32(a.bytes, arenaReturns), 1)
}

// BlocksInUse returns the number of blocks that this process has handed out and that have not been returned. Leak
// checks use it.
func (nd *Node) BlocksInUse() (n int) {
	nd.blocks.mu.Lock()
	defer nd.blocks.mu.Unlock()
	for _, k := range nd.blocks.bySize {
		k.collect()
		for _, a := range k.arenas {
			n += a.fresh
		}
		n -= len(k.free) + len(k.uncommitted)
	}
	return n
}
