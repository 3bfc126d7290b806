// Error details of operations that could not be applied at their target, beyond the error class. A code and two numbers
// travel from the target to the origin together with the class. The origin formats the text.
#ifndef GOMPI_ERROR_DETAIL_H
#define GOMPI_ERROR_DETAIL_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

// The texts are in error_detail.c; they give the meaning of the two numbers.
enum gompi_error_detail_code {
	DETAIL_NONE,
	// Errors in the operation itself.
	DETAIL_NO_WINDOW,
	DETAIL_BAD_ELEMENT,
	DETAIL_BAD_OP,
	DETAIL_BAD_KIND,
	DETAIL_DATA_TOO_LONG,
	DETAIL_PARTIAL_ELEMENT,
	DETAIL_NO_ADDRESSES,
	DETAIL_ADDRESS_MISMATCH,
	DETAIL_BAD_LAYOUT,
	DETAIL_OP_TOO_LARGE,
	DETAIL_DATA_TOO_SHORT,
	DETAIL_OUTSIDE_WINDOW,
	DETAIL_NOT_ATTACHED,
	// Errors relative to the preceding operations.
	DETAIL_OUT_OF_ORDER,
	DETAIL_AFTER_STOP,
	DETAIL_ALREADY_LOCKED,
	DETAIL_NOT_LOCKED,
	DETAIL_ALREADY_STARTED,
	DETAIL_NOT_STARTED,
	DETAIL_QUEUE_FULL,
	DETAIL_NO_MEMORY,
	// A target's answer does not match what the origin has sent.
	DETAIL_ACK_DECREASED,
	DETAIL_ACK_NOT_SENT,
	DETAIL_UNEXPECTED_RESULT,
	DETAIL_RESULT_ORDER,
	DETAIL_RESULT_LENGTH,
	DETAIL_RESULT_MISSING,
	DETAIL_COUNT,
};

struct gompi_error_detail {
	int32_t class;
	uint32_t code;
	uint64_t a, b;
};

// Records for this thread the detail of an error whose class the thread is about to return. Returns the class.
__attribute__((cold)) int gompi_set_error_detail(int class, enum gompi_error_detail_code code, uint64_t a, uint64_t b);

// Returns the detail that this thread has recorded for an error class, and clears it. The code is DETAIL_NONE if the
// thread has recorded no detail for that class.
__attribute__((cold)) struct gompi_error_detail gompi_consume_error_detail(int class);

// Records for this thread a detail that another thread, possibly of another process, has consumed. Replaces an unknown
// code by DETAIL_NONE.
__attribute__((cold)) void gompi_store_error_detail(const struct gompi_error_detail *r);

// Writes the recorded detail of an error class as text of less than `size` bytes, and clears the detail.
__attribute__((cold)) void gompi_error_detail_text(int class, char *text, int size);

#pragma GCC visibility pop
#endif
