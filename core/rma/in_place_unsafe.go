package rma

import "golang.org/x/sys/unix"

// advise tells the system again what the program has said of memory before its mapping was replaced. Errors do not
// matter: advice is advice.
func advise(x stretch) {
	for i, a := range advices {
		if x.advice>>i&1 != 0 {
			unix.Syscall(unix.SYS_MADVISE, x.lo, x.hi-x.lo, uintptr(a.advice))
		}
	}
}
