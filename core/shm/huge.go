package shm

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Huge pages of the node's memory. The memfd consists of base pages. If the system allows it (shmem_enabled in
// /sys/kernel/mm/transparent_hugepage), the kernel uses transparent huge pages for a mapping that requests them by
// madvise. Memory with huge pages is allocated through the mapping, because fallocate would allocate small pages.

// HugePage is the size of a huge page in bytes.
const HugePage = 2 << 20

// thp is the directory of the kernel's settings for transparent huge pages.
const thp = "/sys/kernel/mm/transparent_hugepage"

// HugePagesPossible returns whether the kernel uses huge pages for shared memory for which a mapping requests them.
func HugePagesPossible() bool {
	return hugePossible(selected(thp+"/shmem_enabled"),
		selected(fmt.Sprintf("%s/hugepages-%dkB/shmem_enabled", thp, HugePage>>10)))
}

// hugePossible evaluates two settings: `all`, for all sizes of huge pages, and `size`, for pages of the size HugePage
// ("" if the kernel does not have this setting).
func hugePossible(all, size string) bool {
	switch {
	case all == "deny":
		return false
	case all == "force":
		return true
	case size != "" && size != "inherit":
		all = size
	}
	return all == "always" || all == "within_size" || all == "advise"
}

// selected returns the word in brackets of a file such as "always [madvise] never", "" if the file has no such word.
func selected(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(b), "[")
	word, _, _ := strings.Cut(rest, "]")
	return word
}

// hugeMapped returns whether huge pages are mapped in [from, from+size) of this process.
func hugeMapped(from, size uint64) bool {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return false
	}
	defer f.Close()
	inside := false
	for s := bufio.NewScanner(f); s.Scan(); {
		var low, high uint64
		if n, _ := fmt.Sscanf(s.Text(), "%x-%x ", &low, &high); n == 2 {
			inside = low < from+size && from < high
		} else if rest, ok := strings.CutPrefix(s.Text(), "ShmemPmdMapped:"); ok && inside {
			if kib, _ := strconv.Atoi(strings.Fields(rest)[0]); kib > 0 {
				return true
			}
		}
	}
	return false
}
