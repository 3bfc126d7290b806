// Package limit owns the limits that the system sets for this process: the memory that may be allocated before the
// kernel kills a process, the limits of control groups, and the limits of setrlimit(2). It only reads limits, and must
// not depend on the packages that use the memory.
//
// Each function takes the root of the file system, "/" except in tests.
package limit

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Group is a control group that contains this process, directly or through a descendant group.
type Group struct {
	Dir string // its directory
	V2  bool   // the group is of version 2, in which names and formats of files differ
}

// hierarchy is a mounted tree of control groups.
type hierarchy struct {
	controllers []string // controllers of the hierarchy in version 1; nil in version 2
	top         string   // the group that is mounted
	mount       string   // its mount point
}

// Groups returns the groups that limit the resource of a controller ("memory", "pids", "cpu"), from this process' own
// group up to the highest visible one. Groups of both versions may occur. A group of version 2 is listed even if it
// does not have the controller.
func Groups(root, controller string) []Group {
	var groups []Group
	trees := mounted(root)
	for _, line := range strings.Split(read(filepath.Join(root, "proc/self/cgroup")), "\n") {
		parts := strings.SplitN(line, ":", 3) // number:controllers:path
		if len(parts) != 3 {
			continue
		}
		v2 := parts[0] == "0" && parts[1] == ""
		if !v2 && !slices.Contains(strings.Split(parts[1], ","), controller) {
			continue
		}
		mine := slices.DeleteFunc(slices.Clone(trees), func(h hierarchy) bool {
			return v2 != (h.controllers == nil) || !v2 && !slices.Contains(h.controllers, controller)
		})
		for _, dir := range folders(mine, filepath.Clean("/"+parts[2])) {
			groups = append(groups, Group{filepath.Join(root, dir), v2})
		}
	}
	return groups
}

// folders returns the directories of the group `path` and its ancestors. The argument `mounts` has the mounts of the
// group's hierarchy. In a container, `path` may be the path on the host, although only the container's own group is
// mounted. In this case the mount point is the only directory.
func folders(mounts []hierarchy, path string) (dirs []string) {
	for _, h := range mounts {
		below, ok := strings.CutPrefix(path, strings.TrimSuffix(h.top, "/"))
		if !ok || below != "" && below[0] != '/' {
			continue
		}
		for ; below != "" && below != "/"; below = filepath.Dir(below) {
			dirs = append(dirs, filepath.Join(h.mount, below))
		}
		return append(dirs, h.mount)
	}
	if len(mounts) > 0 {
		dirs = append(dirs, mounts[0].mount)
	}
	return dirs
}

// mounted returns the result of hierarchies(root) from a cache, since mounts rarely change and a system may have
// thousands of mounts.
func mounted(root string) []hierarchy {
	trees, known := mounts.Load(root)
	if !known {
		trees, _ = mounts.LoadOrStore(root, hierarchies(root))
	}
	return trees.([]hierarchy)
}

var mounts sync.Map // cache of mounted: []hierarchy, by root

// hierarchies returns the mounted hierarchies. If mountinfo cannot be read, it assumes the usual mount points.
func hierarchies(root string) (found []hierarchy) {
	text := read(filepath.Join(root, "proc/self/mountinfo"))
	if text == "" {
		const usual = "/sys/fs/cgroup"
		v2 := hierarchy{nil, "/", usual}
		list, _ := os.ReadDir(filepath.Join(root, usual))
		for _, e := range list {
			found = append(found, hierarchy{strings.Split(e.Name(), ","), "/",
				filepath.Join(usual, e.Name())})
			if e.Name() == "unified" {
				v2.mount = filepath.Join(usual, e.Name())
			}
		}
		return append(found, v2)
	}
	for _, line := range strings.Split(text, "\n") {
		// The fields of a line: number parent device root mount options [more...] - type source
		// file-system-options
		before, after, _ := strings.Cut(line, " - ")
		place, kind := strings.Fields(before), strings.Fields(after)
		if len(place) < 5 || len(kind) < 3 {
			continue
		}
		h := hierarchy{top: unescape.Replace(place[3]), mount: unescape.Replace(place[4])}
		switch kind[0] {
		case "cgroup":
			h.controllers = strings.Split(kind[2], ",")
		case "cgroup2":
		default:
			continue
		}
		found = append(found, h)
	}
	return found
}

// unescape reverses the escaping in mountinfo of characters that would split its fields.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// read returns the content of a small file without surrounding white space, "" if it cannot be read. It uses system
// calls directly, because it is called for each new window. Package os would spend more time on registering the file
// with its poller than on reading it.
func read(path string) string {
	var b []byte
	fd, err := open(path)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	room := make([]byte, 4096)
	for {
		n, err := unix.Read(fd, room)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return ""
		}
		if n == 0 {
			return strings.TrimSpace(string(b))
		}
		b = append(b, room[:n]...)
	}
}

func open(path string) (fd int, err error) {
	for {
		if fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != unix.EINTR {
			return fd, err
		}
	}
}
