/* A profiling library: it defines MPI_Put and MPI_Aint_add, counts the calls and hands them on. LD_PRELOAD loads it. */
#include <mpi.h>

static int calls;

int MPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
	    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win) {
	calls++;
	return PMPI_Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
			target_datatype, win);
}

/* A function that the header has inline, too, as a library that wraps all functions may have it. */
MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint disp) { return calls++, PMPI_Aint_add(base, disp); }

/* The program looks this up: how often they were called. */
int count_puts_calls(void) { return calls; }
