package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// bindings returns a set of processors for each of n ranks, or nil if there are too few cores or hardware threads. The
// parameter `what` is one of
//
//	""            an equal share of all cores for each rank. The cores of a rank have consecutive numbers. They are
//	              in one NUMA node if there are at least as many ranks as NUMA nodes. A single rank gets nil, so
//	              that it may use all cores.
//	core          `each` cores for each rank, with all their usable hardware threads
//	hwthread      `each` hardware threads for each rank
//	socket, numa  all processors of one socket or NUMA node for each rank; consecutive ranks may get the same one
//
// The directory `sys` holds the topology of the processors.
func bindings(n int, what string, each int, sys string) []unix.CPUSet {
	if what == "" {
		return shares(n, processors("core", sys), processors("numa", sys))
	}
	units := processors(what, sys)
	if len(units) == 0 {
		return nil
	}
	sets := make([]unix.CPUSet, n)
	if what == "socket" || what == "numa" {
		for rank := range sets {
			sets[rank] = units[rank*len(units)/n]
		}
		return sets
	}
	if len(units)/each < n {
		return nil
	}
	for rank := range sets {
		for _, unit := range units[rank*each : (rank+1)*each] {
			join(&sets[rank], &unit)
		}
	}
	return sets
}

// shares returns an equal share of the cores for each of n ranks; nil for one rank, or if there are fewer cores than
// ranks.
func shares(n int, cores, numas []unix.CPUSet) []unix.CPUSet {
	if n < 2 || len(cores) < n || len(numas) == 0 {
		return nil
	}
	within := make([][]unix.CPUSet, len(numas)) // the cores of each NUMA node
	for _, core := range cores {
		for i := range numas {
			if overlap(&core, &numas[i]) {
				within[i] = append(within[i], core)
				break
			}
		}
	}
	sets := make([]unix.CPUSet, 0, n)
	if n >= len(numas) {
		for i, own := range within {
			ranks := (i+1)*n/len(numas) - i*n/len(numas)
			if len(own) < ranks {
				sets = nil
				break
			}
			sets = append(sets, divide(own, ranks)...)
		}
		if sets != nil {
			return sets
		}
	}
	return divide(slices.Concat(within...), n)
}

// divide splits `units` into n sets of consecutive units. The sizes of the sets differ by one at most.
func divide(units []unix.CPUSet, n int) []unix.CPUSet {
	sets := make([]unix.CPUSet, n)
	for i := range sets {
		for _, unit := range units[i*len(units)/n : (i+1)*len(units)/n] {
			join(&sets[i], &unit)
		}
	}
	return sets
}

// join adds the processors in `unit` to those in `set`.
func join(set, unit *unix.CPUSet) {
	for i := range unit {
		set[i] |= unit[i]
	}
}

func overlap(a, b *unix.CPUSet) bool {
	for i := range a {
		if a[i]&b[i] != 0 {
			return true
		}
	}
	return false
}

// processors returns the sets of usable processors, one set for each unit. The parameter `what` selects the unit: core,
// hwthread, socket or numa. The sets are sorted by the lowest processor number in each.
func processors(what, sys string) (units []unix.CPUSet) {
	var usable unix.CPUSet
	if unix.SchedGetaffinity(0, &usable) != nil {
		return nil
	}
	index := map[string]int{}
	for cpu := range len(usable) * 64 {
		if !usable.IsSet(cpu) {
			continue
		}
		name := unitOf(cpu, what, sys)
		i, known := index[name]
		if !known {
			i = len(units)
			index[name] = i
			units = append(units, unix.CPUSet{})
		}
		units[i].Set(cpu)
	}
	return units
}

// unitOf returns a name for the unit that contains a processor; all processors of a unit get the same name. If `sys`
// has no topology, each processor is a separate core, and all are on one socket.
func unitOf(cpu int, what, sys string) string {
	own := strconv.Itoa(cpu)
	dir := sys + "/cpu" + own
	switch what {
	case "core":
		list, _ := os.ReadFile(dir + "/topology/thread_siblings_list")
		siblings := cpuList(string(list))
		if !slices.Contains(siblings, cpu) {
			return own
		}
		return strconv.Itoa(slices.Min(siblings))
	case "socket":
		id, _ := os.ReadFile(dir + "/topology/physical_package_id")
		return strings.TrimSpace(string(id))
	case "numa":
		nodes, _ := filepath.Glob(dir + "/node[0-9]*")
		if len(nodes) == 0 {
			return ""
		}
		return filepath.Base(nodes[0])
	}
	return own
}

// cpuList parses the kernel's notation of a set of processors, such as "0,4-6", and skips invalid items.
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
