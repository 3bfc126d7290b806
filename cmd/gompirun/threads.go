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

// What the threads of ranks do that do not wait in MPI. A thread of the application may compute, sleep or read, and
// call MPI afterwards: then the job does not hang. So each must be known to wait for another thread of its process:
// it sleeps on a futex without a time limit. The library's own do what they want: those that make progress are told
// by number, and those of the Go runtime sleep in the library's code, not in that of the C library.

// threads returns what those threads of all ranks sleep on that wait for another one; nil: one does something, or it is
// not known.
func (j *job) threads(p picture) (asleep []string) {
	asleep = []string{}
	for r := range p {
		if p[r].gone {
			continue
		}
		node := j.nodeOf(r)
		known := node.memory.Inside(r - node.first)
		x := rankProcess{pid: node.memory.Pid(r - node.first), code: known.Code, own: known.Own}
		for _, w := range p[r].ws {
			x.waiting = append(x.waiting, w.Thread)
		}
		some, ok := x.asleep("/proc")
		if !ok {
			return nil
		}
		asleep = append(asleep, some...)
	}
	return asleep
}

// rankProcess is a rank's, as the library has told of it.
type rankProcess struct {
	pid     int
	code    uint64 // an address in the library's code
	own     []int  // threads of the library's that make progress
	waiting []int  // threads of the application that wait in MPI
}

// asleep returns what threads besides those sleep on. false: one does not sleep, or may wake up by itself, or it cannot
// be known.
func (x *rankProcess) asleep(proc string) (what []string, ok bool) {
	dir := fmt.Sprintf("%s/%d", proc, x.pid)
	from, to := codeAround(dir+"/maps", x.code)
	tasks, err := os.ReadDir(dir + "/task")
	if err != nil || to == 0 {
		return nil, false
	}
	for _, task := range tasks {
		thread, _ := strconv.Atoi(task.Name())
		fields := statOf(dir+"/task", task.Name())
		if len(fields) == 0 || bytes.ContainsAny(fields[0], "TtDR") {
			return nil, false // stopped, or at work
		}
		if slices.Contains(x.own, thread) || slices.Contains(x.waiting, thread) {
			continue
		}
		text, err := os.ReadFile(dir + "/task/" + task.Name() + "/syscall")
		if err != nil {
			return nil, false
		}
		call, pc, ok := parseCall(string(text))
		switch {
		case !ok:
			return nil, false
		case pc >= from && pc < to:
		case call.waitsForThread():
			what = append(what, fmt.Sprintf("%d %d %s %s", x.pid, thread,
				switches(dir+"/task/"+task.Name()),
				strings.TrimSpace(string(text))))
		default:
			return nil, false
		}
	}
	return what, true
}

// systemCall is a call of the system, with its arguments.
type systemCall struct {
	number uint64
	arg    [6]uint64
}

// parseCall reads what /proc tells of a thread that is in a call of the system: its number, six arguments, the stack
// pointer, and where it was called.
func parseCall(text string) (c systemCall, pc uint64, ok bool) {
	words := strings.Fields(text)
	if len(words) != 9 {
		return c, 0, false // it runs, or is in none
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

// waitsForThread returns whether a call is one that sleeps until a thread of the process wakes it.
func (c *systemCall) waitsForThread() bool {
	const wait, lock, waitBitset, command = 0, 6, 9, 0x7f
	op := c.arg[1] & command
	return c.number == unix.SYS_FUTEX && (op == wait || op == lock || op == waitBitset) && c.arg[3] == 0
}

// codeAround returns the range of executable memory with an address in it; 0: there is none.
func codeAround(maps string, address uint64) (from, to uint64) {
	file, err := os.Open(maps)
	if err != nil {
		return 0, 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var perms string
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x %s", &from, &to, &perms); n == 3 && address >= from &&
			address < to && strings.Contains(perms, "x") {
			return from, to
		}
	}
	return 0, 0
}

// switches returns how often a thread has gone to sleep.
func switches(dir string) string { return statusOf(dir, "voluntary_ctxt_switches") }

// statusOf returns what a line of the status of a process or thread says, "": there is none.
func statusOf(dir, name string) string {
	status, _ := os.ReadFile(dir + "/status")
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// catches returns whether a process has a handler of its own for a signal.
func catches(proc string, pid int, s syscall.Signal) bool {
	mask, err := strconv.ParseUint(statusOf(fmt.Sprintf("%s/%d", proc, pid), "SigCgt"), 16, 64)
	return err == nil && mask>>(uint(s)-1)&1 != 0
}
