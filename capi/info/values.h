// Values of info keys that the library knows, as hints of communicators and windows keep them.
#ifndef GOMPI_INFO_VALUES_H
#define GOMPI_INFO_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "info/info.h"

#pragma GCC visibility push(hidden)

// A text, or a part of one.
struct gompi_words {
	const char *at;
	size_t n;
};

// Returns a text without blanks around it.
struct gompi_words gompi_words_trim(struct gompi_words w);

static inline bool gompi_words_are(struct gompi_words w, const char *text) {
	return w.n == strlen(text) && memcmp(w.at, text, w.n) == 0;
}

// Takes the next part of *rest, which ends before a character or at the end, without blanks around it.
struct gompi_words gompi_words_next(struct gompi_words *rest, char end, bool *last);

// Returns the number of the value among names, without blanks around it; -1: it is none of them.
int gompi_value_among(struct gompi_words value, const char *const names[], int n);
// Reads a whole number without blanks around it. false: it is none, or 64 bits do not hold it.
bool gompi_value_number(struct gompi_words value, int64_t *number);

// The keys of kinds of memory (MPI-5.0 11.4.3); the first is told, never asked for.
#define GOMPI_KEY_KINDS "mpi_memory_alloc_kinds"
#define GOMPI_KEY_ASSERT_KINDS "mpi_assert_memory_alloc_kinds"

// Makes *kinds, which malloc has made or which is NULL, what a value of GOMPI_KEY_ASSERT_KINDS says, without blanks.
// Kinds that only other libraries know ("cuda:device") are as good as any: the assertion promises what buffers will
// be, and is not a request. A value that is no list of kinds, each with restrictors behind colons, changes nothing, and
// so does one for which there is no memory.
void gompi_kinds_set(char **kinds, struct gompi_words value);
// Adds GOMPI_KEY_KINDS of an object with these kinds asserted (NULL: none): all that there are, or those of them that
// are asserted, with their restrictors.
void gompi_kinds_add(struct gompi_info *x, const char *kinds);

#pragma GCC visibility pop
#endif
