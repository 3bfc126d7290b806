// Command compare builds the programs of bench/ with gompirma and with Debian's MPICH and Open MPI, runs each
// measurement with all of them in turn, and prints tables of times and ratios beside the goals, as Markdown.
//
//	go run ./bench/compare -build build [-only REGEXP] [-runs 3] [-timeout 20s] [-o FILE.md] [-json FILE]
//
// The libraries take turns within one run, so that what else the machine does hits all of them. A peer that crashes or
// does not end in time is shown as that; its place in the ratio is taken by the other one.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// results are outcomes by measurement and library.
type results map[string]map[string][]outcome

func main() {
	build := flag.String("build", "build", "folder that `make build` wrote")
	only := flag.String("only", ".", "measurements to run, a regular expression for their names")
	runs := flag.Int("runs", 3, "launches of each measurement with each library; the median counts")
	timeout := flag.Duration("timeout", 20*time.Second, "time limit of one measurement")
	list := flag.Bool("list", false, "print the names of the measurements and end")
	to := flag.String("o", "", "write the tables into this file as well")
	asJSON := flag.String("json", "", "write every value into this file")
	flag.Parse()
	if *list {
		for _, m := range measurements {
			fmt.Printf("%-32s %s\n", m.name, m.label)
		}
		return
	}
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
	var chosen []measurement
	var programs []string
	for _, m := range measurements {
		if pattern.MatchString(m.name) {
			chosen = append(chosen, m)
			programs = append(programs, m.program)
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("no measurement's name matches %q", only)
	}
	slices.Sort(programs)
	build, err = filepath.Abs(build)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "gompirma-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	libraries, err := compileAll(build, work, slices.Compact(programs))
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
	machine(out, runs)
	all := results{}
	part := ""
	for _, batch := range batches(chosen) {
		if batch[0].part != part {
			part = batch[0].part
			header(out, part, libraries)
		}
		take(all, batch, libraries, launcher{work, timeout}, runs)
		for _, m := range batch {
			fmt.Fprintln(out, row(m, libraries, all))
		}
	}
	if asJSON != "" {
		return writeJSON(asJSON, all)
	}
	return nil
}

// batches puts measurements that follow each other and may share a launch together.
func batches(all []measurement) [][]measurement {
	var found [][]measurement
	for _, m := range all {
		if n := len(found); n > 0 && m.together(found[n-1][0]) {
			found[n-1] = append(found[n-1], m)
		} else {
			found = append(found, []measurement{m})
		}
	}
	return found
}

// take launches the batch with every library in turn, runs times. A library that failed in a measurement once is not
// asked again.
func take(all results, batch []measurement, libraries []library, with launcher, runs int) {
	for _, m := range batch {
		all[m.name] = map[string][]outcome{}
	}
	for r := range runs {
		for i := range libraries {
			l := libraries[(i+r)%len(libraries)]
			asked := slices.DeleteFunc(slices.Clone(batch), func(m measurement) bool {
				before := all[m.name][l.name]
				return len(before) > 0 && before[len(before)-1].why != ""
			})
			if len(asked) == 0 {
				continue
			}
			for name, o := range with.measure(asked, l) {
				all[name][l.name] = append(all[name][l.name], o)
				if l.name == "gompirma" && o.why != "" {
					fmt.Fprintf(os.Stderr, "compare: %s with gompirma: %s\n", name, o.why)
				}
			}
		}
	}
}

func machine(out io.Writer, runs int) {
	load, _, _ := strings.Cut(readFile("/proc/loadavg"), " ")
	fmt.Fprintf(out, "%s, %d cores, load before the run %s, %d launches each, median.\n", processor(),
		runtime.NumCPU(), load, runs)
}

func header(out io.Writer, part string, libraries []library) {
	names := []string{"what"}
	for _, l := range libraries {
		names = append(names, l.name)
	}
	names = append(names, "ratio", "goal", "reached")
	fmt.Fprintf(out, "\n### %s\n\n| %s |\n|%s\n", part, strings.Join(names, " | "),
		strings.Repeat("---|", len(names)))
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

func writeJSON(path string, all results) error {
	type value struct {
		Measurement string    `json:"measurement"`
		Library     string    `json:"library"`
		Unit        string    `json:"unit"`
		Values      []float64 `json:"values"`
		Failure     string    `json:"failure,omitempty"`
	}
	var list []value
	for _, m := range measurements {
		for _, l := range candidates("") {
			outcomes := all[m.name][l.name]
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
			list = append(list, v)
		}
	}
	data, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}
