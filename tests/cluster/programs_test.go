package cluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/tests/go/harness"
)

// headerLine returns the words of all lines "key: ..." in the first comment of a test program (tests/c/README.md), or
// nil if there are none.
func headerLine(source, key string) []string {
	m := regexp.MustCompile(`(?m)^ \* `+key+`: (.*)$`).FindAllStringSubmatch(source, -1)
	var words []string
	for _, line := range m {
		words = append(words, strings.Fields(line[1])...)
	}
	return words
}

// TestProviders checks calls of every kind between two hosts, with the networks that the other tests do not use.
func TestProviders(t *testing.T) {
	l := launchers[0]
	l.prepare(t)
	harness.Output(t, exec.Command(built(t)+"/bin/gompicc", "-O1", "../go/testdata/sanitized.c", "-o",
		program("calls"), "-pthread"))
	for _, provider := range []string{"tcp;ofi_rxm", "ucx"} {
		t.Run(provider, func(t *testing.T) {
			r := start(t, "", l.command([]int{2, 2}, "env", "GOMPIRMA_PROVIDER="+provider, "UCX_TLS=tcp",
				program("calls"))...)
			status, _ := r.wait()
			require.Equal(t, 0, status)
			requireNoProcesses(t)
		})
	}
}

// TestPrograms checks that the C tests for several nodes pass if their ranks are on two hosts.
func TestPrograms(t *testing.T) {
	l := launchers[0]
	l.prepare(t)
	files, err := filepath.Glob("../c/*/*.c")
	require.NoError(t, err)
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		source := string(text)
		nodes, variants := headerLine(source, "nodes"), headerLine(source, "args")
		if len(nodes) == 0 || nodes[0] == "1" || headerLine(source, "status") != nil {
			continue
		}
		n := 0
		for _, word := range headerLine(source, "np") {
			count, err := strconv.Atoi(word)
			require.NoError(t, err, file)
			n = max(n, min(count, 4))
		}
		if n < 2 {
			continue
		}
		found++
		name := filepath.Base(filepath.Dir(file)) + "_" + strings.TrimSuffix(filepath.Base(file), ".c")
		known := "-DCHECK_ARGS=\"" + strings.Join(variants, " ") + "\""
		harness.Output(t, exec.Command(built(t)+"/bin/gompicc", "-O1", "-std=gnu11", known, file, "-o",
			program(name), "-lpthread", "-lm"))
		if variants == nil {
			variants = []string{""}
		}
		for _, variant := range variants {
			t.Run(name+"."+variant, func(t *testing.T) {
				// The hosts share only the directory of the programs. Tests of files need a shared
				// directory for temporary files.
				command := append([]string{"env", "TMPDIR=" + filepath.Dir(program(name))},
					headerLine(source, "env")...)
				command = append(append(command, program(name)), strings.Fields(variant)...)
				r := start(t, "", l.command([]int{(n + 1) / 2, n / 2}, command...)...)
				status, _ := r.wait()
				require.Equal(t, 0, status)
				requireNoProcesses(t)
			})
		}
	}
	require.Greater(t, found, 10)
}
