package rma

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
)

// TestKernelStores has folders like /proc/self of processes into whose memory somebody may store later, and of others.
func TestKernelStores(t *testing.T) {
	const quiet = "5500-5600 rw-p 00000000 00:00 0 [heap]\n" +
		"7f00-7f10 r-xp 00000000 fd:00 17 /usr/lib/libc.so.6\n" +
		"7f20-7f30 rw-s 00000000 00:01 3 /dev/shm/sem.x (deleted)\n" +
		"7f30-7f40 rw-p 00000000 00:01 4 /dev/zero\n"
	for name, c := range map[string]struct{ status, maps, file, why string }{
		"none":     {"VmPin:\t       0 kB\n", quiet, "/tmp/x", ""},
		"no VmPin": {"Name:\tx\n", quiet, "socket:[17]", ""},
		"pinned":   {"VmPin:\t     128 kB\n", quiet, "/tmp/x", "pinned"},
		"aio":      {"", quiet + "7f50-7f60 rw-s 00000000 00:0e 5 /[aio] (deleted)\n", "/tmp/x", "[aio]"},
		"device":   {"", quiet + "7f50-7f60 rw-s 00000000 00:0e 5 /dev/uverbs0\n", "/tmp/x", "uverbs0"},
		"ring":     {"", quiet, "anon_inode:[io_uring]", "io_uring"},
		"eventfd":  {"", quiet, "anon_inode:[eventfd]", ""},
	} {
		folder := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(folder, "status"), []byte(c.status), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "maps"), []byte(c.maps), 0o600))
		require.NoError(t, os.Mkdir(filepath.Join(folder, "fd"), 0o700))
		require.NoError(t, os.Symlink("/dev/null", filepath.Join(folder, "fd", "0")))
		require.NoError(t, os.Symlink(c.file, filepath.Join(folder, "fd", "3")))
		why := kernelStores(folder)
		if c.why == "" {
			require.Empty(t, why, name)
		} else {
			require.Contains(t, why, c.why, name)
		}
	}
	require.NotEmpty(t, kernelStores(t.TempDir()))
	require.Empty(t, kernelStores("/proc/self"))
}

func (f *fakeSystem) WatchForks() {}

// TestHotAfter says which windows become hot at all, and that large ones do later.
func TestHotAfter(t *testing.T) {
	h := (&fakeSystem{}).host()
	window := func(change func(w *Window, mine *record)) uint32 {
		w := &Window{host: h, Flavor: abi.MPI_WIN_FLAVOR_CREATE, Base: 1 << 20, Size: 1 << 20,
			hints: DefaultHints(), near: near{ranks: []int32{0, 1}}}
		mine := record{heap: -1}
		change(w, &mine)
		return w.hotAfter(mine)
	}
	usual := window(func(*Window, *record) {})
	require.Greater(t, usual, uint32(hotLeast))
	require.Greater(t, window(func(w *Window, _ *record) { w.Size *= 2 }), usual)
	require.NotZero(t, window(func(w *Window, _ *record) { w.Size = 1 << 40 }))
	for name, change := range map[string]func(w *Window, mine *record){
		"asked not to":     func(w *Window, _ *record) { w.hints.InPlace = InPlaceOff },
		"asked to at once": func(w *Window, _ *record) { w.hints.InPlace = InPlaceOn },
		"allocated":        func(w *Window, _ *record) { w.Flavor = abi.MPI_WIN_FLAVOR_ALLOCATE },
		"shared already":   func(_ *Window, mine *record) { mine.heap = 4096 },
		"shared in part":   func(w *Window, _ *record) { w.held = []span{{1 << 20, 1<<20 + 4096}} },
		"no page":          func(w *Window, _ *record) { w.Size = 100 },
		"nobody else":      func(w *Window, _ *record) { w.near.ranks = []int32{1} },
		"several nodes":    func(w *Window, _ *record) { w.host = &Host{Data: h.Data, Nodes: 2} },
	} {
		require.Zero(t, window(change), name)
	}
}

// TestHotTold is what is said of a window that is not hot yet, and of one that will never be.
func TestHotTold(t *testing.T) {
	h := (&fakeSystem{}).host()
	w := &Window{host: h, Flavor: abi.MPI_WIN_FLAVOR_CREATE, Base: 1 << 20, Size: 1 << 20}
	for nodes, want := range map[int]string{1: hotNotYet, 2: hotNever} {
		w.host = &Host{Data: h.Data, Nodes: nodes}
		what, told := w.sharedNow()
		require.Zero(t, what)
		require.Equal(t, want, told)
	}
}
