package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"

	"gompirma/core/boot/pmi1"
)

// failure is the first failure of the job. A job without a failure ends with status 0.
type failure struct {
	status int
	lines  []string
}

// name returns the name of a rank in messages.
func (j *job) name(rank int) string {
	r := &j.ranks[rank]
	return fmt.Sprintf("%s (%s)", r.world.label(rank), filepath.Base(j.programs[r.part].argv[0]))
}

// classifyEnd decides whether the end of a rank is a failure of the job. The result `v` describes the failure; it is
// nil if there is no failure. The result `hard` is true if the rank has not called MPI_Finalize. The other ranks cannot
// continue without such a rank.
func (j *job) classifyEnd(rank int, ws syscall.WaitStatus, st pmi1.State) (v *failure, hard bool) {
	hard = !st.Finalized
	finalizeState := "it had already called MPI_Finalize"
	switch {
	case !st.Initialized:
		finalizeState = "it had not called MPI_Init"
	case !st.Finalized:
		finalizeState = "it had not called MPI_Finalize"
	}
	one := func(status int, format string, args ...any) *failure {
		return &failure{status, []string{j.name(rank) + " " + fmt.Sprintf(format, args...)}}
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
			ws.Signal(), core, finalizeState), hard
	case ws.ExitStatus() != 0:
		return one(ws.ExitStatus(), "exited with status %d; %s", ws.ExitStatus(), finalizeState), hard
	case st.Initialized && !st.Finalized:
		return one(statusFailed, "exited with status 0 before MPI_Finalize"), true
	}
	return nil, false
}

func (j *job) aborted(rank int, st pmi1.State) *failure {
	status := st.Status & 0xff
	if status == 0 {
		status = statusFailed
	}
	line := fmt.Sprintf("%s called MPI_Abort with status %d", j.name(rank), st.Status)
	if st.Error {
		line = fmt.Sprintf("%s was ended by the MPI error that it printed (MPI_ERRORS_ARE_FATAL), with "+
			"status %d",
			j.name(rank), st.Status)
	}
	if st.FailedRank >= 0 {
		line += fmt.Sprintf(" because rank %d failed", st.FailedRank)
	}
	return &failure{status, []string{line}}
}

// ranges returns ascending numbers as "0-3,7,9-10".
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
