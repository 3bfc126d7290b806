package rma

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/shm"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// fakeSystem is a data path that counts, for each page, how often it is shared.
type fakeSystem struct {
	DataPath
	shared map[uintptr]int
	refuse uintptr // a page that cannot be shared
}

func (f *fakeSystem) Share(_ *shm.Node, addr uintptr, size int64) error {
	if f.refuse != 0 && addr <= f.refuse && f.refuse < addr+uintptr(size) {
		return errors.New("no")
	}
	f.each(addr, size, 1)
	return nil
}

func (f *fakeSystem) Unshare(addr uintptr, size int64) error {
	f.each(addr, size, -1)
	return nil
}

func (f *fakeSystem) each(addr uintptr, size int64, by int) {
	for p := addr; p < addr+uintptr(size); p += 4096 {
		f.shared[p] += by
	}
}

func (f *fakeSystem) host() *Host {
	return &Host{
		Data: f,
		// InChunks calls `take` for one page at a time, so that an error may occur in the middle of a range.
		InChunks: func(size, _ int64, take func(at, size int64) error) error {
			for at := int64(0); at < size; at += 4096 {
				if err := take(at, 4096); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func (f *fakeSystem) pages() (n int) {
	for _, k := range f.shared {
		n += k
	}
	return n
}

// TestSharedRanges acquires and releases overlapping ranges of one buffer in several orders. It checks that each page
// is shared exactly once, and only while it has a user.
func TestSharedRanges(t *testing.T) {
	b := make([]byte, 64*4096)
	base := (address(b) + 4095) &^ 4095
	at := func(from, to int) span { return span{base + uintptr(from)*4096, base + uintptr(to)*4096} }
	ranges := [][2]int{{0, 10}, {5, 15}, {20, 30}, {0, 32}}
	orders := [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}}
	for _, taking := range orders {
		for _, releasing := range orders {
			f := &fakeSystem{shared: map[uintptr]int{}}
			h, s := f.host(), &sharedRanges{}
			used := map[uintptr]int{}
			check := func() {
				for p := at(0, 0).lo; p < at(0, 32).hi; p += 4096 {
					require.Equal(t, min(used[p], 1), f.shared[p], "page %d", (p-base)/4096)
				}
				for i := 1; i < len(s.list); i++ {
					require.LessOrEqual(t, s.list[i-1].hi, s.list[i].lo)
				}
			}
			count := func(r [2]int, by int) {
				for p := r[0]; p < r[1]; p++ {
					used[at(p, p).lo] += by
				}
			}
			for _, i := range taking {
				r := ranges[i]
				require.NoError(t, s.acquire(h, at(r[0], r[1]), nil))
				count(r, 1)
				check()
				require.True(t, s.covers(at(r[0], r[1])))
			}
			held := s.retain(at(8, 22))
			for p := 8; p < 22; p++ {
				used[at(p, p).lo]++
			}
			for _, i := range releasing {
				r := ranges[i]
				s.release(h, []span{at(r[0], r[1])})
				count(r, -1)
				check()
			}
			s.release(h, held)
			require.Zero(t, f.pages())
			require.Empty(t, s.list)
		}
	}
}

// TestAcquireAllOrNothing checks that acquire leaves no page shared if the system refuses to share one page of the
// range.
func TestAcquireAllOrNothing(t *testing.T) {
	b := make([]byte, 64*4096)
	base := (address(b) + 4095) &^ 4095
	f := &fakeSystem{shared: map[uintptr]int{}, refuse: base + 20*4096}
	h, s := f.host(), &sharedRanges{}
	require.NoError(t, s.acquire(h, span{base + 8*4096, base + 12*4096}, nil))
	err := s.acquire(h, span{base, base + 32*4096}, nil)
	require.Equal(t, int32(abi.MPI_ERR_RMA_SHARED), mpierr.ClassOf(err))
	require.Equal(t, 4, f.pages())
	s.release(h, []span{{base + 8*4096, base + 12*4096}})
	require.Zero(t, f.pages())
	require.Empty(t, s.list)
}

const smapsTail = "Size: 16 kB\nRss:    8 kB\nPss: 8 kB\n"

func TestParseSmaps(t *testing.T) {
	entry := func(head, flags string) string { return head + "\n" + smapsTail + "VmFlags: " + flags + " \n" }
	plain := entry("10000-14000 rw-p 00000000 00:00 0 [heap]", "rd wr mr mw me ac sd")
	for _, c := range []struct {
		name, smaps string
		r           span
		advice      uint8
		absent      int64
		why         string
	}{
		{"inside", plain, span{0x11000, 0x13000}, 0, 8 << 10, ""},
		{"all of it", plain, span{0x10000, 0x14000}, 0, 8 << 10, ""},
		{"two", plain + entry("14000-18000 rw-p 0 00:00 0", "rd wr mr mw me gd ac"), span{0x12000, 0x18000}, 0,
			16 << 10, ""},
		{"later ones do not matter", plain + entry("14000-18000 r--s 0 00:00 7 /x y", "rd sh"),
			span{0x12000, 0x14000}, 0, 8 << 10, ""},
		{"nothing there", plain, span{0x14000, 0x15000}, 0, 0, "is not mapped"},
		{"a gap", plain + entry("15000-18000 rw-p 0 00:00 0", "rd wr"), span{0x13000, 0x16000}, 0, 0,
			"is not mapped"},
		{"a gap behind", plain, span{0x13000, 0x16000}, 0, 0, "is not mapped"},
		{"shared", entry("10000-14000 rw-s 0 00:01 7 /dev/zero (deleted)", "rd wr sh"), span{0x10000, 0x11000},
			0, 0, "is already shared memory or a shared file (rw-s)"},
		{"read-only", entry("10000-14000 r--p 0 00:00 0", "rd"), span{0x10000, 0x11000}, 0, 0,
			"must be readable, writable and not executable (r--p)"},
		{"code", entry("10000-14000 rwxp 0 00:00 0", "rd wr ex"), span{0x10000, 0x11000}, 0, 0,
			"must be readable, writable and not executable (rwxp)"},
		{"locked", entry("10000-14000 rw-p 0 00:00 0", "rd wr lo"), span{0x10000, 0x11000}, 0, 0,
			"is locked (mlock, mlockall)"},
		{"new flag", entry("10000-14000 rw-p 0 00:00 0", "rd wr xy"), span{0x10000, 0x11000}, 0, 0,
			"is of a special kind (flag xy in /proc/self/smaps)"},
		{"huge pages wanted", entry("10000-14000 rw-p 0 00:00 0", "rd wr hg dd"), span{0x10000, 0x14000}, 1 | 8,
			8 << 10, ""},
		{"different advice", plain + entry("14000-18000 rw-p 0 00:00 0", "rd wr hg"), span{0x13000, 0x15000}, 0,
			0, "has ranges with different advice (madvise)"},
	} {
		advice, absent, why := parseSmaps(strings.NewReader(c.smaps), c.r)
		require.Equal(t, c.why, why, c.name)
		if why == "" {
			require.Equal(t, c.advice, advice, c.name)
			require.Equal(t, c.absent, absent, c.name)
		}
	}
}
