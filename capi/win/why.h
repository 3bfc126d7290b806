// Why an operation could not be applied at its target: what an error class alone does not tell. A reason and two
// numbers travel from the target to the origin beside the class; the origin makes the text.
#ifndef GOMPI_WHY_H
#define GOMPI_WHY_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

// The texts, which say what the numbers are, are in why.c.
enum gompi_why {
	WHY_UNSAID,
	// What an operation says of itself.
	WHY_WINDOW,
	WHY_ELEMENT,
	WHY_OPERATION,
	WHY_KIND,
	WHY_TOO_LONG,
	WHY_BYTES,
	WHY_NO_ADDRESSES,
	WHY_OTHER_ADDRESSES,
	WHY_NO_LAYOUT,
	WHY_TOO_MUCH,
	WHY_TOO_SHORT,
	WHY_OUTSIDE,
	WHY_NOT_ATTACHED,
	// How it fits those before it.
	WHY_OUT_OF_ORDER,
	WHY_AFTER_END,
	WHY_LOCKED_ALREADY,
	WHY_NOT_LOCKED,
	WHY_STARTED_ALREADY,
	WHY_NOT_STARTED,
	WHY_KEPT,
	WHY_NO_MEMORY,
	// How an answer fits what was sent.
	WHY_ANSWER_BEHIND,
	WHY_ANSWER_AHEAD,
	WHY_NO_RESULT,
	WHY_OTHER_RESULT,
	WHY_OTHER_LENGTH,
	WHY_RESULT_MISSING,
	WHY_NUMBER,
};

struct gompi_reason {
	int32_t class;
	uint32_t why;
	uint64_t a, b;
};

// Remembers for this thread why it is about to return an error class, and returns that.
__attribute__((cold)) int gompi_because(int class, enum gompi_why why, uint64_t a, uint64_t b);

// What this thread remembers of an error class, which it then does no longer. WHY_UNSAID: nothing.
__attribute__((cold)) struct gompi_reason gompi_reason_take(int class);

// Has this thread remember r, which another one has taken, possibly of another process: nothing of it is trusted.
__attribute__((cold)) void gompi_reason_keep(const struct gompi_reason *r);

// Writes what this thread remembers of an error class as text of less than size bytes, as gompi_reason_take.
__attribute__((cold)) void gompi_reason_text(int class, char *text, int size);

#pragma GCC visibility pop
#endif
