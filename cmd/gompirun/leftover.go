package main

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// endLeftovers sends a signal to the remaining processes of ended ranks: to each process group that an ended rank had.
// It does not affect a process that left its rank's group on purpose (setsid).
//
// The kernel may reuse a group's number once the group is empty. Therefore endLeftovers signals a group only if one of
// its members is a child of gompirun. (Orphans of ranks become children of gompirun.) The number stays in use as long
// as this child exists, and only gompirun can reap it.
func (j *job) endLeftovers(s syscall.Signal) {
	groups := map[int]bool{}
	for i := range j.ranks {
		groups[j.ranks[i].pid] = true
	}
	delete(groups, 0)
	for _, p := range childrenOf(os.Getpid(), "/proc") {
		if groups[p.group] {
			syscall.Kill(-p.group, s)
			delete(groups, p.group)
		}
	}
}

type process struct{ pid, group int }

// childrenOf returns the children of a process, including zombies.
func childrenOf(parent int, proc string) (children []process) {
	dir, err := os.Open(proc)
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		fields := statOf(proc, name)
		if len(fields) < 3 {
			continue
		}
		if ppid, err := strconv.Atoi(string(fields[1])); err != nil || ppid != parent {
			continue
		}
		if group, err := strconv.Atoi(string(fields[2])); err == nil {
			children = append(children, process{pid, group})
		}
	}
	return children
}

// statOf returns the fields of /proc/PID/stat that follow the process's name: state, parent, group and so on. The name
// may contain any characters.
func statOf(proc, pid string) [][]byte {
	stat, err := os.ReadFile(proc + "/" + pid + "/stat")
	if err != nil {
		return nil
	}
	return bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
}
