// Command flaky repeats tests and lists those that failed at least once.
//
//	go run ./tests/go/flaky [-times N] [-limit DURATION] [-changed COMMIT] BUILD [TEST...]
//
// BUILD is a build directory whose tests are built. A TEST that begins with "Test" selects Go tests: a regular
// expression that matches the beginning of a test's name, optionally followed by /SUBTEST. Any other TEST is a regular
// expression that is searched in the names of ctest's tests. -changed selects the tests that differ from COMMIT: C
// programs in tests/c, and Go test functions. Without TEST and -changed, all Go tests and all tests of ctest run.
//
// A round runs every selected test once. When the duration of -limit is over, flaky ends the tests of the current
// round. The exit status is 1 if a test failed, and 2 if no test could run. The output of each failed run is in
// BUILD/flaky.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"time"
)

func main() {
	times := flag.Int("times", 10, "rounds")
	limit := flag.Duration("limit", 0, "end after this time; 0: no limit")
	changed := flag.String("changed", "", "select the tests that differ from this commit")
	flag.Parse()
	if flag.NArg() < 1 || *times < 1 {
		fmt.Fprintln(os.Stderr, "usage: flaky [-times N] [-limit DURATION] [-changed COMMIT] BUILD [TEST...]")
		os.Exit(2)
	}
	build, err := filepath.Abs(flag.Arg(0))
	var want selection
	if err == nil && *changed != "" {
		want, err = changedSince(*changed)
	}
	if err == nil {
		want.add(flag.Args()[1:])
		if *changed == "" && flag.NArg() == 1 {
			want = selection{goTests: []string{"Test"}, ctests: []string{"."}}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "flaky:", err)
		os.Exit(2)
	}
	if want.empty() {
		fmt.Println("no test to repeat")
		return
	}
	status, err := repeat(os.Stdout, build, want, *times, *limit)
	if err != nil {
		fmt.Fprintln(os.Stderr, "flaky:", err)
	}
	os.Exit(status)
}

// selection holds regular expressions for the names of the Go tests and the tests of ctest to run.
type selection struct{ goTests, ctests []string }

func (s *selection) add(tests []string) {
	for _, test := range tests {
		if strings.HasPrefix(test, "Test") {
			s.goTests = append(s.goTests, test)
		} else {
			s.ctests = append(s.ctests, test)
		}
	}
}

func (s *selection) empty() bool { return len(s.goTests) == 0 && len(s.ctests) == 0 }

// result is the outcome of one run of one test. output is empty if the run succeeded.
type result struct {
	name   string
	failed bool
	output string
}

// runner runs once the selected tests of ctest or of one Go package. When ctx ends, the runner ends the tests that
// still run, and returns only the results of the tests that had ended before.
type runner func(ctx context.Context) ([]result, error)

// command returns a command that receives SIGINT when `ctx` ends, so that the command can end its own processes.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	return cmd
}

// repeat runs the selected tests in rounds and writes a summary to `out`. It returns the exit status of flaky.
func repeat(out io.Writer, build string, want selection, times int, limit time.Duration) (int, error) {
	dir := filepath.Join(build, "flaky")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o777)); err != nil {
		return 2, err
	}
	var runners []runner
	if len(want.ctests) > 0 {
		runners = append(runners, func(ctx context.Context) ([]result, error) {
			return runCtest(ctx, build, want.ctests)
		})
	}
	if len(want.goTests) > 0 {
		run, err := goRunners(out, dir, want.goTests)
		if err != nil {
			return 2, err
		}
		runners = append(runners, run...)
	}
	runs, failures := map[string]int{}, map[string]int{}
	ctx := context.Background()
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	for round := 1; round <= times; round++ {
		began, ran, failed := time.Now(), 0, 0
		for _, run := range runners {
			if ctx.Err() != nil {
				break
			}
			results, err := run(ctx)
			if err != nil {
				return 2, err
			}
			for _, r := range results {
				ran++
				runs[r.name]++
				if !r.failed {
					continue
				}
				failed++
				failures[r.name]++
				file := fmt.Sprintf("%s.%d.txt", fileName.ReplaceAllString(r.name, "_"), round)
				file = filepath.Join(dir, file)
				if err := os.WriteFile(file, []byte(r.output), 0o666); err != nil {
					return 2, err
				}
				fmt.Fprintf(out, "round %d: %s failed: %s\n", round, r.name, file)
			}
		}
		fmt.Fprintf(out, "round %d of %d: %d of %d tests failed (%.0f s)\n", round, times, failed, ran,
			time.Since(began).Seconds())
		if ctx.Err() != nil {
			fmt.Fprintf(out, "time limit of %v reached in round %d\n", limit, round)
			break
		}
		if ran == 0 {
			return 2, errors.New("no test has a name that was asked for")
		}
	}
	if len(failures) == 0 {
		fmt.Fprintf(out, "no failure in %d tests\n", len(runs))
		return 0, nil
	}
	for _, name := range sortedKeys(failures) {
		fmt.Fprintf(out, "failed %d of %d: %s\n", failures[name], runs[name], name)
	}
	return 1, nil
}

var fileName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

// ctestLine matches the line in which ctest reports the end of a test: number, name, and "Passed" or "***Failed".
var ctestLine = regexp.MustCompile(`(?m)^ *\d+/\d+ Test +#\d+: (\S+) \.*( +|\*\*\*)(\S.*?) +[\d.]+ sec`)

// runCtest runs once each test of ctest whose name matches one of the patterns.
func runCtest(ctx context.Context, build string, patterns []string) ([]result, error) {
	// ctest stores the log of --output-log only if it ends by itself, not if it is interrupted
	cmd := command(ctx, "ctest", "--test-dir", build, "--output-on-failure", "--timeout", "120",
		"-j", strconv.Itoa(runtime.NumCPU()), "-R", strings.Join(patterns, "|"))
	text, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && ctx.Err() == nil && !errors.As(err, &ended) {
		return nil, err
	}
	if strings.Contains(string(text), "No tests were found") {
		return nil, fmt.Errorf("no test of ctest matches %s", strings.Join(patterns, " or "))
	}
	return ctestResults(string(text)), nil
}

// ctestResults parses the log of a run of ctest. The output of a failed test follows the line that reports its end.
func ctestResults(log string) []result {
	var results []result
	at := ctestLine.FindAllStringSubmatchIndex(log, -1)
	for i, m := range at {
		r := result{name: "ctest " + log[m[2]:m[3]], failed: log[m[4]:m[5]] == "***"}
		if log[m[6]:m[7]] == "Skipped" || log[m[6]:m[7]] == "Not Run" {
			continue
		}
		if r.failed {
			end := len(log)
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			r.output = log[m[0]:end]
		}
		results = append(results, r)
	}
	return results
}

// goRunners compiles the test programs of the packages that contain a selected test. It returns a runner for each
// package.
func goRunners(out io.Writer, dir string, tests []string) ([]runner, error) {
	pattern := "^(" + strings.Join(tests, "|") + ")"
	if strings.Contains(pattern, "/") && len(tests) > 1 {
		return nil, errors.New("a subtest (TestName/subtest) must be the only Go test that is selected")
	} else if strings.Contains(pattern, "/") {
		pattern = "^" + strings.Replace(tests[0], "/", "$/", 1)
	}
	packages, err := packagesWith(strings.SplitN(pattern, "/", 2)[0])
	if err != nil {
		return nil, err
	}
	var runners []runner
	for _, folder := range packages {
		program := filepath.Join(dir, fileName.ReplaceAllString(folder, "_")+".test")
		cmd := exec.Command("go", "test", "-c", "-o", program, "./"+folder)
		cmd.Stderr = os.Stderr
		fmt.Fprintf(out, "building the tests of %s\n", folder)
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("%s: %w", folder, err)
		}
		runners = append(runners, func(ctx context.Context) ([]result, error) {
			cmd := command(ctx, program, "-test.v", "-test.timeout=1200s", "-test.run="+pattern)
			cmd.Dir = folder
			text, err := cmd.CombinedOutput()
			var ended *exec.ExitError
			if err != nil && ctx.Err() == nil && !errors.As(err, &ended) {
				return nil, err
			}
			return goResults(folder, string(text), err != nil && ctx.Err() == nil), nil
		})
	}
	return runners, nil
}

// goLine matches the line in which a Go test that is not a subtest reports its end.
var goLine = regexp.MustCompile(`(?m)^--- (PASS|FAIL|SKIP): (\S+) `)

// goResults parses the output of a package's test program with -test.v. A program may fail without naming a test, as
// after a panic or at its time limit. This counts as a failure of a test with the package's name.
func goResults(folder, text string, failed bool) []result {
	var results []result
	named := false
	for _, m := range goLine.FindAllStringSubmatch(text, -1) {
		r := result{name: folder + " " + m[2], failed: m[1] == "FAIL"}
		if m[1] == "SKIP" {
			continue
		}
		if r.failed {
			named = true
			r.output = text
		}
		results = append(results, r)
	}
	if failed && !named {
		results = append(results, result{name: folder, failed: true, output: text})
	}
	return results
}
