/* Proves: two windows may cover the same memory, overlap, or be adjacent in one buffer, with and without
 *   gompirma_share_in_place, and be freed in any order. Data put through one window appears in the memory that both
 *   windows cover, also after one of them is freed. The contents of the memory survive. MPI-5.0 12.2.1
 * np: 1 2 4
 * ref: none (MPICH over UCX puts to the wrong place if several windows lie in one page)
 * timeout: 60
 */
#include "../in_place.h"

enum { SIZE = 10 * PAGE };

static void ring(MPI_Win win, unsigned char *mem, MPI_Aint size, int round) {
	int right = (check_rank + 1) % check_size;
	unsigned char *buffer = malloc((size_t)size), *got = malloc((size_t)size);
	in_place_fill(buffer, (size_t)size, right, round);
	MPI_Win_fence(0, win);
	MPI_Put(buffer, (int)size, MPI_BYTE, right, 0, (int)size, MPI_BYTE, win);
	MPI_Win_fence(0, win);
	CHECK_FILLED(mem, (size_t)size, check_rank, round, "put");
	MPI_Get(got, (int)size, MPI_BYTE, right, 0, (int)size, MPI_BYTE, win);
	MPI_Win_fence(0, win);
	CHECK_FILLED(got, (size_t)size, right, round, "get");
	free(buffer);
	free(got);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	struct {
		MPI_Aint from, size, from2, size2;
	} cases[] = {
		{0, SIZE, 0, SIZE},                              /* identical */
		{0, 6 * PAGE, 3 * PAGE, 7 * PAGE},               /* overlapping */
		{3 * PAGE, 7 * PAGE, 0, 6 * PAGE},               /* overlapping, in the other order */
		{0, SIZE, 2 * PAGE + 100, 3 * PAGE},             /* inside, not page-aligned */
		{2 * PAGE + 100, 3 * PAGE, 0, SIZE},             /* enclosing */
		{0, 2 * PAGE + 2000, 2 * PAGE + 2000, 3 * PAGE}, /* adjacent, with a common page */
		{2 * PAGE, PAGE, 0, SIZE},                       /* enclosing, page-aligned */
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int order = 0; order < 2; order++)
			for (int how = 0; how < 3; how++) { /* both windows request sharing, only a, or only b */
				unsigned char *mem = aligned_alloc(PAGE, SIZE);
				MPI_Win a, b;
				in_place_fill(mem, SIZE, check_rank, 0);
				in_place_try(mem + cases[i].from, cases[i].size, 1, how == 2 ? "false" : "true",
					     MPI_COMM_WORLD, &a);
				in_place_try(mem + cases[i].from2, cases[i].size2, 1, how == 1 ? "false" : "true",
					     MPI_COMM_WORLD, &b);
				CHECK_FILLED(mem, SIZE, check_rank, 0, "created");
				ring(a, mem + cases[i].from, cases[i].size, 1);
				ring(b, mem + cases[i].from2, cases[i].size2, 2);
				if (i == 0 && how != 2) {
					CHECK_SHARED(a, "true");
					if (in_place_told(a) != NULL)
						CHECK_SHARED(b, "true"); /* even if b does not request it */
				}
				in_place_fill(mem, SIZE, check_rank, 3);
				MPI_Win_free(order ? &b : &a);
				CHECK_FILLED(mem, SIZE, check_rank, 3, "one freed");
				MPI_Barrier(MPI_COMM_WORLD);
				if (order)
					ring(a, mem + cases[i].from, cases[i].size, 4);
				else
					ring(b, mem + cases[i].from2, cases[i].size2, 4);
				in_place_fill(mem, SIZE, check_rank, 5);
				MPI_Win_free(order ? &a : &b);
				CHECK_FILLED(mem, SIZE, check_rank, 5, "both freed");
				for (int page = 0; page < SIZE / PAGE; page++)
					CHECK(strcmp(in_place_mode(mem + page * PAGE, NULL), "rw-p") == 0,
					      "case %zu: page %d is %s at the end", i, page,
					      in_place_mode(mem + page * PAGE, NULL));
				free(mem);
			}
	return check_end();
}
