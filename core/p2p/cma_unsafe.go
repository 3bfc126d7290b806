package p2p

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// readMemory is process_vm_readv.
func readMemory(pid int, local, remote []iovec) (int64, unix.Errno) {
	n, _, errno := unix.Syscall6(unix.SYS_PROCESS_VM_READV, uintptr(pid), uintptr(unsafe.Pointer(&local[0])),
		uintptr(len(local)),
		uintptr(unsafe.Pointer(&remote[0])), uintptr(len(remote)), 0)
	return int64(n), errno
}
