#include "win/why.h"

#include <stdio.h>

#include "base/abi.h"

// Each format uses the two numbers of its reason.
static const char *const texts[WHY_NUMBER] = {
	[WHY_UNSAID] = "",
	[WHY_WINDOW] = "the target has no window %#llx with the origin as rank %llu",
	[WHY_ELEMENT] = "cannot update elements of datatype %#llx (%llu bytes)",
	[WHY_OPERATION] = "operation %#llx is not defined for datatype %#llx",
	[WHY_KIND] = "the path to rank %2$llu does not support messages of kind %1$#llx",
	[WHY_TOO_LONG] = "the message has %llu bytes after its header; the maximum is %llu",
	[WHY_BYTES] = "%llu bytes are not a multiple of the element size %llu",
	[WHY_NO_ADDRESSES] = "the message has %llu bytes after its header, but the buffer addresses need %llu",
	[WHY_OTHER_ADDRESSES] = "the message names the address %#llx for %llu bytes that it carries itself",
	[WHY_NO_LAYOUT] = "the %llu bytes after the header are not a layout of %llu bytes of data",
	[WHY_TOO_MUCH] = "the operation has %llu bytes, but a message at most %llu",
	[WHY_TOO_SHORT] = "received %llu bytes of data, but the operation needs %llu",
	[WHY_OUTSIDE] = "the access ends at byte %llu, but the window has %llu bytes",
	[WHY_NOT_ATTACHED] = "bytes %#llx to %#llx",
	[WHY_OUT_OF_ORDER] = "record %llu arrived after record %llu (out of order)",
	[WHY_AFTER_END] = "record %llu arrived, but the origin stopped at record %llu",
	[WHY_LOCKED_ALREADY] =
		"record %llu requests a lock that the origin already holds (mode %llu: 1 shared, 2 exclusive)",
	[WHY_NOT_LOCKED] = "record %llu releases a lock that the origin does not hold (%llu records are queued)",
	[WHY_STARTED_ALREADY] =
		"record %llu starts an access epoch inside another one (%llu exposure epochs are unused)",
	[WHY_NOT_STARTED] =
		"record %llu completes an access epoch that was not started (%llu exposure epochs are unused)",
	[WHY_KEPT] = "the target would queue %llu bytes of records until a lock or post; the maximum is %llu",
	[WHY_NO_MEMORY] = "out of memory for %llu bytes of records that wait for a lock or post, after %llu bytes",
	[WHY_ANSWER_BEHIND] = "the target reports %llu applied records, but reported %llu before",
	[WHY_ANSWER_AHEAD] = "the target reports %llu applied records, but only %llu were sent",
	[WHY_NO_RESULT] = "the target answered record %llu with %llu bytes, but no answer is due",
	[WHY_OTHER_RESULT] = "the target answered record %llu, but the next answer is due for record %llu",
	[WHY_OTHER_LENGTH] = "the target answered with %llu bytes, but %llu were requested",
	[WHY_RESULT_MISSING] = "the target reports %llu applied records, but has not answered record %llu",
};

static _Thread_local struct gompi_reason last;

int gompi_because(int class, enum gompi_why why, uint64_t a, uint64_t b) {
	last = (struct gompi_reason){.class = class, .why = why, .a = a, .b = b};
	return class;
}

struct gompi_reason gompi_reason_take(int class) {
	struct gompi_reason r = {.class = class};
	if (last.class == class)
		r = last;
	last = (struct gompi_reason){0};
	return r;
}

void gompi_reason_keep(const struct gompi_reason *r) {
	last = *r;
	if (last.why >= WHY_NUMBER)
		last.why = WHY_UNSAID;
}

void gompi_reason_text(int class, char *text, int size) {
	struct gompi_reason r = gompi_reason_take(class);
	text[0] = 0;
	if (r.why == WHY_UNSAID)
		return;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, (size_t)size, texts[r.why], (unsigned long long)r.a, (unsigned long long)r.b);
#pragma GCC diagnostic pop
}
