package rma

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

// Private memory that is shared in place. If MPI_Win_create has the info key gompirma_share_in_place, it converts the
// buffer's private memory. The pages that lie wholly in the buffer become pages of the node's memfd, in this process'
// image (core/shm). Origins on the node then access these pages directly. MPI_Win_free makes them private memory again.
// Pages at either end that also hold other data of the process stay private. Origins access them over the ring.
//
// The offset of a byte in the memfd follows from its address. So windows over the same memory use the same pages of the
// memfd, and need only a common use count for each shared range.

// The part of a window's memory that is shared in place; 0 stands for no part.
const (
	wholePagesShared = 1 + iota // the pages that lie wholly in the window
	allShared                   // also the pages that hold the window's ends
)

// sharedRange is a range of whole pages that is shared in place.
type sharedRange struct {
	lo, hi uintptr
	users  int // number of windows and attached regions that use the range
	advice uint8
}

// span is a range of addresses, from lo to hi-1.
type span struct{ lo, hi uintptr }

type sharedRanges struct {
	mu   sync.Mutex
	list []sharedRange // sorted by address, disjoint
}

var inPlace sharedRanges

// wholePages returns the pages that lie wholly in a buffer; lo >= hi if the buffer contains no whole page.
func wholePages(addr uintptr, size int64) span {
	return span{(addr + shm.PageSize - 1) &^ (shm.PageSize - 1), (addr + uintptr(size)) &^ (shm.PageSize - 1)}
}

// touchedPages returns all pages that hold a byte of a buffer.
func touchedPages(addr uintptr, size int64) span {
	return span{addr &^ (shm.PageSize - 1), (addr + uintptr(size) + shm.PageSize - 1) &^ (shm.PageSize - 1)}
}

// splitLocked splits the range that contains the address `at`, so that a range begins at this address.
func (s *sharedRanges) splitLocked(at uintptr) {
	for i, x := range s.list {
		if x.lo < at && at < x.hi {
			left := x
			left.hi, x.lo = at, at
			s.list[i] = x
			s.insertLocked(i, left)
			return
		}
	}
}

func (s *sharedRanges) insertLocked(i int, x sharedRange) {
	s.list = append(s.list, sharedRange{})
	copy(s.list[i+1:], s.list[i:])
	s.list[i] = x
}

// gapsLocked returns the parts of r that are not shared.
func (s *sharedRanges) gapsLocked(r span) (gaps []span) {
	for _, x := range s.list {
		if x.hi <= r.lo || x.lo >= r.hi {
			continue
		}
		if x.lo > r.lo {
			gaps = append(gaps, span{r.lo, x.lo})
		}
		r.lo = x.hi
	}
	if r.lo < r.hi {
		gaps = append(gaps, r)
	}
	return gaps
}

// acquire shares the parts of r that are not shared yet, and increments the use count of all parts. The argument `by`
// is the window that needs r. If acquire returns an error, it has changed nothing.
func (s *sharedRanges) acquire(h *Host, r span, by *Window) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	gaps := s.gapsLocked(r)
	added := make([]sharedRange, len(gaps))
	for i, g := range gaps {
		advice, absent, err := checkShareable(g)
		if err == nil && isUsedPrivately(g, by) {
			err = mpierr.New(abi.MPI_ERR_RMA_SHARED,
				"memory from %#x to %#x cannot be shared in place: it belongs to a window or attached "+
					"region that is not shared in place", g.lo, g.hi)
		}
		if err == nil {
			err = share(h, g, absent)
		}
		if err != nil {
			for _, done := range added[:i] {
				h.Data.Unshare(done.lo, int64(done.hi-done.lo))
				advise(done)
			}
			return err
		}
		added[i] = sharedRange{lo: g.lo, hi: g.hi, advice: advice}
		advise(added[i])
	}
	for _, x := range added {
		i := 0
		for i < len(s.list) && s.list[i].lo < x.lo {
			i++
		}
		s.insertLocked(i, x)
	}
	s.countLocked(r, 1)
	return nil
}

// share converts the pages of r to shared memory. The argument `absent` is the number of bytes of r that have no memory
// yet. If share returns an error, it has changed nothing.
func share(h *Host, r span, absent int64) error {
	lo := r.lo
	err := h.InChunks(int64(r.hi-r.lo), absent, func(at, size int64) error {
		if err := h.Data.Share(h.Node, r.lo+uintptr(at), size); err != nil {
			return mpierr.New(abi.MPI_ERR_RMA_SHARED, "the system cannot share the memory from %#x to %#x "+
				"in place: %v", r.lo,
				r.hi, err)
		}
		lo = r.lo + uintptr(at+size)
		return nil
	})
	if err != nil && lo > r.lo {
		h.Data.Unshare(r.lo, int64(lo-r.lo))
	}
	return err
}

// covers returns whether all pages of r are shared.
func (s *sharedRanges) covers(r span) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.gapsLocked(r)) == 0
}

// retain increments the use count of the parts of r that are shared already, and returns these parts.
func (s *sharedRanges) retain(r span) (held []span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.list {
		if x.lo < r.hi && r.lo < x.hi {
			held = append(held, span{max(x.lo, r.lo), min(x.hi, r.hi)})
		}
	}
	for _, x := range held {
		s.countLocked(x, 1)
	}
	return held
}

func (s *sharedRanges) countLocked(r span, by int) {
	s.splitLocked(r.lo)
	s.splitLocked(r.hi)
	for i := range s.list {
		if x := &s.list[i]; r.lo <= x.lo && x.hi <= r.hi {
			x.users += by
		}
	}
}

// release decrements the use counts of the ranges in `held`. Ranges without users become private memory again.
func (s *sharedRanges) release(h *Host, held []span) {
	if len(held) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range held {
		s.countLocked(r, -1)
	}
	kept := s.list[:0]
	for i := 0; i < len(s.list); i++ {
		x := s.list[i]
		if n := len(kept); x.users > 0 && n > 0 && kept[n-1].hi == x.lo && kept[n-1].users == x.users &&
			kept[n-1].advice == x.advice {
			kept[n-1].hi = x.hi
		} else if x.users > 0 {
			kept = append(kept, x)
		} else {
			// Unshare fails only if memory is short. In this case the pages stay shared, with their
			// contents, until the process ends.
			h.Data.Unshare(x.lo, int64(x.hi-x.lo))
			advise(x)
		}
	}
	clear(s.list[len(kept):])
	s.list = kept
}

// isUsedPrivately returns whether memory in r is used by an attached region, or by a window other than `but`.
// Precondition: no memory in r is shared in place, so these users access it as private memory.
func isUsedPrivately(r span, but *Window) bool {
	windows.mu.RLock()
	defer windows.mu.RUnlock()
	for _, w := range windows.windows {
		if w != but && w.Flavor == abi.MPI_WIN_FLAVOR_CREATE && w.Base < r.hi && r.lo < w.Base+uintptr(w.Size) {
			return true
		}
		if w.attached != nil && w.host.Data.Attached(w.Handle, r.lo, r.hi) {
			return true
		}
	}
	return false
}

// The kinds of madvise(2) advice that must be repeated for a new mapping: the flag in /proc/self/smaps and the number
// of the advice.
var advices = []struct {
	flag   string
	advice int
}{{"hg", 14}, {"nh", 15}, {"mg", 12}, {"dd", 16}}

// Further flags of /proc/self/smaps with which memory can be shared in place: readable, writable and so on, grows
// downwards, not reserved, read sequentially or at random, accounted, soft-dirty.
const harmlessFlags = "rd wr mr mw me gd nr sr rr ac sd"

// checkShareable returns the advice that the program gave for the pages of r, and an estimate of the number of bytes of
// r that have no memory yet. If the pages cannot be shared in place, the error states the reason.
func checkShareable(r span) (advice uint8, absent int64, err error) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return 0, 0, mpierr.New(abi.MPI_ERR_RMA_SHARED, "cannot read the memory map of the process: %v", err)
	}
	defer f.Close()
	advice, absent, why := parseSmaps(f, r)
	if why == "" && r.hi > shm.ImageStride {
		why = "is above the addresses that can be shared"
	}
	if why != "" {
		return 0, 0, mpierr.New(abi.MPI_ERR_RMA_SHARED, "memory from %#x to %#x cannot be shared in place: it "+
			"%s", r.lo, r.hi, why)
	}
	return advice, absent, nil
}

// parseSmaps reads a file like /proc/self/smaps up to the end of r. It returns the advice given for the pages of r, and
// an estimate of the number of bytes of r that have no memory yet. The result `why` is the reason why the pages cannot
// be shared; "" if they can.
func parseSmaps(smaps io.Reader, r span) (advice uint8, absent int64, why string) {
	var m span // the mapping whose lines follow
	next := r.lo
	first := true
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 {
			continue
		}
		if lo, hi, ok := strings.Cut(fields[0], "-"); ok && len(fields) >= 5 {
			m = span{address64(lo), address64(hi)}
			if m.lo >= r.hi {
				break
			}
			if m.hi <= r.lo {
				continue
			}
			mode := fields[1]
			switch {
			case m.lo > next:
				return 0, 0, "is not mapped"
			case strings.HasSuffix(mode, "s"):
				return 0, 0, "is already shared memory or a shared file (" + mode + ")"
			case !strings.HasPrefix(mode, "rw-"):
				return 0, 0, "must be readable, writable and not executable (" + mode + ")"
			}
			next = m.hi
			continue
		}
		if m.hi <= r.lo || m.lo >= r.hi {
			continue
		}
		switch fields[0] {
		case "Rss:":
			kib, _ := strconv.ParseInt(fields[1], 10, 64)
			// smaps does not report which pages have memory. Assume that as many pages of r as possible
			// have no memory.
			absent += min(int64(min(m.hi, r.hi)-max(m.lo, r.lo)), int64(m.hi-m.lo)-kib<<10)
		case "VmFlags:":
			var given uint8
			for _, flag := range fields[1:] {
				known := strings.Contains(harmlessFlags, flag)
				for i, a := range advices {
					if a.flag == flag {
						given |= 1 << i
						known = true
					}
				}
				if !known {
					return 0, 0, flagErrorDetail(flag)
				}
			}
			if !first && given != advice {
				return 0, 0, "has ranges with different advice (madvise)"
			}
			advice, first = given, false
		}
	}
	if next < r.hi {
		return 0, 0, "is not mapped"
	}
	return advice, absent, ""
}

func address64(hex string) uintptr {
	x, err := strconv.ParseUint(hex, 16, 64)
	if err != nil {
		return 0
	}
	return uintptr(x)
}

// flagErrorDetail returns the reason why memory with this flag of /proc/self/smaps cannot be shared.
func flagErrorDetail(flag string) string {
	switch flag {
	case "lo":
		return "is locked (mlock, mlockall)"
	case "io", "pf":
		return "belongs to a device"
	case "ht":
		return "has huge pages of hugetlbfs"
	case "um", "uw", "ui":
		return "is registered with userfaultfd"
	case "dc":
		return "is not inherited by fork (MADV_DONTFORK)"
	case "wf":
		return "is zeroed by fork (MADV_WIPEONFORK)"
	case "sl":
		return "is sealed (mseal)"
	}
	return "is of a special kind (flag " + flag + " in /proc/self/smaps)"
}

// shareInPlace shares the buffer of MPI_Win_create in place if the window's hints request this. The result `heap` is
// the buffer's offset in the memfd, -1 if the other members cannot address the buffer. The result `what` is the part of
// the buffer that they can address (wholePagesShared or allShared). Errors, if gompirma_share_in_place is "require" and
// sharing fails: MPI_ERR_RMA_SHARED, MPI_ERR_NO_MEM.
func (w *Window) shareInPlace() (heap int64, what uint8, err error) {
	inner, outer := wholePages(w.Base, w.Size), touchedPages(w.Base, w.Size)
	want, asked := inner, w.hints.InPlace != InPlaceOff
	if asked && hasOwnMapping(w.Base, w.Size) {
		want = outer
	}
	rest := []span{outer}
	switch {
	case !asked || inPlace.covers(outer):
	case want.lo >= want.hi:
		err = mpierr.New(abi.MPI_ERR_RMA_SHARED, "the %d bytes at %#x do not contain a whole page (%d bytes), "+
			"and only whole pages can be shared in place", w.Size,
			w.Base, shm.PageSize)
	default:
		if err = inPlace.acquire(w.host, want, w); err == nil {
			w.heldSpans = []span{want}
			rest = []span{{outer.lo, want.lo}, {want.hi, outer.hi}}
		}
	}
	// Other parts of the buffer may be shared already, by another window. They must stay shared at least as long as
	// this window lives.
	for _, r := range rest {
		w.heldSpans = append(w.heldSpans, inPlace.retain(r)...)
	}
	what, hint := w.sharedPart()
	switch {
	case what == allShared:
		err = nil
	case what == wholePagesShared:
	case err != nil && w.hints.InPlace == InPlaceRequired:
		return -1, 0, err
	case err != nil:
		hint = "false: " + err.Error()
	}
	if asked {
		w.hints.Shared = hint
	}
	if what == 0 {
		return -1, 0, nil
	}
	_, image, _ := w.host.Node.Image()
	return image + int64(w.Base), what, nil
}

// sharedPart returns which part of the window's memory is shared in place. The result `hint` describes this part as a
// value of gompirma_shared_in_place. It is "" if no part is shared.
func (w *Window) sharedPart() (what uint8, hint string) {
	inner := wholePages(w.Base, w.Size)
	switch {
	case inPlace.covers(touchedPages(w.Base, w.Size)):
		return allShared, "true"
	case inner.lo < inner.hi && inPlace.covers(inner):
		return wholePagesShared, fmt.Sprintf("true: bytes %d to %d of %d", inner.lo-w.Base, inner.hi-w.Base,
			w.Size)
	}
	return 0, ""
}

// hasOwnMapping returns whether malloc created a mapping for this buffer alone, as it does for sizes from about 128 KiB
// on. No other data then lies on the pages at the buffer's ends, so these pages can be shared too. The C library of
// Linux marks such a buffer in the two 8-byte words before the buffer. The first word is the distance from the
// beginning of the mapping to these words. The second word is the size of the mapping from these words on, with bit 1
// set. If other memory happens to contain such words, sharing its pages does no harm.
func hasOwnMapping(addr uintptr, size int64) bool {
	f, err := os.Open("/proc/self/mem") // reads return an error where nothing is mapped
	if err != nil {
		return false
	}
	defer f.Close()
	var b [16]byte
	if n, _ := f.ReadAt(b[:], int64(addr)-16); n != len(b) {
		return false
	}
	lead, total := binary.LittleEndian.Uint64(b[0:]), binary.LittleEndian.Uint64(b[8:])
	head := uint64(addr) - 16
	return runtime.GOARCH == "amd64" && total&7 == 2 && (head+total&^7)%shm.PageSize == 0 &&
		(head-lead)%shm.PageSize == 0 && lead < head && lead < 1<<32 &&
		total < shm.HeapStride && int64(total&^7) >= size+16
}

// unshareInPlace releases the ranges that shareInPlace has acquired or retained.
func (w *Window) unshareInPlace() {
	inPlace.release(w.host, w.heldSpans)
	w.heldSpans = nil
}

// mapInPlace maps the memory of another member that is shared in place, and sets the target's addresses. This memory
// consists of all pages that the window touches (allShared), or only of the pages that lie wholly in it.
func (w *Window) mapInPlace(t *Target, m *record) error {
	r := wholePages(uintptr(m.address), m.size)
	if m.inPlace == allShared {
		r = touchedPages(uintptr(m.address), m.size)
	}
	if r.lo >= r.hi {
		return mpierr.New(abi.MPI_ERR_INTERN, "%d bytes at %#x are marked as shared in place, but are not "+
			"(internal error)", m.size,
			m.address)
	}
	before := int64(r.lo - uintptr(m.address)) // negative if the first page begins before the window
	b, err := w.host.Node.Map(m.memfdOff+before, int64(r.hi-r.lo))
	if err != nil {
		return err
	}
	w.mapped = append(w.mapped, b)
	t.Base = address(b) - uintptr(before)
	t.From, t.To = max(before, 0), min(int64(r.hi-uintptr(m.address)), t.Size)
	t.Direct = t.From == 0 && t.To == t.Size
	return nil
}
