package limit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// WhyNoMapping returns what may be the reason that the system refuses this process another mapping, as the end of a sentence: the number of mappings it may have, the
// address space. "": neither is near its limit. It takes milliseconds if there are many mappings.
func WhyNoMapping(root string) string {
	var why []string
	most, err := strconv.Atoi(read(filepath.Join(root, "proc/sys/vm/max_map_count")))
	// A mapping may need two more for a moment, when it divides another.
	if n := lines(filepath.Join(root, "proc/self/maps")); err == nil && n+8 >= most {
		why = append(why, fmt.Sprintf("the process has %d mappings, and vm.max_map_count allows %d", n, most))
	}
	var space unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &space) == nil && space.Cur != unix.RLIM_INFINITY {
		pages, _, _ := strings.Cut(read(filepath.Join(root, "proc/self/statm")), " ")
		n, _ := strconv.ParseInt(pages, 10, 64)
		why = append(why, fmt.Sprintf("the process has %d KiB of address space, and ulimit -v allows %d", n*int64(os.Getpagesize())>>10, space.Cur>>10))
	}
	if len(why) == 0 {
		return ""
	}
	return " (" + strings.Join(why, "; ") + ")"
}

// lines counts those of a file with little memory: Go could not get more, where there are no mappings.
func lines(path string) (n int) {
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
