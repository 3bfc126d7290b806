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
	const fabric = "-x GOMPIRMA_PROVIDER=tcp;ofi_rxm "
	const ucx = "-x UCX_TLS=tcp -x GOMPIRMA_PROVIDER=ucx "
	for i, c := range []struct {
		serve, connect string // options of gompirun; "" without a launcher
		sizes          [2]int
		how            string
	}{
		{fabric + "--nodes 2 -n 2", fabric + "--nodes 2 -n 4", [2]int{2, 4}, "fine"},
		{"-n 3", fabric + "--nodes 2 -n 2", [2]int{3, 2}, "fine"},
		{ucx + "--nodes 2 -n 2", ucx + "--nodes 2 -n 4", [2]int{2, 4}, "fine"},
		{ucx + "--nodes 2 -n 2", "-n 3", [2]int{2, 3}, "fine"},
		{fabric + "--nodes 2 -n 2", "-n 2", [2]int{2, 2}, "kill"},
		{ucx + "--nodes 2 -n 2", "-n 2", [2]int{2, 2}, "exit"},
		{fabric + "--nodes 2 -n 2", "-n 2", [2]int{2, 2}, "leave"},
		{ucx + "--nodes 2 -n 2", "-n 2", [2]int{2, 2}, "leave"},
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

// TestConnectRefused checks that all members of both groups get the same error if the jobs use different networks, or
// if one process cannot open its network.
func TestConnectRefused(t *testing.T) {
	t.Parallel()
	program := compileFile(t, "connected.c")
	const broken = " : -n 1 -x GOMPIRMA_INTERFACE=nonsense "
	for i, c := range []struct {
		serve, connect string // options; PROGRAM stands for the program with its arguments
		says           [2]string
	}{
		{"--nodes 2 -n 2 -x GOMPIRMA_PROVIDER=tcp PROGRAM",
			"--nodes 2 -n 2 -x UCX_TLS=tcp -x GOMPIRMA_PROVIDER=ucx PROGRAM",
			[2]string{"this process uses the network provider tcp, the other job ucx",
				"this process uses the network provider ucx, the other job tcp"}},
		{"-n 2 PROGRAM" + broken + "PROGRAM", "-n 2 PROGRAM",
			[2]string{"another process of this group cannot connect", "a process cannot open its network"}},
		{"-n 1 PROGRAM", "-n 1 PROGRAM" + broken + "PROGRAM",
			[2]string{"a process cannot open its network", "nonsense"}},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			service := fmt.Sprintf("refuse%d.%d", os.Getpid(), i)
			job := func(options, role string) *launch {
				called := strings.Join([]string{program, role, service, "refuse"}, " ")
				return prepare(t, strings.Fields(strings.ReplaceAll(options, "PROGRAM", called))...)
			}
			s, other := job(c.serve, "serve"), job(c.connect, "connect")
			require.NoError(t, s.Cmd.Start())
			require.NoError(t, other.Cmd.Start())
			for k, l := range []*launch{s, other} {
				require.Zero(t, l.wait(t), "%s%s", &l.Out, &l.Err)
				require.Contains(t, l.Out.String(), c.says[k])
			}
		})
	}
}
