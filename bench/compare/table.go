package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// median returns the median of the values of one library, or the reason why the library has no value.
func median(outcomes []outcome) outcome {
	var values []float64
	for _, o := range outcomes {
		if o.failure != "" {
			return o
		}
		values = append(values, o.value)
	}
	if len(values) == 0 {
		return outcome{failure: "-"}
	}
	slices.Sort(values)
	n := len(values)
	return outcome{value: (values[(n-1)/2] + values[n/2]) / 2}
}

// show formats a value with three digits and a suitable unit.
func show(o outcome, unit string) string {
	if o.failure != "" {
		return o.failure
	}
	if unit == "instructions" {
		return fmt.Sprintf("%.0f", o.value)
	}
	if unit == "%" {
		return fmt.Sprintf("%.0f %%", o.value)
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
	return threeDigits(v) + " " + units[0]
}

// threeDigits formats a value with three significant digits, or two if it is below 0.1.
func threeDigits(v float64) string {
	digits := 2 - int(math.Floor(math.Log10(max(v, 0.1))))
	if digits < 0 {
		v = math.Round(v*math.Pow10(digits)) * math.Pow10(-digits)
	}
	return fmt.Sprintf("%.*f", max(0, digits), v)
}

// best returns the median of the better of MPICH and Open MPI.
func best(m measurement, libraries []string, all results) outcome {
	return median(all[m.name][bestName(m, libraries, all)])
}

// bestName returns the name of the better of MPICH and Open MPI; "" if neither has a value.
func bestName(m measurement, libraries []string, all results) string {
	name, found := "", outcome{failure: "-"}
	for _, l := range libraries {
		o := median(all[m.name][l])
		if l != "gompirma" && o.failure == "" && (found.failure != "" || o.value < found.value) {
			name, found = l, o
		}
	}
	return name
}

// pairedRatio returns the median of the ratios peer[i] / mine[i], where launch i of the peer followed launch i of
// gompirma. A machine may be slow for some time, for example while its two virtual processors run on distant cores. It
// is then slow in both launches of a pair, so their ratio hardly changes. If the numbers of launches differ,
// pairedRatio returns the ratio of the medians.
func pairedRatio(peer, mine []outcome) float64 {
	if len(peer) != len(mine) {
		return median(peer).value / median(mine).value
	}
	var ratios []outcome
	for i := range mine {
		ratios = append(ratios, outcome{value: peer[i].value / mine[i].value})
	}
	return median(ratios).value
}

// row returns the table row of a measurement.
func row(m measurement, libraries []string, all results) string {
	cells := []string{m.label}
	for _, l := range libraries {
		cells = append(cells, show(median(all[m.name][l]), m.unit()))
	}
	ratio, goal := goalCells(m, median(all[m.name]["gompirma"]), best(m, libraries, all),
		median(all[m.of]["gompirma"]))
	return "| " + strings.Join(append(cells, ratio, goal), " | ") + " |"
}

// goalCells returns two table cells. The first has the ratios of `best` and `yardstick` to gompirma's value `mine`, as
// far as the measurement has them. The second has the goals, with a remark if none of them is reached.
func goalCells(m measurement, mine, best, yardstick outcome) (ratio, goal string) {
	var ratios, goals []string
	met := false
	add := func(of outcome, wanted float64, what string) {
		goals = append(goals, fmt.Sprintf("%.3g%s", wanted, what))
		if mine.failure == "" && of.failure == "" {
			r := of.value / mine.value
			ratios = append(ratios, fmt.Sprintf("%.2f%s", r, what))
			met = met || r >= wanted
		}
	}
	switch {
	case m.goal > 0:
		add(best, m.goal, "")
	case mine.failure == "" && best.failure == "" && !m.percent:
		ratios = append(ratios, fmt.Sprintf("%.2f", best.value/mine.value))
	}
	if m.of != "" {
		add(yardstick, m.ofGoal, " of plain C")
	}
	if m.atMost > 0 {
		goals = append(goals, "at most "+show(outcome{value: m.atMost}, m.unit()))
		met = met || mine.failure == "" && mine.value <= m.atMost
	}
	goal = strings.Join(goals, " or ")
	switch {
	case met || len(goals) == 0:
	case mine.failure == "" && m.goal > 0 && best.failure != "" && m.of == "":
		goal += ", no peer"
	default:
		goal += ", missed"
	}
	return strings.Join(ratios, ", "), goal
}
