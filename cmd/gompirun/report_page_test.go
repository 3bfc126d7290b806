package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseReport(t *testing.T) {
	for line, want := range map[string]pageOptions{
		"t.json":                  {"t.json", "t.html"},
		"a.b/t":                   {"a.b/t", "a.b/t.html"},
		"t.json -o p.html":        {"t.json", "p.html"},
		"-o p.html t.json":        {"t.json", "p.html"},
		"-o=p.html t.json":        {"t.json", "p.html"},
		"--output p.html t.json":  {"t.json", "p.html"},
		"--output=p.html -- -t.j": {"-t.j", "p.html"},
		"-":                       {"-", "-.html"},
	} {
		got, err := parseReport(strings.Fields(line))
		require.NoError(t, err, line)
		require.Equal(t, want, *got, line)
	}
	for line, want := range map[string]string{
		"":                         "no trace file given",
		"-o p.html":                "no trace file given",
		"t.json -o":                "-o needs a file",
		"t.json --output=":         "--output needs a file",
		"t.json u.json":            "a page needs exactly one trace, but t.json and u.json are given",
		"t.json -o a -o b":         "-o may be given only once",
		"-n 4 t.json":              "unknown option -n",
		"t.json -o ./t.json":       "the page ./t.json would overwrite the trace",
		"-q":                       "unknown option -q",
		"--ouput=p t.json":         "unknown option --ouput=p. Did you mean --output?",
		"./t.html -o=./././t.html": "would overwrite the trace: choose another name with -o",
	} {
		_, err := parseReport(strings.Fields(line))
		require.ErrorContains(t, err, want, line)
	}
	_, err := parseReport([]string{"--help"})
	require.ErrorIs(t, err, errHelp)
	_, err = parseReport([]string{""})
	require.ErrorContains(t, err, "the name of the trace file is empty")
}

// Checks the exit status of gompirun report, and that it makes a page only from a valid trace.
func TestRunReport(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "t.json"), filepath.Join(dir, "t.html")
	require.NoError(t, os.WriteFile(in, []byte(`{"traceEvents":[{"ph":"X"}]}`), 0o644))
	require.Equal(t, statusUsage, gompirun([]string{"report"}))
	require.Equal(t, 0, gompirun([]string{"report", "--help"}))
	require.Equal(t, statusFailed, gompirun([]string{"report", in}))
	require.NoFileExists(t, out)
	require.NoError(t, os.WriteFile(in, []byte(`{"traceEvents":[]}`), 0o644))
	require.Equal(t, 0, gompirun([]string{"report", in}))
	require.FileExists(t, out)
}

// Checks that isSameFile recognizes a link to the trace as the same file.
func TestIsSameFile(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	require.NoError(t, os.WriteFile(a, nil, 0o644))
	require.False(t, isSameFile(a, b))
	require.NoError(t, os.Symlink("a", b))
	require.True(t, isSameFile(a, b))
}

// Checks that the word "report" selects gompirun report only as the first argument.
func TestReportAsProgramName(t *testing.T) {
	for _, line := range []string{"./report t.json", "-n 2 report t.json", "-- report t.json"} {
		o, err := parse(strings.Fields(line), lookup)
		require.NoError(t, err, line)
		require.Equal(t, "report", filepath.Base(o.parts[0].argv[0]))
		require.Equal(t, []string{"t.json"}, o.parts[0].argv[1:])
	}
}
