#include "win/why.h"

#include <stdio.h>

#include "base/abi.h"

// Each format uses the two numbers of its reason.
static const char *const texts[WHY_NUMBER] = {
	[WHY_UNSAID] = "",
	[WHY_WINDOW] = "the target's process has no window %#llx of which the sender is member %llu",
	[WHY_ELEMENT] = "elements of datatype %#llx cannot be updated, %llu bytes of them",
	[WHY_OPERATION] = "operation %#llx is not defined for elements of datatype %#llx",
	[WHY_KIND] = "the message is of kind %#llx, which its way to member %llu does not carry",
	[WHY_TOO_LONG] = "the message has %llu bytes behind its header, possible are %llu",
	[WHY_BYTES] = "%llu bytes are no whole elements of %llu bytes",
	[WHY_NO_ADDRESSES] = "%llu bytes behind the header are too few for the addresses of buffers, which take %llu",
	[WHY_OTHER_ADDRESSES] = "the data is said to be at %#llx by an operation that takes %llu bytes from there",
	[WHY_NO_LAYOUT] = "%llu bytes behind the header hold no layout of %llu bytes of data",
	[WHY_TOO_MUCH] = "the operation is on %llu bytes, of which a message moves %llu",
	[WHY_TOO_SHORT] = "%llu bytes of data came of an operation that takes %llu",
	[WHY_OUTSIDE] = "byte %llu is the end of what it touches, the window has %llu bytes",
	[WHY_NOT_ATTACHED] = "the bytes %#llx to %#llx",
	[WHY_OUT_OF_ORDER] = "record %llu came when %llu had come",
	[WHY_AFTER_END] = "record %llu came after the member had stopped at record %llu",
	[WHY_LOCKED_ALREADY] = "record %llu asks for a lock that the sender has (%llu: 1 shared, 2 exclusive)",
	[WHY_NOT_LOCKED] = "record %llu gives back a lock that the sender does not have; %llu records wait",
	[WHY_STARTED_ALREADY] = "record %llu begins an access epoch within one; %llu exposure epochs are unused",
	[WHY_NOT_STARTED] = "record %llu completes an access epoch that has not begun; %llu exposure epochs are unused",
	[WHY_KEPT] = "%llu bytes of records would wait at the target for a lock or a post, possible are %llu",
	[WHY_NO_MEMORY] = "no memory for %llu bytes of records that wait for a lock or a post, behind %llu",
	[WHY_ANSWER_BEHIND] = "the target says that it has applied %llu records, and said %llu before",
	[WHY_ANSWER_AHEAD] = "the target says that it has applied %llu records of the %llu that it was sent",
	[WHY_NO_RESULT] = "the target has answered record %llu with %llu bytes, and none were asked for",
	[WHY_OTHER_RESULT] = "the target has answered record %llu, the next that gives something is %llu",
	[WHY_OTHER_LENGTH] = "the target has answered with %llu bytes where %llu were asked for",
	[WHY_RESULT_MISSING] = "the target has applied %llu records, and not answered record %llu",
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
