package main

import (
	"cmp"
	"strings"

	"gompirma/cmd/internal/nearest"
)

// otherOptions lists options of other launchers that gompirun does not have, and what to write instead.
var otherOptions = []struct{ names, hint string }{
	{"N ntasks-per-node tasks-per-node", "write -ppn for the number of processes on each host"},
	{"ntasks", "write -n"},
	{"w nodelist machine", "write -host"},
	{"bind-to-core cpu-bind", "write --bind-to core"},
	{"bind-to-socket", "write --bind-to socket"},
	{"bind-to-none", "write --bind-to none"},
	{"bycore bysocket byslot", "write --map-by core, socket or slot"},
	{"bynode nolocal", "gompirun places consecutive ranks on each host; write -ppn for their number"},
	{"cpus-per-proc cpus-per-rank cpus-per-task", "write --map-by slot:PE=N"},
	{"rankfile rf cpu-set cpu-list membind", "gompirun binds with --bind-to and --map-by only"},
	{"configfile app", "separate the programs by ':' on the command line"},
	{"path gpath", "write the path of the program, or -x PATH=..."},
	{"display-map display-allocation display display-devel-map print-rank-map info",
		"--preflight prints the hosts; --bind-to describes the binding"},
	{"timestamp-output merge-stderr-to-stdout xml prepend-pattern output stream-buffering",
		"write -l to mark the lines of each rank, or --output-dir to write them to files"},
	{"stdin s", "rank 0 reads the input; the other ranks read an empty file"},
	{"prefix", "gompirun finds its libraries itself; to run ranks on other hosts, install it at the same path"},
	{"tune am personality runtime-options", "write -x NAME=V to set variables of the environment"},
	{"report-pid get-stack-traces", "send SIGUSR1 to gompirun to see what each rank does"},
	{"tv debug gdb d debug-daemons leave-session-attached",
		"start a debugger for each rank: gompirun -n N xterm -e gdb program"},
	{"valgrind", "write: gompirun -n N valgrind program"},
	{"print-all-exitcodes", "gompirun prints which rank failed and why"},
	{"memory-alloc-kinds memory-allocation-kinds", "pass the info key mpi_memory_alloc_kinds to MPI_Session_init"},
	{"usize", "gompirun sets MPI_UNIVERSE_SIZE itself"},
	{"t time", "write --timeout with the number of seconds"},
}

// optionHint returns the end of the message about an unknown option: what to write instead, if another launcher has the
// option, else the option with the most similar name.
func optionHint(arg, name string) string {
	for _, o := range otherOptions {
		for _, other := range strings.Fields(o.names) {
			if other == name {
				return ", which another launcher has: " + o.hint
			}
		}
	}
	return cmp.Or(similar(arg, name, optionNames()...), " (gompirun --help lists the options)")
}

// similar returns the end of the message about an unknown option, which suggests the option with the most similar name;
// "" if no name is similar.
func similar(arg, name string, names ...string) string {
	known := strings.TrimPrefix(nearest.Word(name, names), "-")
	switch {
	case known == "":
		return ""
	case len(known) == 1 || !strings.HasPrefix(arg, "--"):
		return ". Did you mean -" + known + "?"
	}
	return ". Did you mean --" + known + "?"
}
