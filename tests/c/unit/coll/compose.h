/* The data that members pass to collectives, and a reduction operation whose result depends on the operand order. */
#ifndef COMPOSE_H
#define COMPOSE_H

#include <stdint.h>

/* Reduces by an operation that does not commute. An element is a function x -> ax + b modulo 256. The new `inout` is
 * the function x -> in(inout(x)). */
static void compose(const void *in, void *inout, uint64_t elements) {
	const unsigned char *f = in;
	unsigned char *g = inout;
	for (uint64_t i = 0; i < 2 * elements; i += 2) {
		g[i + 1] = (unsigned char)(f[i] * g[i + 1] + f[i + 1]);
		g[i] = (unsigned char)(f[i] * g[i]);
	}
}

/* Returns byte i of the data that a member passes to a call. */
static unsigned char input(int call, int member, uint64_t i) {
	return (unsigned char)((uint64_t)call * 31 + (uint64_t)member * 7 + i * 13 + (i >> 8));
}

#endif
