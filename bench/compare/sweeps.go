package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// sweepGoal is the wanted median ratio over a sweep's sizes.
const sweepGoal = 1.2

// powers returns the numbers `from`, 2 * `from`, 4 * `from` and so on that are at most `to`.
func powers(from, to int) (all []int) {
	for x := from; x <= to; x *= 2 {
		all = append(all, x)
	}
	return all
}

// coarse reports whether -quick includes a size.
func coarse(x int) bool {
	return slices.Contains([]int{1, 4, 8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20, 4 << 20}, x)
}

// sweepSizes returns measurements of one operation over sizes in bytes. They share a launch.
func sweepSizes(program, series, label string, sizes []int) []measurement {
	all := sweep("sweep", program, series, "", sizes, func(m *measurement, x int) {
		m.row = fmt.Sprintf("%s:%d", series, x)
	})
	for i := range all {
		all[i].label, all[i].goal = label, sweepGoal
	}
	return all
}

func change(all []measurement, how func(m *measurement)) []measurement {
	for i := range all {
		how(&all[i])
	}
	return all
}

// named appends a suffix to the names of m and of its sweep. Without it, two sweeps of the same row would have the same
// names.
func (m *measurement) named(suffix string) {
	m.series += suffix
	m.name = fmt.Sprintf("sweep.%s.%d", m.series, m.x)
}

// onRanks returns the sweep `all` for the given number of ranks. It keeps fewer sizes and launches, since MPICH or Open
// MPI needs milliseconds for a message if there are more ranks than cores.
func onRanks(ranks int, all []measurement) []measurement {
	all = slices.DeleteFunc(all, func(m measurement) bool { return !coarse(m.x) || m.x > 1<<20 })
	return change(all, func(m *measurement) {
		m.named(fmt.Sprintf(".%d", ranks))
		m.ranks, m.most = ranks, 2
	})
}

// multiple makes the programs request MPI_THREAD_MULTIPLE.
func multiple(all []measurement) []measurement {
	return change(all, func(m *measurement) {
		m.named(".multiple")
		m.args = []string{"--multiple"}
	})
}

// oneSided returns sweeps of all operations with all synchronizations on all window kinds. The function `usual` selects
// the sweeps that also run without -all: the combinations that public suites run by default, and further combinations
// of put and get.
func oneSided() (all []measurement) {
	usual := func(op, how, kind string) bool {
		simple := op == "put" || op == "get"
		return how == "flush" && (kind != ".dynamic" || simple) || simple && kind == "" ||
			simple && kind == ".created" && (how == "lock" || how == "fence" || how == "pscw") ||
			op == "accumulate" && kind == "" && how == "lock"
	}
	places := map[string]string{"": "allocated windows", ".created": "windows over malloc memory",
		".dynamic": "dynamic windows"}
	for _, kind := range []string{"", ".created", ".dynamic"} {
		for _, how := range []string{"flush", "flush_local", "lock", "lock_all", "fence", "pscw"} {
			for _, op := range []string{"put", "get", "accumulate", "get_accumulate", "fetch_and_op",
				"compare_and_swap", "put_bandwidth", "get_bandwidth"} {
				sizes := powers(1, 4<<20)
				if op == "fetch_and_op" || op == "compare_and_swap" {
					sizes = []int{8}
				}
				all = append(all, change(sweepSizes("sweep_rma", op+"."+how+kind, op+", "+how, sizes),
					func(m *measurement) {
						m.rare = !usual(op, how, kind)
						m.part = "One-sided, " + places[kind]
					})...)
			}
		}
	}
	return all
}

func sweptMessages() []measurement {
	all := powers(1, 4<<20)
	program := "sweep_messages"
	return withHeading("Messages", slices.Concat(
		sweepSizes(program, "pingpong", "ping-pong", all),
		sweepSizes(program, "bandwidth", "64 messages posted", all),
		sweepSizes(program, "both_ways", "64 messages posted both ways", all),
		sweepSizes(program, "pingpong.persistent", "ping-pong, persistent", all),
		sweepSizes(program, "bandwidth.persistent", "64 messages posted, persistent", all),
		multiple(sweepSizes(program, "pingpong", "ping-pong, MPI_THREAD_MULTIPLE", all)),
		multiple(sweepSizes(program, "pingpong.two_threads", "ping-pong, two threads answer", all)),
		onRanks(4, sweepSizes(program, "pingpong", "ping-pong, two pairs", all)),
		onRanks(4, sweepSizes(program, "bandwidth", "64 messages posted, two pairs", all)),
	)...)
}

// sweptCollectives returns sweeps of all calls of sweep_collectives in one form, named `before` + CALL + `after`. Each
// form has its own table, with the heading `part`.
func sweptCollectives(part, before, after string) (all []measurement) {
	for _, call := range strings.Fields(`barrier bcast reduce allreduce gather gatherv scatter scatterv allgather
		allgatherv alltoall alltoallv alltoallw reduce_scatter reduce_scatter_block scan exscan
		neighbor_allgather neighbor_allgatherv neighbor_alltoall neighbor_alltoallv`) {
		sizes := powers(1, 1<<20)
		switch {
		case call == "barrier":
			sizes = []int{1}
		case strings.Contains(call, "reduce") || strings.HasSuffix(call, "scan"):
			sizes = powers(4, 1<<20) // floats
		}
		all = append(all, change(sweepSizes("sweep_collectives", before+call+after, before+call, sizes),
			func(m *measurement) {
				m.part = part
				if m.percent = after == ".overlap"; m.percent {
					m.goal = 0
				}
			})...)
	}
	return all
}

// sweeps lists measurements as in public suites of latency and bandwidth programs.
var sweeps = slices.Concat(
	oneSided(),
	sweptMessages(),
	sweptCollectives("Collectives", "", ""),
	sweptCollectives("Nonblocking collectives: the call and MPI_Wait", "i", ""),
	sweptCollectives("Nonblocking collectives: overlap with a computation", "i", ".overlap"),
)

// A sweepSummary summarizes a sweep over sizes. A ratio is the time of the better of MPICH and Open MPI divided by
// gompirma's. For each size, the spread is the time of gompirma's slowest launch divided by that of its fastest; the
// field Spread is the median over sizes.
type sweepSummary struct {
	Series string  `json:"series"`
	Label  string  `json:"label"`
	Part   string  `json:"part"`
	Ratio  float64 `json:"ratio,omitempty"` // median over sizes
	Worst  float64 `json:"worst,omitempty"`
	At     int     `json:"at,omitempty"` // size with the worst ratio
	Spread float64 `json:"spread,omitempty"`
	// By library: percentage of the call's time that overlaps the computation, median over sizes.
	Hidden map[string]float64 `json:"hidden,omitempty"`
	Least  float64            `json:"least,omitempty"` // gompirma's lowest such percentage; At is the size
	Why    string             `json:"why,omitempty"`   // reason for a missing ratio
}

// summary computes the summary of a sweep's sizes.
func (all *report) summary(sizes []measurement) sweepSummary {
	s := sweepSummary{Series: sizes[0].series, Label: sizes[0].label, Part: sizes[0].part}
	var ratios, spreads []outcome
	hidden := map[string][]outcome{}
	for _, m := range sizes {
		mine, peer := median(all.results[m.name]["gompirma"]), best(m, all.Libraries, all.results)
		if mine.failure != "" {
			s.Why = fmt.Sprintf("%s at %s", mine.failure, showParameter("sizes", m.x))
			continue
		}
		if w := maxSpread(all.results[m.name]["gompirma"]); w > 0 {
			spreads = append(spreads, outcome{value: w})
		}
		if m.percent {
			for _, l := range all.Libraries {
				if o := median(all.results[m.name][l]); o.failure == "" {
					hidden[l] = append(hidden[l], o)
				}
			}
			if s.At == 0 || mine.value < s.Least {
				s.Least, s.At = mine.value, m.x
			}
			continue
		}
		if peer.failure != "" {
			continue
		}
		r := outcome{value: peer.value / mine.value}
		ratios = append(ratios, r)
		if s.At == 0 || r.value < s.Worst {
			s.Worst, s.At = r.value, m.x
		}
	}
	s.Ratio, s.Spread = median(ratios).value, median(spreads).value
	if len(ratios) == 0 && s.Why == "" && !sizes[0].percent {
		s.Why = "no peer"
	}
	for l, o := range hidden {
		if s.Hidden == nil {
			s.Hidden = map[string]float64{}
		}
		s.Hidden[l] = median(o).value
	}
	return s
}

// maxSpread returns the time of the slowest launch divided by that of the fastest; 0 for fewer than two launches.
func maxSpread(launches []outcome) float64 {
	var values []float64
	for _, o := range launches {
		if o.failure == "" && o.value > 0 {
			values = append(values, o.value)
		}
	}
	if len(values) < 2 {
		return 0
	}
	return slices.Max(values) / slices.Min(values)
}

// summaries returns the summaries of the sweeps that have results, in the order of the measurements.
func (all *report) summaries(of []measurement) (found []sweepSummary) {
	for rest := of; len(rest) > 0; {
		n := 0
		var measured []measurement
		for n < len(rest) && rest[n].series == rest[0].series {
			if all.results[rest[n].name] != nil {
				measured = append(measured, rest[n])
			}
			n++
		}
		if len(measured) > 0 {
			found = append(found, all.summary(measured))
		}
		rest = rest[n:]
	}
	return found
}

// tables prints a line for each sweep, part by part.
func (all *report) tables(out io.Writer) {
	part := ""
	for _, s := range all.summaries(sweeps) {
		if s.Part != part {
			part = s.Part
			heading(out, part, s.columns(all.Libraries))
		}
		fmt.Fprintf(out, "| %s |\n", strings.Join(s.cells(all.Libraries), " | "))
	}
}

// worstFirst prints the sweeps that have ratios, worst first.
func (all *report) worstFirst(out io.Writer) {
	found := slices.DeleteFunc(all.summaries(sweeps), func(s sweepSummary) bool { return s.Hidden != nil })
	if len(found) == 0 {
		return
	}
	slices.SortStableFunc(found, func(a, b sweepSummary) int {
		switch {
		case a.Ratio < b.Ratio:
			return -1
		case a.Ratio > b.Ratio:
			return 1
		}
		return 0
	})
	heading(out, "The worst first", found[0].columns(all.Libraries))
	for _, s := range found {
		s.Label = s.Series
		fmt.Fprintf(out, "| %s |\n", strings.Join(s.cells(all.Libraries), " | "))
	}
}

func heading(out io.Writer, part string, columns []string) {
	fmt.Fprintf(out, "\n### %s\n\n| %s |\n|%s\n", part, strings.Join(columns, " | "),
		strings.Repeat("---|", len(columns)))
}

func (s sweepSummary) columns(libraries []string) []string {
	if s.Hidden != nil {
		return append(append([]string{"% overlap"}, libraries...), "gompirma's lowest", "at size")
	}
	return []string{"operation", "median ratio", "worst ratio", "at size", "spread"}
}

func (s sweepSummary) cells(libraries []string) []string {
	figure := func(v float64) string {
		if v == 0 {
			return ""
		}
		return fmt.Sprintf("%.2f", v)
	}
	at := ""
	if s.At > 0 {
		at = showParameter("sizes", s.At)
	}
	if s.Hidden != nil {
		cells := []string{s.Label}
		for _, l := range libraries {
			h, ok := s.Hidden[l]
			if !ok {
				cells = append(cells, "-")
			} else {
				cells = append(cells, fmt.Sprintf("%.0f", h))
			}
		}
		return append(cells, fmt.Sprintf("%.0f", s.Least), at)
	}
	ratio := strings.Trim(figure(s.Ratio)+", "+s.Why, ", ")
	return []string{s.Label, ratio, figure(s.Worst), at, figure(s.Spread)}
}
