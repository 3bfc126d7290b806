package gotest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/core/limit"
)

// This file tests jobs whose memory a control group limits. A rank that requests more memory than is available must get
// MPI_ERR_NO_MEM. The kernel must not kill a process, even if many ranks request memory at the same time.

// taker is a program whose ranks allocate memory until allocation fails, and write to all of it. The arguments are the
// kind of allocation and the size of a block in MiB. Each rank prints its number of blocks.
const taker = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int rank, size;
static void check(int rc, const char *call)
{
    char text[MPI_MAX_ERROR_STRING];
    int class, n;
    if (rc == MPI_SUCCESS)
        return;
    MPI_Error_class(rc, &class);
    MPI_Error_string(rc, text, &n);
    printf("%s %d: %s\n", class == MPI_ERR_NO_MEM ? "none" : "WRONG", rank, text);
    if (class != MPI_ERR_NO_MEM)
        MPI_Abort(MPI_COMM_WORLD, 3);
    (void)call;
}
int main(int argc, char **argv)
{
    size_t piece = strtoul(argv[2], NULL, 10) << 20;
    int rounds = atoi(argv[3]);
    char *mem[4096];
    (void)argc;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int round = 0; round < rounds; round++) {
        int n = 0, rc = MPI_SUCCESS;
        MPI_Barrier(MPI_COMM_WORLD);
        if (strcmp(argv[1], "alloc") == 0) {
            for (; n < 4096 && (rc = MPI_Alloc_mem(piece, MPI_INFO_NULL, &mem[n])) == MPI_SUCCESS; n++)
                memset(mem[n], 1, piece);
            check(rc, "MPI_Alloc_mem");
            MPI_Barrier(MPI_COMM_WORLD);
            for (int i = 0; i < n; i++)
                MPI_Free_mem(mem[i]);
        } else if (strcmp(argv[1], "once") == 0) {
            if ((rc = MPI_Alloc_mem(piece, MPI_INFO_NULL, &mem[0])) == MPI_SUCCESS) {
                memset(mem[0], 1, piece);
                n = 1;
            }
            check(rc, "MPI_Alloc_mem");
            MPI_Barrier(MPI_COMM_WORLD);
            if (n)
                MPI_Free_mem(mem[0]);
        } else {
            MPI_Win win;
            if ((rc = MPI_Win_allocate(piece, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem[0], &win)) == MPI_SUCCESS) {
                memset(mem[0], 1, piece);
                n = 1;
                MPI_Win_free(&win);
            }
            check(rc, "MPI_Win_allocate");
        }
        printf("got %d\n", n);
    }
    MPI_Finalize();
    return 0;
}
`

// memoryGroup creates a control group with a memory limit in bytes, and inside it a group without its own limit. It
// returns the directories of both groups. It skips the test if the system does not permit control groups.
func memoryGroup(t *testing.T, bytes int64) (outer, inner string) {
	t.Helper()
	var why error
	for _, g := range limit.Groups("/", "memory") {
		dir := filepath.Join(g.Dir, fmt.Sprintf("gompirma-test-%d-%d", os.Getpid(), launches.Add(1)))
		if why = os.Mkdir(dir, 0o755); why != nil {
			continue
		}
		t.Cleanup(func() { remove(t, dir) })
		file := "memory.limit_in_bytes"
		if g.V2 {
			file = "memory.max"
		}
		if why = os.WriteFile(filepath.Join(dir, file), []byte(strconv.FormatInt(bytes, 10)),
			0o644); why != nil {
			continue // cgroup v2 without the memory controller
		}
		inner := filepath.Join(dir, "inner")
		if why = os.Mkdir(inner, 0o755); why != nil {
			continue
		}
		t.Cleanup(func() { remove(t, inner) })
		return dir, inner
	}
	t.Skipf("this process cannot create a control group with a memory limit: %v", why)
	return "", ""
}

// remove removes a control group. It waits until the group's processes have ended.
func remove(t *testing.T, dir string) {
	var err error
	require.Eventually(t, func() bool { err = os.Remove(dir); return err == nil }, 10*time.Second,
		10*time.Millisecond, "%v", &err)
}

// kills returns how many processes of a group the kernel has killed because the group was out of memory.
func kills(t *testing.T, dir string) string {
	for _, file := range []string{"memory.events", "memory.oom_control"} {
		b, err := os.ReadFile(filepath.Join(dir, file))
		for _, line := range strings.Split(string(b), "\n") {
			if n, ok := strings.CutPrefix(line, "oom_kill "); ok && err == nil {
				return n
			}
		}
	}
	t.Fatalf("the files of %s do not contain the number of killed processes", dir)
	return ""
}

// prepareIn returns a run as the function `prepare` does, with the run's processes in a control group.
func prepareIn(t *testing.T, group string, args ...string) *launch {
	gompirun := filepath.Join(built(t), "bin/gompirun")
	return prepareProgram(t, "/bin/sh",
		append([]string{"-c", `echo $$ >"$0/cgroup.procs" && exec "$@"`, group, gompirun}, args...)...)
}

func TestMemoryGroup(t *testing.T) {
	program := compile(t, taker)
	const mib = 1 << 20
	for _, c := range []struct {
		name, args string
		jobs       int
		limit      int64
		got        func(pieces []int) bool
	}{
		{"one rank, to the end", "-n 1 %s alloc 4 2", 1, 256 * mib,
			func(p []int) bool { return min(p[0], p[1]) >= 50 && max(p[0], p[1]) < 64 }},
		{"four ranks at once", "-n 4 %s alloc 3 3", 1, 256 * mib, func(p []int) bool { return len(p) == 12 }},
		{"four ranks, two of which would fit", "-n 4 %s once 90 6", 1, 256 * mib,
			func(p []int) bool { return count(p, 1) == 12 && len(p) == 24 }},
		{"a window that does not fit", "-n 4 %s window 80 2", 1, 256 * mib,
			func(p []int) bool { return count(p, 0) == 8 && len(p) == 8 }},
		{"a window that fits", "-n 4 %s window 50 2", 1, 256 * mib,
			func(p []int) bool { return count(p, 1) == 8 }},
		{"jobs of one rank at once", "-n 1 %s alloc 2 6", 3, 256 * mib,
			func(p []int) bool { return len(p) == 18 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			outer, inner := memoryGroup(t, c.limit)
			var jobs []*launch
			for range c.jobs {
				l := prepareIn(t, inner, strings.Fields(fmt.Sprintf(c.args, program))...)
				require.NoError(t, l.Cmd.Start())
				jobs = append(jobs, l)
			}
			var pieces []int
			for _, l := range jobs {
				status := l.wait(t)
				require.Zero(t, status, "%s%s", l.Out.String(), l.Err.String())
				for _, line := range sorted(l.Out.String()) {
					if n, ok := strings.CutPrefix(line, "got "); ok {
						k, err := strconv.Atoi(n)
						require.NoError(t, err)
						pieces = append(pieces, k)
					}
				}
				if strings.Contains(l.Out.String(), "none ") {
					require.Contains(t, l.Out.String(), outer,
						"no rank names the group that limits the memory")
				}
			}
			require.True(t, c.got(pieces), "%v", pieces)
			require.Equal(t, "0", kills(t, outer))
			require.Equal(t, "0", kills(t, inner))
		})
	}
}

func count(list []int, what int) (n int) {
	for _, x := range list {
		if x == what {
			n++
		}
	}
	return n
}
