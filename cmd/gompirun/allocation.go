package main

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gompirma/core/shm"
)

// This file reads the hosts that Slurm has allocated to the shell or script that runs gompirun. If the user specifies
// no hosts, the job uses these hosts, as with other launchers.

// firstOwnStep is the lowest Slurm step number of batch scripts and interactive shells. The steps that srun starts have
// lower numbers.
const firstOwnStep = 0xfffffff0

// allocation returns the nodes of the Slurm allocation in which gompirun runs, each with the number of tasks that the
// user requested from Slurm. It returns nil if there is no allocation, or if srun has started gompirun as a task of a
// step.
func allocation(lookup func(string) (string, bool)) ([]host, error) {
	list, ok := lookup("SLURM_JOB_NODELIST")
	if !ok || list == "" {
		return nil, nil
	}
	if step, ok := lookup("SLURM_STEP_ID"); ok {
		if n, err := strconv.ParseUint(step, 10, 32); err != nil || n < firstOwnStep {
			return nil, nil
		}
	}
	names, err := nodeNames(list)
	if err != nil {
		return nil, fmt.Errorf("SLURM_JOB_NODELIST=%s: %w", list, err)
	}
	hosts := make([]host, len(names))
	for i, name := range names {
		hosts[i].name = name
	}
	// Without a requested number of tasks, SLURM_TASKS_PER_NODE counts processors and not tasks. In this case the
	// hosts are returned without slots, so that the ranks are distributed evenly over the nodes.
	_, asked := lookup("SLURM_NTASKS")
	if _, each := lookup("SLURM_NTASKS_PER_NODE"); !asked && !each {
		return hosts, nil
	}
	text, _ := lookup("SLURM_TASKS_PER_NODE")
	slots, err := tasksPerNode(text)
	if err == nil && len(slots) != len(hosts) {
		err = fmt.Errorf("it describes %d nodes, but the allocation has %d", len(slots), len(hosts))
	}
	if err != nil {
		return nil, fmt.Errorf("SLURM_TASKS_PER_NODE=%s: %w", text, err)
	}
	for i := range hosts {
		hosts[i].slots = slots[i]
	}
	return hosts, nil
}

// nodeNames parses a list of node names such as "a,b[1-3,07],c[1-2]d[1-2]".
func nodeNames(list string) (names []string, err error) {
	depth, from := 0, 0
	for i := 0; i <= len(list); i++ {
		switch {
		case i == len(list) || list[i] == ',' && depth == 0:
			if names, err = expand(names, "", list[from:i]); err != nil {
				return nil, err
			}
			from = i + 1
		case list[i] == '[':
			depth++
		case list[i] == ']':
			depth--
		}
	}
	return names, nil
}

// expand appends strings to `names`: `prefix` followed by each expansion of `rest`. A pair of brackets in `rest` lists
// several numbers.
func expand(names []string, prefix, rest string) ([]string, error) {
	before, inside, bracket := strings.Cut(rest, "[")
	inside, after, closed := strings.Cut(inside, "]")
	switch {
	case bracket && !closed:
		return nil, errors.New("the closing bracket is missing")
	case !bracket && prefix+before == "":
		return nil, errors.New("the name of a node is missing")
	case len(names) > shm.MaxProcesses:
		return nil, fmt.Errorf("it names more than %d nodes", shm.MaxProcesses)
	case !bracket:
		return append(names, prefix+before), nil
	}
	for _, item := range strings.Split(inside, ",") {
		first, last, _ := strings.Cut(item, "-")
		a, err := strconv.Atoi(first)
		b, err2 := strconv.Atoi(cmp.Or(last, first))
		if err != nil || err2 != nil || a < 0 || b < a || b-a > shm.MaxProcesses {
			return nil, fmt.Errorf("%q is not a range of numbers such as 1-4", item)
		}
		for n := a; n <= b; n++ {
			name := fmt.Sprintf("%s%s%0*d", prefix, before, len(first), n)
			if names, err = expand(names, name, after); err != nil {
				return nil, err
			}
		}
	}
	return names, nil
}

// tasksPerNode parses "2(x3),1" and returns the number of tasks of each node: 2, 2, 2, 1.
func tasksPerNode(text string) (slots []int, err error) {
	for _, item := range strings.Split(text, ",") {
		number, times, repeated := strings.Cut(strings.TrimSuffix(item, ")"), "(x")
		n, err := slotNumber(number)
		many := 1
		if err == nil && repeated {
			many, err = slotNumber(times)
		}
		if err != nil {
			return nil, err
		}
		for range many {
			slots = append(slots, n)
		}
	}
	return slots, nil
}
