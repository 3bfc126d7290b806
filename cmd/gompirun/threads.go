package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// This file inspects the threads outside of MPI: the application's threads that do not wait in MPI. If such a thread
// computes, sleeps for a limited time or reads, it may call MPI afterwards, so the job may not hang. The job certainly
// hangs only if each of these threads waits for another thread of its process. Such a wait has no time limit, and is on
// a futex that only this process has mapped.
//
// The library's own threads are ignored. The library reports the thread ids of its progress threads in shared memory.
// Threads of the Go runtime are recognized because they sleep in the library's code, not in the C library's.

// otherThreads describes the threads outside of MPI.
type otherThreads struct {
	active   bool     // a thread runs, may wake up by itself, or cannot be inspected
	asleep   []string // the state of each sleeping thread, for comparison with the next inspection
	wakeable []string // text on each thread that an event outside of the process may wake
	allFutex bool     // every thread in `asleep` sleeps on a futex
}

// threads returns the state of the threads outside of MPI, over all ranks.
func (j *job) threads(p snapshot) (all otherThreads) {
	all.allFutex = true
	for r := range p {
		if p[r].ended || p[r].text != "" {
			continue
		}
		node := j.nodeOf(r)
		known := node.memory.DebugInfo(r - node.first)
		x := rankProcess{name: p.name(r), pid: node.memory.Pid(r - node.first), code: known.Code,
			progressThreads: known.ProgressThreads}
		for _, w := range p[r].waits {
			x.waiting = append(x.waiting, w.Thread)
		}
		one := x.outside("/proc")
		all.active = all.active || one.active
		all.asleep = append(all.asleep, one.asleep...)
		all.wakeable = append(all.wakeable, one.wakeable...)
		all.allFutex = all.allFutex && one.allFutex
	}
	return all
}

// rankProcess describes the process of a rank, as reported by the library.
type rankProcess struct {
	name            string // of the rank
	pid             int
	code            uint64 // an address in the library's code
	progressThreads []int  // the library's progress threads
	waiting         []int  // threads of the application that wait in MPI
}

// outside returns the state of the process's threads outside of MPI: all threads except those that wait in MPI,
// progress threads, and threads of the library's Go runtime.
func (x *rankProcess) outside(proc string) (o otherThreads) {
	o.allFutex = true
	dir := fmt.Sprintf("%s/%d", proc, x.pid)
	maps := memoryOf(dir + "/maps")
	library := maps.at(x.code)
	tasks, err := os.ReadDir(dir + "/task")
	if err != nil || library == nil || !library.executable {
		o.active = true
		return o
	}
	handlers := handlesSignals(proc, x.pid)
	for _, task := range tasks {
		thread, _ := strconv.Atoi(task.Name())
		fields := statOf(dir+"/task", task.Name())
		if len(fields) == 0 || bytes.ContainsAny(fields[0], "TtDR") {
			o.active = true // stopped or running
			continue
		}
		if slices.Contains(x.progressThreads, thread) || slices.Contains(x.waiting, thread) {
			continue
		}
		text, err := os.ReadFile(dir + "/task/" + task.Name() + "/syscall")
		if err != nil {
			o.active = true
			continue
		}
		call, pc, ok := parseCall(string(text))
		if ok && pc >= library.low && pc < library.high {
			continue
		}
		name, sleeps := call.sleeps()
		if !ok || !sleeps {
			o.active = true
			continue
		}
		o.asleep = append(o.asleep, fmt.Sprintf("%d %d %s %s", x.pid, thread,
			switches(dir+"/task/"+task.Name()), strings.TrimSpace(string(text))))
		switch {
		case call.number != unix.SYS_FUTEX:
			o.allFutex = false
		case !call.isPrivate(maps):
			name = "futex (shared)"
		case handlers:
			name = "futex, which a signal handler may wake"
		default:
			continue
		}
		o.wakeable = append(o.wakeable, fmt.Sprintf("thread %d of %s waits outside MPI in %s", thread,
			x.name, name))
	}
	return o
}

// systemCall is a system call with its arguments.
type systemCall struct {
	number uint64
	arg    [6]uint64
}

// parseCall parses /proc/PID/task/TID/syscall of a thread in a system call: number, six arguments, stack pointer, and
// program counter.
func parseCall(text string) (c systemCall, pc uint64, ok bool) {
	words := strings.Fields(text)
	if len(words) != 9 {
		return c, 0, false // the thread runs, or is in no system call
	}
	var err error
	if c.number, err = strconv.ParseUint(words[0], 10, 64); err != nil {
		return c, 0, false
	}
	for i := range c.arg {
		if c.arg[i], err = strconv.ParseUint(words[i+1], 0, 64); err != nil {
			return c, 0, false
		}
	}
	pc, err = strconv.ParseUint(words[8], 0, 64)
	return c, pc, err == nil
}

// endlessCalls describes the system calls, except futex, that may sleep until an event arrives. The field `limit` is
// the index of the argument that holds a time limit, or -1 if the call has no such argument. The field `none` is the
// value of this argument that stands for no limit: 0, or -1 as an int.
var endlessCalls = map[uint64]struct {
	name  string
	limit int
	none  int32
}{
	unix.SYS_READ: {"read", -1, 0}, unix.SYS_READV: {"readv", -1, 0}, unix.SYS_WRITE: {"write", -1, 0},
	unix.SYS_WRITEV: {"writev", -1, 0}, unix.SYS_PREAD64: {"pread", -1, 0}, unix.SYS_PWRITE64: {"pwrite", -1, 0},
	unix.SYS_ACCEPT: {"accept", -1, 0}, unix.SYS_ACCEPT4: {"accept", -1, 0}, unix.SYS_CONNECT: {"connect", -1, 0},
	unix.SYS_RECVFROM: {"recv", -1, 0}, unix.SYS_RECVMSG: {"recvmsg", -1, 0}, unix.SYS_SENDTO: {"send", -1, 0},
	unix.SYS_SENDMSG: {"sendmsg", -1, 0}, unix.SYS_WAIT4: {"waitpid", -1, 0}, unix.SYS_WAITID: {"waitid", -1, 0},
	unix.SYS_PAUSE: {"pause", -1, 0}, unix.SYS_RT_SIGSUSPEND: {"sigsuspend", -1, 0},
	unix.SYS_FLOCK: {"flock", -1, 0}, unix.SYS_FCNTL: {"fcntl", -1, 0}, unix.SYS_SEMOP: {"semop", -1, 0},
	unix.SYS_MSGRCV: {"msgrcv", -1, 0}, unix.SYS_MSGSND: {"msgsnd", -1, 0}, unix.SYS_OPEN: {"open", -1, 0},
	unix.SYS_OPENAT: {"open", -1, 0}, unix.SYS_POLL: {"poll", 2, -1}, unix.SYS_EPOLL_WAIT: {"epoll_wait", 3, -1},
	unix.SYS_EPOLL_PWAIT: {"epoll_wait", 3, -1}, unix.SYS_PPOLL: {"poll", 2, 0}, unix.SYS_SELECT: {"select", 4, 0},
	unix.SYS_PSELECT6: {"select", 4, 0}, unix.SYS_RT_SIGTIMEDWAIT: {"sigwait", 2, 0},
	unix.SYS_SEMTIMEDOP: {"semop", 3, 0}, unix.SYS_MQ_TIMEDRECEIVE: {"mq_receive", 4, 0},
	unix.SYS_MQ_TIMEDSEND: {"mq_send", 4, 0},
}

// sleeps returns the name of a call, and whether the call sleeps until an event without a time limit.
func (c *systemCall) sleeps() (name string, sleeps bool) {
	const wait, lock, waitBitset, lock2, command = 0, 6, 9, 13, 0x7f
	if c.number == unix.SYS_FUTEX {
		op := c.arg[1] & command
		return "futex", (op == wait || op == lock || op == waitBitset || op == lock2) && c.arg[3] == 0
	}
	e, ok := endlessCalls[c.number]
	if !ok {
		return "", false
	}
	none := e.limit < 0 || e.none < 0 && int32(c.arg[e.limit]) < 0 || e.none == 0 && c.arg[e.limit] == 0
	return e.name, none
}

// isPrivate reports whether only threads of the same process can end a wait on a futex. This holds if the call has the
// private flag, or if the futex is in private memory, as in pthread_join.
func (c *systemCall) isPrivate(maps memoryMap) bool {
	const private = 0x80
	m := maps.at(c.arg[0])
	return c.arg[1]&private != 0 || m != nil && !m.shared
}

// memoryRange is a mapped range of the memory of a process.
type memoryRange struct {
	low, high, offset  uint64
	executable, shared bool
	name               string // name of the mapped file; "" if none
}

type memoryMap []memoryRange

// memoryOf returns the mapped memory of a process; nil if it is unknown.
func memoryOf(maps string) (all memoryMap) {
	file, err := os.Open(maps)
	if err != nil {
		return nil
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var m memoryRange
		var perms string
		line := lines.Text()
		n, _ := fmt.Sscanf(line, "%x-%x %s %x", &m.low, &m.high, &perms, &m.offset)
		if n < 4 || len(perms) != 4 {
			continue
		}
		m.executable, m.shared = perms[2] == 'x', perms[3] == 's'
		if i := strings.IndexByte(line, '/'); i >= 0 {
			m.name = line[i:]
		}
		all = append(all, m)
	}
	return all
}

// at returns the range that contains an address; nil if no range does.
func (m memoryMap) at(address uint64) *memoryRange {
	for i := range m {
		if address >= m[i].low && address < m[i].high {
			return &m[i]
		}
	}
	return nil
}

// handlesSignals reports whether a process has a handler for a signal that another process or a timer may send. It
// ignores signals for faults, and signals that the Go runtime or the C library uses. It also ignores SIGINT:
// interpreters catch it, but a SIGINT ends the job and does not let it continue.
func handlesSignals(proc string, pid int) bool {
	mask, err := strconv.ParseUint(statusOf(fmt.Sprintf("%s/%d", proc, pid), "SigCgt"), 16, 64)
	const first, last = 32, 33 // signals of the C library
	for _, s := range []syscall.Signal{syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL,
		syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGSYS, syscall.SIGPIPE, syscall.SIGURG, syscall.SIGQUIT,
		syscall.SIGXCPU, syscall.SIGXFSZ, syscall.SIGSTKFLT, syscall.SIGINT, first, last} {
		mask &^= 1 << (uint(s) - 1)
	}
	return err == nil && mask != 0
}

// switches returns the number of voluntary context switches of a thread, which increases each time the thread goes to
// sleep.
func switches(dir string) string { return statusOf(dir, "voluntary_ctxt_switches") }

// statusOf returns the value of a line in the status of a process or thread; "" if the file has no such line.
func statusOf(dir, name string) string {
	status, _ := os.ReadFile(dir + "/status")
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// catches reports whether a process has its own handler for a signal.
func catches(proc string, pid int, s syscall.Signal) bool {
	mask, err := strconv.ParseUint(statusOf(fmt.Sprintf("%s/%d", proc, pid), "SigCgt"), 16, 64)
	return err == nil && mask>>(uint(s)-1)&1 != 0
}
