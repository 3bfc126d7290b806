package rma

import "golang.org/x/sys/unix"

// advise repeats the program's advice (madvise) for memory whose mapping has been replaced. It ignores errors, since
// advice does not affect correctness.
func advise(x sharedRange) {
	for i, a := range advices {
		if x.advice>>i&1 != 0 {
			unix.Syscall(unix.SYS_MADVISE, x.lo, x.hi-x.lo, uintptr(a.advice))
		}
	}
}
