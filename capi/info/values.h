// Parses the values of the info keys that the library knows, for the hints of communicators and windows.
#ifndef GOMPI_INFO_VALUES_H
#define GOMPI_INFO_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "info/info.h"

#pragma GCC visibility push(hidden)

// A range of a text, not terminated by a 0.
struct gompi_text_view {
	const char *at;
	size_t length;
};

// Returns a text without leading and trailing blanks.
struct gompi_text_view gompi_text_view_trim(struct gompi_text_view w);

static inline bool gompi_text_view_equals(struct gompi_text_view w, const char *text) {
	return w.length == strlen(text) && memcmp(w.at, text, w.length) == 0;
}

// Removes the next item from *remaining and returns it without leading and trailing blanks. The character `end`, or the
// end of the text, terminates an item. Sets *last to true if the item is the last one.
struct gompi_text_view gompi_text_view_next(struct gompi_text_view *remaining, char end, bool *last);

// Returns the index in `names` of a value, without leading and trailing blanks, or -1 if no name equals the value.
int gompi_value_index(struct gompi_text_view value, const char *const names[], int n);
// Parses a decimal integer with optional blanks around it. Returns false if the value is not a number or does not fit
// 64 bits.
bool gompi_value_number(struct gompi_text_view value, int64_t *number);

// The keys of memory allocation kinds (MPI-5.0 11.4.3). The application passes GOMPI_KEY_KINDS to MPI_Session_init, to
// request kinds, and GOMPI_KEY_ASSERT_KINDS to calls on communicators, windows and files. The library reports both
// keys.
#define GOMPI_KEY_KINDS "mpi_memory_alloc_kinds"
#define GOMPI_KEY_ASSERT_KINDS "mpi_assert_memory_alloc_kinds"

// Replaces *kinds, which is NULL or allocated by malloc, by a value of one of these keys without blanks. Accepts kinds
// that only other libraries know ("cuda:device"). A kind may be followed by restrictors after colons. The empty value
// is the list of no kinds. Leaves *kinds unchanged if the value is not a list of kinds, or if out of memory.
void gompi_memory_kinds_set(char **kinds, struct gompi_text_view value);
// Adds the key GOMPI_KEY_KINDS to x. Its value is "mpi,system", followed by the requested kinds with restrictors. If
// `asserted` is not NULL, the value is the list of the asserted kinds instead. In both cases, only kinds are listed
// that the library supports with all their restrictors. `requested` may be NULL.
void gompi_memory_kinds_add(struct gompi_info *x, const char *asserted, const char *requested);

#pragma GCC visibility pop
#endif
