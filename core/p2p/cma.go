package p2p

import (
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

// probePage is a page of this process with a number that peers read to find out whether they can, and whether the
// process they read is this one: in another namespace the same process id may be somebody else.
type probePage struct{ page []byte }

func (r *rings) openProbe() error {
	page, err := unix.Mmap(-1, 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return mpierr.New(abi.MPI_ERR_NO_MEM, "mapping a page: %v", err)
	}
	if _, err := unix.Getrandom(page[:8], 0); err != nil {
		return mpierr.New(abi.MPI_ERR_OTHER, "random number: %v", err)
	}
	r.probe = &probePage{page}
	atomic.StoreUint64(u64(r.in.b, ringToken), binary.NativeEndian.Uint64(page))
	atomic.StoreUint64(u64(r.in.b, ringProbe), uint64(addressOf(page)))
	return nil
}

// reaches finds out, once, whether process_vm_readv reaches the peer.
func (l *ringLink) reaches() bool {
	if s := l.cma.v.Load(); s != cmaUnknown {
		return s == cmaWorks
	}
	token := make([]byte, 8)
	n, err := readMemory(l.rings.nd.Pid(l.process), []iovec{{addressOf(token), 8}},
		[]iovec{{uintptr(atomic.LoadUint64(u64(l.b, ringProbe))), 8}})
	if err != 0 || n != 8 || binary.NativeEndian.Uint64(token) != atomic.LoadUint64(u64(l.b, ringToken)) {
		l.cma.v.Store(cmaRefused)
		return false
	}
	l.cma.v.Store(cmaWorks)
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

// Read implements Link.
func (l *ringLink) Read(segs []Segment, b *Buffer, want int64) (refused bool, err error) {
	if !l.reaches() {
		return true, nil
	}
	var remote [maxSegments]iovec
	var one [1]iovec
	var local scatter
	pid := l.rings.nd.Pid(l.process)
	for done := int64(0); done < want; {
		nr := segmentsFrom(segs, done, want, remote[:])
		to := one[:]
		if b.layout == nil {
			one[0] = iovec{b.addr + uintptr(done), uintptr(want - done)}
		} else {
			to = local.next(b, done, want)
		}
		n, errno := readMemory(pid, to, remote[:nr])
		switch {
		case errno == unix.EINTR:
			continue
		case errno == unix.EFAULT || errno == 0 && n == 0:
			return false, mpierr.New(abi.MPI_ERR_BUFFER,
				"copying %d bytes from %#x of process %d: the send or the receive buffer is not memory",
				want-done, remote[0].base, pid)
		case errno != 0:
			l.cma.v.Store(cmaRefused)
			return true, nil
		}
		if b.layout != nil {
			local.took(b, done, n)
		}
		done += n
	}
	return false, nil
}

// scatter is where the data of a message goes that has a layout: straight to its runs if they are long, else to a place
// that they are unpacked from.
type scatter struct {
	runs   []Segment
	to     []iovec
	bounce []byte
	direct bool
}

// next returns where the bytes [from, want) of the data, or the first of them, are to be put.
func (s *scatter) next(b *Buffer, from, want int64) []iovec {
	if s.runs == nil {
		s.runs, s.to = make([]Segment, maxSegments), make([]iovec, maxSegments)
	}
	n := b.segments(from, s.runs)
	length := int64(0)
	for i, r := range s.runs[:n] {
		part := min(r.Len, want-from-length)
		if part == 0 {
			n = i
			break
		}
		s.to[i] = iovec{r.Addr, uintptr(part)}
		length += part
	}
	s.direct = n == 1 || length >= directRun*int64(n)
	if s.direct {
		return s.to[:n]
	}
	if s.bounce == nil {
		s.bounce = make([]byte, min(bounceSize, want))
	}
	s.to[0] = iovec{addressOf(s.bounce), uintptr(min(int64(len(s.bounce)), want-from))}
	return s.to[:1]
}

// took says that n bytes have come to where next said.
func (s *scatter) took(b *Buffer, from, n int64) {
	if !s.direct {
		b.unpack(from, s.bounce[:n])
	}
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
