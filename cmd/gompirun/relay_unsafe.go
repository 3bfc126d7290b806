package main

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// endBySignal ends this process by the signal that ended its program, so that the launcher sees it. It returns if that
// is impossible. It restores the kernel's default action first, since Go's runtime would report some signals as its own
// faults.
func endBySignal(s syscall.Signal) {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // no core file: the program has left one
	var byDefault [4]uint64
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&byDefault)), 0, 8, 0, 0)
	_ = syscall.Kill(syscall.Getpid(), s)
}
