package gotest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestConnected checks that two jobs connect by a published port, whichever launchers started them and however many
// nodes they have. Everything works between them, and a job continues when the other one fails.
func TestConnected(t *testing.T) {
	t.Parallel()
	program := compileFile(t, "connected.c")
	for i, c := range []struct {
		serve, connect string // options of gompirun; "" without a launcher
		sizes          [2]int
		how            string
	}{
		{"-n 1", "", [2]int{1, 1}, "fine"},
		{"-n 2", "-n 3", [2]int{2, 3}, "fine"},
		{"--nodes 2 -n 4", "-n 3", [2]int{4, 3}, "fine"},
		{"--check -n 2", "--trace=DIR/trace -n 2", [2]int{2, 2}, "fine"},
		{"--nodes 2 -n 2", "--nodes 3 -n 4", [2]int{2, 4}, "fine"},
		{"-n 2", "-n 2", [2]int{2, 2}, "kill"},
		{"--nodes 2 -n 2", "-n 2", [2]int{2, 2}, "exit"},
		{"-n 2", "--nodes 2 -n 2", [2]int{2, 2}, "kill"},
		{"-n 2", "-n 2", [2]int{2, 2}, "leave"},
		{"--nodes 2 -n 2", "-n 2", [2]int{2, 2}, "leave"},
	} {
		t.Run(fmt.Sprintf("%s,%s,%s", c.serve, c.connect, c.how), func(t *testing.T) {
			t.Parallel()
			service := fmt.Sprintf("test %d.%d", os.Getpid(), i)
			job := func(options, role string) *launch {
				if options == "" {
					return prepareProgram(t, program, role, service, c.how)
				}
				options = strings.ReplaceAll(options, "DIR", t.TempDir())
				return prepare(t, append(strings.Fields(options), program, role, service, c.how)...)
			}
			s, other := job(c.serve, "serve"), job(c.connect, "connect")
			require.NoError(t, s.Cmd.Start())
			require.NoError(t, other.Cmd.Start())
			status := other.wait(t)
			require.Zero(t, s.wait(t), "%s%s", &s.Out, &s.Err)
			require.Equal(t, fmt.Sprintf("serve: %d remote processes\n", c.sizes[1]), s.Out.String())
			if c.how == "fine" {
				require.Zero(t, status, "%s%s", &other.Out, &other.Err)
				require.Equal(t, fmt.Sprintf("connect: %d remote processes\n", c.sizes[0]),
					other.Out.String())
				said := ""
				if strings.HasPrefix(c.serve, "--check") {
					said = "gompirun: --check: this job communicates with processes of another " +
						"job that gompirun cannot identify; accesses of one job to memory of " +
						"the other are not checked\n"
				}
				require.Equal(t, said, s.Err.String()+other.Err.String())
			}
		})
	}
}
