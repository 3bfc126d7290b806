/* Proves, over simulated links with a simulated clock: the limit of bytes in flight adapts to the link. It is large
 * enough to keep the link busy, at least GOMPI_PACE_MIN_BYTES and at most GOMPI_PACE_MAX_BYTES. When the link becomes
 * slower, the limit decreases.
 *
 * sanitizer: address (one thread)
 */
#include "../unit.h"

#include "fabric/pace.h"

enum { PIECE = 256 << 10, QUEUE = GOMPI_PACE_MAX_BYTES / PIECE + 1 };

static struct gompi_pace pace = {.limit_bytes = GOMPI_PACE_MIN_BYTES};
static int64_t now = 1;

/* Simulates a transfer over a link with `rate` bytes per nanosecond and a round-trip time of `back` nanoseconds. */
static void transfer(uint64_t bytes, double rate, int64_t back) {
	struct {
		int64_t first, comes;
	} queue[QUEUE];
	int begin = 0, n = 0;
	int64_t busy = now; /* the time at which the link becomes idle */
	uint64_t flying = 0;
	while (bytes > 0 || n > 0) {
		while (bytes > 0 && flying < pace.limit_bytes) {
			busy = (busy > now + back ? busy : now + back) + (int64_t)(PIECE / rate);
			queue[(begin + n++) % QUEUE].comes = busy;
			queue[(begin + n - 1) % QUEUE].first = flying == 0 ? now : 0;
			flying += PIECE, bytes -= PIECE;
		}
		if (bytes > 0)
			gompi_pace_limit_reached(&pace, now);
		now = queue[begin].comes;
		flying -= PIECE;
		if (gompi_pace_needs_sample(&pace, queue[begin].first))
			gompi_pace_add_sample(&pace, PIECE, queue[begin].first, flying, now);
		begin = (begin + 1) % QUEUE, n--;
	}
}

/* Transfers data and checks that the limit becomes 90 % to 160 % of `want` bytes. The range is wide, because the time
 * to transmit a segment adds to the round-trip time. */
static void check_link(const char *name, double rate, int64_t back, double want) {
	for (int i = 0; i < 8; i++)
		transfer(64 << 20, rate, back);
	CHECK((double)pace.limit_bytes > want * 0.9 && (double)pace.limit_bytes < want * 1.6, "%s: %llu KiB under way",
	      name, (unsigned long long)pace.limit_bytes >> 10);
}

int main(void) {
	const int64_t us = 1000, ms = 1000 * us;
	check_link("a loopback", 3, 20 * us, GOMPI_PACE_MIN_BYTES);
	check_link("1 Gbit/s over 1 ms", 0.125, ms, GOMPI_PACE_MIN_BYTES);
	pace = (struct gompi_pace){.limit_bytes = GOMPI_PACE_MIN_BYTES};
	check_link("1 Gbit/s over 20 ms", 0.125, 20 * ms, 2 * 0.125 * (double)(20 * ms));
	check_link("10 Gbit/s over 20 ms", 1.25, 20 * ms, GOMPI_PACE_MAX_BYTES);
	check_link("1 Gbit/s again", 0.125, 20 * ms, 2 * 0.125 * (double)(20 * ms));
	for (int i = 0; i < 100; i++) /* transfers of one segment are too small to measure the link */
		transfer(PIECE, 1.25, ms);
	CHECK(pace.measured_since_ns == 0, "a series that is over still counts");
	check_link("a loopback, after all", 3, 20 * us, GOMPI_PACE_MIN_BYTES);
	return unit_end();
}
