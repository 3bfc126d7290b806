package gotest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// errorProgram is a program in which rank 0 puts to rank 1, and rank 1 then accesses the same memory by the call that
// the first argument names. The accesses conflict unless the argument is "clean". Each rank prints the return values of
// its calls, and how often the error handlers of the window and the communicator were called.
const errorProgram = `
#include <mpi.h>
#include <stdio.h>
#include <string.h>
static MPI_Win win;
static MPI_Comm comm;
static int of_win, of_comm;
static void win_fails(MPI_Win *w, int *code, ...)
{
	of_win += *w == win && *code == MPI_ERR_RMA_CONFLICT ? 1 : 100;
	*code = MPI_SUCCESS;
}
static void comm_fails(MPI_Comm *c, int *code, ...)
{
	of_comm += *c == comm && *code == MPI_ERR_RMA_CONFLICT ? 1 : 100;
}
int main(int argc, char **argv)
{
	int rank, value = 1, *memory, rc = MPI_SUCCESS, end = MPI_SUCCESS;
	const char *what = argv[1];
	MPI_Errhandler handler;
	MPI_Init(&argc, &argv);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_rank(comm, &rank);
	MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &memory, &win);
	if (strcmp(argv[2], "return") == 0) {
		MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
		MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	} else if (strcmp(argv[2], "handler") == 0) {
		MPI_Win_create_errhandler(win_fails, &handler);
		MPI_Win_set_errhandler(win, handler);
		MPI_Errhandler_free(&handler);
		MPI_Comm_create_errhandler(comm_fails, &handler);
		MPI_Comm_set_errhandler(comm, handler);
		MPI_Errhandler_free(&handler);
	}
	memory[3] = 0;
	MPI_Barrier(comm);
	MPI_Win_lock_all(0, win);
	if (rank == 0)
		rc = MPI_Put(&value, 1, MPI_INT, 1, 3, 1, MPI_INT, win);
	if (rank == 0 && strcmp(what, "clean") == 0)
		MPI_Win_flush(1, win);
	if (rank == 0)
		MPI_Send(&value, 1, MPI_INT, 1, 0, comm);
	if (rank == 0 && strcmp(what, "recv") == 0)
		MPI_Send(&value, 1, MPI_INT, 1, 1, comm);
	if (rank == 1) {
		MPI_Recv(&value, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
		if (strcmp(what, "recv") == 0) {
			rc = MPI_Recv(memory + 3, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
		} else if (strcmp(what, "load") == 0) {
			value = memory[3];
			rc = MPI_Win_sync(win);
		} else {
			rc = MPI_Put(&value, 1, MPI_INT, 1, 3, 1, MPI_INT, win);
		}
	}
	end = MPI_Win_unlock_all(win);
	printf("%d: %d %d, of win %d, of comm %d\n", rank, rc, end, of_win, of_comm);
	fflush(stdout);
	MPI_Win_free(&win);
	MPI_Comm_free(&comm);
	MPI_Finalize();
	return 0;
}
`

// TestCheckError checks two conflicting calls: the later one returns the error class, the earlier one returns
// MPI_SUCCESS, and the error handler is called once.
func TestCheckError(t *testing.T) {
	program := compile(t, errorProgram)
	for _, c := range []struct{ what, how, want string }{
		{"put", "return", "1: 47 0, of win 0, of comm 0"},
		{"put", "handler", "1: 47 0, of win 1, of comm 0"},
		{"recv", "return", "1: 47 0, of win 0, of comm 0"},
		{"recv", "handler", "1: 47 0, of win 0, of comm 1"},
	} {
		t.Run(c.what+" "+c.how, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "findings.json")
			status, out, err := gompirun(t, "-n", "2", "--check=error", "--check="+file, program, c.what,
				c.how)
			require.Equal(t, 3, status, "%s%s", out, err)
			require.Contains(t, out, c.want, err)
			require.Contains(t, out, "0: 0 0, of win 0, of comm 0", err)
			require.Equal(t, 1, strings.Count(err, "--check: 1: race:"), err)
			text, e := os.ReadFile(file)
			require.NoError(t, e)
			require.Contains(t, string(text), `"race"`)
		})
	}
	// Without "error", --check only reports the conflict, and the call returns MPI_SUCCESS.
	status, out, err := gompirun(t, "-n", "2", "--check", program, "put", "return")
	require.Equal(t, 3, status, "%s%s", out, err)
	require.Contains(t, out, "1: 0 0, of win 0, of comm 0")
}

// TestCheckErrorFatal checks that the default error handler of windows ends the job, after the line with the reason.
func TestCheckErrorFatal(t *testing.T) {
	for _, what := range []string{"put", "recv"} {
		status, out, err := gompirun(t, "-n", "2", "--check=error", compile(t, errorProgram), what, "fatal")
		require.NotContains(t, []int{0, 3}, status, err)
		require.NotContains(t, out, "1: ")
		told := strings.Index(err, "--check: 1: race:")
		require.GreaterOrEqual(t, told, 0, err)
		require.Contains(t, err[told:], "MPI_ERR_RMA_CONFLICT")
	}
}

// TestCheckErrorClean checks that a correctly synchronized program gets no error from --check=error: on several nodes,
// with threads and with datatypes.
func TestCheckErrorClean(t *testing.T) {
	program := compile(t, errorProgram)
	for _, args := range [][]string{{}, {"--nodes", "2"}} {
		args = append(append([]string{"-n", "2", "--check=error"}, args...), program, "clean", "fatal")
		status, out, err := gompirun(t, args...)
		require.Equal(t, 0, status, "%s%s", out, err)
		require.Empty(t, err)
		require.Contains(t, out, "1: 0 0, of win 0, of comm 0")
	}
}

// TestCheckErrorLoad checks a load that conflicts with a put. A load is no call and cannot return an error, so the next
// call on the window must raise the error.
func TestCheckErrorLoad(t *testing.T) {
	program := compile(t, errorProgram, "--check", "-O1")
	status, text, told := gompirun(t, "-n", "2", "--check=error", program, "load", "handler")
	require.Equal(t, 3, status, told)
	require.Contains(t, text, "1: 47 0, of win 1, of comm 0", told)
}

const errorUnderway = `
#include <mpi.h>
#include <stdlib.h>
enum { MANY = 2 << 20 };
int main(int argc, char **argv)
{
	int rank, value = 1, *memory, *many = calloc(MANY, sizeof *many);
	MPI_Win win;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	many[0] = 1;
	MPI_Win_allocate((MANY + 16) * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	MPI_Win_lock_all(0, win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
		MPI_Win_flush(1, win);
		MPI_Put(many, MANY, MPI_INT, 1, 16, MANY, MPI_INT, win);
	} else {
		while (__atomic_load_n(memory + 16, __ATOMIC_ACQUIRE) == 0)
			;
		value = memory[0];
		MPI_Win_sync(win);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	free(many);
	return !value;
}
`

// TestCheckErrorPendingOp checks that a load of data that a put has written causes no error, even if the put has not
// returned at the origin. --check must treat the load as later than the put.
func TestCheckErrorPendingOp(t *testing.T) {
	program := compile(t, errorUnderway, "--check", "-O1")
	for range 5 {
		status, _, told := gompirun(t, "-n", "2", "--check=error", program)
		require.Zero(t, status, told)
		require.Empty(t, told)
	}
}

const errorFortran = `
program p
  use mpi_f08
  implicit none
  integer :: rank, ierror, rc
  integer, asynchronous :: value
  integer, asynchronous :: memory(8)
  type(MPI_Win) :: win
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Win_create(memory, 32_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN)
  value = rank
  rc = MPI_SUCCESS
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Win_lock_all(0, win)
  if (rank == 0) then
    call MPI_Put(value, 1, MPI_INTEGER, 1, 3_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win)
    call MPI_Send(value, 0, MPI_INTEGER, 1, 0, MPI_COMM_WORLD)
  else
    call MPI_Recv(value, 0, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Put(value, 1, MPI_INTEGER, 1, 3_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, rc)
    if (rc == MPI_ERR_RMA_CONFLICT) print '(a)', 'the later call has returned the class'
  end if
  call MPI_Win_unlock_all(win, ierror)
  call MPI_Win_free(win)
  call MPI_Finalize()
end program
`

// TestCheckErrorFortran checks that the ierror argument of Fortran calls receives the error class.
func TestCheckErrorFortran(t *testing.T) {
	source := filepath.Join(t.TempDir(), "program.f90")
	require.NoError(t, os.WriteFile(source, []byte(errorFortran), 0o666))
	program := filepath.Join(t.TempDir(), "program")
	runTool(t, "gompifort", "-g", "-o", program, source)
	status, text, told := gompirun(t, "-n", "2", "--check=error", program)
	require.Equal(t, 3, status, told)
	require.Equal(t, "the later call has returned the class\n", text)
}

const errorThreads = `
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
static MPI_Win wins[4];
static int rank;
static void *put_some(void *number)
{
	long me = (long)number, wrong = 0;
	int value = 1;
	MPI_Win win = wins[me];
	for (int i = 0; i < 40; i++) {
		int bad = me == 0 && i % 4 == 0;
		MPI_Put(&value, 1, MPI_INT, 1 - rank, me, 1, MPI_INT, win);
		if (bad)
			wrong += MPI_Put(&value, 1, MPI_INT, 1 - rank, me, 1, MPI_INT, win) == MPI_ERR_RMA_CONFLICT;
		if (MPI_Win_flush(1 - rank, win) != MPI_SUCCESS)
			wrong += 1000;
	}
	return (void *)wrong;
}
int main(int argc, char **argv)
{
	int provided, *memory;
	pthread_t threads[4];
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 4; i++) {
		MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &wins[i]);
		MPI_Win_set_errhandler(wins[i], MPI_ERRORS_RETURN);
		MPI_Win_lock_all(0, wins[i]);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (long i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, put_some, (void *)i);
	for (int i = 0; i < 4; i++) {
		void *wrong;
		pthread_join(threads[i], &wrong);
		printf("%d.%d: %ld\n", rank, i, (long)wrong);
	}
	for (int i = 0; i < 4; i++) {
		MPI_Win_unlock_all(wins[i]);
		MPI_Win_free(&wins[i]);
	}
	MPI_Finalize();
	return 0;
}
`

// TestCheckErrorThreads checks that each thread receives the errors of its own calls.
func TestCheckErrorThreads(t *testing.T) {
	status, out, err := gompirun(t, "-n", "2", "--check=error", compile(t, errorThreads))
	require.Equal(t, 3, status, "%s%s", out, err)
	for rank := range 2 {
		for thread := range 4 {
			count := "0"
			if thread == 0 {
				count = "10"
			}
			require.Contains(t, out, strconv.Itoa(rank)+"."+strconv.Itoa(thread)+": "+count+"\n", err)
		}
	}
}

const errorAtOnce = `
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	int rank, *memory, value = 1, put = 0, end = 0;
	MPI_Win win;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 20; i++) {
		MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
		MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
		if (rank != 2) {
			MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
			put += MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
			end += MPI_Win_unlock(2, win);
		}
		MPI_Win_free(&win);
	}
	MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &put, &put, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &end, &end, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d times, %d late\n", put / MPI_ERR_RMA_CONFLICT, end / MPI_ERR_RMA_CONFLICT);
	MPI_Finalize();
	return 0;
}
`

// TestCheckErrorConcurrent checks that of two concurrent conflicting calls exactly one is treated as the later call and
// returns the error. This also holds while the target is still in the call that creates the window.
func TestCheckErrorConcurrent(t *testing.T) {
	status, out, err := gompirun(t, "-n", "3", "--check=error", compile(t, errorAtOnce))
	require.Equal(t, 3, status, "%s%s", out, err)
	require.Equal(t, "20 times, 0 late\n", out, err)
}
