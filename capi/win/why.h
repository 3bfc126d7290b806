// Error details of operations that could not be applied at their target, beyond the error class. A reason and two
// numbers travel from the target to the origin beside the class; the origin formats the text.
#ifndef GOMPI_WHY_H
#define GOMPI_WHY_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

// The texts are in why.c; they give the meaning of the two numbers.
enum gompi_why {
	WHY_UNSAID,
	// Errors in the operation itself.
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
	// Errors relative to the preceding operations.
	WHY_OUT_OF_ORDER,
	WHY_AFTER_END,
	WHY_LOCKED_ALREADY,
	WHY_NOT_LOCKED,
	WHY_STARTED_ALREADY,
	WHY_NOT_STARTED,
	WHY_KEPT,
	WHY_NO_MEMORY,
	// Errors of an answer relative to what was sent.
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

// Records for this thread the detail of an error class that it is about to return. Returns the class.
__attribute__((cold)) int gompi_because(int class, enum gompi_why why, uint64_t a, uint64_t b);

// Returns the detail that this thread has recorded for an error class, and clears it. The reason is WHY_UNSAID if there
// is none.
__attribute__((cold)) struct gompi_reason gompi_reason_take(int class);

// Records for this thread a detail that another thread, possibly of another process, has taken. Does not trust its
// content.
__attribute__((cold)) void gompi_reason_keep(const struct gompi_reason *r);

// Writes the recorded detail of an error class as text of less than size bytes, and clears it.
__attribute__((cold)) void gompi_reason_text(int class, char *text, int size);

#pragma GCC visibility pop
#endif
