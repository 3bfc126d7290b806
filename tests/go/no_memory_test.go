package gotest

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// failingAllocations makes allocation number `left` of the calling thread fail while `fails` is set. `failed` counts
// the failures.
const failingAllocations = `
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static __thread int fails, left, failed;
static int none(void)
{
    if (!fails || left-- != 0)
        return 0;
    failed++;
    errno = ENOMEM;
    return 1;
}
void *malloc(size_t n) { return none() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t m) { return none() ? NULL : __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { return none() ? NULL : __libc_realloc(p, n); }
`

// failing is a program whose rank 0 duplicates a communicator repeatedly. In round k, allocation number k of the call
// fails. MPI_Comm_dup must return MPI_ERR_NO_MEM, unless it can continue without the memory, and the process must
// continue to work.
const failing = failingAllocations + `
int main(void)
{
    enum { MOST = 200 };
    int rank, k, refused = 0;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (k = 0; k < MOST; k++) {
        MPI_Comm copy = MPI_COMM_NULL;
        int said[3] = {0, MPI_ERR_NO_MEM, 0}, class, sum = 1;
        left = k;
        failed = 0;
        fails = rank == 0;
        said[0] = MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        fails = 0;
        if (said[0] != MPI_SUCCESS)
            MPI_Error_class(said[0], &said[1]);
        said[2] = failed;
        MPI_Bcast(said, 3, MPI_INT, 0, MPI_COMM_WORLD);
        class = said[1];
        if (class != MPI_ERR_NO_MEM) {
            printf("class %d\n", class);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        refused += said[0] != MPI_SUCCESS;
        if (said[0] != MPI_SUCCESS)
            continue; /* at rank 1 it is there, and nobody uses it */
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, copy);
        MPI_Comm_free(&copy);
        if (sum != 2)
            MPI_Abort(MPI_COMM_WORLD, 2);
        if (said[2] == 0)
            break;
    }
    MPI_Finalize();
    printf("%s\n", refused > 0 && k < MOST ? "refused" : "never");
    return 0;
}
`

// TestNoMemoryForCommunicators checks that the call that creates a communicator returns an error if an allocation
// fails.
func TestNoMemoryForCommunicators(t *testing.T) {
	program := compile(t, failing)
	status, out, err := gompirun(t, "-n", "2", program)
	require.Zero(t, status, "%s%s", out, err)
	require.Equal(t, "refused\nrefused\n", out)
	require.Empty(t, err)
}

// failingFile is a program whose ranks open, write, read and close a file repeatedly. In round k, allocation number k
// of MPI_File_open fails at rank 0. After the first round in which the file is opened, allocation number 0 of the other
// calls fails, then number 1, and so on. All ranks must return the same class, which is MPI_ERR_NO_MEM or none.
const failingFile = failingAllocations + `
static int class_of(int rc)
{
    int class = MPI_SUCCESS;
    if (rc != MPI_SUCCESS)
        MPI_Error_class(rc, &class);
    return class;
}
/* Ends the job unless all ranks have the same class in round k. */
static void must_agree(int k, const char *call, int class)
{
    int most, least;
    MPI_Allreduce(&class, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&class, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (most == least && (most == MPI_SUCCESS || most == MPI_ERR_NO_MEM))
        return;
    printf("round %d: %s returns classes from %d to %d\n", k, call, least, most);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
int main(int argc, char **argv)
{
    enum { MOST = 60 };
    int rank, size, refused = 0, data[100] = {0};
    MPI_Datatype view, gaps;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_vector(100, 1, size, MPI_INT, &view);
    MPI_Type_vector(50, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&view);
    MPI_Type_commit(&gaps);
    for (int k = 0; k < MOST; k++) {
        MPI_File f = MPI_FILE_NULL;
        int class;
/* Makes a call in which allocation number n fails at rank 0. */
#define ROUND(n, call, ...)                  \
        left = n;                            \
        fails = rank == 0;                   \
        class = class_of(call(__VA_ARGS__)); \
        fails = 0;                           \
        must_agree(k, #call, class)
        ROUND(k, MPI_File_open, MPI_COMM_WORLD, argv[1], MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f);
        refused += class != MPI_SUCCESS;
        if (class != MPI_SUCCESS)
            continue;
        ROUND(k - refused, MPI_File_set_view, f, rank * 4, MPI_INT, view, "native", MPI_INFO_NULL);
        ROUND(k - refused, MPI_File_write_at_all, f, 0, data, 1, gaps, MPI_STATUS_IGNORE);
        ROUND(k - refused, MPI_File_write_at_all, f, 0, data, 100, MPI_INT, MPI_STATUS_IGNORE);
        ROUND(k - refused, MPI_File_read_at_all, f, 0, data, 100, MPI_INT, MPI_STATUS_IGNORE);
        ROUND(k - refused, MPI_File_close, &f);
    }
    MPI_Type_free(&view);
    MPI_Type_free(&gaps);
    MPI_Finalize();
    if (rank == 0)
        printf("%d calls of MPI_File_open were refused\n", refused);
    return 0;
}
`

// TestNoMemoryForFiles checks that collective calls on files return an error at all ranks if an allocation fails at one
// rank.
func TestNoMemoryForFiles(t *testing.T) {
	status, out, err := gompirun(t, "-n", "2", compile(t, failingFile), filepath.Join(t.TempDir(), "file"))
	require.Zero(t, status, "%s%s", out, err)
	require.Regexp(t, "^[1-9][0-9]* calls of MPI_File_open were refused\n$", out)
	require.Empty(t, err)
}
