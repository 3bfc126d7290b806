package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A library is one MPI library: its compiler and its launcher.
type library struct {
	name   string
	cc     string
	launch []string // command of the launcher; -n N PROGRAM follows
	env    []string
	hosts  string // option that sets the number of ranks on each of two hosts; "" to run all ranks on one host
	// Functions that the library's mpi.h declares. Only -census fills this map.
	has map[string]bool
}

// lacksFunctions reports whether the library cannot run the measurement: it lacks a function that the measurement
// needs, or the measurement is only for gompirma.
func (l library) lacksFunctions(m measurement) bool {
	return m.own && l.name != "gompirma" ||
		slices.ContainsFunc(m.needs, func(function string) bool { return !l.has[function] })
}

// placement returns the launcher's options that place the given number of ranks.
func (l library) placement(ranks int) []string {
	each := ranks / 2
	switch l.hosts {
	case "-ppn":
		return []string{"-ppn", strconv.Itoa(each)}
	case "-H":
		return []string{"-H", fmt.Sprintf("h1:%d,h2:%d", each, each)}
	}
	return nil
}

func candidates(build string) []library {
	return []library{
		{name: "gompirma", cc: filepath.Join(build, "bin/gompicc"),
			launch: []string{filepath.Join(build, "bin/gompirun")}},
		{name: "MPICH", cc: "mpicc.mpich", launch: []string{"mpiexec.mpich"}},
		{name: "Open MPI", cc: "mpicc.openmpi", launch: []string{"mpirun.openmpi", "--oversubscribe"},
			env: []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}},
	}
}

// onHosts returns the libraries with launchers for the two hosts of tests/cluster/bed.sh. MPICH's launcher also starts
// gompirma. MPICH and Open MPI need options to use the network, since the hosts are namespaces of one machine.
func onHosts(build string) []library {
	remote := filepath.Join(os.Getenv("BED"), "bin/remote")
	hydra := []string{"on", "h1", "mpiexec.mpich", "-launcher", "ssh", "-launcher-exec", remote, "-hosts", "h1,h2"}
	all := candidates(build)
	for i := range all {
		all[i].launch, all[i].hosts = hydra, "-ppn"
	}
	all[1].env = []string{"UCX_TLS=tcp,self"}
	all[2].launch = []string{"on", "h1", "mpirun.openmpi", "--mca", "plm_rsh_agent", remote,
		"--mca", "oob_tcp_if_include", "10.77.0.0/16", "--mca", "btl_tcp_if_include", "10.77.0.0/16",
		"--bind-to", "none", "--mca", "pml", "ob1", "--mca", "btl", "tcp,self,vader", "--mca", "osc", "pt2pt"}
	all[2].hosts = "-H"
	return all
}

// An outcome is the result of one launch for a measurement: a value, or the reason why it has no value.
type outcome struct {
	value   float64 // nanoseconds, KiB or instructions
	failure string
}

// compileAll builds the programs with every available library; gompirma is required.
func compileAll(all []library, work string, programs []string) ([]library, error) {
	var found []library
	if err := compileOne("gcc", filepath.Join(work, "icount"), "icount"); err != nil {
		return nil, err
	}
	for _, l := range all {
		if _, err := exec.LookPath(l.cc); err != nil {
			if l.name == "gompirma" {
				return nil, fmt.Errorf("%s is not there: run make build", l.cc)
			}
			fmt.Fprintf(os.Stderr, "compare: %s is left out: %s is not installed\n", l.name, l.cc)
			continue
		}
		if slices.Contains(programs, "census") {
			if err := l.census(work); err != nil {
				return nil, err
			}
		}
		for _, program := range programs {
			to := programPath(work, program, l)
			if err := compileOne(l.cc, to, program, "-I", l.folder(work)); err != nil {
				return nil, err
			}
		}
		found = append(found, l)
	}
	return found, nil
}

func compileOne(cc, to, program string, options ...string) error {
	cmd := exec.Command(cc, append(options, "-O2", "-pthread", "-o", to, filepath.Join("bench", program+".c"))...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}

// folder returns the directory for generated headers of this library.
func (l library) folder(work string) string {
	return filepath.Join(work, strings.ReplaceAll(l.name, " ", ""))
}

func programPath(work, program string, l library) string {
	return filepath.Join(work, program+"-"+strings.ReplaceAll(l.name, " ", ""))
}

// A launcher runs programs that compileAll has built in the directory `work`. It kills a program that prints nothing
// for the duration `timeout`. When ctx ends, it kills all programs.
type launcher struct {
	ctx     context.Context
	work    string
	timeout time.Duration
}

// measure returns an outcome for every measurement of the batch with this library. One launch runs the batch. If a
// measurement fails, another launch runs the measurements after it. If the failed measurement belongs to a sweep, the
// remaining measurements of the sweep fail without a launch, so that a hang costs the timeout only once.
func (r launcher) measure(batch []measurement, l library) map[string]outcome {
	outcomes := map[string]outcome{}
	for len(batch) > 0 {
		said, why := r.launch(batch, l)
		done := 0
		for done < len(batch) {
			o, ok := said[batch[done].row]
			if !ok {
				break
			}
			outcomes[batch[done].name] = o
			done++
		}
		// The program failed after its last value: that measurement counts as failed.
		if why != "" && done == len(batch) {
			done--
		}
		if done < len(batch) {
			if why == "" {
				why = "no result"
			}
			failed := batch[done]
			for done < len(batch) && (batch[done].name == failed.name ||
				failed.series != "" && batch[done].series == failed.series) {
				outcomes[batch[done].name] = outcome{failure: why}
				done++
			}
		}
		batch = batch[done:]
	}
	return outcomes
}

// launch starts the program of the batch once. It returns the outcomes that the program printed, by row, and a
// description of the failure, if any. If the program prints nothing for the time `timeout`, launch sends SIGTERM, so
// that the MPI launcher can end its processes. SIGKILL follows.
func (r launcher) launch(batch []measurement, l library) (outcomes map[string]outcome, failure string) {
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	m := batch[0]
	args := append(slices.Concat(l.launch[1:], l.placement(m.ranks)), "-n", strconv.Itoa(m.ranks))
	program := programPath(r.work, m.program, l)
	if m.count {
		args = append(args, filepath.Join(r.work, "icount"), countLoops, program, "--count", countLoops)
	} else {
		args = append(args, program)
	}
	args = append(args, m.args...)
	for _, b := range batch {
		if b.row != "" {
			args = append(args, b.row)
		}
	}
	cmd := exec.CommandContext(ctx, l.launch[0], args...)
	cmd.Env = append(append(os.Environ(), l.env...), m.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 3 * time.Second
	text := &watched{timeout: r.timeout, watch: time.AfterFunc(r.timeout, cancel)}
	defer text.watch.Stop()
	cmd.Stdout = text
	begin := time.Now()
	err := cmd.Run()
	took := time.Since(begin)
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // remaining processes, if any
	}
	switch exit := (*exec.ExitError)(nil); {
	case r.ctx.Err() != nil:
		failure = "interrupted"
	case ctx.Err() != nil:
		failure = fmt.Sprintf("> %.0f s", r.timeout.Seconds())
	case errors.As(err, &exit):
		failure = "crash"
	case err != nil:
		failure = err.Error()
	}
	if m.wall {
		if failure != "" {
			return nil, failure
		}
		return map[string]outcome{m.row: {value: float64(took.Nanoseconds())}}, ""
	}
	return parse(text.String()), failure
}

// countLoops is the argument LOOPS of bench/icount.
const countLoops = "6"

// parse finds the lines "name value unit" in a program's output. For a number of instructions, the line has no unit.
// bench/icount prints "more" instead of the number if a loop executed more instructions than its limit.
func parse(text string) map[string]outcome {
	said := map[string]outcome{}
	for _, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		switch {
		case len(f) == 2 && f[1] == "more":
			said[f[0]] = outcome{failure: "more"}
		case len(f) == 2 && strings.HasPrefix(f[1], "-"): // the short loop had more instructions than the long
			said[f[0]] = outcome{failure: "uneven"}
		case len(f) == 2 || len(f) == 3 && (f[2] == "ns" || f[2] == "KiB" || f[2] == "%"):
			if v, err := strconv.ParseFloat(f[1], 64); err == nil {
				said[f[0]] = outcome{value: v}
			}
		}
	}
	return said
}

// watched stores the output and restarts the timeout at each write.
type watched struct {
	timeout time.Duration
	watch   *time.Timer
	mu      sync.Mutex
	text    bytes.Buffer
}

func (w *watched) Write(p []byte) (int, error) {
	w.watch.Reset(w.timeout)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
