package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Kernel lists the services of the kernel that the library uses. An old kernel or a container's filter may deny them.
type Kernel struct {
	Release        string `json:"release"`
	Memfd          bool   `json:"memfd_create"`
	Membarrier     bool   `json:"membarrier_private_expedited"`
	ProcessVM      string `json:"process_vm"` // "yes", "no: why", "yes, between processes that allow it ..."
	ProcFd         bool   `json:"proc_fd"`
	ShmemHugePages string `json:"shmem_huge_pages"`
}

func kernel() Kernel {
	var k Kernel
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		k.Release = unix.ByteSliceToString(name.Release[:])
	}
	if fd, err := unix.MemfdCreate("gompi-info", unix.MFD_CLOEXEC); err == nil {
		k.Memfd = true
		unix.Close(fd)
	}
	if fd, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0); err == nil {
		if again, err := unix.Open(fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd), unix.O_RDWR|unix.O_CLOEXEC,
			0); err == nil {
			k.ProcFd = true
			unix.Close(again)
		}
		unix.Close(fd)
	}
	k.Membarrier = membarrier()
	k.ProcessVM = processVM(read("/proc/sys/kernel/yama/ptrace_scope"), tryProcessVM())
	k.ShmemHugePages = bracketed(read("/sys/kernel/mm/transparent_hugepage/shmem_enabled"))
	return k
}

// membarrier reports whether the kernel supports the membarrier command that the library uses.
func membarrier() bool {
	const query, privateExpedited = 0, 1 << 3
	commands, _, errno := unix.Syscall(unix.SYS_MEMBARRIER, query, 0, 0)
	return errno == 0 && commands&privateExpedited != 0
}

// tryProcessVM copies a few bytes within this process by process_vm_readv. A seccomp filter that denies the call
// between processes denies this copy too.
func tryProcessVM() error {
	from, to := []byte("gompirma"), make([]byte, 8)
	local := []unix.Iovec{{Base: &to[0], Len: 8}}
	remote := []unix.RemoteIovec{{Base: addressOf(from), Len: 8}}
	n, err := unix.ProcessVMReadv(os.Getpid(), local, remote, 0)
	if err == nil && (n != 8 || string(to) != string(from)) {
		err = fmt.Errorf("copied %d of 8 bytes", n)
	}
	return err
}

// processVM returns the text of Kernel.ProcessVM for ptrace_scope and the error of tryProcessVM. Yama's ptrace_scope
// restricts process_vm_readv between processes that are not parent and child.
func processVM(scope string, err error) string {
	switch {
	case err != nil:
		return "no: " + err.Error()
	case scope == "" || scope == "0":
		return "yes"
	case scope == "1":
		return "yes (ptrace_scope is 1; gompirma permits it with PR_SET_PTRACER)"
	}
	return fmt.Sprintf("no: ptrace_scope %s", scope)
}

// bracketed returns the word in brackets of a line such as "always within_size [never]".
func bracketed(s string) string {
	_, rest, ok := strings.Cut(s, "[")
	if !ok {
		return ""
	}
	word, _, _ := strings.Cut(rest, "]")
	return word
}
