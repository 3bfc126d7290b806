/* One call with a length larger than its array or data: lengths CALL LENGTH. The arrays lie at the end of a mapping.
 * Prints RETURNED if the call returned. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BYTES = 256 };

int main(int argc, char **argv) {
	if (argc != 3)
		return 9;
	MPI_Init(&argc, &argv);
	const char *call = argv[1];
	int64_t v = atoll(argv[2]);
	int n = (int)v, flag, x;
	char *half = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(half + (1 << 19), 1 << 19, PROT_NONE);
	char *m = half + (1 << 19) - BYTES;
	int *ints = (int *)m, (*triplets)[3] = (void *)m;
	MPI_Aint *aints = (MPI_Aint *)m;
	MPI_Count *counts = (MPI_Count *)m;
	MPI_Datatype t, *types = (MPI_Datatype *)m;
	MPI_Request r, *requests = (MPI_Request *)m;
	MPI_Comm world = MPI_COMM_WORLD, c;
	MPI_Group g, part;
	MPI_Comm_group(world, &g);
	if (strncmp(call, "struct", 6) == 0)
		for (int i = 0; i < (int)(BYTES / sizeof *types); i++)
			types[i] = MPI_INT;
	if (strncmp(call, "request_", 8) == 0)
		for (int i = 0; i < (int)(BYTES / sizeof *requests); i++)
			requests[i] = MPI_REQUEST_NULL;
#define IS(NAME) else if (strcmp(call, NAME) == 0)
	if (0)
		;
	IS("indexed") MPI_Type_indexed(n, ints, ints, MPI_INT, &t);
	IS("indexed_c") MPI_Type_indexed_c(v, counts, counts, MPI_INT, &t);
	IS("hindexed") MPI_Type_create_hindexed(n, ints, aints, MPI_INT, &t);
	IS("hindexed_c") MPI_Type_create_hindexed_c(v, counts, counts, MPI_INT, &t);
	IS("indexed_block") MPI_Type_create_indexed_block(n, 1, ints, MPI_INT, &t);
	IS("indexed_block_c") MPI_Type_create_indexed_block_c(v, 1, counts, MPI_INT, &t);
	IS("hindexed_block") MPI_Type_create_hindexed_block(n, 1, aints, MPI_INT, &t);
	IS("hindexed_block_c") MPI_Type_create_hindexed_block_c(v, 1, counts, MPI_INT, &t);
	IS("struct") MPI_Type_create_struct(n, ints, aints, types, &t);
	IS("struct_c") MPI_Type_create_struct_c(v, counts, counts, types, &t);
	IS("subarray") MPI_Type_create_subarray(n, ints, ints, ints, MPI_ORDER_C, MPI_INT, &t);
	IS("darray") MPI_Type_create_darray(1, 0, n, ints, ints, ints, ints, MPI_ORDER_C, MPI_INT, &t);
	IS("request_waitall") MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
	IS("request_waitany") MPI_Waitany(n, requests, &x, MPI_STATUS_IGNORE);
	IS("request_waitsome") MPI_Waitsome(n, requests, &x, ints, MPI_STATUSES_IGNORE);
	IS("request_testall") MPI_Testall(n, requests, &flag, MPI_STATUSES_IGNORE);
	IS("request_testany") MPI_Testany(n, requests, &x, &flag, MPI_STATUS_IGNORE);
	IS("request_testsome") MPI_Testsome(n, requests, &x, ints, MPI_STATUSES_IGNORE);
	IS("request_status") MPI_Request_get_status_all(n, requests, &flag, MPI_STATUSES_IGNORE);
	IS("startall") MPI_Startall(n, requests);
	IS("group_incl") MPI_Group_incl(g, n, ints, &part);
	IS("group_range_incl") MPI_Group_range_incl(g, n, triplets, &part);
	IS("translate") MPI_Group_translate_ranks(g, n, ints, g, ints);
	IS("cart") MPI_Cart_create(world, n, ints, ints, 0, &c);
	IS("graph") MPI_Graph_create(world, n, ints, ints, 0, &c);
	IS("adjacent")
	MPI_Dist_graph_create_adjacent(world, n, ints, MPI_UNWEIGHTED, n, ints, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c);
	IS("dist_graph") MPI_Dist_graph_create(world, n, ints, ints, ints, ints, MPI_INFO_NULL, 0, &c);
	IS("degrees") MPI_Dist_graph_create(world, 1, (int[]){0}, &n, ints, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c);
	IS("replace") MPI_Sendrecv_replace_c(m, v, MPI_BYTE, 0, 0, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	IS("ireplace")
	MPI_Isendrecv_replace_c(m, v, MPI_BYTE, 0, 0, 0, 0, MPI_COMM_SELF, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
	IS("alltoall") MPI_Alltoall_c(MPI_IN_PLACE, 0, MPI_BYTE, half, v, MPI_BYTE, world);
	IS("ireduce_scatter_block")
	MPI_Ireduce_scatter_block_c(m, half, v, MPI_INT, MPI_SUM, world, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
	IS("iallreduce") MPI_Iallreduce_c(m, half, v, MPI_INT, MPI_SUM, world, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
	IS("iscan") MPI_Iscan_c(m, half, v, MPI_INT, MPI_SUM, world, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
	IS("vector") {
		MPI_Type_vector_c(v, 1, 2, MPI_BYTE, &t);
		MPI_Type_commit(&t);
		MPI_Gather(m, 1, t, half, 1, t, 0, world);
	}
	else return 9;
	printf("RETURNED\n");
	fflush(stdout);
	MPI_Abort(world, 9);
	return 0;
}
