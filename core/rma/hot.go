package rma

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"

	"gompirma/core/abi"
	"gompirma/core/limit"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

// Hot windows: MPI_Win_create shares nothing in place unless it is asked to, since most windows would not earn what
// that costs. Origins count what comes to a member's memory by the agent path (capi/win/hot.h); when that has cost as
// much as sharing will, the member shares it, in a call of MPI of its one thread. docs/RATIONALE.md has the figures and
// the reasons.

const (
	hotLeast  = 1024 // operations that cost what sharing and back again does whatever the size
	hotBytes  = 256  // bytes that are shared and made private again for the cost of one operation
	hotTries  = 6    // that fail, each after twice as much use as the one before
	hotNotYet = "false: little has come to the memory so far"
	hotNever  = "false: a job on several nodes moves no memory unless it is asked to"
)

// hotAfter returns after so much use the window's memory is hot; 0: never. What is put into memory from other nodes
// does not wait while it moves, and a network may keep pages that it has once used; so nothing is hot in a job that has
// one.
func (w *Window) hotAfter(mine record) uint32 {
	pages := touchedPages(w.Base, w.Size)
	if w.hints.InPlace != InPlaceHot || w.Flavor != abi.MPI_WIN_FLAVOR_CREATE || w.Size < shm.PageSize ||
		mine.heap >= 0 || len(w.held) != 0 || len(w.near.ranks) == 1 || w.host.Nodes > 1 ||
		pages.hi > shm.ImageStride {
		return 0
	}
	w.host.Data.WatchForks()
	return uint32(min(hotLeast+w.Size/hotBytes, 1<<30))
}

// ShareHot shares the memory of windows in place that are hot, where it can be. Called by a thread of the application
// in a call of MPI, in whose buffers nobody else stores meanwhile.
func ShareHot(h *Host) {
	for _, w := range windows.all() {
		if h.Data.TakeHot(w.Handle) && !w.ending.Load() {
			w.shareHot()
		}
	}
}

// shareHot shares the window's memory in place now, or says why not and when to try again.
func (w *Window) shareHot() {
	data := w.host.Data
	want := wholePages(w.Base, w.Size)
	if ownMapping(w.Base, w.Size) {
		want = touchedPages(w.Base, w.Size)
	}
	err := mayMove(w.host, want)
	if err == nil {
		if data.HotBegin(w.Handle) {
			if err = inPlace.take(w.host, want, w); err == nil {
				w.held = []span{want}
			}
		} else {
			err = mpierr.New(abi.MPI_ERR_RMA_SHARED, "others are writing to it")
		}
	}
	what, told := w.sharedNow()
	if err != nil {
		what, told = 0, "false: "+err.Error()
	}
	again := uint32(0)
	if w.hotTries++; what == 0 && w.hotTries <= hotTries {
		again = uint32(min((hotLeast+w.Size/hotBytes)<<w.hotTries, 1<<30))
	}
	data.HotEnd(w.Handle, what, w.imageOf(), again)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hints.Shared = told
}

// mayMove returns why memory must stay where it is, nil if it need not. The kernel stores into it for other threads,
// and into pages that it has remembered (asynchronous input, devices); at the wrong moment such a store would fail or
// be lost. And there must be room for what a child of fork() copies.
func mayMove(h *Host, r span) error {
	refuse := func(why string, args ...any) error { return mpierr.New(abi.MPI_ERR_RMA_SHARED, why, args...) }
	switch {
	case r.lo >= r.hi:
		return refuse("it holds no whole page of %d bytes", shm.PageSize)
	case !h.Data.Alone():
		return refuse("the process has other threads, or has forked")
	}
	if size := int64(r.hi - r.lo); limit.Memory("/", size).Usable() < size {
		return refuse("memory is too short for children of fork() to have copies")
	}
	if why := kernelStores("/proc/self"); why != "" {
		return refuse("%s", why)
	}
	return nil
}

// kernelStores looks in a folder like /proc/self for what the kernel or a device may store by into memory of the
// process later on: "" if there is nothing.
func kernelStores(process string) string {
	status, err := os.ReadFile(filepath.Join(process, "status"))
	if err != nil {
		return "the process cannot look at itself: " + err.Error()
	}
	for _, line := range strings.Split(string(status), "\n") {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmPin:" && f[1] != "0" {
			return "memory of the process is pinned for devices"
		}
	}
	maps, err := os.Open(filepath.Join(process, "maps"))
	if err != nil {
		return "the process cannot look at its memory: " + err.Error()
	}
	defer maps.Close()
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		if f := strings.Fields(lines.Text()); len(f) > 5 && storesBy(f[5]) {
			return "the process uses " + f[5]
		}
	}
	if err := lines.Err(); err != nil {
		return "the process cannot look at its memory: " + err.Error()
	}
	files, err := os.ReadDir(filepath.Join(process, "fd"))
	if err != nil {
		return "the process cannot look at its files: " + err.Error()
	}
	for _, f := range files {
		if to, err := os.Readlink(filepath.Join(process, "fd", f.Name())); err == nil &&
			strings.HasPrefix(to, "anon_inode:") && strings.Contains(to, "io_uring") {
			return "the process uses io_uring"
		}
	}
	return ""
}

// storesBy returns whether a mapping with this name is that of asynchronous input of the kernel or of a
// device.
func storesBy(name string) bool {
	for _, harmless := range []string{"/dev/shm/", "/dev/zero", "/dev/hugepages/"} {
		if strings.HasPrefix(name, harmless) {
			return false
		}
	}
	return strings.HasPrefix(name, "/[aio]") || strings.HasPrefix(name, "/dev/") ||
		strings.Contains(name, "io_uring")
}

// Follow maps rank's memory, which has become shared in place: what of it, and where the window begins in the node's
// memory. Whether it can be addressed now; if not it is not tried again.
func (w *Window) Follow(rank int, heap int64, what uint8) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.target(rank)
	if known == nil || w.followed[rank] {
		return false
	}
	if w.followed == nil {
		w.followed = map[int]bool{}
	}
	w.followed[rank] = true
	t := *known
	m := record{address: uint64(t.Address), size: t.Size, heap: heap, inPlace: what}
	if err := w.mapInPlace(&t, &m); err != nil {
		t.From, t.To = 1, 1 // none, and not as at first
	}
	return w.host.Data.Follow(w.Handle, rank, &t) && t.From < t.To
}
