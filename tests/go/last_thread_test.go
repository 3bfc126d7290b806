package gotest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/tests/go/harness"
)

// endsByThread is a program whose main thread ends by pthread_exit. If the argument requests a second thread, that
// thread waits until the main thread has ended, and then works.
const endsByThread = `
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 1 << 20 };
static const char *what;
static pthread_t main_thread;
static int is(const char *name) { return strstr(what, name) != NULL; }
static void at_exit(void) { puts("at exit"); }

static void wait_for_end_of_main(void)
{
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    for (;; usleep(1000)) {
        FILE *f = fopen(path, "r");
        if (f == NULL || fgets(line, sizeof line, f) == NULL)
            exit(8);
        fclose(f);
        if (strstr(line, ") Z ") != NULL)
            return;
    }
}

static void exchange(void)
{
    int rank, size, sum;
    MPI_Win win;
    int *from = calloc(N, sizeof *from), *to = calloc(N, sizeof *to);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++)
        from[i] = rank + i;
    MPI_Sendrecv(from, N, MPI_INT, (rank + 1) % size, 0, to, N, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Win_create(from, N * sizeof *from, sizeof *from, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Get(to + N / 2, N / 2, MPI_INT, (rank + size - 1) % size, N / 2, N / 2, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    for (int i = 0; i < N; i++)
        if (to[i] != (rank + size - 1) % size + i)
            exit(7);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
}

static void *work(void *arg)
{
    wait_for_end_of_main();
    if (is("joins"))
        pthread_join(main_thread, NULL);
    if (is("calls"))
        exchange();
    puts("worked");
    return arg;
}

static void start(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_detach(thread);
}

int main(int argc, char **argv)
{
    int provided;
    what = argc > 1 ? argv[1] : "";
    main_thread = pthread_self();
    setvbuf(stdout, NULL, _IOLBF, 0);
    atexit(at_exit);
    if (is("before"))
        start();
    if (!is("never"))
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (is("calls"))
        start();
    if (is("finalize"))
        MPI_Finalize();
    if (is("after"))
        start();
    if (is("return"))
        return 0;
    pthread_exit(NULL);
}
`

// TestLastThread checks that a process exits with status 0, and runs its atexit functions, when the last thread of the
// application has ended. Threads of the library must not keep the process alive.
func TestLastThread(t *testing.T) {
	program := compile(t, endsByThread)
	for what, out := range map[string]string{
		"finalize":               "at exit\n",
		"before finalize":        "worked\nat exit\n",
		"finalize after":         "worked\nat exit\n",
		"before finalize after":  "worked\nworked\nat exit\n",
		"before finalize, joins": "worked\nat exit\n",
		"never before":           "worked\nat exit\n",
		"calls":                  "worked\nat exit\n",
	} {
		t.Run(what, func(t *testing.T) {
			l := prepareProgram(t, program, what)
			require.Zero(t, l.run(t), "%s", &l.Err)
			require.Equal(t, out, l.Out.String())
			l = prepareProgram(t, filepath.Join(built(t), "bin/gompirun"), "-n", "2", program, what)
			require.Zero(t, l.run(t), "%s", &l.Err)
			require.Equal(t, sorted(out+out), sorted(l.Out.String()))
			require.Empty(t, l.Err.String())
		})
	}
	t.Run("alone without finalize", func(t *testing.T) {
		out := harness.Output(t, exec.Command(program, ""))
		require.Equal(t, "at exit\n", out)
	})
	// Threads of libpmix must not keep the process alive either.
	t.Run("libpmix", func(t *testing.T) {
		harness.NeedCommand(t, "mpirun.openmpi")
		l := prepareProgram(t, "mpirun.openmpi", "--oversubscribe", "-n", "1", program, "")
		l.Cmd.Env = append(l.Cmd.Env, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
		require.NotZero(t, l.run(t))
		require.Equal(t, "at exit\n", l.Out.String(), "%s", &l.Err)
	})
	// A rank that ends by pthread_exit without MPI_Finalize must end the job, like a rank that returns from main
	// without MPI_Finalize.
	t.Run("without finalize", func(t *testing.T) {
		status, _, returned := gompirun(t, "-n", "1", program, "return")
		same, _, left := gompirun(t, "-n", "1", program, "leave")
		require.Equal(t, returned, left)
		require.Equal(t, status, same)
		require.Equal(t, 1, strings.Count(left, "\n"), left)
	})
}
