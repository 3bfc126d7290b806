package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A measurement is one line of a table. It has up to three goals, and passes if it reaches any of them. The first is a
// ratio to the better of MPICH and Open MPI (`goal`). The second is a ratio to a plain C loop, which shows the speed of
// the hardware (`of`, `ofGoal`). The third is a bound on the value (`atMost`).
type measurement struct {
	name    string // row, and a suffix for variants: ".8" for 8 ranks instead of 2, ".shared" for sharing in place
	label   string
	part    string // heading of the table
	program string
	row     string // argument of the program and the name in its output; "" if the program takes no row
	ranks   int
	env     []string
	batch   bool     // may share a launch with adjacent measurements of the same series
	mixed   bool     // with batch: may share a launch with measurements of any series
	wall    bool     // the value is the duration of the whole launch
	count   bool     // the value is a number of instructions
	goal    float64  // wanted time of the better of MPICH and Open MPI divided by gompirma's; 0 for no goal
	of      string   // gompirma's measurement of a plain C loop, for ofGoal; "" if there is no such goal
	ofGoal  float64  // wanted time of the plain C loop divided by gompirma's
	atMost  float64  // wanted maximum, in the measurement's unit
	series  string   // name of the sweep, which has measurements with several x; "" for main measurements
	x       int      // the parameter that varies in a sweep: a number of bytes, ranks or threads
	most    int      // maximum number of launches with each library; 0 for no limit
	args    []string // arguments of the program before the rows
	percent bool     // the value is a percentage: how much of an operation's time a computation hides
	rare    bool     // measured only with -all
	own     bool     // measured only with gompirma
	needs   []string // MPI functions that the row calls and that a library may lack
}

func (m measurement) unit() string {
	switch {
	case m.row == "memory":
		return "KiB"
	case m.percent:
		return "%"
	case m.count:
		return "instructions"
	}
	return "ns"
}

// sameLaunch reports whether one launch may run both measurements.
func (m measurement) sameLaunch(other measurement) bool {
	return m.batch && other.batch && !m.wall && !other.wall && m.part == other.part &&
		(m.mixed || m.series == other.series) &&
		m.program == other.program &&
		m.count == other.count && m.ranks == other.ranks && slices.Equal(m.env, other.env) &&
		slices.Equal(m.args, other.args)
}

// withYardstick adds a goal relative to gompirma's measurement of a plain C loop.
func (m measurement) withYardstick(of string, goal float64) measurement {
	m.of, m.ofGoal = of, goal
	return m
}

// on sets the number of ranks.
func (m measurement) on(ranks int) measurement {
	m.name += fmt.Sprintf(".%d", ranks)
	m.ranks = ranks
	return m
}

// sharedInPlace permits gompirma to share the window memory in place. Then other processes map the memory that the
// program has allocated, and access it directly.
func (m measurement) sharedInPlace() measurement {
	m.name += ".shared"
	m.env = []string{"GOMPIRMA_SHARE_IN_PLACE=1"}
	return m
}

func newMeasurement(program, row, label string, goal float64) measurement {
	return measurement{name: row, row: row, label: label, program: program, ranks: 2, goal: goal}
}

func rma(row, label string, goal float64) measurement { return newMeasurement("rma", row, label, goal) }
func message(row, label string, goal float64) measurement {
	return newMeasurement("messages", row, label, goal)
}
func coll(row, label string, goal float64) measurement {
	return newMeasurement("collectives", row, label, goal)
}

// file returns a measurement of accesses to a file in memory (tmpfs).
func file(row, label string, goal float64) measurement {
	m := newMeasurement("files", row, label, goal)
	m.env, m.batch = []string{"TMPDIR=/dev/shm"}, true
	return m
}

// onDisk places the file on the disk of the directory /var/tmp; its pages stay in memory.
func (m measurement) onDisk() measurement {
	m.name += ".disk"
	m.env = []string{"TMPDIR=/var/tmp"}
	return m
}

// fileOverlap returns measurements of nonblocking writes on one rank, so that a core is free for the write.
func fileOverlap() (all []measurement) {
	for _, x := range []int{1 << 20, 16 << 20} {
		m := file(fmt.Sprintf("overlap:%d", x), "hidden by a computation: nonblocking write of "+
			showParameter("sizes", x), 0)
		m.ranks, m.percent = 1, true
		all = append(all, m)
	}
	return all
}

// fileRows returns the measurements of files. `change` modifies each of them.
func fileRows(change func(measurement) measurement) (all []measurement) {
	for _, m := range []measurement{
		file("write:8", "write 8 B", 1),
		file("write:4096", "write 4 KiB", 1),
		file("read:4096", "read 4 KiB", 1),
		file("write:1048576", "write 1 MiB", 1),
		file("read:1048576", "read 1 MiB", 1),
		file("write:67108864", "write 64 MiB", 1),
		file("read:67108864", "read 64 MiB", 1),
		file("write_all:4096", "collective write of 4 KiB", 1),
		file("iwrite:4096", "nonblocking write of 4 KiB", 1),
		file("iread:4096", "nonblocking read of 4 KiB", 1),
		file("write_split:4096", "split collective write of 4 KiB", 1),
		file("write_blocks:64", "write of 1 MiB in blocks of 64 B", 1),
		file("write_blocks:4096", "write of 1 MiB in blocks of 4 KiB", 1),
		file("read_blocks:64", "read of 1 MiB in blocks of 64 B", 1),
		file("read_blocks:4096", "read of 1 MiB in blocks of 4 KiB", 1),
		file("write_grid:8", "collective write of a part of a grid, pieces of 8 B", 1.2),
		file("write_grid:512", "collective write of a part of a grid, pieces of 512 B", 1.2),
		file("write_grid:4096", "collective write of a part of a grid, pieces of 4 KiB", 1.2),
		file("read_grid:8", "collective read of a part of a grid, pieces of 8 B", 1.2),
		file("read_grid:512", "collective read of a part of a grid, pieces of 512 B", 1.2),
		file("read_grid:4096", "collective read of a part of a grid, pieces of 4 KiB", 1.2),
		file("write_shared:4096", "write 4 KiB with the shared pointer", 2),
		file("write_ordered:4096", "ordered write of 4 KiB", 2),
		file("open", "open and close", 1.5),
	} {
		all = append(all, change(m))
	}
	return all
}

// inquiries returns measurements of calls that read local state. None of them may take longer than with MPICH and Open
// MPI.
func inquiries(calls ...string) (all []measurement) {
	for _, call := range calls {
		m := newMeasurement("inquiries", strings.ToLower(call), "MPI_"+call, 1)
		switch call {
		case "Comm_get_attr":
			m.label += " of MPI_TAG_UB"
		case "Iprobe", "Test", "Request_get_status":
			m.label += " that finds nothing"
		case "Info_get":
			m.label += " of an existing key"
		}
		m.batch = true
		all = append(all, m)
	}
	return all
}

// sweep returns measurements of one operation, one for each x of xs. It replaces %s in the argument `label` by x.
func sweep(kind, program, series, label string, xs []int, set func(m *measurement, x int)) (all []measurement) {
	for _, x := range xs {
		m := measurement{name: fmt.Sprintf("%s.%s.%d", kind, series, x), program: program, ranks: 2,
			series: series, x: x, batch: true}
		set(&m, x)
		if label != "" {
			m.label = fmt.Sprintf(label, showParameter(kind, x))
		}
		all = append(all, m)
	}
	return all
}

// showParameter formats an x of a sweep with its unit.
func showParameter(kind string, x int) string {
	if kind != "sizes" && kind != "windows" && kind != "sweep" {
		if x == 1 {
			kind = strings.TrimSuffix(kind, "s")
		}
		return fmt.Sprintf("%d %s", x, kind)
	}
	units := []string{"B", "KiB", "MiB"}
	for x >= 1024 {
		x /= 1024
		units = units[1:]
	}
	return fmt.Sprintf("%d %s", x, units[0])
}

var (
	sizes = []int{1, 4, 16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20,
		64 << 20}
	ranks   = []int{2, 4, 8, 16, 32}
	threads = []int{1, 2, 4}
)

// bySize returns a sweep over sizes with at most two launches. Two launches are enough, since the sweep shows how a
// time grows with the size, and an adjacent size is as informative as another launch.
func bySize(program, row, label string) []measurement {
	return sweep("sizes", program, row, label, sizes, func(m *measurement, x int) {
		m.row, m.most = fmt.Sprintf("%s:%d", row, x), 2
	})
}

func windowsBySize(row, label string) []measurement {
	return sweep("windows", "rma", row, label, []int{4 << 10, 1 << 20, 16 << 20}, func(m *measurement, x int) {
		m.row = fmt.Sprintf("%s:%d", row, x)
	})
}

// byRanks returns a sweep over numbers of ranks with one launch for each library. With more ranks than cores, MPICH or
// Open MPI needs seconds for some calls.
func byRanks(program, row, label string) []measurement {
	return sweep("ranks", program, row, label, ranks, func(m *measurement, x int) {
		m.row, m.ranks, m.most = row, x, 1
	})
}

func byThreads(row, label string) []measurement {
	return sweep("threads", "threads", row, label, threads, func(m *measurement, x int) {
		m.row, m.most = fmt.Sprintf("%s:%d", row, x), 2
	})
}

func startByRanks() []measurement {
	return sweep("ranks", "startup", "startup", "start and end %s with a window", []int{2, 8},
		func(m *measurement, x int) { m.ranks, m.wall = x, true })
}

//go:embed instructions.txt
var bounds string

// counted returns measurements that count the instructions of the calls in instructions.txt.
func counted() (all []measurement) {
	for _, line := range strings.Split(bounds, "\n") {
		f := strings.Fields(line)
		if len(f) != 3 || f[0] == "#" {
			continue
		}
		m := newMeasurement(f[1], f[0], strings.ReplaceAll(f[0], "_", " "), 0)
		m.name, m.count, m.batch, m.most = "count."+m.name, true, true, 1
		m.atMost, _ = strconv.ParseFloat(f[2], 64)
		all = append(all, m)
	}
	return all
}

func withHeading(heading string, all ...measurement) []measurement {
	for i := range all {
		all[i].part = heading
	}
	return all
}

// measurements lists the measurements of a run without -sweeps, -fabric and -census.
var measurements = slices.Concat(
	withHeading("Windows",
		rma("put8", "put 8 B", 3),
		rma("put_flush:8", "put 8 B + flush", 3),
		rma("get_flush:8", "get 8 B + flush", 3),
		rma("acc8_flush", "accumulate 8 B + flush", 2.5),
		rma("fop_flush", "fetch_and_op + flush", 2.5),
		rma("cas_flush", "compare_and_swap + flush", 5),
		rma("memcpy_1m", "(memcpy 1 MiB, plain C)", 0),
		rma("put_flush:1048576", "put 1 MiB", 0).withYardstick("memcpy_1m", 0.95),
		rma("get_flush:1048576", "get 1 MiB", 0).withYardstick("memcpy_1m", 0.95),
		rma("loop_1m", "(add 1 MiB of doubles, plain C)", 0),
		rma("acc_1m", "accumulate 1 MiB double SUM", 1).withYardstick("loop_1m", 0.8),
		rma("put_vector", "put vector 1024 x 8 B, stride 16", 1.5),
		rma("get_vector", "get vector 1024 x 8 B, stride 16", 1.5),
		rma("acc_vector", "accumulate vector 1024 x 8 B, stride 16", 1.5),
		rma("put_record", "put of a datatype of 4 doubles", 1),
		rma("get_record", "get of a datatype of 4 doubles", 1),
		rma("acc_record", "accumulate of a datatype of 4 doubles", 1),
		rma("put_gap", "put of 2 doubles with a gap between", 1),
		rma("lock_put_unlock", "lock + put + unlock", 2),
		rma("lock_fop_unlock", "contended lock + fetch_and_op + unlock", 2),
		rma("fence_put", "fence with one put", 1.5),
		rma("pscw", "post, start, put, complete, wait, pairwise", 1.5),
	),
	withHeading("Windows over malloc memory",
		rma("m_put_flush:8", "put 8 B + flush", 1.2),
		rma("m_get_flush:8", "get 8 B + flush", 1.2),
		rma("m_acc8_flush", "accumulate 8 B + flush", 1.2),
		rma("m_fop_flush", "fetch_and_op + flush", 1.2),
		rma("m_fop_first", "fetch_and_op + flush, target in a barrier: the first 100", 1.2),
		rma("m_fop_later", "fetch_and_op + flush, target in a barrier: later", 1.2),
		rma("m_put_flush:4096", "put 4 KiB", 1),
		rma("m_put_flush:1048576", "put 1 MiB", 1.2),
		rma("m_get_flush:1048576", "get 1 MiB", 1),
		rma("m_acc_1m", "accumulate 1 MiB", 1.2),
		rma("m_put_vector", "put vector", 1.2),
		rma("m_get_vector", "get vector", 1.2),
		rma("m_acc_vector", "accumulate vector", 1.2),
		rma("m_fence_put", "fence with one put", 1.2),
		rma("m_pscw", "post, start, put, complete, wait, pairwise", 1.2),
		rma("m_lock_put_unlock", "lock + put + unlock", 1.2),
	),
	withHeading("Windows over malloc memory shared in place",
		rma("m_put_flush:8", "put 8 B + flush", 3).sharedInPlace(),
		rma("m_get_flush:8", "get 8 B + flush", 3).sharedInPlace(),
		rma("m_acc8_flush", "accumulate 8 B + flush", 3).sharedInPlace(),
		rma("m_fop_flush", "fetch_and_op + flush", 3).sharedInPlace(),
		rma("m_put_flush:1048576", "put 1 MiB", 1.2).sharedInPlace(),
		rma("m_acc_1m", "accumulate 1 MiB", 1.2).sharedInPlace(),
		rma("m_put_vector", "put vector", 1.2).sharedInPlace(),
		rma("m_get_vector", "get vector", 1.2).sharedInPlace(),
	),
	withHeading("Messages",
		message("pingpong:8", "ping-pong 8 B, one way", 1.3),
		message("pingpong:1024", "ping-pong 1 KiB", 1.1),
		message("pingpong:65536", "ping-pong 64 KiB", 1.1),
		message("pingpong:1048576", "ping-pong 1 MiB", 1.1),
		message("stream:8", "64 messages of 8 B posted: time per message", 1.5),
		message("few:2", "2 of 8 B each way", 1),
		message("few:4", "4 of 8 B each way", 1),
		message("few.again:2", "2 of 8 B each way, persistent", 1),
		message("stream:65536", "64 messages of 64 KiB posted: time per message", 1.1),
		message("stream:1048576", "64 messages of 1 MiB posted: time per message", 1.1),
	),
	withHeading("Collectives",
		coll("barrier", "barrier", 1.5),
		coll("allreduce:8", "allreduce 8 B", 2),
		coll("allreduce:4096", "allreduce 4 KiB", 1.2),
		coll("allreduce:1048576", "allreduce 1 MiB", 1),
		coll("bcast:8", "bcast 8 B", 1.5),
		coll("reduce:8", "reduce 8 B", 1.5),
		coll("allgather:8", "allgather 8 B", 1.5),
		coll("alltoall:8", "alltoall 8 B", 1.5),
		coll("gather:8", "gather 8 B", 0),
		coll("scatter:8", "scatter 8 B", 0),
		coll("scan:8", "scan 8 B", 0),
		coll("bcast:65536", "bcast 64 KiB", 1.1),
		coll("alltoall:65536", "alltoall 64 KiB", 1.1),
		coll("bcast_apart:65536", "bcast 64 KiB between barriers", 1.1),
		coll("alltoall_apart:65536", "alltoall 64 KiB between barriers", 1.1),
	),
	withHeading("Files in memory", fileRows(func(m measurement) measurement { return m })...),
	withHeading("Files in memory, 4 ranks", fileRows(func(m measurement) measurement { return m.on(4) })...),
	withHeading("Files on a disk", fileRows(measurement.onDisk)...),
	withHeading("Files in memory, 1 rank", fileOverlap()...),
	withHeading("Inquiries", inquiries("Type_size", "Type_get_extent", "Type_get_true_extent", "Get_count",
		"Comm_get_attr", "Iprobe", "Test", "Initialized", "Finalized", "Comm_compare", "Group_rank",
		"Group_translate_ranks", "Request_get_status", "Info_get")...),
	withHeading("More ranks than cores",
		message("pingpong:8", "8 ranks: ping-pong 8 B of four pairs", 1.5).on(8),
		coll("allreduce:8", "8 ranks: allreduce 8 B", 1.5).on(8),
		coll("barrier", "8 ranks: barrier", 1.5).on(8),
		measurement{name: "barrier.4", row: "barrier", label: "4 ranks: barrier", program: "collectives",
			ranks: 4, atMost: 7000},
		rma("fence_put", "8 ranks: fence with one put", 1.5).on(8),
	),
	withHeading("Instructions", counted()...),
	withHeading("Start",
		measurement{name: "startup.32", label: "start and end 32 ranks with a window", program: "startup",
			ranks: 32, wall: true, goal: 1 / 0.3},
		measurement{name: "memory.32", row: "memory", label: "private memory per rank, 32 ranks",
			program: "startup", ranks: 32, atMost: 3000},
	),
	withHeading("Put and flush, by size", bySize("rma", "put_flush", "%s")...),
	withHeading("Get and flush, by size", bySize("rma", "get_flush", "%s")...),
	withHeading("Ping-pong, by size: one way", bySize("messages", "pingpong", "%s")...),
	withHeading("Barrier, by ranks", byRanks("collectives", "barrier", "%s")...),
	withHeading("Allreduce of 8 B, by ranks", byRanks("collectives", "allreduce", "%s")...),
	withHeading("Fence, by ranks", byRanks("rma", "fence", "%s")...),
	withHeading("Put of 8 B and flush, by threads, each with a window",
		byThreads("put", "%s: time per operation")...),
	withHeading("Messages of 8 B, 64 posted, by threads, each with a communicator",
		byThreads("stream", "%s: time per operation")...),
	withHeading("Windows made and freed", slices.Concat(windowsBySize("allocate", "MPI_Win_allocate of %s"),
		windowsBySize("create", "MPI_Win_create over %s"))...),
	withHeading("Start, by ranks", startByRanks()...),
)
