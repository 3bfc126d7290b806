// Command report runs `go test` and prints the same output as `go test` without -v. It also appends to three files:
//
//   - LEFT_OUT: the skipped tests, which `go test` without -v does not report: one line with the reason for each;
//   - TOOK: the duration of each test, as one line "SECONDS NAME PACKAGE TEST";
//   - WRONG: the first lines of output of failed tests.
//
// Its exit status is that of `go test`.
//
//	go run ./tests/go/report LEFT_OUT TOOK WRONG NAME -p 2 ./...   arguments after NAME are passed to `go test`
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

func main() {
	if len(os.Args) < 5 {
		fmt.Fprintln(os.Stderr, "usage: report LEFT_OUT TOOK WRONG NAME [ARGUMENT OF go test...]")
		os.Exit(2)
	}
	to := report{out: os.Stdout, name: os.Args[4]}
	var files [3]*os.File
	var err error
	for i := range files {
		if err == nil {
			files[i], err = os.OpenFile(os.Args[1+i], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		}
	}
	if err == nil {
		to.skipped, to.durations, to.failures = files[0], files[1], files[2]
		err = run(to, os.Args[5:])
	}
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended) && ended.ExitCode() > 0:
		os.Exit(ended.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

// report holds the files to which a run writes.
type report struct {
	out, skipped, durations, failures io.Writer
	name                              string // name of this run in the lines of durations and failures
}

func run(to report, args []string) error {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = to.read(out)
	return errors.Join(cmd.Wait(), err)
}

// event is a line of the output of `go test -json`.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// line is a line of output, and the test that printed it. test is "" if the package printed the line outside of a test.
type line struct{ test, text string }

var (
	progress = regexp.MustCompile(`^=== (RUN|PAUSE|CONT|NAME) `)
	result   = regexp.MustCompile(`^ *--- SKIP: `)
	where    = regexp.MustCompile(`^\s+\S+\.go:\d+: `)
)

// read copies the output that `go test` prints without -v, and lines that are not JSON, to `to.out`. It records the
// skipped tests and the durations of tests, except those of subtests.
func (to report) read(in io.Reader) error {
	out := to.out
	lines := map[string][]line{}   // output, by package
	quiet := map[string][]string{} // tests that passed or were skipped, by package
	b := bufio.NewReader(in)
	for {
		text, err := b.ReadBytes('\n')
		var e event
		wrong := json.Unmarshal(text, &e)
		pkg := strings.TrimPrefix(e.Package, "gompirma/")
		if (e.Action == "pass" || e.Action == "fail") && e.Test != "" && !strings.Contains(e.Test, "/") {
			fmt.Fprintf(to.durations, "%.2f %s %s %s\n", e.Elapsed, to.name, pkg, e.Test)
		}
		switch {
		case len(text) == 0:
		case wrong != nil:
			fmt.Fprintf(out, "%s\n", bytes.TrimSuffix(text, []byte("\n")))
		case e.Action == "build-output":
			fmt.Fprint(out, e.Output)
		case e.Action == "output":
			if !progress.MatchString(e.Output) {
				lines[e.Package] = append(lines[e.Package], line{e.Test, e.Output})
			}
		case e.Action == "pass" && e.Test != "":
			quiet[e.Package] = append(quiet[e.Package], e.Test)
		case e.Action == "skip" && e.Test != "":
			quiet[e.Package] = append(quiet[e.Package], e.Test)
			fmt.Fprintf(to.skipped, "%s %s: %s\n", pkg, e.Test, reason(lines[e.Package], e.Test))
		case (e.Action == "pass" || e.Action == "fail" || e.Action == "skip") && e.Test == "":
			show(out, lines[e.Package], quiet[e.Package], e.Action == "fail")
			if e.Action == "fail" {
				to.writeFailure(pkg, lines[e.Package], quiet[e.Package])
			}
			delete(lines, e.Package)
			delete(quiet, e.Package)
		}
		if err != nil { // a package without an end event means that go test itself was killed
			for pkg, printed := range lines {
				show(out, printed, nil, true)
				to.writeFailure(strings.TrimPrefix(pkg, "gompirma/"), printed, quiet[pkg])
			}
			if err == io.EOF {
				return nil
			}
			return err
		}
	}
}

// reason returns the message with which a test skipped itself.
func reason(lines []line, test string) string {
	var said []string
	for _, l := range lines {
		if l.test == test && !result.MatchString(l.text) {
			said = append(said, strings.TrimSpace(where.ReplaceAllString(l.text, "")))
		}
	}
	if len(said) == 0 {
		return "no reason given"
	}
	return strings.Join(said, " ")
}

// maxFailureLines is the maximum number of lines that are recorded for a failed package. A test at its time limit
// prints the stacks of all goroutines.
const maxFailureLines = 40

// writeFailure writes the first lines of a failed package's output to `to.failures`.
func (to report) writeFailure(pkg string, lines []line, quiet []string) {
	var all strings.Builder
	show(&all, lines, quiet, true)
	printed := strings.SplitAfter(all.String(), "\n")
	for _, text := range printed[:min(len(printed), maxFailureLines)] {
		if text != "" {
			fmt.Fprintf(to.failures, "%s %s: %s", to.name, pkg, text)
		}
	}
}

// show prints the closing line of a package that passed. For a failed package it prints all output, except the output
// of tests that passed or were skipped.
func show(out io.Writer, lines []line, quiet []string, failed bool) {
	hidden := map[string]bool{}
	for _, test := range quiet {
		hidden[test] = true
	}
	for i, l := range lines {
		if failed && !hidden[l.test] || l.test == "" && i == len(lines)-1 {
			fmt.Fprint(out, l.text)
		}
	}
}
