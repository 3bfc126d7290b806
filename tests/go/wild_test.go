package gotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// This file tests calls with invalid arguments that lead outside of the program's memory. The call must report an error
// with the values, or the process must end by the signal that such a pointer causes in any program. No call may succeed
// or hang, and no Go stack trace may appear.

// memoryKiB limits the address space of a process in KiB, so that an allocation with a wrong length does not use up the
// machine's memory.
const memoryKiB = "6000000"

var (
	saysWhatIsWrong = regexp.MustCompile(`MPI_ERR_[A-Z_]+: .*[0-9]`)
	endsBySignal    = regexp.MustCompile(`killed by signal (7|11) `)
	showsGo         = regexp.MustCompile(`goroutine|panic|runtime|MPI_ERR_INTERN`)
)

// requireNoCrash runs a program that makes one call with invalid arguments, and checks how the program ends.
func requireNoCrash(t *testing.T, ranks, program string, args ...string) {
	t.Helper()
	shell := []string{"-c", "ulimit -v " + memoryKiB + `; exec "$@"`, "sh", filepath.Join(built(t), "bin/gompirun"),
		"--timeout", "60", "-n", ranks, program}
	output, err := exec.Command("sh", append(shell, args...)...).CombinedOutput()
	said := string(output)
	require.Error(t, err, "%v: the call succeeded", args)
	require.NotRegexp(t, showsGo, said, "%v", args)
	if !endsBySignal.MatchString(said) {
		require.Regexp(t, saysWhatIsWrong, said, "%v", args)
	}
}

func compileFile(t *testing.T, name string) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return compile(t, string(source))
}

func TestWildDisplacements(t *testing.T) {
	program := compileFile(t, "wild.c")
	collectives := []string{"Gatherv", "Scatterv", "Allgatherv", "Alltoallv-s", "Alltoallv-r", "Alltoallw-s",
		"Alltoallw-r", "Reduce_scatter",
		"Neighbor_allgatherv", "Neighbor_alltoallv-s", "Neighbor_alltoallv-r", "Neighbor_alltoallw-s",
		"Neighbor_alltoallw-r"}
	// Displacements in elements of 4 bytes: 2^62 and 2^62+1 elements are 0 and 4 bytes modulo 2^64. -addr+0 makes
	// the address NULL, and -addr-1 makes it the last byte of the address space.
	narrow := []string{"2147483647"}
	wide := []string{"4611686018427387904", "4611686018427387905", "35184372088832", "-addr+0", "-addr-1"}
	types := []string{"Sendrecv-s", "Sendrecv-r", "Isend-s", "Irecv", "Isend_long-s", "Irecv_long", "Bsend-s",
		"Pack-s", "Unpack-s", "Pack_external-s", "Unpack_external-s",
		"Gather", "Scatter-s", "Allgather", "Alltoall-s", "Alltoall-r", "Ialltoall", "Alltoallv", "Alltoallw"}
	windows := []string{"Put-s", "Put-r", "Put_there", "Get-s", "Get-r", "Accumulate-s", "Accumulate-r",
		"Get_accumulate-s", "Get_accumulate-r"}
	far := []string{"4611686018427387904", "-4611686018427387904", "-addr+0", "-addr-1"}
	for _, ranks := range []string{"1", "3"} {
		run := func(call string, forms, values []string) {
			t.Run(strings.Join([]string{call, forms[0], ranks}, "."), func(t *testing.T) {
				t.Parallel()
				for _, form := range forms {
					for _, value := range values {
						requireNoCrash(t, ranks, program, call, form, value)
					}
				}
			})
		}
		for _, call := range collectives {
			run(call, []string{"bn", "in", "pn"}, narrow)
			run(call, []string{"bw", "iw", "pw"}, wide)
		}
		for _, call := range types {
			run("Type"+call, []string{"bn", "bw"}, far)
		}
		for _, call := range windows {
			run("Type"+call, []string{"bn", "bw", "an", "aw"}, far)
		}
	}
}

func TestWildLengths(t *testing.T) {
	program := compileFile(t, "lengths.c")
	for _, call := range []string{"indexed", "hindexed", "indexed_block", "hindexed_block", "struct", "subarray",
		"darray", "request_waitall", "request_waitany",
		"request_waitsome", "request_testall", "request_testany", "request_testsome", "request_status",
		"startall", "group_incl", "group_range_incl", "translate", "cart",
		"graph", "adjacent", "dist_graph", "degrees"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			requireNoCrash(t, "1", program, call, "2147483647")
		})
	}
	for _, call := range []string{"indexed_c", "hindexed_c", "indexed_block_c", "hindexed_block_c", "struct_c",
		"replace", "ireplace", "alltoall", "ireduce_scatter_block",
		"iallreduce", "iscan", "vector"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			for _, length := range []string{"9223372036854775807", "4611686018427387904", "1099511627776",
				"4294967296"} {
				requireNoCrash(t, "1", program, call, length)
			}
		})
	}
}
