package gotest

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/tests/go/harness"
)

// This file tests the number of instructions of a call, counted by single-stepping (bench/icount.c). The number does
// not depend on the machine's load.

// stepped is a program that marks two intervals, one with 3 calls and one with 6 calls. With the arguments "dynamic N"
// it puts 8 bytes to the middle one of N attached regions. With "accumulate G" it accumulates 200 doubles, with the
// value G of the info key mpi_accumulate_granularity.
const stepped = `
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { LOOPS = 3, ELEMENTS = 200 };
static MPI_Win win;
static MPI_Aint at;
static int accumulate, target;
static double ones[ELEMENTS];
static void body(int n)
{
    for (int i = 0; i < n; i++)
        if (accumulate)
            MPI_Accumulate(ones, ELEMENTS, MPI_DOUBLE, target, 0, ELEMENTS, MPI_DOUBLE, MPI_SUM, win);
        else
            MPI_Put(ones, 1, MPI_DOUBLE, target, at, 1, MPI_DOUBLE, win);
}
static void marked(int n)
{
    raise(SIGUSR2);
    body(n);
    raise(SIGUSR2);
}
int main(int argc, char **argv)
{
    int rank, size;
    char *mem;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    target = 1;
    accumulate = strcmp(argv[1], "accumulate") == 0;
    if (accumulate) {
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpi_accumulate_granularity", argv[2]);
        MPI_Win_allocate(sizeof ones, 1, info, MPI_COMM_WORLD, &mem, &win);
        MPI_Info_free(&info);
    } else {
        int n = atoi(argv[2]);
        MPI_Alloc_mem(32 * n, MPI_INFO_NULL, &mem);
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        for (int i = 0; i < n; i++)
            MPI_Win_attach(win, mem + 32 * i, 16);
        MPI_Get_address(mem + 32 * (n / 2), &at);
        MPI_Bcast(&at, 1, MPI_AINT, target, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        MPI_Win_lock_all(0, win);
        body(LOOPS);
        MPI_Win_flush(target, win);
        marked(LOOPS);
        MPI_Win_flush(target, win);
        marked(2 * LOOPS);
        MPI_Win_unlock_all(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
`

// steps returns the number of instructions of one call in the program stepped.
func steps(t *testing.T, icount, program string, args ...string) float64 {
	t.Helper()
	command := append([]string{"-n", "2", icount, "3", program}, args...)
	out := runTool(t, "gompirun", command...)
	n, err := strconv.ParseFloat(strings.TrimSpace(out), 64)
	require.NoError(t, err, "%s", out)
	return n
}

// buildStepper builds bench/icount. It skips the test if the system does not permit single-stepping.
func buildStepper(t *testing.T) string {
	t.Helper()
	icount := filepath.Join(t.TempDir(), "icount")
	harness.Output(t, exec.Command("gcc", "-O1", "-o", icount, filepath.Join(top, "bench/icount.c")))
	marks := "kill -USR2 $$; kill -USR2 $$; kill -USR2 $$; kill -USR2 $$"
	out, err := exec.Command(icount, "1", "sh", "-c", marks).CombinedOutput()
	if err != nil || len(out) == 0 {
		t.Skipf("this system does not permit single-stepping of a child: %v: %s", err, out)
	}
	return icount
}

func stepper(t *testing.T) (icount, program string) {
	t.Helper()
	return buildStepper(t), compile(t, stepped, "-O1")
}

// TestAttachedRegionIsFoundInLogSteps checks that the origin finds one of n attached regions in O(log n) steps.
func TestAttachedRegionIsFoundInLogSteps(t *testing.T) {
	icount, program := stepper(t)
	few, many := steps(t, icount, program, "dynamic", "8"), steps(t, icount, program, "dynamic", "8192")
	require.Less(t, few, 1000.0, "a put to attached shared memory does not use the direct path")
	// 1024 times as many regions need ten more steps of a binary search.
	require.LessOrEqual(t, many-few, 10*20.0, "%g instructions with 8 regions, %g with 8192", few, many)
}

// TestAccumulateGranularity checks that mpi_accumulate_granularity has an effect. A granularity below 64 elements makes
// the accumulate update each element by an atomic instruction, without a lock. With a larger granularity it acquires
// the lock once for each segment, which costs some instructions each time.
func TestAccumulateGranularity(t *testing.T) {
	icount, program := stepper(t)
	whole := steps(t, icount, program, "accumulate", "0")
	for granularity, parts := range map[string]float64{"800": 2, "799": 2, "520": 4, "1600": 1, "1000000": 1} {
		n := steps(t, icount, program, "accumulate", granularity)
		if parts == 1 {
			require.InDelta(t, whole, n, 60, "granularity %s: the accumulate acquired the lock repeatedly",
				granularity)
			continue
		}
		require.Greater(t, n, whole+15*(parts-1), "granularity %s: %g parts", granularity, parts)
		require.Less(t, n, whole+200*parts, "granularity %s: %g parts", granularity, parts)
	}
	for _, granularity := range []string{"1", "512"} {
		require.Greater(t, steps(t, icount, program, "accumulate", granularity), whole+1000,
			"granularity %s: the accumulate does not update each element separately", granularity)
	}
}
