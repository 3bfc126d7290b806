package boot

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"gompirma/core/boot/pmi1"
)

// SingletonWord is the first argument of a gompirun that a process without a launcher starts, to start further
// processes. The second argument is the process id.
const SingletonWord = "--serve-singleton"

// SingletonJob returns the name of the job of a process without a launcher.
func SingletonJob(pid int) string { return fmt.Sprintf("singleton_%d", pid) }

// startLauncher starts gompirun for this process, which has no launcher. The argument `control` is the descriptor of
// the shared memory of the node. gompirun ends when this process and all processes that it has started have ended.
func startLauncher(control int) (*pmi1.Client, error) {
	path, err := findGompirun()
	if err != nil {
		return nil, err
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "launcher"), os.NewFile(uintptr(fds[1]), "launcher")
	memory, err := unix.FcntlInt(uintptr(control), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		ours.Close()
		theirs.Close()
		return nil, os.NewSyscallError("fcntl", err)
	}
	file := os.NewFile(uintptr(memory), "control")
	// The shell starts gompirun in the background and ends. So gompirun is no child of this process, which may wait
	// for children of its own.
	sh := exec.Command("/bin/sh", "-c", `"$0" "$@" &`, path, SingletonWord, fmt.Sprint(os.Getpid()))
	sh.Stdin, sh.Stdout, sh.Stderr = nil, os.Stdout, os.Stderr
	sh.ExtraFiles = []*os.File{theirs, file}
	err = sh.Run()
	theirs.Close()
	file.Close()
	if err != nil {
		ours.Close()
		return nil, fmt.Errorf("cannot start %s: %w", path, err)
	}
	unix.SetNonblock(fds[0], true)
	c, err := pmi1.NewClient(os.NewFile(uintptr(fds[0]), "launcher"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// findGompirun returns the path of gompirun: in the directory bin beside that of the library, or in PATH.
func findGompirun() (string, error) {
	f, err := os.Open("/proc/self/maps")
	if err == nil {
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			at := strings.Index(lines.Text(), "/")
			if at < 0 || !strings.Contains(filepath.Base(lines.Text()[at:]), "libgompirma.so") {
				continue
			}
			path := filepath.Join(filepath.Dir(filepath.Dir(lines.Text()[at:])), "bin/gompirun")
			if unix.Access(path, unix.X_OK) == nil {
				return path, nil
			}
		}
	}
	if path, err := exec.LookPath("gompirun"); err == nil {
		return path, nil
	}
	return "", errors.New("gompirun, which starts the processes, is neither beside libgompirma nor in PATH")
}
