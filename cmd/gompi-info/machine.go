package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Machine is what there is to compute with. Bytes; 0: no limit, or not to be found out.
type Machine struct {
	Processor       string  `json:"processor"`
	CoresOnline     int     `json:"cores_online"`
	CoresUsable     int     `json:"cores_usable"` // by affinity
	CgroupCPU       float64 `json:"cgroup_cores"`
	Memory          int64   `json:"memory_bytes"`
	MemoryAvailable int64   `json:"memory_available_bytes"`
	CgroupMemory    int64   `json:"cgroup_memory_bytes"`
	CgroupProcesses int64   `json:"cgroup_processes"`
}

// machine reads what the kernel tells below root ("/"; a test has another).
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

// cgroupLimits finds the tightest limits on the way from this process' control group to the root, in version 2 and version 1 hierarchies.
func cgroupLimits(root string, m *Machine) {
	const unlimited = 1 << 60 // version 1 writes a huge number
	tighten := func(to *int64, text string) {
		if v, err := strconv.ParseInt(text, 10, 64); err == nil && v > 0 && v < unlimited && (*to == 0 || v < *to) {
			*to = v
		}
	}
	cpu := func(quota, period string) {
		q, errQ := strconv.ParseFloat(quota, 64)
		p, errP := strconv.ParseFloat(period, 64)
		if errQ == nil && errP == nil && q > 0 && p > 0 && (m.CgroupCPU == 0 || q/p < m.CgroupCPU) {
			m.CgroupCPU = q / p
		}
	}
	base := filepath.Join(root, "sys/fs/cgroup")
	for _, line := range strings.Split(read(filepath.Join(root, "proc/self/cgroup")), "\n") {
		parts := strings.SplitN(line, ":", 3) // hierarchy:controllers:path
		if len(parts) != 3 {
			continue
		}
		for path := filepath.Clean("/" + parts[2]); ; path = filepath.Dir(path) {
			at := func(sub, file string) string { return read(filepath.Join(base, sub, path, file)) }
			for _, controller := range strings.Split(parts[1], ",") {
				switch controller {
				case "": // version 2, alone or beside version 1
					for _, sub := range []string{"", "unified"} {
						if f := strings.Fields(at(sub, "cpu.max")); len(f) == 2 {
							cpu(f[0], f[1])
						}
						tighten(&m.CgroupMemory, at(sub, "memory.max"))
						tighten(&m.CgroupProcesses, at(sub, "pids.max"))
					}
				case "cpu":
					cpu(at(parts[1], "cpu.cfs_quota_us"), at(parts[1], "cpu.cfs_period_us"))
				case "memory":
					tighten(&m.CgroupMemory, at(parts[1], "memory.limit_in_bytes"))
				case "pids":
					tighten(&m.CgroupProcesses, at(parts[1], "pids.max"))
				}
			}
			if path == "/" {
				break
			}
		}
	}
}

// read returns a small file's content without blanks around it, "" if it cannot be read.
func read(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// pairs reads lines "name : value"; the first of several of one name counts.
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

// kilobytes reads "123 kB".
func kilobytes(s string) int64 {
	v, _ := strconv.ParseInt(strings.TrimSuffix(s, " kB"), 10, 64)
	return v * 1024
}

// countList counts the members of a kernel list such as "0-3,8".
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
