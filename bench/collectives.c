/* Times collectives, as loop.h describes. BYTES is the amount that a rank sends to one other rank, or its whole input
 * to a reduction of doubles. The root changes with each call, so that calls cannot overlap much: the next root must
 * first complete its part of the previous call.
 *
 * In measurements with the suffix "_apart", rank 0 is always the root and a barrier follows each call. The result is
 * the time of the calls without the barriers, as the mean over the ranks, as in public suites. */
#include "loop.h"

static double *out, *in;

static void buffers(void) {
	out = memory(bytes * size);
	in = memory(bytes * size);
	memset(out, 0, bytes * size);
}

static void release(void) {
	free(out);
	free(in);
	out = in = NULL;
}

static void barrier(long n) {
	for (long i = 0; i < n; i++)
		MPI_Barrier(MPI_COMM_WORLD);
}
static void bcast(long n) {
	for (long i = 0; i < n; i++)
		MPI_Bcast(in, bytes, MPI_BYTE, i % size, MPI_COMM_WORLD);
}
static void reduce(long n) {
	for (long i = 0; i < n; i++)
		MPI_Reduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, i % size, MPI_COMM_WORLD);
}
static void allreduce(long n) {
	for (long i = 0; i < n; i++)
		MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void scan(long n) {
	for (long i = 0; i < n; i++)
		MPI_Scan(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void gather(long n) {
	for (long i = 0; i < n; i++)
		MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, i % size, MPI_COMM_WORLD);
}
static void scatter(long n) {
	for (long i = 0; i < n; i++)
		MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, i % size, MPI_COMM_WORLD);
}
static void allgather(long n) {
	for (long i = 0; i < n; i++)
		MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}
static void alltoall(long n) {
	for (long i = 0; i < n; i++)
		MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void bcast_apart(long n) {
	inside = 0;
	for (long i = 0; i < n; i++) {
		double t = now();
		MPI_Bcast(in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
		inside += now() - t;
		MPI_Barrier(MPI_COMM_WORLD);
	}
}
static void alltoall_apart(long n) {
	inside = 0;
	for (long i = 0; i < n; i++) {
		double t = now();
		MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
		inside += now() - t;
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

static const struct measurement measurements[] = {
	{"barrier", NULL, barrier, 0, 0, 0},
	{"bcast", buffers, bcast, 0, 0, 0},
	{"reduce", buffers, reduce, 0, 0, 0},
	{"allreduce", buffers, allreduce, 0, 0, 0},
	{"scan", buffers, scan, 0, 0, 0},
	{"gather", buffers, gather, 0, 0, 0},
	{"scatter", buffers, scatter, 0, 0, 0},
	{"allgather", buffers, allgather, 0, 0, 0},
	{"alltoall", buffers, alltoall, 0, 0, 0},
	{"bcast_apart", buffers, bcast_apart, APART, 0, 0},
	{"alltoall_apart", buffers, alltoall_apart, APART, 0, 0},
};

int main(int argc, char **argv) {
	static const struct program collectives = {
		"collectives", measurements, sizeof measurements / sizeof *measurements, release, NULL, NULL, 0};
	return measure(&collectives, argc, argv, NULL, NULL);
}
