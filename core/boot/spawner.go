package boot

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"gompirma/core/boot/pmi1"
)

// ServeWord is the first argument of a gompirun that a process starts to start further processes, because its launcher
// is not gompirun, or because it has none. The other arguments are the id of the process, and its index on the node.
const ServeWord = "--serve"

// ServedJob returns the name of the job of the process with the given id, for the gompirun that it has started.
func ServedJob(pid int) string { return fmt.Sprintf("served_%d", pid) }

// assistant is the gompirun that this process has started; its client is nil if there is none.
var assistant struct {
	mu     sync.Mutex
	client *pmi1.Client
}

// SpawnerOf returns the interface to the launcher of c for processes that start at run time. If the launcher is not
// gompirun, the first call starts gompirun for this process. The arguments are the descriptor of the shared memory of
// the node, and the index of this process on the node. Errors: MPI_ERR_OTHER if gompirun cannot be started.
func SpawnerOf(c Client, control, index int) (Spawner, error) {
	if IsByGompirun(c) {
		return c.(*launched).Client, nil
	}
	assistant.mu.Lock()
	defer assistant.mu.Unlock()
	if assistant.client == nil {
		client, err := startGompirun(control, index)
		if err != nil {
			return nil, otherError(err)
		}
		assistant.client = client
	}
	return assistant.client, nil
}

// HasSpawner returns whether SpawnerOf would start no gompirun.
func HasSpawner(c Client) bool {
	assistant.mu.Lock()
	defer assistant.mu.Unlock()
	return IsByGompirun(c) || assistant.client != nil
}

// EndSpawner notifies the gompirun that this process has started, if there is one, that this process has finished.
func EndSpawner() {
	assistant.mu.Lock()
	defer assistant.mu.Unlock()
	if assistant.client != nil {
		assistant.client.Finalize()
		assistant.client = nil
	}
}

// AbortSpawned ends the processes that this process has started by a gompirun of its own.
func AbortSpawned(status int) {
	assistant.mu.Lock()
	defer assistant.mu.Unlock()
	if assistant.client != nil {
		assistant.client.Abort(status, -1)
	}
}

// startGompirun starts gompirun for this process. It ends when this process and all processes that it has started have
// ended.
func startGompirun(control, index int) (*pmi1.Client, error) {
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
	sh := exec.Command("/bin/sh", "-c", `"$0" "$@" &`, path, ServeWord, fmt.Sprint(os.Getpid()),
		fmt.Sprint(index))
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
