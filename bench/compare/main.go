// Command compare builds the programs of bench/ with gompirma and with Debian's MPICH and Open MPI, runs each
// measurement with all of them in turn, and prints a table of times and ratios beside the goals, as Markdown.
//
//	go run ./bench/compare -build build [-only REGEXP] [-runs 3] [-timeout 20s] [-o FILE.md] [-json FILE]
//
// The libraries take turns within one run, so that what else the machine does hits all of them. A peer that crashes or
// does not end in time is shown as that; its place in the ratio is taken by the other one.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A library is one MPI: its compiler, its launcher.
type library struct {
	name   string
	cc     string
	launch []string // followed by -n N PROGRAM
	env    []string
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

// An outcome is what one launch gave: a value, or why there is none.
type outcome struct {
	value float64 // nanoseconds or KiB
	why   string
}

func main() {
	build := flag.String("build", "build", "folder that `make build` wrote")
	only := flag.String("only", ".", "measurements to run, a regular expression for their names")
	runs := flag.Int("runs", 3, "launches of each measurement with each library; the median counts")
	timeout := flag.Duration("timeout", 20*time.Second, "time limit of one launch")
	to := flag.String("o", "", "write the table into this file as well")
	asJSON := flag.String("json", "", "write every value into this file")
	flag.Parse()
	if err := run(*build, *only, *runs, *timeout, *to, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run(build, only string, runs int, timeout time.Duration, to, asJSON string) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	build, err = filepath.Abs(build)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "gompirma-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	libraries, err := compileAll(build, work)
	if err != nil {
		return err
	}

	var out io.Writer = os.Stdout
	if to != "" {
		f, err := os.Create(to)
		if err != nil {
			return err
		}
		defer f.Close()
		out = io.MultiWriter(os.Stdout, f)
	}
	header(out, libraries, runs)
	results := map[string]map[string][]outcome{} // measurement, library
	for _, m := range measurements {
		if !pattern.MatchString(m.name) {
			continue
		}
		results[m.name] = measure(m, libraries, work, runs, timeout)
		fmt.Fprintln(out, row(m, libraries, results))
	}
	if len(results) == 0 {
		return fmt.Errorf("no measurement's name matches %q", only)
	}
	if asJSON != "" {
		return writeJSON(asJSON, results)
	}
	return nil
}

// compileAll builds the programs with every library there is; gompirma must be there.
func compileAll(build, work string) ([]library, error) {
	var found []library
	for _, l := range candidates(build) {
		if _, err := exec.LookPath(l.cc); err != nil {
			if l.name == "gompirma" {
				return nil, fmt.Errorf("%s is not there: run make build", l.cc)
			}
			fmt.Fprintf(os.Stderr, "compare: %s is left out: %s is not installed\n", l.name, l.cc)
			continue
		}
		for _, program := range []string{"rma", "startup"} {
			cmd := exec.Command(l.cc, "-O2", "-o", programPath(work, program, l),
				filepath.Join("bench", program+".c"))
			if out, err := cmd.CombinedOutput(); err != nil {
				return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
			}
		}
		found = append(found, l)
	}
	return found, nil
}

func programPath(work, program string, l library) string {
	return filepath.Join(work, program+"-"+strings.ReplaceAll(l.name, " ", ""))
}

func header(out io.Writer, libraries []library, runs int) {
	load, _, _ := strings.Cut(readFile("/proc/loadavg"), " ")
	fmt.Fprintf(out, "%s, %d cores, load before the run %s, %d launches each, median.\n\n", processor(),
		runtime.NumCPU(), load, runs)
	names := []string{"what"}
	for _, l := range libraries {
		names = append(names, l.name)
	}
	names = append(names, "ratio", "goal", "reached")
	fmt.Fprintf(out, "| %s |\n|%s\n", strings.Join(names, " | "), strings.Repeat("---|", len(names)))
}

func readFile(path string) string {
	data, _ := os.ReadFile(path)
	return string(data)
}

func processor() string {
	for _, line := range strings.Split(readFile("/proc/cpuinfo"), "\n") {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// measure launches the measurement with every library in turn, runs times. A library that failed once is not asked
// again.
func measure(m measurement, libraries []library, work string, runs int, timeout time.Duration) map[string][]outcome {
	outcomes := map[string][]outcome{}
	for r := range runs {
		for i := range libraries {
			l := libraries[(i+r)%len(libraries)]
			if n := len(outcomes[l.name]); n > 0 && outcomes[l.name][n-1].why != "" {
				continue
			}
			o := launch(m, l, work, timeout)
			outcomes[l.name] = append(outcomes[l.name], o)
			if l.name == "gompirma" && o.why != "" {
				fmt.Fprintf(os.Stderr, "compare: %s with gompirma: %s\n", m.name, o.why)
			}
		}
	}
	return outcomes
}

// launch runs one measurement once. The processes get SIGTERM when the time is up, so that launchers can end theirs,
// then SIGKILL.
func launch(m measurement, l library, work string, timeout time.Duration) outcome {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	args := append(slices.Clone(l.launch[1:]), "-n", strconv.Itoa(m.ranks), programPath(work, m.program, l))
	args = append(args, m.args...)
	cmd := exec.CommandContext(ctx, l.launch[0], args...)
	cmd.Env = append(os.Environ(), l.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 3 * time.Second
	begin := time.Now()
	text, err := cmd.Output()
	took := time.Since(begin)
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what is left of the group; normally nobody
	}
	switch {
	case ctx.Err() != nil:
		return outcome{why: fmt.Sprintf("> %.0f s", timeout.Seconds())}
	case err != nil:
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return outcome{why: "crash"}
		}
		return outcome{why: err.Error()}
	case m.wall:
		return outcome{value: float64(took.Nanoseconds())}
	}
	for _, line := range strings.Split(string(text), "\n") {
		if f := strings.Fields(line); len(f) == 3 && f[0] == m.args[len(m.args)-1] {
			if v, err := strconv.ParseFloat(f[1], 64); err == nil {
				return outcome{value: v}
			}
		}
	}
	return outcome{why: "no result"}
}

func writeJSON(path string, results map[string]map[string][]outcome) error {
	type value struct {
		Measurement string    `json:"measurement"`
		Library     string    `json:"library"`
		Unit        string    `json:"unit"`
		Values      []float64 `json:"values"`
		Failure     string    `json:"failure,omitempty"`
	}
	var all []value
	for _, m := range measurements {
		for _, l := range candidates("") {
			outcomes := results[m.name][l.name]
			if outcomes == nil {
				continue
			}
			v := value{Measurement: m.name, Library: l.name, Unit: m.unit()}
			for _, o := range outcomes {
				if o.why != "" {
					v.Failure = o.why
				} else {
					v.Values = append(v.Values, o.value)
				}
			}
			all = append(all, v)
		}
	}
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}
