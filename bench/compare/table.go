package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A measurement is one line of the table. Its goal is a ratio: how many times better than the best peer gompirma is to
// be; with `of` it is the speed compared with that measurement of gompirma itself (the hardware's speed); `atMost` is a
// bound on the value.
type measurement struct {
	name    string
	label   string
	program string
	args    []string // the last one is the name in the program's output
	ranks   int
	wall    bool    // the whole launch is timed
	goal    float64 // ratio to the best peer; 0: none
	of      string  // measurement that is the yardstick besides the peers
	ofGoal  float64 // ratio to it that also counts as reached
	atMost  float64 // in the measurement's unit
}

func rma(name, label string, goal float64) measurement {
	return measurement{name: name, label: label, program: "rma", args: []string{name}, ranks: 2, goal: goal}
}

// against adds the hardware's speed as a goal of its own.
func (m measurement) against(of string, goal float64) measurement {
	m.of, m.ofGoal = of, goal
	return m
}

// The goals are those of the design, section 9.
var measurements = []measurement{
	rma("put8", "put 8 B", 3),
	rma("put8_flush", "put 8 B + flush", 3),
	rma("get8_flush", "get 8 B + flush", 3),
	rma("acc8_flush", "accumulate 8 B + flush", 2.5),
	rma("fop_flush", "fetch_and_op + flush", 2.5),
	rma("cas_flush", "compare_and_swap + flush", 5),
	rma("memcpy_1m", "(memcpy 1 MiB, plain C)", 0),
	rma("put_1m", "put 1 MiB", 0).against("memcpy_1m", 0.95),
	rma("get_1m", "get 1 MiB", 0).against("memcpy_1m", 0.95),
	rma("loop_1m", "(add 1 MiB of doubles, plain C)", 0),
	rma("acc_1m", "accumulate 1 MiB double SUM", 1).against("loop_1m", 0.8),
	rma("put_vector", "put vector 1024 x 8 B, stride 16", 1.5),
	rma("get_vector", "get vector 1024 x 8 B, stride 16", 1.5),
	rma("acc_vector", "accumulate vector 1024 x 8 B, stride 16", 1.5),
	rma("lock_put_unlock", "lock + put + unlock", 2),
	rma("lock_fop_unlock", "contended lock + fetch_and_op + unlock", 2),
	rma("fence_put", "fence with one put", 1.5),
	rma("pscw", "post, start, put, complete, wait, pairwise", 1.5),
	rma("barrier", "barrier", 1.5),
	rma("m_put8_flush", "malloc window: put 8 B + flush", 1.5),
	rma("m_get8_flush", "malloc window: get 8 B + flush", 1.5),
	rma("m_acc8_flush", "malloc window: accumulate 8 B + flush", 1.5),
	rma("m_fop_flush", "malloc window: fetch_and_op + flush", 1.5),
	rma("m_put_1m", "malloc window: put 1 MiB", 1.2),
	rma("m_acc_1m", "malloc window: accumulate 1 MiB", 1.2),
	rma("m_put_vector", "malloc window: put vector", 1.2),
	rma("m_get_vector", "malloc window: get vector", 1.2),
	rma("m_acc_vector", "malloc window: accumulate vector", 1.2),
	rma("m_fence_put", "malloc window: fence with one put", 1.2),
	rma("m_pscw", "malloc window: pscw pairwise", 1.2),
	rma("m_lock_put_unlock", "malloc window: lock + put + unlock", 1.2),
	{name: "fence_put.8", label: "8 ranks: fence with one put", program: "rma", args: []string{"fence_put"},
		ranks: 8, goal: 1.5},
	{name: "barrier.8", label: "8 ranks: barrier", program: "rma", args: []string{"barrier"}, ranks: 8, goal: 1.5},
	{name: "barrier.4", label: "4 ranks: barrier", program: "rma", args: []string{"barrier"}, ranks: 4,
		atMost: 7000},
	{name: "startup.32", label: "start and end 32 ranks with a window", program: "startup", ranks: 32, wall: true,
		goal: 1 / 0.3},
	{name: "memory.32", label: "private memory a rank, 32 ranks", program: "startup", args: []string{"memory"},
		ranks: 32, atMost: 3000},
}

func (m measurement) unit() string {
	if strings.HasPrefix(m.name, "memory") {
		return "KiB"
	}
	return "ns"
}

// median of the values of one library, or why there is none.
func median(outcomes []outcome) outcome {
	var values []float64
	for _, o := range outcomes {
		if o.why != "" {
			return o
		}
		values = append(values, o.value)
	}
	if len(values) == 0 {
		return outcome{why: "-"}
	}
	slices.Sort(values)
	n := len(values)
	return outcome{value: (values[(n-1)/2] + values[n/2]) / 2}
}

// show writes a value with three digits and a unit that suits it.
func show(o outcome, unit string) string {
	if o.why != "" {
		return o.why
	}
	v, units := o.value, []string{"ns", "µs", "ms", "s"}
	if unit == "KiB" {
		units = []string{"KiB", "MiB", "GiB"}
	}
	step := map[string]float64{"ns": 1000, "KiB": 1024}[unit]
	for len(units) > 1 && v >= step {
		v /= step
		units = units[1:]
	}
	digits := max(0, 2-int(math.Floor(math.Log10(max(v, 0.1)))))
	return fmt.Sprintf("%.*f %s", digits, v, units[0])
}

// row is the measurement's line of the table.
func row(m measurement, libraries []library, results map[string]map[string][]outcome) string {
	mine := median(results[m.name]["gompirma"])
	best := outcome{why: "-"}
	cells := []string{m.label}
	for _, l := range libraries {
		o := median(results[m.name][l.name])
		cells = append(cells, show(o, m.unit()))
		if l.name != "gompirma" && o.why == "" && (best.why != "" || o.value < best.value) {
			best = o
		}
	}
	ratio, goal, reached := verdict(m, mine, best, median(results[m.of]["gompirma"]))
	return "| " + strings.Join(append(cells, ratio, goal, reached), " | ") + " |"
}

// verdict words the ratio to the best peer (and to the yardstick), the goal, and whether it is reached.
func verdict(m measurement, mine, best, yardstick outcome) (ratio, goal, reached string) {
	var ratios, goals []string
	met := false
	add := func(of outcome, wanted float64, what string) {
		goals = append(goals, fmt.Sprintf("%.3g%s", wanted, what))
		if mine.why == "" && of.why == "" {
			r := of.value / mine.value
			ratios = append(ratios, fmt.Sprintf("%.2f%s", r, what))
			met = met || r >= wanted
		}
	}
	switch {
	case m.goal > 0:
		add(best, m.goal, "")
	case mine.why == "" && best.why == "":
		ratios = append(ratios, fmt.Sprintf("%.2f", best.value/mine.value))
	}
	if m.of != "" {
		add(yardstick, m.ofGoal, " of plain C")
	}
	if m.atMost > 0 {
		goals = append(goals, "at most "+show(outcome{value: m.atMost}, m.unit()))
		met = met || mine.why == "" && mine.value <= m.atMost
	}
	switch {
	case len(goals) == 0:
		reached = ""
	case met:
		reached = "yes"
	case mine.why == "" && m.goal > 0 && best.why != "" && m.of == "":
		reached = "no peer"
	default:
		reached = "no"
	}
	return strings.Join(ratios, ", "), strings.Join(goals, " or "), reached
}
