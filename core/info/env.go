package info

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Env returns what MPI_INFO_ENV says of a process that was started with these arguments as one of maxprocs (0: not
// known): MPI-5.0 11.2.1. A value that is too long for an info object is cut.
func Env(args []string, maxprocs int) []Pair {
	var pairs []Pair
	put := func(key, value string) {
		if value != "" {
			const most = 1023
			if len(value) > most {
				value = value[:most]
			}
			pairs = append(pairs, Pair{key, value})
		}
	}
	if len(args) > 0 {
		put("command", args[0])
		put("argv", strings.Join(args[1:], " "))
	}
	if maxprocs > 0 {
		put("maxprocs", strconv.Itoa(maxprocs))
	}
	host, _ := os.Hostname()
	put("host", host)
	put("arch", runtime.GOARCH)
	wdir, _ := os.Getwd()
	put("wdir", wdir)
	return pairs
}
