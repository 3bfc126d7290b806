package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNodeNames(t *testing.T) {
	for list, names := range map[string]string{
		"a":                    "a",
		"a,b.example.org":      "a b.example.org",
		"n[1-3]":               "n1 n2 n3",
		"n[08-10,2],m,k[7]":    "n08 n09 n10 n2 m k7",
		"r[1-2]n[1-2]-ib,last": "r1n1-ib r1n2-ib r2n1-ib r2n2-ib last",
	} {
		found, err := nodeNames(list)
		require.NoError(t, err, list)
		require.Equal(t, names, strings.Join(found, " "), list)
	}
	for list, why := range map[string]string{
		"a,,b":                "the name of a node is missing",
		"n[1-3":               "the closing bracket is missing",
		"n[3-1]":              `"3-1" is not a range of numbers such as 1-4`,
		"n[x]":                `"x" is not a range of numbers such as 1-4`,
		"n[]":                 `"" is not a range of numbers such as 1-4`,
		"n[1-900]m[1-9]":      "more than",
		"n[0-99999999999999]": "is not a range of numbers such as 1-4",
	} {
		_, err := nodeNames(list)
		require.ErrorContains(t, err, why, list)
	}
}

// Checks that allocation returns the requested tasks of each node, or only the nodes if the user requested no number.
// It must return nothing if srun has started gompirun as a task of a step.
func TestAllocation(t *testing.T) {
	of := func(env ...string) ([]host, error) {
		return allocation(func(name string) (string, bool) {
			for _, v := range env {
				if value, ok := strings.CutPrefix(v, name+"="); ok {
					return value, true
				}
			}
			return "", false
		})
	}
	nodes := "SLURM_JOB_NODELIST=h[1-3]"
	for _, c := range []struct {
		env  []string
		want []host
	}{
		{nil, nil},
		{[]string{nodes}, []host{{"h1", 0}, {"h2", 0}, {"h3", 0}}},
		{[]string{nodes, "SLURM_TASKS_PER_NODE=8(x3)"}, []host{{"h1", 0}, {"h2", 0}, {"h3", 0}}},
		{[]string{nodes, "SLURM_NTASKS=5", "SLURM_TASKS_PER_NODE=2(x2),1"},
			[]host{{"h1", 2}, {"h2", 2}, {"h3", 1}}},
		{[]string{nodes, "SLURM_NTASKS_PER_NODE=4", "SLURM_TASKS_PER_NODE=4(x3)"},
			[]host{{"h1", 4}, {"h2", 4}, {"h3", 4}}},
		{[]string{nodes, "SLURM_STEP_ID=0"}, nil},
		{[]string{nodes, "SLURM_STEP_ID=4294967290"}, []host{{"h1", 0}, {"h2", 0}, {"h3", 0}}},
	} {
		found, err := of(c.env...)
		require.NoError(t, err, c.env)
		require.Equal(t, c.want, found, c.env)
	}
	for why, tasks := range map[string]string{
		"it describes 2 nodes, but the allocation has 3": "2(x2)",
		`must be from 1 to 4096, not "x"`:                "x",
		`must be from 1 to 4096, not ""`:                 "",
	} {
		_, err := of(nodes, "SLURM_NTASKS=5", "SLURM_TASKS_PER_NODE="+tasks)
		require.ErrorContains(t, err, why)
	}
}
