/* Common part of the fuzz tests that corrupt network input. Runs the test in parts. Each part is a separate process, so
 * that a crash is reported. Each part has its own seed, so that one part can be repeated alone.
 *
 * Usage: NAME [N [SEED]] delivers at least N records instead of the default number. Each test defines which records it
 * counts: all records, or only those that it has corrupted or forged. SEED is the seed of the first part. */
#ifndef FUZZ_H
#define FUZZ_H

#include "unit.h"

#include <sys/wait.h>

static uint64_t fuzz_state;
static uint64_t draw(uint64_t below) { return check_random(&fuzz_state) % below; }

enum { FUZZ_COUNTS = 16 };
static uint64_t *fuzz_count; /* [FUZZ_COUNTS], shared by all parts; the test defines the meaning of each count */

/* Returns a random number: near a plausible length, offset or size, or any value. */
static uint64_t any_number(void) {
	static const uint64_t some[] = {0, 1, 8, 40, 63, 64, 976, 1 << 14, 1 << 16, 1u << 31, 1ull << 32, INT64_MAX};
	uint64_t x = some[draw(sizeof some / sizeof *some)] + draw(3) - 1;
	return draw(2) ? x : draw(2) ? 0 - x : check_random(&fuzz_state);
}

/* Corrupts one to three random positions: a bit, a byte, or up to 8 bytes. */
static void change_bytes(char *at, size_t length) {
	for (uint64_t n = 1 + draw(3); n > 0 && length > 0; n--) {
		size_t i = draw(4) == 0 ? draw(length) : draw(length < 80 ? length : 80);
		uint64_t word = any_number();
		size_t most = length - i, bytes = 1u << draw(4);
		switch (draw(3)) {
		case 0:
			at[i] ^= (char)(1 << draw(8));
			break;
		case 1:
			at[i] = (char)draw(256);
			break;
		case 2:
			i = i / bytes * bytes;
			memcpy(at + i, &word, bytes < most ? bytes : most);
			break;
		}
	}
}

/* Calls run(records) in one process per part. The function `run` delivers at least `records` records, unless a check
 * fails, and need not clean up. Its argument is at most `part`. The sum of this argument over all parts is argv[1], or
 * `usual` if there is no argument. Returns true if all parts succeeded. */
static bool fuzz(int argc, char **argv, uint64_t usual, uint64_t part, void (*run)(uint64_t records)) {
	uint64_t all = argc > 1 ? strtoull(argv[1], NULL, 10) : usual;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	fuzz_count = (uint64_t *)(void *)unit_memory(FUZZ_COUNTS * sizeof *fuzz_count);
	for (uint64_t done = 0; done < all && check_errors < CHECK_MAX_PRINTED; done += part, seed++) {
		fflush(stdout);
		pid_t child = fork();
		if (child == 0) {
			check_errors = 0;
			fuzz_state = seed;
			fuzz_state = check_random(&fuzz_state); /* makes the sequences of consecutive seeds
			                                         * independent */
			alarm(300);                             /* kills a part that hangs */
			run(all - done < part ? all - done : part);
			fflush(stdout);
			_exit(check_errors != 0);
		}
		int status = -1;
		waitpid(child, &status, 0);
		CHECK(status == 0, "seed %llu ended with %#x: %s %llu %llu", (unsigned long long)seed, (unsigned)status,
		      argv[0], (unsigned long long)part, (unsigned long long)seed);
	}
	return check_errors == 0;
}

#endif
