package shm

import (
	"golang.org/x/sys/unix"

	"gompirma/core/abi"
	"gompirma/core/limit"
	"gompirma/core/mpierr"
)

// Memory is taken in pieces, and before each the taker looks whether there still is enough for the rest: processes of
// other jobs take memory too, and the kernel kills somebody rather than refuse. The less there is the smaller the
// pieces, so that several that take at once notice before it is too late.
const (
	leastPiece = 256 << 10
	mostPiece  = 16 << 20
	pieceShare = 16
)

func pieceOf(room limit.Room, least int64) int64 {
	return min(max(room.Usable()/pieceShare/leastPiece*leastPiece, least), mostPiece)
}

// Commit puts zeroed memory behind [off, off+size), which may be any process' reservation. It takes the time of writing
// it once and is done by one process after the other; large amounts go through CommitMapped. MPI_ERR_NO_MEM: there is
// not that much; nothing changed.
func (nd *Node) Commit(off, size int64) error {
	return nd.commit(off, size, leastPiece, nd.memory.take)
}

// Pages is which pages memory is to be made of.
type Pages int

// SmallPages are the system's own; HugePages are taken where the system has them.
const (
	SmallPages Pages = iota
	HugePages
)

// CommitMapped is Commit of [off, off+len(b)), which is mapped at b (whole pages). It returns whether any of the memory
// is of huge pages. Several processes can do it at once, and none of their accesses there faults later. A process that
// is alone on its node leaves the zeroing of small pages to the first access of each. MPI_ERR_NO_MEM.
func (nd *Node) CommitMapped(b []byte, off int64, of Pages) (bool, error) {
	huge := of == HugePages && len(b) >= HugePage && HugePagesPossible() &&
		unix.Madvise(b, unix.MADV_HUGEPAGE) == nil
	if !huge && nd.N == 1 {
		return false, nd.Commit(off, int64(len(b)))
	}
	least := int64(leastPiece)
	if huge {
		least = HugePage
	}
	fill := populate
	err := nd.commit(off, int64(len(b)), least, func(at, size int64) error {
		if err := fill(b[at-off : at-off+size]); err != unix.EINVAL {
			return err
		}
		fill = func([]byte) error { return unix.EINVAL } // a system that does not know it (before Linux 5.14)
		return nd.memory.take(at, size)
	})
	return huge && err == nil && hugeMapped(address(b), uint64(len(b))), err
}

// populate takes the memory of a mapping; a test has another.
var populate = func(b []byte) error {
	for {
		if err := unix.Madvise(b, unix.MADV_POPULATE_WRITE); err != unix.EINTR && err != unix.EAGAIN {
			return err
		}
	}
}

func (nd *Node) commit(off, size, least int64, take func(off, size int64) error) error {
	err := nd.inPieces(size, size, least, func(at, n int64) error {
		if err := take(off+at, n); err != nil {
			return mpierr.New(abi.MPI_ERR_NO_MEM, "%d bytes of shared memory: %v", size, err)
		}
		return nil
	})
	if err != nil {
		nd.memory.give(off, size)
	}
	return err
}

// InPieces calls take for size bytes, piece after piece, of which cost take memory that must be there. It stops at the
// first error, which is take's or MPI_ERR_NO_MEM; what has been taken until then is the caller's to give back.
func (nd *Node) InPieces(size, cost int64, take func(at, size int64) error) error {
	return nd.inPieces(size, cost, leastPiece, take)
}

func (nd *Node) inPieces(size, cost, least int64, take func(at, size int64) error) error {
	if size == 0 {
		return nil
	}
	room, stands, err := nd.promise(cost)
	if err != nil {
		return err
	}
	if !stands {
		return take(0, size)
	}
	promised := cost
	defer func() { nd.keep(promised) }()
	for at := int64(0); ; {
		n := min(size-at, pieceOf(room, least))
		if err := take(at, n); err != nil {
			return err
		}
		at += n
		if at == size {
			return nil
		}
		kept := min(n, promised)
		nd.keep(kept)
		promised -= kept
		if room = nd.promises.look(need(promised)); need(promised) > room.Free-room.Margin/2 {
			return mpierr.New(abi.MPI_ERR_NO_MEM,
				"%d bytes of shared memory: after the first %d only %d are available %s", cost,
				cost-promised, room.Usable(), room.By)
		}
	}
}

// Discard gives the memory behind [off, off+size) back to the system; the address space stays reserved, and Commit may
// put zeroed memory there again.
func (nd *Node) Discard(off, size int64) { nd.memory.give(off, size) }
