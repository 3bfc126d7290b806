package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// bindings returns a set of processors for each of n ranks, each a core of its own (with all its hardware threads that may be used), or nil if there
// are fewer cores than ranks. sys is the folder of the processors' topology.
func bindings(n int, sys string) []unix.CPUSet {
	var usable unix.CPUSet
	if unix.SchedGetaffinity(0, &usable) != nil {
		return nil
	}
	var sets []unix.CPUSet
	var taken unix.CPUSet
	for cpu := 0; cpu < len(usable)*64 && len(sets) < n; cpu++ {
		if !usable.IsSet(cpu) || taken.IsSet(cpu) {
			continue
		}
		var core unix.CPUSet
		core.Set(cpu)
		list, _ := os.ReadFile(fmt.Sprintf("%s/cpu%d/topology/thread_siblings_list", sys, cpu))
		for _, sibling := range cpuList(string(list)) {
			if usable.IsSet(sibling) && !taken.IsSet(sibling) {
				core.Set(sibling)
			}
		}
		for other := range len(usable) * 64 {
			if core.IsSet(other) {
				taken.Set(other)
			}
		}
		sets = append(sets, core)
	}
	if len(sets) < n {
		return nil
	}
	return sets
}

// cpuList reads the kernel's notation of a set of processors, such as "0,4-6"; what is none is left out.
func cpuList(text string) (cpus []int) {
	for _, item := range strings.Split(strings.TrimSpace(text), ",") {
		first, last, isRange := strings.Cut(item, "-")
		from, err := strconv.Atoi(first)
		to := from
		if isRange && err == nil {
			to, err = strconv.Atoi(last)
		}
		if err != nil || from < 0 || to >= 1<<16 {
			continue
		}
		for cpu := from; cpu <= to; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}
