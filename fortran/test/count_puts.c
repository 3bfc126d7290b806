/* A profiling library that a test preloads. It counts the calls of MPI_Put and prints their number at MPI_Finalize. */
#include <mpi.h>
#include <stdio.h>

static int puts_seen;

int MPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
	    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win) {
	puts_seen++;
	return PMPI_Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
			target_datatype, win);
}

int MPI_Finalize(void) {
	printf("counted %d puts\n", puts_seen);
	fflush(stdout);
	return PMPI_Finalize();
}
