// Command compare builds the programs of bench/ with gompirma and with Debian's MPICH and Open MPI (the peers), and
// runs each measurement with all of them. It prints tables of times, ratios and goals as Markdown. A ratio is the time
// of the better peer divided by gompirma's time.
//
//	go run ./bench/compare -build build [-only REGEXP] [-quick] [-runs 3] [-timeout 20s] [-o FILE.md] [-json FILE]
//	go run ./bench/compare -list
//	tests/cluster/bed.sh 2 go run ./bench/compare -fabric [...]
//	go run ./bench/compare -sweeps [-all] [-only REGEXP] [-quick] [...]
//	go run ./bench/compare -census [-only REGEXP] [-runs 3] [-json FILE.json]
//	go run ./bench/compare -census -from FILE.json -o docs/census.txt > docs/CENSUS.md
//	go run ./bench/compare [-sweeps] -from FILE.json -into docs/MEASURED.md
//
// The libraries alternate within one run, so that other load of the machine affects all of them. If a peer crashes or
// exceeds the time limit, the tables say so, and the ratio refers to the other peer. Option -quick measures only the
// times of the main rows, and runs similar measurements in one launch. Option -fabric measures on two hosts. Option
// -sweeps measures operations over sizes, as public suites do, and prints a line for each sweep. With -sweeps, -only
// '^put.flush$' selects one sweep, -quick uses fewer sizes, and -all includes sweeps for which public suites need an
// option. Option -census measures each function of MPI. Option -from measures nothing and reads the results of an
// earlier run from FILE.json. With -census it prints the summary of the census, and writes the rows into the file of
// -o. With -into it writes the main tables or the sweeps between two marks of a document.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options holds the options of the command line.
type options struct {
	build, only, to, asJSON string
	runs                    int
	timeout                 time.Duration
	quick, fabric           bool
	sweeps, all             bool
	census                  bool
}

func main() {
	var o options
	flag.StringVar(&o.build, "build", "build", "folder that `make build` wrote")
	flag.StringVar(&o.only, "only", ".", "measurements or sweeps to run, a regular expression for their names")
	flag.BoolVar(&o.quick, "quick", false, "the main measurements, many in a launch")
	flag.BoolVar(&o.fabric, "fabric", false, "over the two hosts of tests/cluster/bed.sh, which runs this")
	flag.BoolVar(&o.sweeps, "sweeps", false, "operations over sizes, as public suites do")
	flag.BoolVar(&o.all, "all", false, "with -sweeps: every synchronization over every kind of window")
	flag.IntVar(&o.runs, "runs", 3, "launches of each measurement with each library; the median counts")
	flag.DurationVar(&o.timeout, "timeout", 20*time.Second, "time limit of one measurement")
	flag.StringVar(&o.to, "o", "", "write the tables into this file as well")
	flag.StringVar(&o.asJSON, "json", "", "write every value into this file")
	flag.BoolVar(&o.census, "census", false, "every function, a row each, as a document")
	program := flag.String("program", "", "write the rows for bench/census.c into this folder and end")
	list := flag.Bool("list", false, "print the names of the measurements and end")
	from := flag.String("from", "", "take the values of this file, which -json wrote")
	into := flag.String("into", "", "write the main tables of -from into this document, between its marks")
	flag.Parse()
	if o.fabric {
		measurements = networked
	}
	if o.sweeps {
		measurements = sweeps
	}
	if o.census {
		measurements = censusMeasurements()
	}
	var err error
	switch {
	case *program != "":
		err = writeRows(*program, func(string) bool { return true })
	case *list:
		for _, m := range measurements {
			if o.sweeps && m.x != 8 && !strings.HasSuffix(m.series, "barrier") {
				continue
			}
			if o.sweeps {
				m.name = m.series
			}
			fmt.Printf("%-32s %s\n", m.name, m.label)
		}
	case *from != "" && o.census:
		var all *report
		var rows bytes.Buffer
		if all, err = load(*from); err == nil {
			all.census(os.Stdout, &rows)
			err = os.WriteFile(o.to, rows.Bytes(), 0o644)
		}
	case *from != "":
		err = document(*from, *into, o.sweeps)
	default:
		err = run(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// selectMeasurements returns the measurements that the options select.
func selectMeasurements(o options) ([]measurement, error) {
	pattern, err := regexp.Compile(o.only)
	if err != nil {
		return nil, err
	}
	var chosen []measurement
	for _, m := range measurements {
		name := m.name
		if o.sweeps {
			name = m.series
		}
		if !pattern.MatchString(name) || m.rare && !o.all {
			continue
		}
		if !o.quick || o.sweeps && coarse(m.x) || !o.sweeps && m.series == "" && !m.count {
			m.batch, m.mixed = m.batch || o.quick, o.quick
			chosen = append(chosen, m)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no measurement's name matches %q", o.only)
	}
	return chosen, nil
}

func run(o options) error {
	chosen, err := selectMeasurements(o)
	if err != nil {
		return err
	}
	// Launched programs have their own process groups, which an interrupt from the terminal does not reach. The
	// launcher kills them when ctx ends.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var programs []string
	for _, m := range chosen {
		programs = append(programs, m.program)
	}
	slices.Sort(programs)
	build, err := filepath.Abs(o.build)
	if err != nil {
		return err
	}
	folder, libraries := "", candidates(build)
	if o.fabric {
		folder, libraries = build, onHosts(build) // the two hosts share the build directory, but not /tmp
	}
	work, err := os.MkdirTemp(folder, "gompirma-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	libraries, err = compileAll(libraries, work, slices.Compact(programs))
	if err != nil {
		return err
	}

	var out io.Writer = os.Stdout
	if o.to != "" {
		f, err := os.Create(o.to)
		if err != nil {
			return err
		}
		defer f.Close()
		out = io.MultiWriter(os.Stdout, f)
	}
	all := newReport(libraries, o.runs)
	if !o.census {
		all.head(out)
	}
	with := launcher{ctx, work, o.timeout}
	measure := func(chosen []measurement) error {
		progress := newProgress(len(chosen))
		for _, batch := range batches(chosen) {
			n := len(batch)
			if batch = slices.DeleteFunc(batch, all.inGo); len(batch) == 0 {
				progress.skip(n)
				continue
			}
			all.runBatch(batch, libraries, with)
			if ctx.Err() != nil {
				return errors.New("interrupted")
			}
			progress.advance(os.Stderr, n, time.Now())
			if o.sweeps {
				for _, s := range all.summaries(batch) {
					fmt.Fprintln(os.Stderr, strings.Join(s.cells(all.Libraries), " | "))
				}
				continue
			}
			for _, m := range batch {
				if !o.census {
					all.line(out, m)
				}
			}
		}
		return nil
	}
	if err = measure(chosen); err == nil && o.census && !o.quick {
		err = measure(slices.DeleteFunc(slices.Clone(chosen), all.notBelow))
	}
	if err != nil {
		return err
	}
	if o.census {
		if all.Empty, err = emptyCallCost(work); err != nil {
			return fmt.Errorf("an empty Go function: %w", err)
		}
		all.census(out, out)
	}
	if o.sweeps {
		all.tables(out)
		all.worstFirst(out)
	}
	if o.asJSON != "" {
		return all.save(o.asJSON)
	}
	return nil
}

// batches groups consecutive measurements that may share a launch.
func batches(all []measurement) [][]measurement {
	var found [][]measurement
	for _, m := range all {
		if n := len(found); n > 0 && m.sameLaunch(found[n-1][0]) {
			found[n-1] = append(found[n-1], m)
		} else {
			found = append(found, []measurement{m})
		}
	}
	return found
}

// runBatch launches the batch once with every library and adds the outcomes to all.results. It skips a library for
// a measurement that has failed with it before.
func (all *report) runBatch(batch []measurement, libraries []library, with launcher) {
	for _, m := range batch {
		if all.results[m.name] == nil {
			all.results[m.name] = map[string][]outcome{}
		}
	}
	runs := all.Runs
	if most := batch[0].most; most > 0 {
		runs = min(runs, most)
	}
	for r := range runs {
		for i := range libraries {
			l := libraries[(i+r)%len(libraries)]
			asked := slices.DeleteFunc(slices.Clone(batch), func(m measurement) bool {
				before := all.results[m.name][l.name]
				return len(before) > 0 && before[len(before)-1].failure != "" || l.lacksFunctions(m)
			})
			if len(asked) == 0 || with.ctx.Err() != nil {
				continue
			}
			for name, o := range with.measure(asked, l) {
				all.results[name][l.name] = append(all.results[name][l.name], o)
				if l.name == "gompirma" && o.failure != "" && with.ctx.Err() == nil {
					fmt.Fprintf(os.Stderr, "compare: %s with gompirma: %s\n", name, o.failure)
				}
			}
		}
	}
}
