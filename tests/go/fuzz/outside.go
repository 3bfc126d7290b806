package fuzz

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"
)

// Outside makes calls of one function in a separate process, with the error handler MPI_ERRORS_ARE_FATAL. The phase is
// before MPI_Init, after MPI_Finalize, or between them for functions after which no call is allowed. The process may
// end at any call, but only by an exit status and with a line that names the function, not by a signal.
func (r *Runner) Outside(phase, function string, seed uint64, calls int) (made int, list []*Finding, err error) {
	e, err := r.execute(1, r.Program, "%s", strconv.FormatUint(seed, 10), strconv.Itoa(calls), phase, function)
	if err != nil {
		return 0, nil, err
	}
	j := Job{Ranks: 1, Seed: seed, Calls: calls, Phase: phase, Function: function}
	list = printed(e.out, j)
	var status *exec.ExitError
	base := strings.TrimSuffix(function, "_c")
	switch {
	case e.hangs:
		list = append(list, j.endFinding("hang", e))
	case len(e.members) != 1:
		list = append(list, j.endFinding("crash", e))
	case e.err == nil && e.members[0].stage != ended && function != "MPI_Abort":
		list = append(list, j.endFinding("silent end", e))
	case errors.As(e.err, &status) && (status.ExitCode() < 0 || status.ExitCode() > 128 && base != "MPI_Abort" ||
		!strings.Contains(e.errors, base)):
		list = append(list, j.endFinding("crash", e))
	case e.err != nil && status == nil:
		return 0, nil, e.err
	case strings.Contains(e.errors, "internal error"):
		list = append(list, &Finding{j, "standard error", function, e.errors, "", ""})
	}
	for _, m := range e.members {
		for _, n := range m.made {
			made += int(n)
		}
		if m.stage == inCall { // the call that ended the process
			made++
		}
	}
	return made, list, nil
}
