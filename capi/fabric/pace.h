// Limits the bytes of transfers that are in progress with a peer, if processors move the data. The limit is what stays
// in caches, or twice the bandwidth-delay product, so that a line with any latency is used fully. The caller passes all
// times, in nanoseconds, and holds a lock.
#ifndef GOMPI_FABRIC_PACE_H
#define GOMPI_FABRIC_PACE_H

#include <stdbool.h>
#include <stdint.h>

// The maximum suits 10 Gbit/s with a round-trip time of 6 ms.
enum { GOMPI_PACE_LEAST = 1 << 20, GOMPI_PACE_MOST = 16 << 20 };

struct gompi_pace {
	uint64_t most; // limit, in bytes
	int64_t back;  // shortest time (ns) of a part that was started with nothing in progress; 0 if unknown
	int64_t since; // when come began to count; 0 if fewer bytes are in progress than the limit allows
	uint64_t come; // bytes that have arrived since
};

// Records that the limit is reached: starts a measurement if none is running.
static inline void gompi_pace_full(struct gompi_pace *p, int64_t now) {
	if (p->since != 0)
		return;
	p->since = now;
	p->come = 0;
}

// Returns true if gompi_pace_come must be called for a part. first: its start time if nothing was in progress then,
// else 0.
static inline bool gompi_pace_asks(const struct gompi_pace *p, int64_t first) { return first != 0 || p->since != 0; }

// Records the completion of a part of `bytes` bytes. first: its start time if nothing was in progress then, else 0.
// flying: bytes still in progress.
static inline void gompi_pace_come(struct gompi_pace *p, uint64_t bytes, int64_t first, uint64_t flying, int64_t now) {
	if (first != 0 && (p->back == 0 || now - first < p->back))
		p->back = now - first;
	if (p->since == 0)
		return;
	p->come += bytes;
	if (flying < p->most / 2) {
		p->since = 0; // no more transfers are waiting: the measurement is void
		return;
	}
	// all bytes that were in progress at the start of the measurement, and those started meanwhile
	if (p->come < 2 * p->most)
		return;
	const double rate = (double)p->come / (double)(now - p->since + 1);
	const double most = 2 * rate * (double)p->back;
	p->most = most > 2 * (double)p->most ? 2 * p->most : (uint64_t)most;
	if (p->most < GOMPI_PACE_LEAST)
		p->most = GOMPI_PACE_LEAST;
	if (p->most > GOMPI_PACE_MOST)
		p->most = GOMPI_PACE_MOST;
	p->since = now;
	p->come = 0;
}

#endif
