/* Proves: accumulates of any size are atomic per element, whatever the value of the info key
 *   mpi_accumulate_granularity. No update is lost while all ranks accumulate at once. Covers few and many elements,
 *   contiguous and strided; types that the processor can and cannot update atomically; fetching calls; allocated memory
 *   and malloc memory. The program may change the value of the key between two epochs. MPI-5.0 12.2.1, 12.7.1
 * np: 1 2 4
 * ref: mpich
 * timeout: 120
 */
#include "../check.h"

enum { MOST = 3000, ROUNDS = 6 };

static const char *const granularities[] = {"0",   "1",   "8",    "24",      "100",
					    "512", "513", "4096", "1048576", "9223372036854775807"};

static uint64_t state;

static void rounds(MPI_Win win, double *d, int me, int n) {
	static double ones[MOST], before[MOST];
	static long double long_ones[MOST];
	for (int i = 0; i < MOST; i++)
		ones[i] = 1, long_ones[i] = 1;
	memset(d, 0, MOST * sizeof(double) + MOST * sizeof(long double));
	MPI_Datatype strided;
	MPI_Type_vector(MOST / 2, 1, 2, MPI_DOUBLE, &strided);
	MPI_Type_commit(&strided);
	MPI_Barrier(MPI_COMM_WORLD);
	long sum[2] = {0, 0}, all[2];
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < ROUNDS; i++)
		for (int t = 0; t < n; t++) {
			int target = (me + t) % n, few = 1 + (int)(check_random(&state) % 100),
			    many = 200 + (int)(check_random(&state) % (MOST - 200));
			MPI_Accumulate(ones, few, MPI_DOUBLE, target, 0, few, MPI_DOUBLE, MPI_SUM, win);
			MPI_Accumulate(ones, many, MPI_DOUBLE, target, 0, many, MPI_DOUBLE, MPI_SUM, win);
			MPI_Accumulate(ones, MOST / 2, MPI_DOUBLE, target, 0, 1, strided, MPI_SUM, win);
			memset(before, 0xff, sizeof before);
			MPI_Get_accumulate(ones, many, MPI_DOUBLE, before, many, MPI_DOUBLE, target, 0, many,
					   MPI_DOUBLE, MPI_SUM, win);
			MPI_Accumulate(long_ones, many, MPI_LONG_DOUBLE, target, MOST * (MPI_Aint)sizeof(double), many,
				       MPI_LONG_DOUBLE, MPI_SUM, win);
			MPI_Win_flush(target, win);
			for (int k = 0; k < many; k++)
				if (!(before[k] >= 0 && before[k] < 5.0 * ROUNDS * n * n) ||
				    before[k] != (double)(long)before[k]) {
					CHECK(0, "element %d was %g before", k, before[k]);
					break;
				}
			sum[0] += few + 2 * many + MOST / 2;
			sum[1] += many;
		}
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Allreduce(sum, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	long here[2] = {0, 0}, found[2];
	long double *l = (long double *)(d + MOST);
	for (int i = 0; i < MOST; i++)
		here[0] += (long)d[i], here[1] += (long)l[i];
	MPI_Allreduce(here, found, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; i < 2; i++)
		CHECK(found[i] == all[i], "%s: %ld of %ld are there", i ? "long double" : "double", found[i], all[i]);
	MPI_Type_free(&strided);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Aint size = MOST * (sizeof(double) + sizeof(long double));
	state = (uint64_t)check_rank;
	for (unsigned g = 0; g < sizeof granularities / sizeof *granularities; g++) {
		MPI_Info info;
		MPI_Win win;
		double *mem;
		MPI_Info_create(&info);
		MPI_Info_set(info, "mpi_accumulate_granularity", granularities[g]);
		MPI_Win_allocate(size, 1, info, MPI_COMM_WORLD, &mem, &win);
		rounds(win, mem, check_rank, check_size);
		MPI_Info_set(info, "mpi_accumulate_granularity", "16");
		MPI_Win_set_info(win, info);
		rounds(win, mem, check_rank, check_size);
		MPI_Win_free(&win);
		MPI_Info_set(info, "mpi_accumulate_granularity", granularities[g]);
		mem = aligned_alloc(64, (size_t)(size + 63) / 64 * 64);
		MPI_Win_create(mem, size, 1, info, MPI_COMM_WORLD, &win);
		rounds(win, mem, check_rank, check_size);
		MPI_Win_free(&win);
		free(mem);
		MPI_Info_free(&info);
	}
	return check_end();
}
