// How many bytes of transfers may be under way with a peer where processors move them: what stays in caches, or twice
// what comes in the time there and back, so that a line is full however long it is. All times are given by the caller,
// in nanoseconds; it has a lock.
#ifndef GOMPI_FABRIC_PACE_H
#define GOMPI_FABRIC_PACE_H

#include <stdbool.h>
#include <stdint.h>

// The most is for 10 Gbit/s over 6 ms.
enum { GOMPI_PACE_LEAST = 1 << 20, GOMPI_PACE_MOST = 16 << 20 };

struct gompi_pace {
	uint64_t most; // bytes
	int64_t back;  // in which a piece came that nothing was before, at best; 0: none has
	int64_t since; // when come began to count; 0: fewer were under way than may be
	uint64_t come; // bytes that have come since
};

// As many are under way as may be.
static inline void gompi_pace_full(struct gompi_pace *p, int64_t now) {
	if (p->since != 0)
		return;
	p->since = now;
	p->come = 0;
}

// Returns true if gompi_pace_come wants to know of a piece that was started at first if nothing was under way, else 0.
static inline bool gompi_pace_asks(const struct gompi_pace *p, int64_t first) { return first != 0 || p->since != 0; }

// A piece has come: of so many bytes, started at first if nothing was under way then (else 0), with flying bytes still
// under way.
static inline void gompi_pace_come(struct gompi_pace *p, uint64_t bytes, int64_t first, uint64_t flying, int64_t now) {
	if (first != 0 && (p->back == 0 || now - first < p->back))
		p->back = now - first;
	if (p->since == 0)
		return;
	p->come += bytes;
	if (flying < p->most / 2) {
		p->since = 0; // there is no more to be started
		return;
	}
	if (p->come < 2 * p->most) // all that was under way in the beginning, and what was started then
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
