package rma

import (
	"math/bits"
	"slices"
	"sync"

	"gompirma/core/shm"
)

// pool serves small allocations of MPI_Alloc_mem. They share mappings and pages, since the system limits the number of
// mappings of a process (vm.max_map_count, 65,530 by default). An arena is one mapping of the node's memory, divided
// into chunks. A chunk has memory only while it is in use. It holds blocks of one size. An allocation larger than half
// a chunk occupies consecutive chunks that hold no other allocation. These chunks are called a row. A window treats an
// arena like any other region.
type pool struct {
	mu          sync.Mutex
	byAddr      map[uintptr]*arena // key: address / arenaSize
	arenas      []*arena
	classes     [len(strides)][]*chunk // for each size in strides: chunks that have a free block
	cachedRow   *chunk                 // first chunk of the row that was freed last; it keeps its memory
	emptyArenas int                    // arenas without chunks in use
}

const (
	arenaSize        = 16 << 20
	chunkSize        = 64 << 10
	chunks           = arenaSize / chunkSize
	maxPooledBytes   = 1 << 20 // larger allocations have a mapping of their own
	maxBlockBytes    = chunkSize / 2
	maxBlocks        = chunkSize / MinAlignment
	maxPoolAlignment = chunkSize
)

// strides are the sizes of blocks. A block begins at a multiple of its size in a chunk, so it is aligned to each power
// of two that divides its size. Sizes from a page on are multiples of the page size, so these blocks begin on pages.
var strides = [...]int{64, 128, 192, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280, 1536, 2048, 2560, 3072, 4096,
	8192, 12288, 16384, 20480, maxBlockBytes}

type arena struct {
	bytes      []byte
	off        int64 // offset in the node's memory
	chunks     [chunks]chunk
	busy       [chunks]bool
	used       int // number of chunks in use
	maxFreeRun int // upper bound of the length of the longest run of free chunks
}

// chunk is a part of an arena.
type chunk struct {
	arena *arena
	index int
	class int // index in strides of the size of its blocks
	// 0 if the chunk holds blocks. Otherwise the chunk belongs to a row: in the row's first chunk this field is the
	// number of chunks of the row, in the others -1.
	row    int
	size   int64 // bytes of the row that have memory
	cached bool  // the row is pool.cachedRow

	allocated  int // number of allocated blocks
	fresh      int // blocks from this index on were never allocated, so they are still zero
	bits       [maxBlocks / 64]uint64
	classIndex int // index of the chunk in its list in pool.classes; -1 if the chunk is not in the list
}

var small = pool{byAddr: map[uintptr]*arena{}}

// isPooled returns whether the pool serves allocations of this size and alignment.
func isPooled(size, alignment int64) bool {
	return size <= maxPooledBytes && alignment <= maxPoolAlignment
}

// alloc allocates `size` zeroed bytes and returns their address, which is a multiple of `alignment`, a power of two.
// Error: MPI_ERR_NO_MEM.
func (p *pool) alloc(nd *shm.Node, size, alignment int64) (uintptr, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	class := slices.IndexFunc(strides[:],
		func(stride int) bool { return int64(stride) >= size && int64(stride)%alignment == 0 })
	if class < 0 {
		return p.allocRowLocked(nd, int((size+chunkSize-1)/chunkSize), size)
	}
	if len(p.classes[class]) == 0 {
		c, err := p.allocChunksLocked(nd, 1, chunkSize)
		if err != nil {
			return 0, err
		}
		c.class, c.row, c.fresh = class, 0, 0
		c.bits = [len(c.bits)]uint64{}
		p.addToClassLocked(c)
	}
	list := p.classes[class]
	c := list[len(list)-1]
	block := c.allocBlock()
	if c.allocated == c.blocks() {
		p.removeClassLocked(c)
	}
	stride := strides[class]
	b := c.bytes()[block*stride : (block+1)*stride]
	if block >= c.fresh {
		c.fresh = block + 1
	} else {
		clear(b[:size])
	}
	return address(b), nil
}

// allocRowLocked allocates a row of n chunks for size bytes. It uses the cached row if that row has n chunks and enough
// memory.
func (p *pool) allocRowLocked(nd *shm.Node, n int, size int64) (uintptr, error) {
	if c := p.cachedRow; c != nil {
		p.cachedRow = nil
		if c.row == n && c.size >= roundToPages(size) {
			clear(c.bytes()[:size])
			c.cached = false
			return address(c.bytes()), nil
		}
		p.freeChunksLocked(nd, c, c.row)
	}
	c, err := p.allocChunksLocked(nd, n, roundToPages(size))
	if err != nil {
		return 0, err
	}
	c.size, c.cached = roundToPages(size), false
	return address(c.bytes()), nil
}

// free frees the allocation at `addr`. The result `known` is true if `addr` lies in an arena. The result `ok` is true
// if alloc returned `addr` and `addr` was still allocated.
func (p *pool) free(nd *shm.Node, addr uintptr) (known, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, block, known := p.findLocked(addr)
	switch {
	case c == nil:
		return known, false
	case c.row > 0:
		// The freed row keeps its memory until another row is freed. So a program that allocates and frees a
		// row repeatedly does not allocate and release memory each time.
		if p.cachedRow != nil {
			p.freeChunksLocked(nd, p.cachedRow, p.cachedRow.row)
		}
		p.cachedRow, c.cached = c, true
		return true, true
	}
	c.bits[block/64] &^= uint64(1) << (block % 64)
	c.allocated--
	if c.classIndex < 0 {
		p.addToClassLocked(c)
	}
	// The last chunk of a class that has free blocks keeps its memory, so that repeated allocation and freeing of
	// one block is fast.
	if c.allocated == 0 && len(p.classes[c.class]) > 1 {
		p.removeClassLocked(c)
		p.freeChunksLocked(nd, c, 1)
	}
	return true, true
}

// findLocked returns the chunk of the allocation that begins at addr, and the index of its block in the chunk. It
// returns nil if no allocation begins there. The result `known` is true if `addr` lies in an arena.
func (p *pool) findLocked(addr uintptr) (c *chunk, block int, known bool) {
	a := p.byAddr[addr/arenaSize]
	if a == nil {
		return nil, 0, false
	}
	within := int(addr % arenaSize)
	c = &a.chunks[within/chunkSize]
	within %= chunkSize
	if !a.busy[c.index] || c.row < 0 || c.row > 0 && (within != 0 || c.cached) {
		return nil, 0, true
	}
	if c.row > 0 {
		return c, 0, true
	}
	stride := strides[c.class]
	block = within / stride
	if within%stride != 0 || c.bits[block/64]>>(block%64)&1 == 0 {
		return nil, 0, true
	}
	return c, block, true
}

// BlockBytes returns the size in bytes of the pool's allocation that begins at addr, 0 if no allocation begins there.
func BlockBytes(addr uintptr) int64 {
	small.mu.Lock()
	defer small.mu.Unlock()
	c, _, _ := small.findLocked(addr)
	switch {
	case c == nil:
		return 0
	case c.row > 0:
		return c.size
	}
	return int64(strides[c.class])
}

func (c *chunk) blocks() int { return chunkSize / strides[c.class] }

// allocBlock allocates the first free block. Precondition: the chunk has a free block.
func (c *chunk) allocBlock() int {
	for i, word := range c.bits {
		if word != ^uint64(0) {
			bit := bits.TrailingZeros64(^word)
			c.bits[i] |= 1 << bit
			c.allocated++
			return 64*i + bit
		}
	}
	panic("no free block in a chunk that has some")
}

func (c *chunk) bytes() []byte { return c.arena.bytes[c.index*chunkSize:] }

func (c *chunk) offset() int64 { return c.arena.off + int64(c.index)*chunkSize }

func (p *pool) addToClassLocked(c *chunk) {
	list := &p.classes[c.class]
	c.classIndex = len(*list)
	*list = append(*list, c)
}

func (p *pool) removeClassLocked(c *chunk) {
	list := &p.classes[c.class]
	last := (*list)[len(*list)-1]
	(*list)[c.classIndex], last.classIndex = last, c.classIndex
	(*list)[len(*list)-1] = nil
	*list = (*list)[:len(*list)-1]
	c.classIndex = -1
}

// allocChunksLocked allocates n consecutive free chunks with memory for size bytes and returns the first.
func (p *pool) allocChunksLocked(nd *shm.Node, n int, size int64) (*chunk, error) {
	var a *arena
	at := -1
	for _, a = range p.arenas {
		if at = a.findFree(n); at >= 0 {
			break
		}
	}
	if at < 0 {
		var err error
		if a, err = p.newArenaLocked(nd); err != nil {
			return nil, err
		}
		at = 0
	}
	c := &a.chunks[at]
	if _, err := nd.CommitMapped(c.bytes()[:size], c.offset(), shm.SmallPages); err != nil {
		return nil, err
	}
	for i := at; i < at+n; i++ {
		a.busy[i], a.chunks[i].row = true, -1
	}
	c.row, c.classIndex = n, -1
	if a.used == 0 {
		p.emptyArenas--
	}
	a.used += n
	return c, nil
}

// findFree returns the index of the first of n consecutive free chunks, -1 if no such run is free.
func (a *arena) findFree(n int) int {
	if a.maxFreeRun < n {
		return -1
	}
	free := 0
	for i, busy := range a.busy {
		if busy {
			free = 0
		} else if free++; free == n {
			return i - n + 1
		}
	}
	a.maxFreeRun = n - 1
	return -1
}

// freeChunksLocked frees n consecutive chunks from c on. It also frees the arena if none of its chunks is in use any
// longer and another arena is empty too.
func (p *pool) freeChunksLocked(nd *shm.Node, c *chunk, n int) {
	a := c.arena
	nd.Discard(c.offset(), int64(n)*chunkSize)
	for i := c.index; i < c.index+n; i++ {
		a.busy[i] = false
	}
	a.maxFreeRun = chunks
	if a.used -= n; a.used > 0 {
		return
	}
	if p.emptyArenas++; p.emptyArenas == 1 {
		return
	}
	p.emptyArenas--
	p.arenas = slices.DeleteFunc(p.arenas, func(x *arena) bool { return x == a })
	addr := address(a.bytes)
	delete(p.byAddr, addr/arenaSize)
	shared.remove(addr, byWindow)
	nd.Unmap(a.bytes)
	nd.Release(a.off, arenaSize)
}

func (p *pool) newArenaLocked(nd *shm.Node) (*arena, error) {
	off, err := nd.Reserve(arenaSize, arenaSize)
	if err != nil {
		return nil, err
	}
	b, err := nd.MapAligned(off, arenaSize, arenaSize)
	if err != nil {
		nd.Release(off, arenaSize)
		return nil, err
	}
	a := &arena{bytes: b, off: off, maxFreeRun: chunks}
	for i := range a.chunks {
		a.chunks[i].arena, a.chunks[i].index = a, i
	}
	addr := address(b)
	p.byAddr[addr/arenaSize] = a
	p.arenas = append(p.arenas, a)
	p.emptyArenas++
	shared.add(region{addr: addr, bytes: b, off: off})
	return a, nil
}
