package limit

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Headroom is the amount of memory that can be allocated now before the system swaps or the kernel kills a process.
// LimitedBy describes the limit that bounds it.
type Headroom struct {
	Free      int64 // bytes, at least 0
	Margin    int64 // bytes of Free that should stay free, for other processes and for the kernel's tables
	LimitedBy string
}

// Usable returns how many bytes may be allocated: Free minus Margin.
func (r Headroom) Usable() int64 { return max(r.Free-r.Margin, 0) }

// The margin is the limit that bounds the memory divided by marginShare, but at least minMargin and at most maxMargin
// bytes.
const (
	marginShare = 128
	minMargin   = 2 << 20
	maxMargin   = 128 << 20
)

func headroom(free, limit int64, by string) Headroom {
	return Headroom{max(free, 0), min(max(limit/marginShare, minMargin), maxMargin), by}
}

// Memory returns the headroom that the machine and all memory control groups of this process leave. The exact value
// takes ten times as long to compute. So if at least `wanted` bytes are free, the result may be less than the actual
// headroom, but not less than `wanted`.
func Memory(root string, wanted int64) Headroom {
	r := MachineMemory(root)
	groups := Groups(root, "memory")
	for i, g := range groups {
		top := i == len(groups)-1 || groups[i+1].V2 != g.V2
		if of, ok := g.memory(wanted, top); ok && of.Usable() < r.Usable() {
			r = of
		}
	}
	return r
}

// minCheckedBytes is the smallest size for which Bytes checks the headroom. For such sizes the check takes little time
// compared to the use of the memory. Go's heap also reserves address space in steps of this size, so Bytes requires
// this much address space in addition to the allocation.
const minCheckedBytes = 64 << 20

// Bytes allocates n bytes of Go memory for data of an application. Since the application's counts may have any value, n
// may be very large. It returns an error if there is not enough memory. Without this check, the Go runtime would end
// the process.
func Bytes(n int64) ([]byte, error) {
	if n >= minCheckedBytes {
		if r := Memory("/", n); r.Usable() < n {
			return nil, fmt.Errorf("cannot allocate %d bytes for data in transfer: only %d are "+
				"available %s", n, r.Usable(), r.LimitedBy)
		}
		if used, most, ok := addressSpaceUse("/"); ok && most-used-minCheckedBytes < n {
			return nil, fmt.Errorf("cannot allocate %d bytes for data in transfer: the process has "+
				"%d KiB of address space, and the limit is %d KiB (ulimit -v)", n, used>>10, most>>10)
		}
	}
	return make([]byte, n), nil
}

// MachineMemory returns the headroom that the machine leaves to all processes.
func MachineMemory(root string) Headroom {
	total, free := int64(math.MaxInt64), int64(math.MaxInt64)
	for line := range strings.Lines(read(filepath.Join(root, "proc/meminfo"))) {
		name, rest, _ := strings.Cut(line, ":")
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		if err != nil || kib > math.MaxInt64>>10 {
			continue
		}
		if name == "MemTotal" {
			total = kib << 10
		}
		if name == "MemAvailable" {
			free = kib << 10
			break
		}
	}
	return headroom(free, total, "on this machine")
}

// memory returns the headroom that a group leaves. The result found is false if the group does not bound memory. If
// less than `wanted` bytes seem free, memory computes the headroom exactly. The argument `top` is true if no ancestor
// of the group is visible.
//
// The kernel counts clean page cache of files as used, but reclaims it before it kills a process. So memory subtracts
// this cache from the used memory if the headroom would otherwise be below `wanted`. Dirty pages, and pages of memfds
// and of tmpfs, are not subtracted. Above memory.high, the kernel kills no process but slows down the group until it
// hardly runs. Therefore memory.high is a limit too. Limits of swap alone are ignored. The limit of version 1 for
// memory and swap together is respected.
func (g Group) memory(wanted int64, top bool) (tightest Headroom, found bool) {
	files := int64(-1)
	bound := func(limit int64, by, use string) {
		used, ok := g.number(use)
		if !ok {
			return
		}
		r := headroom(limit-used, limit, fmt.Sprintf("in control group %s (%s is %d)", g.Dir, by, limit))
		if r.Usable() < wanted {
			if files < 0 {
				files = g.reclaimable()
			}
			r = headroom(limit-used+files, limit, r.LimitedBy)
		}
		if !found || r.Usable() < tightest.Usable() {
			tightest, found = r, true
		}
	}
	if g.V2 {
		for _, by := range []string{"memory.max", "memory.high"} {
			if limit, ok := g.number(by); ok {
				bound(limit, by, "memory.current")
			}
		}
		return tightest, found
	}
	own := int64(unlimited)
	for _, kind := range []string{"memory.", "memory.memsw."} {
		if limit, ok := g.number(kind + "limit_in_bytes"); ok {
			bound(limit, kind+"limit_in_bytes", kind+"usage_in_bytes")
			own = min(own, limit)
		}
	}
	if top {
		if limit := g.ancestorLimit(own); limit < own {
			bound(limit, "hierarchical_memory_limit in memory.stat", "memory.usage_in_bytes")
		}
	}
	return tightest, found
}

// reclaimable returns how many of the bytes in use are clean page cache of files, which the kernel can reclaim.
func (g Group) reclaimable() int64 {
	stat := g.numbers("memory.stat")
	if g.V2 {
		return max(stat["inactive_file"]+stat["active_file"]-stat["file_dirty"]-stat["file_writeback"], 0)
	}
	return max(stat["total_inactive_file"]+stat["total_active_file"]-stat["total_dirty"]-stat["total_writeback"], 0)
}

// ancestorLimit returns the limit of the ancestors of a version 1 group, which are not visible in a container. The
// argument `own` is the group's own limit. ancestorLimit reads memory.stat, which is slow, only once for each value of
// `own`.
func (g Group) ancestorLimit(own int64) int64 {
	type key struct {
		dir string
		own int64
	}
	limit, known := ancestorLimits.Load(key{g.Dir, own})
	if !known {
		v, ok := g.numbers("memory.stat")["hierarchical_memory_limit"]
		if !ok {
			v = unlimited
		}
		limit, _ = ancestorLimits.LoadOrStore(key{g.Dir, own}, v)
	}
	return limit.(int64)
}

var ancestorLimits sync.Map // cache of ancestorLimit: int64, by key

// unlimited is the smallest number that means "no limit" in version 1. In version 2 the file contains "max" instead.
const unlimited = 1 << 60

// number reads a file with one number; false if the file has no number, or one that means no limit.
func (g Group) number(file string) (int64, bool) {
	v, err := strconv.ParseInt(read(filepath.Join(g.Dir, file)), 10, 64)
	return v, err == nil && v >= 0 && v < unlimited
}

// numbers reads a file of lines "name number".
func (g Group) numbers(file string) map[string]int64 {
	m := map[string]int64{}
	for _, line := range strings.Split(read(filepath.Join(g.Dir, file)), "\n") {
		if name, value, ok := strings.Cut(line, " "); ok {
			if v, err := strconv.ParseInt(value, 10, 64); err == nil {
				m[name] = v
			}
		}
	}
	return m
}

// MinLimit returns the smallest limit of a controller among this process' groups; false if no group has one. The
// arguments v1 and v2 are the names of the file with the limit in each version of control groups.
func MinLimit(root, controller, v1, v2 string) (least int64, found bool) {
	for _, g := range Groups(root, controller) {
		file := v1
		if g.V2 {
			file = v2
		}
		if v, ok := g.number(file); ok && v > 0 && (!found || v < least) {
			least, found = v, true
		}
	}
	return least, found
}
