package shm

import (
	"golang.org/x/sys/unix"

	"gompirma/core/abi"
	"gompirma/core/limit"
	"gompirma/core/mpierr"
)

// Memory is allocated in chunks. Before each chunk, the process checks whether enough memory is free for all remaining
// chunks. This is necessary because processes of other jobs allocate memory too, and the kernel kills a process instead
// of refusing the allocation. The less memory is free, the smaller are the chunks. So several processes that allocate
// at the same time detect a shortage before memory runs out.
const (
	minChunkBytes = 256 << 10
	maxChunkBytes = 16 << 20
	chunkShare    = 16
)

func chunkBytes(headroom limit.Headroom, minBytes int64) int64 {
	return min(max(headroom.Usable()/chunkShare/minChunkBytes*minChunkBytes, minBytes), maxChunkBytes)
}

// Commit allocates zeroed memory for [off, off+size), which may be in any process' reservation. It takes as long as
// writing the memory once, and the kernel serializes concurrent calls. So CommitMapped is used for large amounts.
// Errors: MPI_ERR_NO_MEM if memory is short; then Commit has changed nothing.
func (nd *Node) Commit(off, size int64) error {
	return nd.commit(off, size, minChunkBytes, nd.memory.alloc)
}

// Pages is the kind of the pages of some memory.
type Pages int

// SmallPages requests the system's base pages. HugePages requests huge pages, which are used if the system supports
// them.
const (
	SmallPages Pages = iota
	HugePages
)

// CommitMapped allocates zeroed memory for [off, off+len(b)), like Commit. Precondition: b is the mapping of these
// whole pages. It returns whether any of the memory consists of huge pages. Several processes can execute it
// concurrently. Later accesses to b cause no page faults, with one exception: if a process is alone on its node, the
// first access to each small page still faults. Errors: MPI_ERR_NO_MEM.
func (nd *Node) CommitMapped(b []byte, off int64, of Pages) (bool, error) {
	huge := of == HugePages && len(b) >= HugePage && HugePagesPossible() &&
		unix.Madvise(b, unix.MADV_HUGEPAGE) == nil
	if !huge && nd.Count() == 1 {
		return false, nd.Commit(off, int64(len(b)))
	}
	minBytes := int64(minChunkBytes)
	if huge {
		minBytes = HugePage
	}
	fill := populate
	err := nd.commit(off, int64(len(b)), minBytes, func(at, size int64) error {
		if err := fill(b[at-off : at-off+size]); err != unix.EINVAL {
			return err
		}
		// The kernel has no MADV_POPULATE_WRITE (Linux < 5.14).
		fill = func([]byte) error { return unix.EINVAL }
		return nd.memory.alloc(at, size)
	})
	return huge && err == nil && hugeMapped(address(b), uint64(len(b))), err
}

// populate allocates the memory of a mapping. It is a variable so that a test can replace it.
var populate = func(b []byte) error {
	for {
		if err := unix.Madvise(b, unix.MADV_POPULATE_WRITE); err != unix.EINTR && err != unix.EAGAIN {
			return err
		}
	}
}

func (nd *Node) commit(off, size, minBytes int64, take func(off, size int64) error) error {
	err := nd.inChunks(size, size, minBytes, func(at, n int64) error {
		if err := take(off+at, n); err != nil {
			return mpierr.New(abi.MPI_ERR_NO_MEM, "cannot allocate %d bytes of shared memory: "+
				"%v", size, err)
		}
		return nil
	})
	if err != nil {
		nd.memory.release(off, size)
	}
	return err
}

// InChunks calls the function `take` chunk after chunk, for `size` bytes in total. The argument `cost` is the number of
// bytes that these calls allocate in total. InChunks checks that this memory is available. It stops at the first error:
// an error of `take`, or MPI_ERR_NO_MEM. The caller then releases what has been allocated so far.
func (nd *Node) InChunks(size, cost int64, take func(at, size int64) error) error {
	return nd.inChunks(size, cost, minChunkBytes, take)
}

func (nd *Node) inChunks(size, cost, minBytes int64, take func(at, size int64) error) error {
	if size == 0 {
		return nil
	}
	headroom, stands, err := nd.promise(cost)
	if err != nil {
		return err
	}
	if !stands {
		return take(0, size)
	}
	promised := cost
	defer func() { nd.lowerPromise(promised) }()
	for at := int64(0); ; {
		n := min(size-at, chunkBytes(headroom, minBytes))
		if err := take(at, n); err != nil {
			return err
		}
		at += n
		if at == size {
			return nil
		}
		kept := min(n, promised)
		nd.lowerPromise(kept)
		promised -= kept
		headroom = nd.promises.headroom(withPageTables(promised))
		if withPageTables(promised) > headroom.Free-headroom.Margin/2 {
			return mpierr.New(abi.MPI_ERR_NO_MEM,
				"cannot allocate %d bytes of shared memory: after %d of them, only %d more are "+
					"available %s", cost,
				cost-promised, headroom.Usable(), headroom.LimitedBy)
		}
	}
}

// Discard returns the memory of [off, off+size) to the system. The address space stays reserved, and Commit may
// allocate zeroed memory there again.
func (nd *Node) Discard(off, size int64) { nd.memory.release(off, size) }
