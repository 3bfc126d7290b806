package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMedian(t *testing.T) {
	require.Equal(t, outcome{value: 2}, median([]outcome{{value: 3}, {value: 1}, {value: 2}}))
	require.Equal(t, outcome{value: 1.5}, median([]outcome{{value: 2}, {value: 1}}))
	require.Equal(t, outcome{failure: "crash"}, median([]outcome{{value: 1}, {failure: "crash"}}))
	require.Equal(t, outcome{failure: "-"}, median(nil))
}

func TestShow(t *testing.T) {
	for _, c := range []struct {
		o    outcome
		unit string
		want string
	}{
		{outcome{value: 8.125}, "ns", "8.12 ns"}, {outcome{value: 31.26}, "ns", "31.3 ns"},
		{outcome{value: 379}, "ns", "379 ns"},
		{outcome{value: 23456}, "ns", "23.5 µs"}, {outcome{value: 4.7e9}, "ns", "4.70 s"},
		{outcome{value: 4e12}, "ns", "4000 s"},
		{outcome{value: 900}, "KiB", "900 KiB"}, {outcome{value: 3072}, "KiB", "3.00 MiB"},
		{outcome{value: 1656.1}, "instructions", "1656"}, {outcome{failure: "crash"}, "ns", "crash"},
		{outcome{value: 79.6}, "%", "80 %"},
	} {
		require.Equal(t, c.want, show(c.o, c.unit))
	}
}

func TestGoalCells(t *testing.T) {
	gone := outcome{failure: "crash"}
	at := func(v float64) outcome { return outcome{value: v} }
	for _, c := range []struct {
		name                  string
		m                     measurement
		mine, best, yardstick outcome
		ratio, goal           string
	}{
		{"ahead", rma("a", "", 3), at(10), at(31), gone, "3.10", "3"},
		{"behind", rma("a", "", 3), at(20), at(31), gone, "1.55", "3, missed"},
		{"no peer", rma("a", "", 3), at(20), gone, gone, "", "3, no peer"},
		{"failed", rma("a", "", 3), gone, at(31), gone, "", "3, missed"},
		{"plain C", rma("a", "", 0).withYardstick("b", 0.95), at(10), at(5), at(9.6), "0.50, 0.96 of plain C",
			"0.95 of plain C"},
		{"either", rma("a", "", 1).withYardstick("b", 0.8), at(10), at(5), at(8.1), "0.50, 0.81 of plain C",
			"1 or 0.8 of plain C"},
		{"neither", rma("a", "", 1).withYardstick("b", 0.8), at(10), at(5), at(5), "0.50, 0.50 of plain C",
			"1 or 0.8 of plain C, missed"},
		{"bound", measurement{row: "memory", atMost: 3000}, at(2000), at(4000), gone, "2.00",
			"at most 2.93 MiB"},
		{"yardstick itself", rma("a", "", 0), at(10), gone, gone, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ratio, goal := goalCells(c.m, c.mine, c.best, c.yardstick)
			require.Equal(t, []string{c.ratio, c.goal}, []string{ratio, goal})
		})
	}
}
