// MPI_Wtime and MPI_Wtick (MPI-5.0 9.6). They read CLOCK_MONOTONIC, which all processes of a node share, without a
// system call.
#include <time.h>

#include "base/atomics.h"
#include "environment/z_calls.h"

double gompi_wtime(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
GOMPI_ENTRY(MPI_Wtime, gompi_wtime);

double gompi_wtick(void) {
	static _Atomic double known; // cached resolution; it does not change
	double seconds = gompi_load(&known);
	if (__builtin_expect(seconds == 0, 0)) {
		struct timespec tick;
		clock_getres(CLOCK_MONOTONIC, &tick);
		seconds = (double)tick.tv_sec + 1e-9 * (double)tick.tv_nsec;
		gompi_store(&known, seconds);
	}
	return seconds;
}
GOMPI_ENTRY(MPI_Wtick, gompi_wtick);
