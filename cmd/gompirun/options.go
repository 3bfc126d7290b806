package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"gompirma/core/shm"
)

const manual = `usage: gompirun [options] [-n N] program [arguments] [: [-n N] program [arguments]]...

Starts N processes of a program on this machine as one MPI job. Several programs, separated by ":", form one job together.

For each program:
  -n, -np N             number of processes; default for a single program: the cores that may be used
  -x, --env NAME[=V]    set a variable of the environment, or pass on gompirun's (everything is passed on by default); repeatable
  --wdir DIR            start in this folder; a program given by a relative path is looked for from there

For the job, before the first program:
  -l, --tag-output      put [rank] before each line
  --output-dir DIR      write each rank's output and errors to DIR/rank-R.txt instead of passing it on
  --timeout S           end the job after S seconds, say what each rank waited for, exit with status 124
  --bind-to core|none   bind each rank to a core of its own, if there are enough; default: none
  -q, --quiet           no lines of gompirun's own about failures and warnings
  -V, --version         print the version
  -h, --help            print this

Options may be written with one or two dashes, values as "--opt V" or "--opt=V". --oversubscribe and --allow-run-as-root are accepted: both are
always allowed. At most %MAX% processes.

Input goes to rank 0; the others read an empty file. Lines of different ranks do not mix.

Exit status: 0; else that of the first rank that failed (128 + the signal, if one killed it; what it gave to MPI_Abort; 1 if it left without
MPI_Finalize), 124 after --timeout, 128 + the signal that ended gompirun's job, 2 if nothing could be started. When a rank dies, aborts, or
ends with an error before MPI_Finalize, the others are ended within a second by SIGTERM, then SIGKILL. What a rank leaves running in its process
group is ended with the job.
`

// options are what the command line asks for.
type options struct {
	parts     []part
	tag       bool
	outputDir string        // "": pass the output on
	timeout   time.Duration // 0: none
	bind      bool
	quiet     bool
}

// part is one program specification; MPI calls its position the application number.
type part struct {
	n    int // processes
	env  []string
	wdir string
	argv []string
}

// size is the number of processes of the job.
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

// option is one entry of the table below.
type option struct {
	names []string // without dashes
	value string   // what its value is called; "": it takes none
	job   bool     // it is about the job, not about one program
	set   func(p *parser, value string) error
}

var table = []option{
	{names: []string{"n", "np"}, value: "number", set: (*parser).setNumber},
	{names: []string{"x", "env"}, value: "variable", set: (*parser).setEnv},
	{names: []string{"wdir", "wd"}, value: "folder", set: func(p *parser, v string) error { p.part.wdir = v; return nil }},
	{names: []string{"l", "tag-output"}, job: true, set: func(p *parser, _ string) error { p.opts.tag = true; return nil }},
	{names: []string{"output-dir"}, value: "folder", job: true, set: func(p *parser, v string) error { p.opts.outputDir = v; return nil }},
	{names: []string{"timeout"}, value: "number of seconds", job: true, set: (*parser).setTimeout},
	{names: []string{"bind-to"}, value: "core or none", job: true, set: (*parser).setBind},
	{names: []string{"q", "quiet"}, job: true, set: func(p *parser, _ string) error { p.opts.quiet = true; return nil }},
	{names: []string{"oversubscribe", "allow-run-as-root"}, job: true, set: func(*parser, string) error { return nil }},
	{names: []string{"V", "version"}, job: true, set: func(*parser, string) error { return errVersion }},
	{names: []string{"h", "help"}, job: true, set: func(*parser, string) error { return errHelp }},
}

// parser reads the command line from left to right.
type parser struct {
	lookup func(string) (string, bool) // of the environment
	opts   options
	part   part
	given  bool // the part has a -n
}

// parse reads the arguments. Its errors are the one line that the user sees.
func parse(args []string, lookup func(string) (string, bool)) (*options, error) {
	p := &parser{lookup: lookup}
	numbered := true // every part so far had a -n
	for more := true; more; {
		p.part, p.given = part{}, false
		rest, err := p.options(args)
		if err != nil {
			return nil, err
		}
		end := 0
		for end < len(rest) && rest[end] != ":" {
			end++
		}
		if p.part.argv = rest[:end]; end == 0 || p.part.argv[0] == "" {
			return nil, errors.New("no program given; see gompirun --help")
		}
		if !p.given {
			p.part.n = cores()
		}
		numbered = numbered && p.given
		p.opts.parts = append(p.opts.parts, p.part)
		if more = end < len(rest); more {
			args = rest[end+1:]
		}
	}
	if len(p.opts.parts) > 1 && !numbered {
		return nil, errors.New("-n is needed for each of several programs")
	}
	if n := p.opts.size(); n > shm.MaxProcesses {
		return nil, fmt.Errorf("%d processes: at most %d are possible", n, shm.MaxProcesses)
	}
	return &p.opts, nil
}

// options reads options up to the first argument that is none, and returns what remains.
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
		o := find(name)
		switch {
		case o == nil:
			return nil, fmt.Errorf("unknown option %s; see gompirun --help", arg)
		case o.job && len(p.opts.parts) > 0:
			return nil, fmt.Errorf("%s is about the whole job and must stand before the first program", arg)
		case o.value == "" && attached:
			return nil, fmt.Errorf("%s takes no value", arg)
		case o.value != "" && !attached:
			if len(args) == 0 {
				return nil, fmt.Errorf("%s needs a %s", arg, o.value)
			}
			value, args = args[0], args[1:]
		}
		if o.value != "" && value == "" {
			return nil, fmt.Errorf("%s needs a %s", arg, o.value)
		}
		if err := o.set(p, value); err != nil {
			return nil, err
		}
	}
	return args, nil
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

func (p *parser) setNumber(value string) error {
	n, err := strconv.Atoi(value)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && n > shm.MaxProcesses:
		return fmt.Errorf("-n %s: from 1 to %d processes are possible", value, shm.MaxProcesses)
	case err != nil:
		return fmt.Errorf("-n %s: not a number", value)
	case n < 1:
		return fmt.Errorf("-n %s: from 1 to %d processes are possible", value, shm.MaxProcesses)
	}
	p.part.n, p.given = n, true
	return nil
}

func (p *parser) setEnv(value string) error {
	name, _, assigned := strings.Cut(value, "=")
	if name == "" {
		return fmt.Errorf("-x %s: not a variable's name", value)
	}
	if !assigned {
		v, ok := p.lookup(name)
		if !ok {
			return nil // not set here, so not set there; scripts name variables that may be absent
		}
		value = name + "=" + v
	}
	p.part.env = append(p.part.env, value)
	return nil
}

func (p *parser) setTimeout(value string) error {
	s, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(s) || s <= 0 || s > 1e9 {
		return fmt.Errorf("--timeout %s: not a number of seconds above 0", value)
	}
	p.opts.timeout = max(time.Duration(s*float64(time.Second)), 1)
	return nil
}

func (p *parser) setBind(value string) error {
	if value != "core" && value != "none" {
		return fmt.Errorf("--bind-to %s: core and none are possible", value)
	}
	p.opts.bind = value == "core"
	return nil
}

// cores is how many processors this process may use.
func cores() int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return 1
	}
	return min(max(set.Count(), 1), shm.MaxProcesses)
}
