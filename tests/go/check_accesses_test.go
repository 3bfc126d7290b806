package gotest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"gompirma/tests/go/suite"
)

// TestCheckAccesses checks that --check finds conflicts of loads and stores in programs that are recompiled for it, and
// reports nothing for the correct version of each program.
func TestCheckAccesses(t *testing.T) {
	_, err := os.Stat(filepath.Join(built(t), "bin/gompifort"))
	require.NoError(t, err)
	recompiled := needsRecompiling(t)
	selected := func(p *suite.Program) bool { return recompiled(p) && hasCompiler(p) }
	eachProgram(t, selected, func(t *testing.T, p *suite.Program) {
		program := checkProgram(t, p, "--check")
		requireFindings(t, p, program)
		if strings.Contains(p.Name, "shared") {
			// On one core, a rank often accesses another rank's memory while that rank is still in the call
			// that creates the window.
			requireFindings(t, p, program, "taskset", "-c", oneCore(t))
		}
	})
}

// oneCore returns the number of a processor on which this process may run.
func oneCore(t *testing.T) string {
	var allowed unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &allowed))
	for i := range 1024 {
		if allowed.IsSet(i) {
			return strconv.Itoa(i)
		}
	}
	return ""
}

// TestCheckEndedThreads checks that the memory in which a thread records its accesses is released when the thread ends.
func TestCheckEndedThreads(t *testing.T) {
	program := compile(t, `
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
enum { THREADS = 3000 }; /* so that what Go and the system reserve meanwhile is little beside it */
static int *memory, sum;
static void *uses(void *arg) {
	for (int i = 0; i < 100; i++)
		sum += memory[i];
	return arg;
}
static long size(void) {
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (f == NULL || fscanf(f, "%ld", &pages) != 1)
		pages = 0;
	if (f != NULL)
		fclose(f);
	return pages * 4;
}
int main(int argc, char **argv) {
	int provided;
	MPI_Win win;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Win_allocate(100 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	long before = 0;
	for (int i = 0; i <= THREADS; i++) {
		pthread_t thread;
		if (i == 1)
			before = size();
		pthread_create(&thread, NULL, uses, NULL);
		pthread_join(thread, NULL);
	}
	printf("%s\n", size() - before < THREADS * 200L ? "fits" : "grows");
	MPI_Win_free(&win);
	MPI_Finalize();
	return sum != 0;
}
`, "--check", "-O1")
	status, out, told := gompirun(t, "-n", "1", "--check", program)
	require.Equal(t, 0, status, told)
	require.Equal(t, "fits\n", out, "the memory of ended threads was not released: kB per thread")
}
