package p2p

import (
	"crypto/rand"
	"encoding/binary"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// cmaState says whether process_vm_readv reaches a peer: not tried yet, yes, no.
type cmaState struct{ v atomic.Uint32 }

const (
	cmaUnknown = iota
	cmaWorks
	cmaRefused
)

func (s *cmaState) possible() bool { return s.v.Load() != cmaRefused }

// probePage is a page of this process with a number that peers read to find out whether they can, and whether the process they read is this one: in
// another namespace the same process id may be somebody else.
type probePage struct{ page []byte }

func (e *Engine) openProbe() error {
	page, err := unix.Mmap(-1, 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return mpierr.New(abi.MPI_ERR_NO_MEM, "mapping a page: %v", err)
	}
	if _, err := rand.Read(page[:8]); err != nil {
		return mpierr.New(abi.MPI_ERR_OTHER, "random number: %v", err)
	}
	e.probe = &probePage{page}
	atomic.StoreUint64(u64(e.in.b, ringToken), binary.NativeEndian.Uint64(page))
	atomic.StoreUint64(u64(e.in.b, ringProbe), uint64(addressOf(page)))
	return nil
}

// reaches finds out, once, whether process_vm_readv reaches p.
func (e *Engine) reaches(p *peer) bool {
	if s := p.cma.v.Load(); s != cmaUnknown {
		return s == cmaWorks
	}
	token := make([]byte, 8)
	n, err := readMemory(e.nd.Pid(p.node), []iovec{{addressOf(token), 8}}, []iovec{{uintptr(atomic.LoadUint64(u64(p.out.b, ringProbe))), 8}})
	if err != 0 || n != 8 || binary.NativeEndian.Uint64(token) != atomic.LoadUint64(u64(p.out.b, ringToken)) {
		p.cma.v.Store(cmaRefused)
		return false
	}
	p.cma.v.Store(cmaWorks)
	return true
}

// iovec is the kernel's struct iovec.
type iovec struct {
	base uintptr
	len  uintptr
}

// Reading into many small runs costs the kernel more than reading into one place and unpacking from there.
const (
	directRun  = 512 // average length in bytes from which runs are read into directly
	bounceSize = 64 << 10
)

// read copies the first want bytes of segs in p's memory to b. refused: the system does not let us; nothing that matters has been written.
// MPI_ERR_BUFFER: a buffer is not memory. Called without the lock.
func (e *Engine) read(p *peer, segs []Segment, b *Buffer, want int64) (refused bool, err error) {
	if !e.reaches(p) {
		return true, nil
	}
	var remote, local [maxSegments]iovec
	var runs [maxSegments]Segment
	var bounce []byte
	pid := e.nd.Pid(p.node)
	for done := int64(0); done < want; {
		nr := segmentsFrom(segs, done, want, remote[:])
		nl := b.segments(done, runs[:])
		length := int64(0)
		for i := range runs[:nl] {
			n := min(runs[i].Len, want-done-length)
			if n == 0 {
				nl = i
				break
			}
			local[i] = iovec{runs[i].Addr, uintptr(n)}
			length += n
		}
		direct := nl == 1 || length >= directRun*int64(nl)
		if !direct {
			if bounce == nil {
				bounce = make([]byte, min(bounceSize, want))
			}
			length = min(int64(len(bounce)), want-done)
			local[0] = iovec{addressOf(bounce), uintptr(length)}
			nl = 1
		}
		n, errno := readMemory(pid, local[:nl], remote[:nr])
		switch {
		case errno == unix.EINTR:
			continue
		case errno == unix.EFAULT || errno == 0 && n == 0:
			return false, mpierr.New(abi.MPI_ERR_BUFFER, "copying %d bytes from %#x of process %d: the send or the receive buffer is not memory",
				want-done, remote[0].base, pid)
		case errno != 0:
			p.cma.v.Store(cmaRefused)
			return true, nil
		}
		if !direct {
			b.unpack(done, bounce[:n])
		}
		done += n
	}
	return false, nil
}

// segmentsFrom fills out with the parts of segs that hold bytes [from, to) of the data, and returns how many those are.
func segmentsFrom(segs []Segment, from, to int64, out []iovec) int {
	n, at := 0, int64(0)
	for _, s := range segs {
		a, z := max(at, from), min(at+s.Len, to)
		if a < z {
			out[n] = iovec{s.Addr + uintptr(a-at), uintptr(z - a)}
			n++
		}
		at += s.Len
	}
	return n
}
