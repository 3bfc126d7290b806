package gotest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// failing is a program whose rank 0 duplicates a communicator repeatedly. In round k, allocation number k of the call
// fails. MPI_Comm_dup must return MPI_ERR_NO_MEM, unless it can continue without the memory, and the process must
// continue to work.
const failing = `
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
