package main

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// endLeftovers sends a signal to the process groups of ranks that have ended but left processes in them. What left its
// rank's group on purpose (setsid) is not touched.
//
// A group's number can be used again once the group is empty. So only groups are signalled of which a member is a child
// of gompirun (what ranks leave behind becomes one): it keeps the number in use, because only gompirun can reap it.
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

// childrenOf returns the children of a process, zombies included.
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

// statOf is what /proc tells of a process behind its name, which may hold anything: state, parent, group and so on.
func statOf(proc, pid string) [][]byte {
	stat, err := os.ReadFile(proc + "/" + pid + "/stat")
	if err != nil {
		return nil
	}
	return bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
}
