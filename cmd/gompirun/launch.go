package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gompirma/core/boot"
	"gompirma/core/insight"
	"gompirma/core/limit"
	"gompirma/core/shm"
)

// launch starts every rank, and then reaps children until none is left. The ranks have Pdeathsig, so that they end even
// if gompirun is killed with SIGKILL: the kernel kills a child when the thread that started it ends. launch therefore
// keeps its OS thread while there are children.
func (j *job) launch() {
	runtime.LockOSThread()
	// Orphans of the ranks become children of gompirun instead of init.
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	j.startAll()
	j.mail.send(allStarted{})
	for j.reap(0) {
	}
	j.mail.send(childless{})
}

func (j *job) startAll() {
	null, err := os.Open(os.DevNull)
	if err != nil {
		j.mail.send(startFailed{0, err})
		return
	}
	defer null.Close()
	defer restoreAffinity(j.worlds[0])()
	var groups []*os.File
	nice := ownNice()
	defer func() { go setNice(groups, nice) }()
	for rank := range j.ranks {
		if j.stopping.Load() {
			return
		}
		j.forking.Lock()
		pid, err := j.start(rank, null)
		if err != nil {
			j.mail.send(startFailed{rank, err})
		} else {
			j.mail.send(started{rank, pid})
		}
		j.forking.Unlock()
		if err != nil {
			return
		}
		// The file is opened before gompirun can reap the process. Until then, the kernel cannot give its pid
		// to another process.
		if nice != 0 {
			if f, err := os.OpenFile(fmt.Sprintf("/proc/%d/autogroup", pid), os.O_WRONLY, 0); err == nil {
				groups = append(groups, f)
			}
		}
		j.reap(syscall.WNOHANG)
	}
}

// restoreAffinity returns a function that sets the CPU affinity of this thread as it is now. A child inherits the
// affinity of the thread that starts it, so the start of the ranks of w changes it if they are bound.
func restoreAffinity(w *world) (restore func()) {
	var before unix.CPUSet
	if w.bindings == nil || unix.SchedGetaffinity(0, &before) != nil {
		return func() {}
	}
	return func() { unix.SchedSetaffinity(0, &before) }
}

// ownNice returns gompirun's nice value.
func ownNice() int {
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return 0
	}
	return 20 - raw
}

// setNice writes a nice value to the autogroups of the ranks and closes the files. With autogroups, the nice value of a
// process applies only among the processes of its session. Each rank has its own session, so without setNice `nice
// gompirun` would have no effect. The kernel accepts one change in 100 ms and otherwise returns EAGAIN, so setNice
// tries again.
func setNice(groups []*os.File, nice int) {
	for _, f := range groups {
		for {
			if _, err := f.WriteString(strconv.Itoa(nice)); !errors.Is(err, unix.EAGAIN) {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		f.Close()
	}
}

// reap collects all children that have ended. It waits for the first one, unless flags has WNOHANG. It returns false if
// there are no children.
func (j *job) reap(flags int) bool {
	var children []child
	some := true
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, flags, nil)
		if err == syscall.EINTR {
			continue
		}
		if pid <= 0 || err != nil {
			some = err == nil
			break
		}
		children = append(children, child{pid, status})
		flags = syscall.WNOHANG
	}
	if len(children) > 0 {
		j.mail.send(ended{children})
		return true
	}
	return some
}

// start creates the descriptors of a rank and starts its process.
func (j *job) start(rank int, null *os.File) (pid int, err error) {
	p, w, node := &j.programs[j.ranks[rank].part], j.ranks[rank].world, j.nodeOf(rank)
	if w.launcher != nil {
		return j.startLauncher(w, null)
	}
	var theirs []*os.File // the process's descriptors from 0 on, in order
	defer func() {
		for _, f := range theirs {
			if f != null && f != os.Stdin && f != node.control && !j.observation.owns(f) {
				f.Close()
			}
		}
	}()
	input := null
	if rank == 0 {
		if input, err = j.input(); err != nil {
			return 0, err
		}
	}
	theirs = append(theirs, input)
	if j.opts.outputDir != "" {
		file, err := openOutputFile(j.opts.outputDir, rank, len(j.ranks))
		if err != nil {
			return 0, err
		}
		theirs = append(theirs, file, file)
	} else {
		for i, to := range []*sink{j.out.stdout, j.out.stderr} {
			if pattern := [2]string{j.opts.outFile, j.opts.errFile}[i]; pattern != "" {
				file, err := j.openPattern(pattern, rank)
				if err != nil {
					return 0, err
				}
				theirs = append(theirs, file)
				continue
			}
			ours, end, err := pipe()
			if err != nil {
				return 0, err
			}
			theirs = append(theirs, end)
			j.out.attach(rank, w.tag(rank), ours, to, nil)
		}
	}
	ours, end, err := socketpair()
	if err != nil {
		return 0, err
	}
	theirs = append(theirs, end, node.control)
	env := withRankVariables(p.env, w, rank, len(j.nodes), node)
	if j.opts.ft {
		env = append(without(env, boot.EnvFT), boot.EnvFT+"=1")
	}
	if j.observation != nil {
		theirs = append(theirs, j.observation.memory.File())
		env = append(j.observation.preloaded(env), fmt.Sprintf("%s=%d", insight.EnvRank, w.part+rank-w.first))
	}
	w.pmi.Serve(rank-w.first, ours)

	if i := rank - w.first; i < len(w.bindings) {
		if err := unix.SchedSetaffinity(0, &w.bindings[i]); err != nil {
			return 0, fmt.Errorf("cannot bind %s to its processors: %w", w.label(rank), err)
		}
	}
	files := make([]uintptr, len(theirs))
	for i, f := range theirs {
		files[i] = f.Fd()
	}
	pid, err = syscall.ForkExec(p.path, p.argv, &syscall.ProcAttr{
		Dir:   p.wdir,
		Env:   env,
		Files: files,
		// Each rank has a session of its own. If the kernel groups processes by session (autogroups), each rank
		// then gets as large a share of the CPU as any other session on the machine.
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
	switch {
	case err == nil:
		return pid, nil
	case errors.Is(err, syscall.ENOEXEC):
		err = errors.New("this system cannot run the file (a script needs a #! line as its first line)")
	case errors.Is(err, syscall.ENOENT):
		err = errors.New("cannot be started: the interpreter in its #! line, or its ELF interpreter, does " +
			"not exist")
	case errors.Is(err, syscall.EAGAIN):
		err = fmt.Errorf("cannot start rank %d: the limit on processes is reached%s", rank,
			limit.ErrorDetail("/", err))
	}
	return 0, fmt.Errorf("%s: %w", p.argv[0], err)
}

// pipe returns gompirun's end of a pipe, on which goroutines can wait, and the rank's end.
func pipe() (ours, theirs *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe", err)
	}
	unix.SetNonblock(fds[0], true)
	return os.NewFile(uintptr(fds[0]), "pipe"), os.NewFile(uintptr(fds[1]), "pipe"), nil
}

func socketpair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	unix.SetNonblock(fds[0], true)
	return os.NewFile(uintptr(fds[0]), "pmi"), os.NewFile(uintptr(fds[1]), "pmi"), nil
}

// openOutputFile creates the file of --output-dir for a rank's stdout and stderr. The rank numbers in the names have
// the same width, so that the names sort.
func openOutputFile(dir string, rank, size int) (*os.File, error) {
	width := len(fmt.Sprint(size - 1))
	return os.OpenFile(filepath.Join(dir, fmt.Sprintf("rank-%0*d.txt", width, rank)),
		os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o666)
}

// openPattern creates the file that a pattern names for a rank, and its parent directories. Two patterns may name the
// same file.
func (j *job) openPattern(pattern string, rank int) (*os.File, error) {
	host, _ := os.Hostname()
	width := len(fmt.Sprint(len(j.ranks) - 1))
	path := strings.NewReplacer("%%", "%", "%r", fmt.Sprint(rank), "%0r", fmt.Sprintf("%0*d", width, rank), "%h",
		host, "%g", fmt.Sprint(j.ranks[rank].part), "%p", "0").Replace(pattern)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if !j.opened[path] {
		flags |= os.O_TRUNC
	}
	if j.opened == nil {
		j.opened = map[string]bool{}
	}
	j.opened[path] = true
	return os.OpenFile(path, flags, 0o666)
}

// neededDescriptors returns the number of file descriptors that gompirun needs: three for each rank, three for each
// simulated node, and 32 for all other purposes.
func neededDescriptors(ranks, nodes int) uint64 { return 3*uint64(ranks+nodes) + 32 }

// descriptorRoom returns the number of ranks for which the limit of file descriptors suffices.
func descriptorRoom(nodes int) int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > 3*shm.MaxProcesses*4 {
		return 2 * shm.MaxProcesses
	}
	return (int(limit.Cur) - int(neededDescriptors(0, nodes))) / 3
}

func checkDescriptors(ranks, nodes int) error {
	var limit unix.Rlimit
	need, on := neededDescriptors(ranks, nodes), ""
	if nodes > 1 {
		on = fmt.Sprintf(" on %d nodes", nodes)
	}
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err == nil && limit.Cur < need {
		return fmt.Errorf("a job of %d %s%s needs %d file descriptors, but the limit is %d: raise ulimit "+
			"-n", ranks, plural(ranks, "process"), on, need,
			limit.Cur)
	}
	return nil
}
