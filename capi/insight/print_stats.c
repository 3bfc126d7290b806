// Prints the table of gompirun --stats if another launcher has started the job. In MPI_Finalize the ranks reduce their
// counters, and rank 0 prints the table.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "insight/pmpi.h"
#include "insight/count.h"

enum { MAX_ROWS = 20 };

// A row of the table: sums over all ranks, and the rank with the longest time.
struct gompi_insight_row {
	int function;
	uint64_t calls, bytes;
	double seconds;
	struct {
		double seconds;
		int rank;
	} longest;
};

// Adds the counters of all threads of this rank to sums (calls, bytes) and seconds, by function.
static void sum_counters(uint64_t (*sums)[2], double *seconds) {
	struct gompi_insight_part *part = gompi_insight_part;
	double per_tick = (double)(gompi_insight_now(CLOCK_MONOTONIC) - (int64_t)part->monotonic) * 1e-9 /
			  (double)(gompi_insight_ticks() - gompi_load(&part->ticks));
	for (int s = 0; s < GOMPI_INSIGHT_SLOTS && s < (int)gompi_load(&part->threads); s++) {
		for (int f = 0; f < GOMPI_INSIGHT_FUNCTIONS; f++) {
			struct gompi_insight_count *c = &part->slots[s].functions[f];
			sums[f][0] += gompi_load(&c->calls);
			sums[f][1] += gompi_load(&c->bytes);
			seconds[f] += (double)gompi_load(&c->ticks) * per_tick;
		}
	}
}

static int by_seconds(const void *a, const void *b) {
	double x = ((const struct gompi_insight_row *)a)->seconds, y = ((const struct gompi_insight_row *)b)->seconds;
	return (x < y) - (x > y);
}

static void print_rows(struct gompi_insight_row *rows, int n, int ranks, double total_seconds) {
	qsort(rows, n, sizeof *rows, by_seconds);
	fprintf(stderr, "gompirma: %d rank%s, %.3g s each\n\n  %-30s %12s %16s %12s %8s  %s\n", ranks,
		ranks == 1 ? "" : "s", total_seconds / ranks, "call", "count", "bytes", "seconds", "share",
		"max. rank");
	for (int i = 0; i < n && i < MAX_ROWS; i++)
		fprintf(stderr, "  %-30s %12llu %16llu %12.4g %6.2f %%  %d (%.4g s)\n",
			gompi_insight_function_names[rows[i].function], (unsigned long long)rows[i].calls,
			(unsigned long long)rows[i].bytes, rows[i].seconds, 100 * rows[i].seconds / total_seconds,
			rows[i].longest.rank, rows[i].longest.seconds);
}

void gompi_insight_print_stats(void) {
	enum { N = GOMPI_INSIGHT_FUNCTIONS };
	static uint64_t sums[N][2], all[N][2];
	static double seconds[N], sum[N];
	static struct {
		double seconds;
		int rank;
	} local_seconds[N], most[N];
	static struct gompi_insight_row rows[N];
	int rank = 0, ranks = 0, started = 0;
	double run_seconds, total_seconds = 0;
	if (gompi_insight_part == NULL || !gompi_insight_standalone ||
	    GOMPI_CALL_PMPI(MPI_Initialized, &started) != MPI_SUCCESS || !started)
		return;
	(void)GOMPI_CALL_PMPI(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
	(void)GOMPI_CALL_PMPI(MPI_Comm_size, MPI_COMM_WORLD, &ranks);
	sum_counters(sums, seconds);
	run_seconds = (double)(gompi_insight_now(CLOCK_MONOTONIC) - (int64_t)gompi_insight_part->monotonic) * 1e-9;
	for (int f = 0; f < N; f++) {
		local_seconds[f].seconds = seconds[f];
		local_seconds[f].rank = rank;
	}
	if (GOMPI_CALL_PMPI(MPI_Reduce, sums, all, 2 * N, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD) != MPI_SUCCESS ||
	    GOMPI_CALL_PMPI(MPI_Reduce, seconds, sum, N, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD) != MPI_SUCCESS ||
	    GOMPI_CALL_PMPI(MPI_Reduce, &run_seconds, &total_seconds, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD) !=
		    MPI_SUCCESS ||
	    GOMPI_CALL_PMPI(MPI_Reduce, local_seconds, most, N, MPI_DOUBLE_INT, MPI_MAXLOC, 0, MPI_COMM_WORLD) !=
		    MPI_SUCCESS ||
	    rank != 0)
		return;
	int n = 0;
	for (int f = 0; f < N; f++)
		if (all[f][0] > 0)
			rows[n++] = (struct gompi_insight_row){
				f, all[f][0], all[f][1], sum[f], {most[f].seconds, most[f].rank}};
	print_rows(rows, n, ranks, total_seconds);
}
