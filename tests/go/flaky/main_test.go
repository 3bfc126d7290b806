package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCtestResults(t *testing.T) {
	log := `Start 2: litmus/sb.n2
 1/4 Test   #2: litmus/sb.n2 .............   Passed   12.50 sec
 2/4 Test  #13: unit/win/lock.thread ......***Failed    3.07 sec
rank 0: lock.c:12: wrong owner

 3/4 Test  #14: conformance/put.n2 .......***Timeout 120.02 sec
waiting
 4/4 Test   #1: unit/win/lock.address ....***Skipped   0.00 sec
`
	require.Equal(t, []result{
		{name: "ctest litmus/sb.n2"},
		{name: "ctest unit/win/lock.thread", failed: true,
			output: " 2/4 Test  #13: unit/win/lock.thread ......***Failed    3.07 sec\n" +
				"rank 0: lock.c:12: wrong owner\n\n"},
		{name: "ctest conformance/put.n2", failed: true,
			output: " 3/4 Test  #14: conformance/put.n2 .......***Timeout 120.02 sec\nwaiting\n"},
	}, ctestResults(log))
}

func TestGoResults(t *testing.T) {
	text := `=== RUN   TestA
--- PASS: TestA (0.01s)
=== RUN   TestB
=== RUN   TestB/x
    --- FAIL: TestB/x (0.00s)
--- FAIL: TestB (0.00s)
--- SKIP: TestC (0.00s)
FAIL
`
	require.Equal(t, []result{{name: "core TestA"}, {name: "core TestB", failed: true, output: text}},
		goResults("core", text, true))
	require.Equal(t, []result{{name: "core", failed: true, output: "panic: test timed out"}},
		goResults("core", "panic: test timed out", true))
}

func TestChangedTests(t *testing.T) {
	functions := func(file string) ([]function, error) {
		if file != "core/a_test.go" {
			return nil, errors.New("not asked for: " + file)
		}
		return []function{{"TestA", 10, 20}, {"TestB", 22, 30}, {"TestC", 32, 40}}, nil
	}
	diff := `--- a/core/a_test.go
+++ b/core/a_test.go
@@ -12 +12,2 @@ func TestA
+x
@@ -33,2 +34,0 @@ func TestC
-x
--- a/tests/cluster/b_test.go
+++ b/tests/cluster/b_test.go
@@ -1 +1 @@
--- /dev/null
+++ b/tests/c/conformance/put.c
@@ -0,0 +1,100 @@
--- a/tests/c/unit/win/lock.c
+++ b/tests/c/unit/win/lock.c
@@ -1 +1 @@
--- a/tests/c/check/call_send.c
+++ b/tests/c/check/call_send.c
@@ -1 +1 @@
--- a/tests/c/check.h
+++ b/tests/c/check.h
@@ -1 +1 @@
--- a/tests/c/regress/gone.c
+++ /dev/null
@@ -1,3 +0,0 @@
`
	got, err := changedTests(diff, functions)
	require.NoError(t, err)
	require.Equal(t, selection{goTests: []string{"TestA$", "TestC$"},
		ctests: []string{`conformance/put\.`, `unit/win/lock\.`,
			`check/call_send_[a-z]+\.`}}, got)
}

// TestChangedSince checks that -changed does not select a test if only a comment of the test has changed. It must
// select the test after a change of code, and the tests of a new file.
func TestChangedSince(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string, args ...any) {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(fmt.Sprintf(text, args...)), 0o644))
	}
	run := func(args ...string) {
		_, err := git(append([]string{"-c", "user.name=a", "-c", "user.email=a"}, args...)...)
		require.NoError(t, err)
	}
	const c, goTest = "/* Proves: %s. */\n\nint main(void) { return %s; }\n",
		"package a\n\n// %s\nfunc TestA() { f(%s) }\n"
	for _, name := range []string{"one", "two", "three"} {
		write("tests/c/litmus/"+name+".c", c, "a", "1")
	}
	write("a/a_test.go", goTest, "a", "1")
	run("init", "-q")
	run("add", ".")
	run("commit", "-q", "-m", "a")
	write("tests/c/litmus/one.c", c, "b", "1")
	write("tests/c/litmus/two.c", c, "b", "2")
	write("tests/c/litmus/four.c", c, "a", "1")
	write("a/a_test.go", goTest, "b", "1")
	run("add", ".")
	got, err := changedSince("HEAD")
	require.NoError(t, err)
	require.Equal(t, selection{ctests: []string{`litmus/four\.`, `litmus/two\.`}}, got)
	write("a/a_test.go", goTest, "b", "2")
	got, err = changedSince("HEAD")
	require.NoError(t, err)
	require.Equal(t, []string{"TestA$"}, got.goTests)
}

// TestRepeat checks the summary for a test that fails in one of three rounds: it must list the test with that count.
// The output of the failed run must be kept.
func TestRepeat(t *testing.T) {
	bin, build := t.TempDir(), t.TempDir()
	ctest := `echo >>"$2/rounds"
echo ' 1/2 Test #1: a ....   Passed   0.01 sec'
case $(wc -l <"$2/rounds") in
2) echo ' 2/2 Test #2: b ....***Failed  0.01 sec'; echo why; exit 8 ;;
*) echo ' 2/2 Test #2: b ....   Passed   0.01 sec' ;;
esac
`
	require.NoError(t, os.WriteFile(filepath.Join(bin, "ctest"), []byte("#!/bin/sh\n"+ctest), 0o755))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	var out strings.Builder
	status, err := repeat(&out, build, selection{ctests: []string{"a", "b"}}, 3, 0)
	require.NoError(t, err)
	require.Equal(t, 1, status)
	require.Contains(t, out.String(), "round 2 of 3: 1 of 2 tests failed")
	require.True(t, strings.HasSuffix(out.String(), "\nfailed 1 of 3: ctest b\n"), out.String())
	kept, err := os.ReadFile(filepath.Join(build, "flaky", "ctest_b.2.txt"))
	require.NoError(t, err)
	require.Contains(t, string(kept), "why")

	// The time limit ends a round.
	require.NoError(t, os.WriteFile(filepath.Join(bin, "ctest"), []byte("#!/bin/sh\n"+
		"trap 'exit 1' INT\n"+ctest+"while :; do sleep 0.1; done\n"), 0o755))
	out.Reset()
	status, err = repeat(&out, build, selection{ctests: []string{"a"}}, 1, time.Second/2)
	require.NoError(t, err)
	require.Equal(t, 0, status)
	require.Contains(t, out.String(), "time limit of 500ms reached in round 1\nno failure in 2 tests\n")
}
