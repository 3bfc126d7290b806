package main

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"syscall"

	"gompirma/core/abi"
	"gompirma/core/boot/pmi1"
	"gompirma/core/handle"
	"gompirma/core/shm"
)

// verdict is what became of the job: its first failure. A job without one ends with status 0.
type verdict struct {
	status int
	lines  []string
}

// name is how messages call a rank.
func (j *job) name(rank int) string {
	return fmt.Sprintf("rank %d (%s)", rank, filepath.Base(j.programs[j.ranks[rank].part].argv[0]))
}

// judge says what the end of a rank means: nil if it is fine. hard: the others cannot go on.
func (j *job) judge(rank int, ws syscall.WaitStatus, st pmi1.State) (v *verdict, hard bool) {
	hard = !st.Finalized
	told := "it had called MPI_Finalize"
	switch {
	case !st.Initialized:
		told = "it had not called MPI_Init"
	case !st.Finalized:
		told = "it had not called MPI_Finalize"
	}
	one := func(status int, format string, args ...any) *verdict {
		return &verdict{status, []string{j.name(rank) + " " + fmt.Sprintf(format, args...)}}
	}
	switch {
	case st.Aborted:
		return j.aborted(rank, st), true
	case ws.Signaled():
		core := ""
		if ws.CoreDump() {
			core = ", core dumped"
		}
		return one(statusSignal+int(ws.Signal()), "was killed by signal %d (%v%s); %s", ws.Signal(),
			ws.Signal(), core, told), hard
	case ws.ExitStatus() != 0:
		return one(ws.ExitStatus(), "exited with status %d; %s", ws.ExitStatus(), told), hard
	case st.Initialized && !st.Finalized:
		return one(statusFailed, "exited with status 0 without having called MPI_Finalize"), true
	}
	return nil, false
}

func (j *job) aborted(rank int, st pmi1.State) *verdict {
	status := st.Status & 0xff
	if status == 0 {
		status = statusFailed
	}
	line := fmt.Sprintf("%s called MPI_Abort with status %d", j.name(rank), st.Status)
	if st.Lost >= 0 {
		line += fmt.Sprintf(" because rank %d was lost to it", st.Lost)
	}
	return &verdict{status, []string{line}}
}

// activity says in a few words what a running rank does, as far as it tells.
func (j *job) activity(rank int) string {
	st := j.pmi.State(rank)
	switch {
	case j.ranks[rank].ended:
		return "had ended"
	case st.Finalized:
		return "had called MPI_Finalize"
	case !st.Initialized:
		return "had not called MPI_Init"
	}
	node := j.nodeOf(rank)
	return waiting(node.memory.Waits(rank - node.first))
}

// waiting says what the threads of a rank wait for, and how many more do that have not said it.
func waiting(ws []shm.Waiting, more int) string {
	threads := map[string]int{}
	var whats []string
	for _, w := range ws {
		what := "in " + printable(w.Call) + needed(w)
		if threads[what]++; threads[what] == 1 {
			whats = append(whats, what)
		}
	}
	sort.Strings(whats)
	for i, what := range whats {
		if n := threads[what]; n > 1 {
			whats[i] = fmt.Sprintf("%s (%d threads)", what, n)
		}
	}
	if more > 0 {
		whats = append(whats, fmt.Sprintf("and %d more", more))
	}
	if whats == nil {
		return "ran outside MPI or did not wait"
	}
	return "waited " + strings.Join(whats, ", ")
}

// needed says whom a wait depends on.
func needed(w shm.Waiting) string {
	switch {
	case w.Peer >= 0:
		return fmt.Sprintf(" for rank %d", w.Peer)
	case w.Peer == shm.PeersAny && w.Object != 0:
		return " for any rank of " + object(w.Object)
	case w.Peer == shm.PeersAll && w.Object != 0:
		return " for the ranks of " + object(w.Object)
	}
	return ""
}

// object names what a handle stands for.
func object(h uint64) string {
	switch uintptr(h) {
	case abi.MPI_COMM_WORLD:
		return "MPI_COMM_WORLD"
	case abi.MPI_COMM_SELF:
		return "MPI_COMM_SELF"
	}
	switch handle.KindOf(uintptr(h)) {
	case handle.Comm:
		return fmt.Sprintf("communicator %#x", h)
	case handle.Win:
		return fmt.Sprintf("window %#x", h)
	}
	return fmt.Sprintf("handle %#x", h)
}

// printable leaves only what a name may consist of: the text comes from memory that ranks write.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '?'
	}, name)
}

// activities gives a line for each thing that ranks do, with the ranks that do it.
func (j *job) activities() (lines []string) {
	ranks := map[string][]int{}
	for r := range j.ranks {
		what := j.activity(r)
		ranks[what] = append(ranks[what], r)
	}
	var whats []string
	for what := range ranks {
		whats = append(whats, what)
	}
	sort.Slice(whats, func(a, b int) bool { return ranks[whats[a]][0] < ranks[whats[b]][0] })
	for _, what := range whats {
		plural := ""
		if len(ranks[what]) > 1 {
			plural = "s"
		}
		lines = append(lines, fmt.Sprintf("rank%s %s %s", plural, ranges(ranks[what]), what))
	}
	return lines
}

// ranges writes ascending numbers as "0-3,7,9-10".
func ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		k := i
		for k+1 < len(numbers) && numbers[k+1] == numbers[k]+1 {
			k++
		}
		if k == i {
			parts = append(parts, fmt.Sprint(numbers[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", numbers[i], numbers[k]))
		}
		i = k + 1
	}
	return strings.Join(parts, ",")
}
