package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMeasure checks that a program that crashes or hangs does not affect the measurements before and after it.
func TestMeasure(t *testing.T) {
	work := t.TempDir()
	l := library{name: "sh", launch: []string{filepath.Join(work, "launch")}}
	require.NoError(t, os.WriteFile(l.launch[0], []byte("#!/bin/sh\nshift 2; exec sh \"$@\"\n"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(work, "fake-sh"), []byte(`for m; do
	case $m in
	crash) kill -SEGV $$ ;;
	hang) sleep 60 ;;
	silent) exit 0 ;;
	esac
	echo "some words"
	echo "$m 12.50 ns"
done
[ "$m" != last ] || exit 3
`), 0o755))
	value := outcome{value: 12.5}
	for _, c := range []struct {
		name string
		rows []string
		want map[string]outcome
	}{
		{"all", []string{"a", "b"}, map[string]outcome{"a": value, "b": value}},
		{"crash", []string{"a", "crash", "d"}, map[string]outcome{"a": value, "crash": {failure: "crash"},
			"d": value}},
		{"hang", []string{"a", "hang", "d"}, map[string]outcome{"a": value, "hang": {failure: "> 2 s"},
			"d": value}},
		{"silent", []string{"silent", "d"}, map[string]outcome{"silent": {failure: "no result"}, "d": value}},
		{"at the end", []string{"a", "last"}, map[string]outcome{"a": value, "last": {failure: "crash"}}},
		{"a sweep", []string{"s:1", "crash", "s:2", "d"}, map[string]outcome{"s:1": value,
			"crash": {failure: "crash"}, "s:2": {failure: "crash"}, "d": value}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var batch []measurement
			for _, r := range c.rows {
				m := newMeasurement("fake", r, "", 0)
				if strings.HasPrefix(r, "s:") || c.name == "a sweep" && r == "crash" {
					m.series = "s"
				}
				batch = append(batch, m)
			}
			with := launcher{context.Background(), work, 2 * time.Second}
			require.Equal(t, c.want, with.measure(batch, l))
		})
	}
}

// TestMeasurements checks that the names of the measurements are unique, since results are stored by name and -only
// matches names. It also checks that each measurement has a part, that m.of is the name of a measurement, and that no
// launch prints two rows with the same name.
func TestMeasurements(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range measurements {
		require.False(t, seen[m.name], m.name)
		seen[m.name] = true
		require.NotEmpty(t, m.part, m.name)
	}
	for _, m := range measurements {
		require.True(t, m.of == "" || seen[m.of], m.of)
	}
	for _, b := range batches(measurements) {
		rows := map[string]bool{}
		for _, m := range b {
			require.False(t, rows[m.row], "%s twice in a launch", m.row)
			rows[m.row] = true
		}
	}
}

func TestParse(t *testing.T) {
	require.Equal(t, map[string]outcome{"put": {value: 59}, "send": {failure: "more"}, "recv": {failure: "uneven"},
		"memory": {value: 1200}, "pingpong:8": {value: 12.5}},
		parse("put 59.0\nsend more\nrecv -20.3\nmemory 1200 KiB\nother words\npingpong:8 12.50 ns\n"))
}

// TestInterrupted checks that an interrupt ends the launched programs, and that no further launch follows.
func TestInterrupted(t *testing.T) {
	work := t.TempDir()
	l := library{name: "sh", launch: []string{filepath.Join(work, "launch")}}
	require.NoError(t, os.WriteFile(l.launch[0], []byte("#!/bin/sh\ntouch $0.$4; sleep 60\n"), 0o755))
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(l.launch[0] + ".a"); err == nil {
				cancel()
			}
		}
	}()
	all := newReport([]library{l}, 3)
	all.runBatch([]measurement{newMeasurement("fake", "a", "", 0)}, []library{l}, launcher{ctx, work, time.Minute})
	require.Equal(t, []outcome{{failure: "interrupted"}}, all.results["a"]["sh"])
}
