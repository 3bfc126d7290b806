// Package fuzz runs jobs of the program tests/c/fuzz, whose ranks make calls with invalid arguments. It collects the
// errors of the library that the jobs find, including crashes and hangs.
package fuzz

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gompirma/core/abi"
)

// Handlers lists the error handlers of jobs, by their number in tests/c/fuzz.
var Handlers = []string{"MPI_ERRORS_RETURN", "a user's error handler", "a user's error handler that sets MPI_SUCCESS"}

// Job describes a job: its ranks, and the number of calls that each rank makes. The seed determines the calls.
type Job struct {
	Ranks    int
	Seed     uint64
	Calls    int
	Handler  int
	Phase    string // set for Outside only: the job makes only calls of Function, in this phase of MPI
	Function string
}

// Command returns the command line that repeats the job.
func (j Job) Command() string {
	if j.Phase != "" {
		return fmt.Sprintf("GOMPIRMA_FUZZ_JOB=%s,%s,%d,%d go test -count=1 -v -run '^TestOutside$' "+
			"./tests/go/fuzz", j.Phase, j.Function, j.Seed, j.Calls)
	}
	return fmt.Sprintf("GOMPIRMA_FUZZ_JOB=%d,%d,%d,%d go test -count=1 -v -run '^TestFuzz$' ./tests/go/fuzz",
		j.Ranks, j.Seed, j.Calls, j.Handler)
}

// Finding is an error of the library that a job has found.
type Finding struct {
	Job
	Kind, Name, What string // Name: the MPI function
	Where, Text      string // Where: rank and number of the call; Text: the call with its arguments
}

var numbers = regexp.MustCompile(`0x[0-9a-f]+|-?\d+|communicator \w+`)

// Key returns a string that is equal for findings that probably have the same cause.
func (f *Finding) Key() string {
	return f.Kind + "|" + f.Name + "|" + numbers.ReplaceAllString(strings.SplitN(f.What, "\n", 2)[0], "N")
}

func (f *Finding) String() string {
	return fmt.Sprintf("%s: %s: %s\n    %s: %s\n    %d ranks, %s: %s", f.Kind, f.Name, f.What, f.Where, f.Text,
		f.Ranks, Handlers[f.Handler], f.Command())
}

// Result holds the findings and the counts of a job.
type Result struct {
	Findings []*Finding
	// The number of calls of each function: those made, those that succeeded, and those not made because they might
	// block.
	Made, Done, Held map[string]int
	Total            int // calls made by rank 0
}

func newResult() *Result {
	return &Result{Made: map[string]int{}, Done: map[string]int{}, Held: map[string]int{}}
}

// Add adds the counts of another job to r, but not its findings.
func (r *Result) Add(o *Result) {
	r.Total += o.Total
	for _, m := range []struct{ to, from map[string]int }{{r.Made, o.Made}, {r.Done, o.Done}, {r.Held, o.Held}} {
		for name, n := range m.from {
			m.to[name] += n
		}
	}
}

// Runner starts jobs.
type Runner struct {
	Launcher, Program string
	Dir               string        // directory for temporary files
	Patience          time.Duration // a job without progress for this time counts as hung
}

// Build compiles tests/c/fuzz and returns the path of the program.
func Build(gompicc, source, dir string) (string, error) {
	program := filepath.Join(dir, "fuzz")
	files, err := filepath.Glob(filepath.Join(source, "*.c"))
	if err != nil {
		return "", err
	}
	arguments := []string{"-O1", "-g", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-I", source, "-o", program,
		filepath.Join(source, "generated/calls.c")}
	out, err := exec.Command(gompicc, append(arguments, files...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return program, nil
}

// execution is the outcome of a command: the last states of its ranks, its output, and whether it hung.
type execution struct {
	members     []rankState
	out, errors string
	err         error
	hangs       bool
}

// execute runs a command. It replaces the argument %s by the name of a file whose memory the ranks share with this
// process. It kills the command if the ranks make no progress for r.Patience.
func (r *Runner) execute(ranks int, command ...string) (*execution, error) {
	file, err := os.CreateTemp(r.Dir, "shared-")
	if err != nil {
		return nil, err
	}
	name := file.Name()
	defer os.Remove(name)
	file.Close()
	for i := range command {
		command[i] = strings.Replace(command[i], "%s", name, 1)
	}
	var out, errs bytes.Buffer
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = r.Dir
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	e := &execution{}
	last, since := "", time.Now()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for waits := true; waits; {
		select {
		case e.err = <-done:
			waits = false
		case <-tick.C:
			now := ""
			if b, err := os.ReadFile(name); err == nil {
				for _, m := range members(b, ranks) {
					now += m.String() + "\n"
				}
			}
			if now != last {
				last, since = now, time.Now()
			}
			if !e.hangs && time.Since(since) > r.Patience {
				e.hangs = true
				_ = cmd.Process.Signal(syscall.SIGTERM)
			}
		}
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	e.members, e.out, e.errors = members(b, ranks), out.String(), errs.String()
	return e, nil
}

// Run runs a job and returns its findings and counts.
func (r *Runner) Run(j Job) (*Result, error) {
	e, err := r.execute(j.Ranks, r.Launcher, "-n", strconv.Itoa(j.Ranks), r.Program, "%s",
		strconv.FormatUint(j.Seed, 10), strconv.Itoa(j.Calls),
		strconv.Itoa(j.Handler))
	if err != nil {
		return nil, err
	}
	res := newResult()
	res.Findings = printed(e.out, j)
	for i, f := range abi.Functions() {
		for r, m := range e.members {
			res.Made[f.Name] += int(m.made[i])
			res.Done[f.Name] += int(m.done[i])
			res.Held[f.Name] += int(m.held[i])
			if r == 0 {
				res.Total += int(m.made[i])
			}
		}
	}
	complete := len(e.members) == j.Ranks
	for _, m := range e.members {
		complete = complete && m.stage == ended
	}
	switch {
	case e.hangs:
		res.Findings = append(res.Findings, j.endFinding("hang", e))
	case e.err != nil || !complete:
		res.Findings = append(res.Findings, j.endFinding("crash", e))
	case e.errors != "":
		res.Findings = append(res.Findings, &Finding{j, "standard error", "", e.errors, "", ""})
	}
	return res, nil
}

// printed returns the findings that the ranks of a job have printed.
func printed(out string, j Job) (list []*Finding) {
	s := bufio.NewScanner(strings.NewReader(out))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		if f := strings.Split(s.Text(), "\t"); f[0] == "FINDING" && len(f) == 6 {
			list = append(list, &Finding{j, f[1], f[2], f[3], f[4], f[5]})
		}
	}
	return list
}

var ofRank = regexp.MustCompile(`rank (\d+)`)

// endFinding returns the finding for a job that crashed or hung.
func (j Job) endFinding(kind string, e *execution) *Finding {
	f := &Finding{Job: j, Kind: kind, Name: "?", What: fmt.Sprint(e.err)}
	culprit, list := -1, e.members
	if m := ofRank.FindStringSubmatch(e.errors); m != nil && kind == "crash" {
		culprit, _ = strconv.Atoi(m[1])
	}
	for r := range list {
		if culprit < 0 && list[r].stage == inCall {
			culprit = r
		}
		f.Text += fmt.Sprintf("\n    rank %d %v", r, &list[r])
	}
	if culprit >= 0 && culprit < len(list) {
		f.Where = fmt.Sprintf("rank %d call %d", culprit, list[culprit].call)
		f.Name, _, _ = strings.Cut(list[culprit].text, "(")
	}
	f.Text += "\n" + e.errors[:min(len(e.errors), 3000)]
	return f
}
