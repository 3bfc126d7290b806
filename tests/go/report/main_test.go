package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// printed returns the line of `go test -json` for a line that a test printed.
func printed(pkg, test, text string) string {
	return fmt.Sprintf(`{"Action":"output","Package":"gompirma/%s","Test":"%s","Output":"%s\n"}`, pkg, test, text) +
		"\n"
}

func ended(pkg, test, action string) string {
	return fmt.Sprintf(`{"Action":"%s","Package":"gompirma/%s","Test":"%s"}`, action, pkg, test) + "\n"
}

func TestRead(t *testing.T) {
	for _, c := range []struct{ name, in, out, leftOut string }{
		{"nothing", "", "", ""},
		{"passed", printed("a", "TestA", "=== RUN   TestA") + printed("a", "TestA", "noise") +
			printed("a", "TestA", "--- PASS: TestA") + ended("a", "TestA", "pass") +
			printed("a", "", "PASS") + printed("a", "", "ok a 1s") + ended("a", "", "pass"), "ok a 1s\n",
			""},
		{"no tests", printed("a", "", "? a [no test files]") + ended("a", "", "skip"), "? a [no test files]\n",
			""},
		{"failed", printed("a", "TestA", "fine") + ended("a", "TestA", "pass") +
			printed("a", "TestB/x", "    b_test.go:3: wrong") + ended("a", "TestB/x", "fail") +
			printed("a", "TestB", "--- FAIL: TestB") + ended("a", "TestB", "fail") +
			printed("a", "", "FAIL a 1s") + ended("a", "", "fail"),
			"    b_test.go:3: wrong\n--- FAIL: TestB\nFAIL a 1s\n", ""},
		{"two packages at a time", printed("a", "TestA", "a is wrong") + printed("b", "", "ok b") +
			ended("b", "", "pass") + ended("a", "TestA", "fail") +
			printed("a", "", "FAIL a") + ended("a", "", "fail"), "ok b\na is wrong\nFAIL a\n", ""},
		{"skipped", printed("a", "TestA/x", "=== RUN   TestA/x") +
			printed("a", "TestA/x", "    a_test.go:56: gfortran is not installed") +
			printed("a", "TestA/x", "    --- SKIP: TestA/x (0.00s)") + ended("a", "TestA/x", "skip") +
			ended("a", "TestA", "pass") + printed("a", "TestB", "--- SKIP: TestB (0.00s)") +
			ended("a", "TestB", "skip") + printed("a", "", "ok a") + ended("a", "", "pass"),
			"ok a\n", "a TestA/x: gfortran is not installed\na TestB: no reason given\n"},
		{"ended by a signal", printed("a", "TestA", "waiting"), "waiting\n", ""},
		{"not built", `{"Action":"build-output","ImportPath":"gompirma/a","Output":"a.go:1: no\n"}` +
			"\nplain words\n", "a.go:1: no\nplain words\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, leftOut strings.Builder
			to := report{out: &out, skipped: &leftOut, durations: io.Discard, failures: io.Discard}
			require.NoError(t, to.read(strings.NewReader(c.in)))
			require.Equal(t, c.out, out.String())
			require.Equal(t, c.leftOut, leftOut.String())
		})
	}
}

func TestDurations(t *testing.T) {
	in := `{"Action":"pass","Package":"gompirma/core/rma","Test":"TestA/x","Elapsed":1.5}
{"Action":"pass","Package":"gompirma/core/rma","Test":"TestA","Elapsed":2.25}
{"Action":"fail","Package":"gompirma/capi","Test":"TestB","Elapsed":120}
{"Action":"skip","Package":"gompirma/capi","Test":"TestC","Elapsed":3}
{"Action":"fail","Package":"gompirma/capi","Elapsed":130}
`
	var took strings.Builder
	to := report{out: io.Discard, skipped: io.Discard, durations: &took, failures: io.Discard, name: "go test"}
	require.NoError(t, to.read(strings.NewReader(in)))
	require.Equal(t, "2.25 go test core/rma TestA\n120.00 go test capi TestB\n", took.String())
}

// TestFailureLines checks that the report contains the first lines of a failure, each prefixed with its run and
// package.
func TestFailureLines(t *testing.T) {
	var in, wrong strings.Builder
	in.WriteString(printed("a", "TestA", "fine") + ended("a", "TestA", "pass"))
	in.WriteString(printed("a", "TestB", "panic: test timed out"))
	for i := range 2 * maxFailureLines {
		in.WriteString(printed("a", "TestB", fmt.Sprint("goroutine ", i)))
	}
	in.WriteString(ended("a", "", "fail") + printed("b", "", "ok b") + ended("b", "", "pass"))
	in.WriteString(printed("c", "TestC", "waiting"))
	to := report{out: io.Discard, skipped: io.Discard, durations: io.Discard, failures: &wrong, name: "race"}
	require.NoError(t, to.read(strings.NewReader(in.String())))
	lines := strings.Split(wrong.String(), "\n")
	require.Len(t, lines, maxFailureLines+2)
	require.Equal(t, []string{"race a: panic: test timed out", "race a: goroutine 0"}, lines[:2])
	require.Equal(t, []string{"race c: waiting", ""}, lines[maxFailureLines:])
}
