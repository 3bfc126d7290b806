// Reads the clocks: the system's, and the processor's tick counter if it runs at a constant rate.

#include <time.h>

#include "insight/count.h"

bool gompi_insight_constant_rate;
uint64_t gompi_insight_clock_cost;

// Returns true if the processor's tick counter runs at a constant rate (invariant TSC).
static bool has_constant_rate(void) {
#if defined(__x86_64__)
	uint32_t a = 0x80000000, b, c, d;
	__asm__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
	if (a < 0x80000007)
		return false;
	a = 0x80000007;
	__asm__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
	return d & 1 << 8;
#else
	return true;
#endif
}

void gompi_insight_init_clock(void) {
	gompi_insight_constant_rate = has_constant_rate();
	gompi_insight_clock_cost = UINT64_MAX;
	for (int i = 0; i < 64; i++) {
		uint64_t before = gompi_insight_ticks(), took = gompi_insight_ticks() - before;
		gompi_insight_clock_cost = took < gompi_insight_clock_cost ? took : gompi_insight_clock_cost;
	}
	gompi_insight_clock_cost +=
		gompi_insight_clock_cost == 0; // a slow counter may not advance between two readings
}

int64_t gompi_insight_now(int clock) {
	struct timespec now;
	clock_gettime(clock, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}
