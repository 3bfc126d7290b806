package shm

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// Huge pages of the node's memory. The memfd is of ordinary pages; where the system allows it, those of a mapping that asks for it come as transparent huge
// pages (shmem_enabled in /sys/kernel/mm/transparent_hugepage). fallocate would take small pages there, so memory is taken through the mapping.

// HugePage is the size of a huge page in bytes.
const HugePage = 2 << 20

// thp is where the system says what it allows.
const thp = "/sys/kernel/mm/transparent_hugepage"

// HugePagesPossible returns whether the system lets shared memory have huge pages if it asks for them.
func HugePagesPossible() bool {
	return hugePossible(selected(thp+"/shmem_enabled"), selected(fmt.Sprintf("%s/hugepages-%dkB/shmem_enabled", thp, HugePage>>10)))
}

// hugePossible judges the settings for all sizes and for the size of HugePage, "" if there is no such setting.
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

// selected returns the word in brackets of a file such as "always [madvise] never", "" if there is none.
func selected(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(b), "[")
	word, _, _ := strings.Cut(rest, "]")
	return word
}

// CommitMapped is Commit of [off, off+len(b)), which is mapped at b (whole pages), with huge pages if huge says so and the system has them. It returns
// whether any of the memory is of huge pages. MPI_ERR_NO_MEM.
func (nd *Node) CommitMapped(b []byte, off int64, huge bool) (bool, error) {
	size := int64(len(b))
	if !huge || size < HugePage || !HugePagesPossible() || unix.Madvise(b, unix.MADV_HUGEPAGE) != nil {
		return false, nd.Commit(off, size)
	}
	if free := AvailableMemory(); size > free {
		return false, mpierr.New(abi.MPI_ERR_NO_MEM, "%d bytes of shared memory: only %d are available", size, free)
	}
	for {
		switch err := unix.Madvise(b, unix.MADV_POPULATE_WRITE); err {
		case nil:
			return hugeMapped(address(b), uint64(size)), nil
		case unix.EINTR, unix.EAGAIN:
		case unix.EINVAL: // a system that does not know it
			return false, nd.Commit(off, size)
		default:
			nd.discard(off, size)
			return false, mpierr.New(abi.MPI_ERR_NO_MEM, "%d bytes of shared memory: %v", size, err)
		}
	}
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
