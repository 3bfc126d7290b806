package limit

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// MmapErrorDetail returns the possible reasons for the error `err` of mmap(2), as the end of a sentence. The reasons
// are limits of locked memory, of the number of mappings and of the address space. It returns "" if none of these
// limits is nearly reached. It takes milliseconds if there are many mappings.
func MmapErrorDetail(root string, err error) string {
	if errors.Is(err, unix.EAGAIN) { // all new memory is locked: mlockall(MCL_FUTURE)
		return lockedMemory(root)
	}
	var why []string
	most, failed := strconv.Atoi(read(filepath.Join(root, "proc/sys/vm/max_map_count")))
	// The number may be a little below the limit. The refused call may have needed two more mappings, to split an
	// existing one. Other threads may have unmapped memory since the error.
	if n := countLines(filepath.Join(root, "proc/self/maps")); failed == nil && n+64 >= most {
		why = append(why, fmt.Sprintf("the process has %d mappings; the limit vm.max_map_count is %d", n, most))
	}
	if used, most, ok := addressSpaceUse(root); ok {
		why = append(why, fmt.Sprintf("the process has %d KiB of address space; the limit is %d KiB "+
			"(ulimit -v)", used>>10, most>>10))
	}
	if len(why) == 0 {
		return ""
	}
	return " (" + strings.Join(why, "; ") + ")"
}

// lockedMemory returns the amounts of memory that the process has locked and that it may lock, as the end of a
// sentence.
func lockedMemory(root string) string {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &l) != nil || l.Cur == unix.RLIM_INFINITY {
		return ""
	}
	_, after, _ := strings.Cut(read(filepath.Join(root, "proc/self/status")), "VmLck:")
	kib, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	return fmt.Sprintf(" (the process has locked %s KiB of memory; the limit is %d KiB, ulimit -l)", kib, l.Cur>>10)
}

// addressSpaceUse returns the address space in bytes that the process has and may have; false if there is no limit.
func addressSpaceUse(root string) (used, most int64, limited bool) {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &l) != nil || l.Cur > math.MaxInt64 {
		return 0, 0, false
	}
	pages, _, _ := strings.Cut(read(filepath.Join(root, "proc/self/statm")), " ")
	n, _ := strconv.ParseInt(pages, 10, 64)
	return n * int64(os.Getpagesize()), int64(l.Cur), true
}

// CheckAddressSpace returns an error if a limit forbids this process to use `need` bytes of address space.
func CheckAddressSpace(need uint64) error {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &l) == nil && l.Cur < need {
		return fmt.Errorf("the limit on address space is too low (ulimit -v %d): at least %d KiB are "+
			"needed", l.Cur>>10,
			need>>10)
	}
	return nil
}

// ErrorDetail returns a description of the limit that has caused an error of the system, as the end of a sentence; ""
// if no limit is known.
func ErrorDetail(root string, err error) string {
	set := func(resource int, option string) string {
		var l unix.Rlimit
		if unix.Getrlimit(resource, &l) != nil || l.Cur == unix.RLIM_INFINITY {
			return ""
		}
		return fmt.Sprintf(" (ulimit -%s %d)", option, l.Cur)
	}
	switch {
	case errors.Is(err, unix.EMFILE):
		return set(unix.RLIMIT_NOFILE, "n")
	case errors.Is(err, unix.EAGAIN): // the limit of processes and threads
		if n, ok := MinLimit(root, "pids", "pids.max", "pids.max"); ok {
			return fmt.Sprintf(" (pids.max of the control group is %d)", n) + set(unix.RLIMIT_NPROC, "u")
		}
		return set(unix.RLIMIT_NPROC, "u")
	}
	return ""
}

// countLines returns the number of lines of a file. It uses little memory, because Go may be unable to allocate more
// when no mapping is possible.
func countLines(path string) (n int) {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	var b [8 << 10]byte
	for {
		k, err := f.Read(b[:])
		n += bytes.Count(b[:k], []byte("\n"))
		if err != nil {
			return n
		}
	}
}
