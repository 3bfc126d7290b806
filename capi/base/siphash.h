// The keyed hash siphash-2-4 of whole 64-bit words. Only a holder of the key can compute it.
#ifndef GOMPI_SIPHASH_H
#define GOMPI_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define GOMPI_ROTATE(x, n) ((x) << (n) | (x) >> (64 - (n)))

static inline void gompi_siphash_round(uint64_t v[4]) {
	v[0] += v[1], v[1] = GOMPI_ROTATE(v[1], 13) ^ v[0], v[0] = GOMPI_ROTATE(v[0], 32);
	v[2] += v[3], v[3] = GOMPI_ROTATE(v[3], 16) ^ v[2];
	v[0] += v[3], v[3] = GOMPI_ROTATE(v[3], 21) ^ v[0];
	v[2] += v[1], v[1] = GOMPI_ROTATE(v[1], 17) ^ v[2], v[2] = GOMPI_ROTATE(v[2], 32);
}

static inline void gompi_siphash_word(uint64_t v[4], uint64_t word) {
	v[3] ^= word;
	gompi_siphash_round(v);
	gompi_siphash_round(v);
	v[0] ^= word;
}

// Returns the hash of n 64-bit words, n < 32.
static inline uint64_t gompi_siphash(const uint64_t key[2], const uint64_t *words, size_t n) {
	uint64_t v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
			 key[1] ^ 0x7465646279746573};
	for (size_t i = 0; i < n; i++)
		gompi_siphash_word(v, words[i]);
	gompi_siphash_word(v, (uint64_t)(8 * n) << 56);
	v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		gompi_siphash_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#undef GOMPI_ROTATE

#endif
