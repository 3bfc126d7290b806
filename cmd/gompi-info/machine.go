package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"gompirma/core/limit"
)

// Machine describes the resources of the machine. Sizes are in bytes; 0 means no limit or unknown.
type Machine struct {
	Processor       string  `json:"processor"`
	CoresOnline     int     `json:"cores_online"`
	CoresUsable     int     `json:"cores_usable"` // cores in the CPU affinity of this process
	CgroupCPU       float64 `json:"cgroup_cores"`
	Memory          int64   `json:"memory_bytes"`
	MemoryAvailable int64   `json:"memory_available_bytes"`
	CgroupMemory    int64   `json:"cgroup_memory_bytes"`
	CgroupProcesses int64   `json:"cgroup_processes"`
}

// machine reads the kernel's files below root ("/", except in tests).
func machine(root string) Machine {
	var m Machine
	cpuinfo := pairs(filepath.Join(root, "proc/cpuinfo"))
	m.Processor = cpuinfo["model name"]
	if m.Processor == "" {
		m.Processor = "unknown"
	}
	m.CoresOnline = countList(read(filepath.Join(root, "sys/devices/system/cpu/online")))
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) == nil {
		m.CoresUsable = set.Count()
	}
	meminfo := pairs(filepath.Join(root, "proc/meminfo"))
	m.Memory, m.MemoryAvailable = kilobytes(meminfo["MemTotal"]), kilobytes(meminfo["MemAvailable"])
	cgroupLimits(root, &m)
	return m
}

// cgroupLimits sets m's limits to the tightest ones of this process's control group and its ancestors, in the
// hierarchies of cgroup versions 1 and 2.
func cgroupLimits(root string, m *Machine) {
	for _, g := range limit.Groups(root, "cpu") {
		quota, period := read(filepath.Join(g.Dir, "cpu.cfs_quota_us")),
			read(filepath.Join(g.Dir, "cpu.cfs_period_us"))
		if g.V2 {
			quota, period, _ = strings.Cut(read(filepath.Join(g.Dir, "cpu.max")), " ")
		}
		q, errQ := strconv.ParseFloat(quota, 64)
		p, errP := strconv.ParseFloat(period, 64)
		if errQ == nil && errP == nil && q > 0 && p > 0 && (m.CgroupCPU == 0 || q/p < m.CgroupCPU) {
			m.CgroupCPU = q / p
		}
	}
	m.CgroupMemory, _ = limit.MinLimit(root, "memory", "memory.limit_in_bytes", "memory.max")
	m.CgroupProcesses, _ = limit.MinLimit(root, "pids", "pids.max", "pids.max")
}

// read returns the content of a small file without surrounding blanks; "" if it cannot be read.
func read(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// pairs parses a file of lines "name : value". If a name occurs several times, the first value counts.
func pairs(path string) map[string]string {
	m := map[string]string{}
	for _, line := range strings.Split(read(path), "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			if name = strings.TrimSpace(name); m[name] == "" {
				m[name] = strings.TrimSpace(value)
			}
		}
	}
	return m
}

// kilobytes parses "123 kB" and returns bytes.
func kilobytes(s string) int64 {
	v, _ := strconv.ParseInt(strings.TrimSuffix(s, " kB"), 10, 64)
	return v * 1024
}

// countList returns the number of members of a kernel list such as "0-3,8".
func countList(s string) int {
	n := 0
	for _, part := range strings.Split(s, ",") {
		from, to, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		if err != nil {
			continue
		}
		b := a
		if isRange {
			if b, err = strconv.Atoi(to); err != nil || b < a {
				continue
			}
		}
		n += b - a + 1
	}
	return n
}
