// Limits the bytes of transfers that are in progress with a peer, if the CPUs move the data. The limit is
// GOMPI_PACE_MIN_BYTES, which stays in the caches, or twice the bandwidth-delay product if that is more. So a network
// link with a high latency is used fully too. The caller passes all times in nanoseconds, and holds the peer's lock.
#ifndef GOMPI_FABRIC_PACE_H
#define GOMPI_FABRIC_PACE_H

#include <stdbool.h>
#include <stdint.h>

// The maximum is twice the bandwidth-delay product of 10 Gbit/s and a round-trip time of 6 ms.
enum { GOMPI_PACE_MIN_BYTES = 1 << 20, GOMPI_PACE_MAX_BYTES = 16 << 20 };

struct gompi_pace {
	uint64_t limit_bytes; // maximum bytes in progress
	// shortest duration of a segment that was alone in progress at its start; 0 if unknown
	int64_t min_rtt_ns;
	int64_t measured_since_ns; // start time of the running bandwidth measurement; 0 if none runs
	uint64_t measured_bytes;   // bytes completed since measured_since_ns
};

// Notes that the limit is reached: starts a measurement if none is running.
static inline void gompi_pace_limit_reached(struct gompi_pace *p, int64_t now) {
	if (p->measured_since_ns != 0)
		return;
	p->measured_since_ns = now;
	p->measured_bytes = 0;
}

// Returns true if gompi_pace_add_sample must be called for a segment. The argument lone_start_ns is the segment's start
// time if nothing was in progress at that time, else 0.
static inline bool gompi_pace_needs_sample(const struct gompi_pace *p, int64_t lone_start_ns) {
	return lone_start_ns != 0 || p->measured_since_ns != 0;
}

// Adds the completion of a segment of `bytes` bytes to the measurement. The argument lone_start_ns is as in
// gompi_pace_needs_sample, and inflight_bytes is the number of bytes still in progress.
static inline void gompi_pace_add_sample(struct gompi_pace *p, uint64_t bytes, int64_t lone_start_ns,
					 uint64_t inflight_bytes, int64_t now) {
	if (lone_start_ns != 0 && (p->min_rtt_ns == 0 || now - lone_start_ns < p->min_rtt_ns))
		p->min_rtt_ns = now - lone_start_ns;
	if (p->measured_since_ns == 0)
		return;
	p->measured_bytes += bytes;
	if (inflight_bytes < p->limit_bytes / 2) {
		p->measured_since_ns = 0; // no transfers wait for the limit, so the measurement is not valid
		return;
	}
	// Measure until twice the limit has completed: the bytes that were in progress at the start of the measurement,
	// and the same number that started during it.
	if (p->measured_bytes < 2 * p->limit_bytes)
		return;
	const double rate = (double)p->measured_bytes / (double)(now - p->measured_since_ns + 1);
	const double limit = 2 * rate * (double)p->min_rtt_ns;
	p->limit_bytes = limit > 2 * (double)p->limit_bytes ? 2 * p->limit_bytes : (uint64_t)limit;
	if (p->limit_bytes < GOMPI_PACE_MIN_BYTES)
		p->limit_bytes = GOMPI_PACE_MIN_BYTES;
	if (p->limit_bytes > GOMPI_PACE_MAX_BYTES)
		p->limit_bytes = GOMPI_PACE_MAX_BYTES;
	p->measured_since_ns = now;
	p->measured_bytes = 0;
}

#endif
