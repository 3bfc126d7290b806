package shm

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Huge pages of the node's memory. The memfd consists of base pages. Where the system allows it, the kernel uses
// transparent huge pages for a mapping that asks for them (shmem_enabled in /sys/kernel/mm/transparent_hugepage).
// fallocate would allocate small pages, so the memory is allocated through the mapping.

// HugePage is the size of a huge page in bytes.
const HugePage = 2 << 20

// thp is the directory of the kernel's settings for transparent huge pages.
const thp = "/sys/kernel/mm/transparent_hugepage"

// HugePagesPossible returns whether the kernel uses huge pages for shared memory that asks for them.
func HugePagesPossible() bool {
	return hugePossible(selected(thp+"/shmem_enabled"),
		selected(fmt.Sprintf("%s/hugepages-%dkB/shmem_enabled", thp, HugePage>>10)))
}

// hugePossible evaluates two settings: `all`, for all sizes of huge pages, and `size`, for pages of the size HugePage
// ("": no such setting).
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
