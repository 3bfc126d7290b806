package main

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// endBySignal ends this process by the signal that ended its program, so that the launcher sees the signal. It first
// restores the kernel's default action, since the Go runtime would report some signals as its own faults. It returns if
// the signal does not end the process.
func endBySignal(s syscall.Signal) {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // no second core file: the program has left one
	var byDefault [4]uint64
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&byDefault)), 0, 8, 0, 0)
	_ = syscall.Kill(syscall.Getpid(), s)
}
