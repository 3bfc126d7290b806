package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"gompirma/core/boot"
	"gompirma/core/shm"
)

const manual = `usage: gompirun [options] [-n N] program [arguments] [: [-n N] program [arguments]]...
       gompirun report FILE.json [-o PAGE.html]    make a page of a trace (gompirun report --help)

Starts N processes of a program on this machine as one MPI job. Several programs, separated by
":", form one job.

For each program:
  -n, -np, -c N           start N processes. Default: -ppn on each host, else one process for each
                          slot of the hosts, else one for each usable core
  -ppn, -npernode, -perhost N
                          start N processes on each host
  -x, --env NAME[=V]      set the environment variable NAME to V; without =V, pass on its value from
                          gompirun's environment. May be repeated. By default, gompirun passes on
                          its whole environment
  -env NAME V             like -x NAME=V; also -env NAME=V
  -envall; -envnone; -envlist A,B,...
                          pass on all, none, or the listed variables of gompirun's environment
  -wdir, -wd, -cwd DIR    start in this directory; a relative path of the program starts there
  -H, -host, -hosts LIST  run on host[:slots],...: names and addresses of this machine or of others
                          (see "Other hosts")
  -f, -hostfile, -machinefile FILE
                          read the hosts from a file, one per line: host[:slots] or host slots=N;
                          # begins a comment

For the job, before the first program:
  -genv NAME V; -genvall; -genvnone; -genvlist A,B,...
                          like -env..., for all programs; the options of a program take precedence
  -initial-errhandler mpi_errors_are_fatal|mpi_errors_abort|mpi_errors_return
                          initial error handler of MPI_COMM_WORLD and MPI_COMM_SELF
  -l, -prepend-rank, --tag-output
                          print [rank] before each line
  --nodes N               simulate N machines on this one, for tests: the ranks form N blocks of
                          equal size, or of -ppn ranks, and communicate with other blocks over the
                          network only. Default: the variable GOMPIRMA_NODES
  --output-dir DIR        write the output and errors of each rank to DIR/rank-R.txt
  -outfile-pattern P; -errfile-pattern P
                          write the output, or the errors, of each rank to a file: %r is the rank,
                          %0r the rank with leading zeros, %h the host, %g the number of the
                          program, %p is 0, %% is a percent sign
  --output-filename DIR   write the output and errors of each rank to DIR/1/rank.R/stdout and
                          DIR/1/rank.R/stderr
  --timeout S             end the job after S seconds, print what each rank waited for, exit with
                          status 124. Default: the variable MPIEXEC_TIMEOUT, if above 0
  --progress              print once a second how many ranks compute, wait in MPI and have ended,
                          and with --stats how many bytes the MPI calls have transferred. If the
                          standard error is not a terminal, print this only at the end and at the
                          signal SIGUSR2
  --deadlock report|abort|off
                          what to do when all ranks wait in MPI without progress: report prints once
                          what each rank waits for (default); abort also ends the job with status 4;
                          off disables the detection
  --deadlock-after S      report a deadlock after S seconds without progress (default 5)
  --ft                    if a rank is killed or exits before MPI_Finalize, the other ranks
                          continue, and their calls return errors (docs/PROCESSES.md, "Failures").
                          Default: the variable GOMPIRMA_FT
  --bind-to core|hwthread|socket|numa|none
                          core, hwthread: bind each rank to one core or hardware thread, if there
                          are enough; socket, numa: bind a block of ranks to all processors of a
                          socket or NUMA node; none: do not bind. Default: each rank is bound to an
                          equal share of the cores, if there are at least as many cores as ranks.
                          On other hosts, Slurm or the other launcher binds the ranks
  --map-by slot|core|socket|node|ppr:N:node
                          PLACE:PE=N binds each rank to N cores (N hardware threads with --bind-to
                          hwthread); PLACE is slot, core, socket or node. ppr:N:node is the same as
                          -ppn N
  --stats, --stats=FILE   at the end of the job, print calls, bytes and times of each function and
                          window, and the three largest costs; or write them to FILE as JSON
                          (docs/INSIGHT.md)
  --check, --check=FILE   find data races and MPI misuse, and print file and line of each; with
                          =FILE, also write them to FILE as JSON. Exit status 3 if there are any
                          (docs/INSIGHT.md)
  --check=error           like --check; also, the later call of a data race raises
                          MPI_ERR_RMA_CONFLICT. Calls wait until they have been checked
  --check=strict          like --check; also find sends that complete only because MPI buffers
                          messages
  --trace FILE            write every call of every rank to FILE as a timeline with arrows, for
                          Perfetto, chrome://tracing and gompirun report (docs/INSIGHT.md)
  --trace=drop            with --trace=FILE: ranks do not wait for gompirun. Calls that it cannot
                          read in time are missing in the file, which states their number
  --records FILE          write every call of every rank to FILE, one per line, with its arguments
                          (docs/INSIGHT.md)
  --preflight             start no program; print which hosts can connect to each other, by which
                          addresses and how fast, and why others cannot; exit status 1 if two
                          hosts cannot connect
  -q, --quiet             do not print gompirun's own error messages and warnings
  -V, --version           print the version
  -h, --help              print this text

Other hosts: to start ranks on other machines, gompirun runs one of srun, MPICH's mpiexec and Open
MPI's mpirun, whichever is installed, and prints which. In a Slurm allocation it uses srun. Without
-H it then uses all nodes of the allocation, with as many processes on each node as the allocation
has tasks there, or equally many. -H localhost uses this machine only. Each host gets consecutive
ranks. gompirun rejects options that the launcher does not support. The launcher handles input, and
ends the other ranks when a rank fails. The program needs the same path on all hosts.

Without effect, because they are the default or have no meaning on one machine:
  --oversubscribe; --nooversubscribe; -v, --verbose; -localonly; --report-bindings;
  --use-hwthread-cpus; -disable-auto-cleanup; --rank-by slot|core|socket|node

For the launcher on other hosts, MPICH's mpiexec:
  -disable-hostname-propagation; -launcher V; -launcher-exec V; -bootstrap V; -bootstrap-exec V;
  -rmk V; -iface V

For the launcher on other hosts, Open MPI's mpirun:
  --allow-run-as-root; --mca NAME V; --gmca NAME V; --omca NAME V; --prtemca NAME V

Options have one or two dashes and values as "--opt V" or "--opt=V". A job has at most %MAX%
processes.

Rank 0 reads the input; the other ranks read an empty file. gompirun prints whole lines of each
rank. It appends the directory of gompirma's libraries, which includes libmpi_abi.so, to
LD_LIBRARY_PATH of the ranks.

Ranks that MPI_Comm_spawn starts belong to jobs of their own: "job 1 rank 2" in messages and
reports, [1:2] with --tag-output. --check, --stats, --trace, --records and --deadlock include the
jobs that gompirun starts on this machine (docs/PROCESSES.md).

Signals: SIGUSR1 prints what each rank does, and SIGUSR2 the line of --progress; both are also
forwarded to ranks that catch them. SIGINT, SIGTERM, SIGHUP and SIGQUIT end the job. SIGTSTP and
SIGCONT stop and continue it.

Exit status: 0, or the status of the first rank that failed: its exit status, 128 + the signal
that killed it, the status that it passed to MPI_Abort, or 1 if it exited without MPI_Finalize; 4
after --deadlock abort; 124 after --timeout; 128 + the signal that ended gompirun; 2 if no process
was started. When a rank is killed, aborts, or exits with an error before MPI_Finalize, gompirun
ends the others within a second by SIGTERM, then SIGKILL. When the job ends, it also ends
processes that ranks left in their process groups. With --ft, the ranks that the others outlive do
not count, if at least one rank of their job ends with status 0.
`

// options holds the parsed command line.
type options struct {
	parts         []part
	nodes         int // number of simulated nodes; 0 if none
	perNode       int // ranks on each node; 0 for an even distribution
	tag           bool
	outputDir     string        // "" to forward the output
	outFile       string        // file name pattern for each rank's stdout; "" if not given
	errFile       string        // file name pattern for each rank's stderr; "" if not given
	timeout       time.Duration // limit of the job's run time; 0 if none
	deadlock      deadlockMode
	deadlockAfter time.Duration // time without progress that counts as a deadlock; 0: the default
	hosts         []host        // hosts of the job; nil if all of them are this machine
	remote        string        // the first of hosts that is not this machine
	passed        []passed      // options that only the launcher for other hosts interprets
	bind          string        // unit to which ranks are bound, or "none"; "": an equal share of the cores
	bindTo        int           // number of units that a rank is bound to; 0 means 1
	quiet         bool
	ft            bool       // the job continues if a rank fails
	listeners     []listener // options that process the calls of the ranks
	progress      bool       // print how many ranks compute and wait
	preflight     bool       // check the hosts, and start no program
}

// deadlockMode selects the reaction to a deadlock.
type deadlockMode int

const (
	deadlockReport deadlockMode = iota
	deadlockAbort
	deadlockOff
)

// defaultDeadlockAfter is the default time without progress after which a job counts as deadlocked.
const defaultDeadlockAfter = 5 * time.Second

// hangTimeout returns the time without progress after which a job counts as deadlocked.
func (o *options) hangTimeout() time.Duration { return cmp.Or(o.deadlockAfter, defaultDeadlockAfter) }

// part is one program specification. MPI calls its index the application number.
type part struct {
	n       int // processes
	env     []string
	inherit inherit
	wdir    string
	search  string // directories in which the program is searched; "" for those of the variable PATH
	argv    []string
}

// inherit selects the variables that ranks inherit from gompirun's environment. The zero value selects all variables.
type inherit struct {
	limited bool
	list    []string // the selected variables, if limited is set
}

// passes reports whether ranks inherit a variable.
func (i *inherit) passes(name string) bool { return !i.limited || slices.Contains(i.list, name) }

// size returns the number of processes of the job.
func (o *options) size() int {
	n := 0
	for _, p := range o.parts {
		n += p.n
	}
	return n
}

var (
	errHelp    = errors.New("help wanted")
	errVersion = errors.New("version wanted")
)

// option is an entry of the table below.
type option struct {
	names  []string // without leading dashes; a name with a leading dash matches only with exactly these dashes
	value  string   // description of the value for messages; "" if the option takes no value
	second string   // description of a second value, which may also follow a "="
	choice bool     // the value is optional, and must follow a "="
	job    bool     // the option applies to the job, not to one program
	set    func(p *parser, value string) error
}

var table = []option{
	{names: []string{"n", "np", "c"}, value: "number", set: (*parser).setNumber},
	{names: []string{"ppn", "npernode", "perhost"}, value: "number", set: (*parser).setPerHost},
	{names: []string{"-env"}, value: "variable", second: "value", set: (*parser).setEnv},
	{names: []string{"x", "env"}, value: "variable", set: (*parser).setEnv},
	{names: []string{"envall"}, set: func(p *parser, _ string) error { p.inherit = &inherit{}; return nil }},
	{names: []string{"envnone"}, set: func(p *parser,
		_ string) error {
		p.inherit = &inherit{limited: true}
		return nil
	}},
	{names: []string{"envlist"}, value: "list of variables",
		set: func(p *parser, v string) error { p.inherit = listed(v); return nil }},
	{names: []string{"wdir", "wd", "cwd"}, value: "directory",
		set: func(p *parser, v string) error { p.part.wdir = v; return nil }},
	{names: []string{"H", "host", "hosts"}, value: "list of hosts", set: (*parser).setHosts},
	{names: []string{"f", "hostfile", "machinefile"}, value: "file", set: (*parser).setHostFile},
	{names: []string{"genv"}, value: "variable", second: "value", job: true, set: (*parser).setJobEnv},
	{names: []string{"genvall"}, job: true, set: func(p *parser, _ string) error { p.all = inherit{}; return nil }},
	{names: []string{"genvnone"}, job: true,
		set: func(p *parser, _ string) error { p.all = inherit{limited: true}; return nil }},
	{names: []string{"genvlist"}, value: "list of variables", job: true,
		set: func(p *parser, v string) error { p.all = *listed(v); return nil }},
	{names: []string{"nodes"}, value: "number", job: true, set: (*parser).setNodes},
	{names: []string{"l", "prepend-rank", "tag-output"}, job: true,
		set: func(p *parser, _ string) error { p.opts.tag = true; return nil }},
	{names: []string{"output-dir"}, value: "directory", job: true,
		set: func(p *parser, v string) error { p.opts.outputDir = v; return nil }},
	{names: []string{"outfile-pattern"}, value: "pattern", job: true,
		set: func(p *parser, v string) error { p.opts.outFile = v; return nil }},
	{names: []string{"errfile-pattern"}, value: "pattern", job: true,
		set: func(p *parser, v string) error { p.opts.errFile = v; return nil }},
	{names: []string{"output-filename"}, value: "directory", job: true, set: (*parser).setOutputName},
	{names: []string{"timeout"}, value: "number of seconds", job: true, set: (*parser).setTimeout},
	{names: []string{"initial-errhandler"}, value: "value: mpi_errors_are_fatal, mpi_errors_abort or " +
		"mpi_errors_return", job: true, set: (*parser).setErrhandler},
	{names: []string{"progress"}, job: true,
		set: func(p *parser, _ string) error { p.opts.progress = true; return nil }},
	{names: []string{"deadlock"}, value: "value: report, abort or off", job: true, set: (*parser).setDeadlock},
	{names: []string{"deadlock-after"}, value: "number of seconds", job: true, set: (*parser).setDeadlockAfter},
	{names: []string{"ft"}, job: true, set: func(p *parser, _ string) error { p.opts.ft = true; return nil }},
	{names: []string{"bind-to"}, value: "value: none, core, hwthread, socket or numa", job: true,
		set: (*parser).setBind},
	{names: []string{"map-by"}, value: "value: slot, core, socket, node or ppr:N:node", job: true,
		set: (*parser).setMap},
	{names: []string{"rank-by"}, value: "value: slot, core, socket or node", job: true,
		set: (*parser).setRank},
	{names: []string{"preflight"}, job: true,
		set: func(p *parser, _ string) error { p.opts.preflight = true; return nil }},
	{names: []string{"stats"}, value: "file", choice: true, job: true, set: func(p *parser, v string) error {
		p.opts.listeners = append(p.opts.listeners, &statistics{path: v})
		return nil
	}},
	{names: []string{"check"}, value: "file", choice: true, job: true, set: (*parser).setCheck},
	{names: []string{"records"}, value: "file", job: true, set: func(p *parser, v string) error {
		p.opts.listeners = append(p.opts.listeners, &recordWriter{path: v})
		return nil
	}},
	{names: []string{"trace"}, value: "file", job: true, set: (*parser).setTrace},
	{names: []string{"q", "quiet"}, job: true,
		set: func(p *parser, _ string) error { p.opts.quiet = true; return nil }},
	{names: []string{"V", "version"}, job: true, set: func(*parser, string) error { return errVersion }},
	{names: []string{"h", "help"}, job: true, set: func(*parser, string) error { return errHelp }},

	// Options without effect. They request what gompirun does anyway, or matter only on several machines.
	{names: []string{"oversubscribe", "nooversubscribe", "v", "verbose", "localonly", "report-bindings",
		"use-hwthread-cpus", "disable-auto-cleanup"}, set: ignore},
	passThrough(prrte, "allow-run-as-root", "", ""),
	passThrough(hydra, "disable-hostname-propagation", "", ""),
	passThrough(hydra, "launcher", "value", ""),
	passThrough(hydra, "launcher-exec", "value", ""),
	passThrough(hydra, "bootstrap", "value", ""),
	passThrough(hydra, "bootstrap-exec", "value", ""),
	passThrough(hydra, "rmk", "value", ""),
	passThrough(hydra, "iface", "value", ""),
	passThrough(prrte, "mca", "parameter", "value"),
	passThrough(prrte, "gmca", "parameter", "value"),
	passThrough(prrte, "omca", "parameter", "value"),
	passThrough(prrte, "prtemca", "parameter", "value"),
}

func ignore(*parser, string) error { return nil }

// passed is an option that gompirun passes only to launchers of one kind.
type passed struct {
	to   starterKind
	args []string
}

// passThrough returns the entry of an option that only another launcher interprets.
func passThrough(to starterKind, name, value, second string) option {
	return option{names: []string{name}, value: value, second: second, set: func(p *parser, text string) error {
		args := []string{"-" + name}
		if to == prrte {
			args[0] = "--" + name
		}
		switch {
		case second != "":
			parameter, of, _ := strings.Cut(text, "=")
			args = append(args, parameter, of)
		case value != "":
			args = append(args, text)
		}
		p.opts.passed = append(p.opts.passed, passed{to, args})
		return nil
	}}
}

// parser parses the command line from left to right.
type parser struct {
	lookup func(string) (string, bool) // returns the value of an environment variable
	hosts  hosts
	opts   options
	env    []string // variables of all parts
	all    inherit  // default for parts
	order  string   // option that asks for a placement other than blocks of ranks on each host; "" if none

	part    part
	given   bool // the part has an option -n
	perHost int  // the part's -ppn; 0 if none
	list    []host
	inherit *inherit
}

// parse parses the arguments. The text of an error is one line, which the user sees.
func parse(args []string, lookup func(string) (string, bool)) (*options, error) {
	p := &parser{lookup: lookup, hosts: thisMachine()}
	numbered := true // every part so far had an option -n
	for more := true; more; {
		p.part, p.given, p.perHost, p.list, p.inherit = part{}, false, 0, nil, nil
		rest, err := p.options(args)
		if err != nil {
			return nil, err
		}
		end := 0
		for end < len(rest) && rest[end] != ":" {
			end++
		}
		p.part.argv = rest[:end]
		if p.opts.preflight {
			if err = p.setPreflight(rest); err != nil {
				return nil, err
			}
		}
		if len(p.part.argv) == 0 || p.part.argv[0] == "" {
			return nil, errors.New("no program given. Usage: gompirun -n N program (gompirun --help " +
				"lists the options)")
		}
		if _, pretended := p.lookup(envNodes); p.list == nil && p.opts.nodes == 0 && !pretended {
			if p.list, err = allocation(p.lookup); err != nil {
				return nil, err
			}
		}
		if err := p.setJobHosts(); err != nil {
			return nil, err
		}
		if !p.given {
			p.part.n = cmp.Or(p.perHost*p.machines(), total(p.list))
			p.given = p.part.n > 0
		}
		switch {
		case p.given:
		case p.opts.remote != "":
			return nil, fmt.Errorf("host %s has no number of slots: use -n, -ppn or -host %[1]s:N",
				p.opts.remote)
		default:
			p.part.n = cores()
		}
		numbered = numbered && p.given
		p.opts.perNode = p.perHost
		p.part.inherit = p.all
		if p.inherit != nil {
			p.part.inherit = *p.inherit
		}
		p.part.env = append(slices.Clone(p.env), p.part.env...)
		p.opts.parts = append(p.opts.parts, p.part)
		if more = end < len(rest); more {
			args = rest[end+1:]
		}
	}
	for _, l := range p.opts.listeners {
		if t, is := l.(*traceListener); is && t.path == "" {
			return nil, errors.New("--trace=drop also needs --trace=FILE, the file of the trace")
		}
	}
	if len(p.opts.parts) > 1 && !numbered {
		return nil, errors.New("if there are several programs, each needs its own -n")
	}
	if n := p.opts.size(); n > shm.MaxProcesses {
		return nil, fmt.Errorf("the job has %d processes; the maximum is %d", n, shm.MaxProcesses)
	}
	if p.opts.remote != "" {
		if err := p.checkRemote(); err != nil {
			return nil, err
		}
	} else {
		p.opts.hosts = nil
	}
	if err := p.nodesOfEnvironment(); err != nil {
		return nil, err
	}
	if len(p.opts.parts) > 1 || p.opts.nodes == 0 && p.opts.remote == "" {
		p.opts.perNode = 0
	}
	if n, o := p.opts.size(), &p.opts; o.perNode > 0 && o.remote == "" && n > o.nodes*o.perNode {
		return nil, fmt.Errorf("%d %s do not fit on %d %s with -ppn %d", n, plural(n, "process"), o.nodes,
			plural(o.nodes, "node"), o.perNode)
	}
	if err := p.timeoutOfEnvironment(); err != nil {
		return nil, err
	}
	if value, ok := p.lookup(boot.EnvFT); ok && value == "1" {
		p.opts.ft = true
	}
	return &p.opts, nil
}

// options parses options up to the first argument that is not an option, and returns the remaining arguments.
func (p *parser) options(args []string) (rest []string, err error) {
	for len(args) > 0 {
		arg := args[0]
		if arg == "--" {
			return args[1:], nil
		}
		if len(arg) < 2 || arg[0] != '-' {
			break
		}
		args = args[1:]
		name, value, attached := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
		o := find("-" + arg[1:])
		if o == nil {
			o = find(name)
		}
		switch {
		case o == nil:
			return nil, fmt.Errorf("unknown option %s%s", arg, optionHint(arg, name))
		case o.job && len(p.opts.parts) > 0:
			return nil, fmt.Errorf("%s applies to the whole job: write it before the first program", arg)
		case o.value == "" && attached:
			return nil, fmt.Errorf("%s takes no value", arg)
		case o.value != "" && !attached && !o.choice:
			if len(args) == 0 {
				return nil, fmt.Errorf("%s needs a %s", arg, o.value)
			}
			if value, args = args[0], args[1:]; o.value == "file" && len(value) > 1 && value[0] == '-' {
				return nil, fmt.Errorf("%s needs the name of a file, but %s looks like an option "+
					"(for a file of this name write ./%[2]s)", arg, value)
			}
		}
		if name, _, assigned := strings.Cut(value, "="); o.second != "" && !assigned {
			if len(args) == 0 {
				return nil, fmt.Errorf("%s %s needs a %s", arg, name, o.second)
			}
			value, args = value+"="+args[0], args[1:]
		}
		if o.value != "" && value == "" && (attached || !o.choice) {
			return nil, fmt.Errorf("%s needs a %s", arg, o.value)
		}
		if err := o.set(p, value); err != nil {
			return nil, err
		}
	}
	return args, nil
}

func optionNames() (names []string) {
	for _, o := range table {
		names = append(names, o.names...)
	}
	return names
}

func find(name string) *option {
	for i := range table {
		for _, n := range table[i].names {
			if n == name {
				return &table[i]
			}
		}
	}
	return nil
}

func (p *parser) setNumber(value string) error { return p.number("-n", value) }

// number parses the value of -n, or of the named option.
func (p *parser) number(option, value string) error {
	n, err := strconv.Atoi(value)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && n > shm.MaxProcesses:
		return fmt.Errorf("%s must be from 1 to %d, not %s", option, shm.MaxProcesses, value)
	case err != nil:
		return fmt.Errorf("%s must be a number from 1 to %d, not %q", option, shm.MaxProcesses, value)
	case n < 1:
		return fmt.Errorf("%s must be from 1 to %d, not %s", option, shm.MaxProcesses, value)
	}
	p.part.n, p.given = n, true
	return nil
}

// setTrace handles a value of --trace: a file, or the word drop. The option may be given twice, once with a file and
// once with drop.
func (p *parser) setTrace(value string) error {
	var l *traceListener
	for _, other := range p.opts.listeners {
		if t, is := other.(*traceListener); is {
			l = t
		}
	}
	if l == nil {
		l = &traceListener{}
		p.opts.listeners = append(p.opts.listeners, l)
	}
	switch {
	case value == "drop":
		l.drops = true
	case l.path != "" && l.path != value:
		return fmt.Errorf("--trace=%s: an earlier --trace option names the file %s; give only one", value,
			l.path)
	default:
		l.path = value
	}
	return nil
}

// setCheck handles a value of --check: a file, or one of the words error and strict. The option may be repeated.
func (p *parser) setCheck(value string) error {
	var l *checkListener
	for _, other := range p.opts.listeners {
		if c, is := other.(*checkListener); is {
			l = c
		}
	}
	if l == nil {
		l = &checkListener{}
		p.opts.listeners = append(p.opts.listeners, l)
	}
	switch {
	case value == "error":
		l.waitsForCheck = true
	case value == "strict":
		l.strict = true
	case value != "" && l.path != "" && l.path != value:
		return fmt.Errorf("--check=%s: an earlier --check option names the file %s; give only one", value,
			l.path)
	case value != "":
		l.path = value
	}
	return nil
}

func (p *parser) setNodes(value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > shm.MaxProcesses {
		return fmt.Errorf("--nodes must be a number from 1 to %d, not %q", shm.MaxProcesses, value)
	}
	p.opts.nodes = n
	return nil
}

func (p *parser) setEnv(value string) error {
	name, _, assigned := strings.Cut(value, "=")
	if name == "" {
		return fmt.Errorf("-x %s: the name of the variable is missing; write NAME or NAME=VALUE", value)
	}
	if !assigned {
		v, ok := p.lookup(name)
		if !ok {
			// The variable is unset in the ranks too; no error, since scripts name variables that may be
			// absent
			return nil
		}
		value = name + "=" + v
	}
	p.part.env = append(p.part.env, value)
	return nil
}

func (p *parser) setErrhandler(value string) error {
	if _, err := boot.InitialErrhandler(value); err != nil {
		return fmt.Errorf("-initial-errhandler: %w", err)
	}
	return p.setJobEnv(boot.EnvInitialErrhandler + "=" + value)
}

func (p *parser) setTimeout(value string) error {
	d, ok := seconds(value)
	if !ok || d <= 0 {
		return fmt.Errorf("--timeout must be a number of seconds above 0, not %q", value)
	}
	p.opts.timeout = d
	return nil
}

func (p *parser) setDeadlock(value string) error {
	mode, ok := map[string]deadlockMode{"report": deadlockReport, "abort": deadlockAbort, "off": deadlockOff}[value]
	if !ok {
		return fmt.Errorf("--deadlock must be report, abort or off, not %q", value)
	}
	p.opts.deadlock = mode
	return nil
}

func (p *parser) setDeadlockAfter(value string) error {
	d, ok := seconds(value)
	if !ok || d <= 0 {
		return fmt.Errorf("--deadlock-after must be a number of seconds above 0, not %q", value)
	}
	p.opts.deadlockAfter = d
	return nil
}

// seconds parses a number of seconds. The result for a positive number is at least 1 ns, never 0.
func seconds(value string) (d time.Duration, ok bool) {
	s, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(s) || s > 1e9 {
		return 0, false
	}
	if s <= 0 {
		return 0, true
	}
	return max(time.Duration(s*float64(time.Second)), 1), true
}

// envNodes names the environment variable with the number of nodes to simulate. The variable applies if the command
// line does not have --nodes and all hosts are this machine.
const envNodes = "GOMPIRMA_NODES"

func (p *parser) nodesOfEnvironment() error {
	value, ok := p.lookup(envNodes)
	if p.opts.nodes != 0 || p.opts.remote != "" || !ok || value == "" {
		return nil
	}
	if err := p.setNodes(value); err != nil {
		return fmt.Errorf("%s must be a number from 1 to %d, not %q", envNodes, shm.MaxProcesses, value)
	}
	p.opts.perNode = 0 // -ppn does not apply to simulated nodes
	return nil
}

// envTimeout names the environment variable with the default time limit. Other launchers use the same name.
const envTimeout = "MPIEXEC_TIMEOUT"

func (p *parser) timeoutOfEnvironment() error {
	value, ok := p.lookup(envTimeout)
	if p.opts.timeout != 0 || !ok || value == "" {
		return nil
	}
	d, ok := seconds(value)
	if !ok {
		return fmt.Errorf("%s must be a number of seconds up to 1e9, not %q", envTimeout, value)
	}
	p.opts.timeout = d
	return nil
}

func (p *parser) setPerHost(value string) error {
	given, n := p.given, p.part.n
	err := p.number("-ppn", value)
	p.perHost = p.part.n
	p.given, p.part.n = given, n
	return err
}

func (p *parser) setJobEnv(value string) error {
	if strings.HasPrefix(value, "=") {
		return fmt.Errorf("-genv %s: the name of the variable is missing; write NAME VALUE", value)
	}
	p.env = append(p.env, value)
	return nil
}

func listed(value string) *inherit { return &inherit{limited: true, list: strings.Split(value, ",")} }

func (p *parser) setHosts(value string) error {
	list, err := readHosts(value)
	p.list = append(p.list, list...)
	return err
}

func (p *parser) setHostFile(value string) error {
	list, err := readHostFile(value)
	if err != nil {
		return fmt.Errorf("%s: %w", value, err)
	}
	p.list = append(p.list, list...)
	return nil
}

// setJobHosts makes the hosts of the current part the hosts of the job. All parts must have the same hosts.
func (p *parser) setJobHosts() error {
	switch {
	case p.list == nil:
	case p.opts.hosts == nil:
		p.opts.hosts = p.list
	case !slices.Equal(p.opts.hosts, p.list):
		if p.opts.remote = cmp.Or(p.opts.remote, p.hosts.firstRemote(p.list)); p.opts.remote != "" {
			return errors.New("-host: all programs of a job on several machines need the same hosts")
		}
	}
	if p.opts.remote == "" {
		p.opts.remote = p.hosts.firstRemote(p.list)
	}
	return nil
}

// machines returns the number of machines that the job runs on, or simulates.
func (p *parser) machines() int {
	if p.opts.remote != "" {
		return len(merged(p.opts.hosts))
	}
	return max(p.opts.nodes, 1)
}

// checkRemote returns an error for options that are not supported on several hosts.
func (p *parser) checkRemote() error {
	switch {
	case p.opts.nodes > 0:
		return fmt.Errorf("--nodes simulates machines; it cannot be combined with host %s, which is "+
			"another machine", p.opts.remote)
	case p.opts.deadlock == deadlockAbort:
		return fmt.Errorf("--deadlock abort is not supported on several machines: gompirun "+
			"cannot observe the ranks on host %s",
			p.opts.remote)
	case p.opts.progress:
		return fmt.Errorf("--progress is not supported on several machines: gompirun cannot observe the "+
			"ranks on host %s", p.opts.remote)
	case p.order != "":
		return fmt.Errorf("%s is not supported on several machines: gompirun places the ranks in "+
			"blocks", p.order)
	}
	for _, l := range p.opts.listeners {
		if _, is := l.(*checkListener); is {
			return fmt.Errorf("--check is not supported on several machines, and host %s is another "+
				"machine; use --nodes %d on one machine", p.opts.remote,
				len(merged(p.opts.hosts)))
		}
	}
	return nil
}

// setOutputName sets the output files. It ignores modifiers after the name.
func (p *parser) setOutputName(value string) error {
	dir, _, _ := strings.Cut(value, ":")
	dir = strings.TrimSuffix(dir, ",nocopy")
	dir = strings.ReplaceAll(dir, "%", "%%")
	p.opts.outFile, p.opts.errFile = dir+"/1/rank.%0r/stdout", dir+"/1/rank.%0r/stderr"
	return nil
}

func (p *parser) setBind(value string) error {
	// Ignores modifiers such as :overload-allowed. In other launchers they select what happens if there are more
	// ranks than cores.
	what, _, _ := strings.Cut(value, ":")
	switch what {
	case "none", "core", "hwthread", "socket", "numa":
		p.opts.bind = what
	case "package":
		p.opts.bind = "socket"
	default:
		return fmt.Errorf("--bind-to must be none, core, hwthread, socket or numa, not %q", value)
	}
	return nil
}

// places lists the units over which --map-by can distribute ranks. On one host, all units result in the same order of
// ranks. A unit then matters only if the ranks are bound.
var places = []string{"slot", "node", "host", "core", "hwthread", "socket", "package", "numa", "board", "l1cache",
	"l2cache", "l3cache", "seq", "fill", "span"}

// setMap parses PLACE or ppr:N:PLACE, followed by modifiers, each after a colon or a comma.
func (p *parser) setMap(value string) error {
	bad := fmt.Errorf("--map-by must be slot, core, socket, node or ppr:N:node, with the modifier PE=N, not %q",
		value)
	words := strings.FieldsFunc(strings.ToLower(value), func(r rune) bool { return r == ':' || r == ',' })
	perNode := len(words) > 2 && words[0] == "ppr"
	if perNode {
		if words[2] != "node" && words[2] != "host" {
			return bad
		}
		if err := p.setPerHost(words[1]); err != nil {
			return bad
		}
		words = words[2:]
	}
	for i, word := range words {
		number, isPE := strings.CutPrefix(word, "pe=")
		switch {
		case isPE:
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 || n > shm.MaxProcesses {
				return bad
			}
			p.opts.bindTo = n
		case word == "oversubscribe" || word == "nooversubscribe" || word == "span" || word == "nolocal" ||
			word == "inherit":
			p.orders("--map-by", word)
		case i > 0 || !slices.Contains(places, word):
			return bad
		case !perNode:
			p.orders("--map-by", word)
		}
	}
	if len(words) == 0 {
		return bad
	}
	return nil
}

// orders records an option that asks for another placement than blocks of ranks on each host. It has no effect if
// `word` is not such a placement. gompirun does not support it on several hosts, so checkRemote returns an error for
// it.
func (p *parser) orders(option, word string) {
	if slices.Contains([]string{"node", "host", "seq", "span", "nolocal"}, word) {
		p.order = option + " " + word
	}
}

func (p *parser) setRank(value string) error {
	word, _, _ := strings.Cut(strings.ToLower(value), ":")
	p.orders("--rank-by", word)
	if !slices.Contains(places, word) {
		return fmt.Errorf("--rank-by must be slot, core, socket or node, not %q", value)
	}
	return nil
}

// cores returns the number of processors that this process may use.
func cores() int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return 1
	}
	return min(max(set.Count(), 1), shm.MaxProcesses)
}
