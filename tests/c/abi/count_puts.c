/* A profiling library for LD_PRELOAD: defines MPI_Put and MPI_Aint_add, which count the calls and forward them. */
#include <mpi.h>

static int calls;

int MPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
	    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win) {
	calls++;
	return PMPI_Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
			target_datatype, win);
}

/* Counts and forwards the call. mpi.h also defines this function inline. But profiling libraries that wrap all MPI
 * functions define it without inline, as this file does. */
MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint disp) { return calls++, PMPI_Aint_add(base, disp); }

/* Returns the number of calls. profiled.c finds this function by dlsym. */
int count_puts_calls(void) { return calls; }
