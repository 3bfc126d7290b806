#include "win/error_detail.h"

#include <stdio.h>

#include "base/abi.h"

// Each format prints the numbers a and b of the detail.
static const char *const detail_texts[DETAIL_COUNT] = {
	[DETAIL_NONE] = "",
	[DETAIL_NO_WINDOW] = "the target has no window %#llx in which the origin is rank %llu",
	[DETAIL_BAD_ELEMENT] = "cannot update %2$llu bytes as elements of datatype %1$#llx",
	[DETAIL_BAD_OP] = "operation %#llx is not defined for datatype %#llx",
	[DETAIL_BAD_KIND] = "rank %2$llu of the window received a message of the unknown kind %1$#llx (internal error)",
	[DETAIL_DATA_TOO_LONG] = "the message has %llu bytes after its header; the maximum is %llu",
	[DETAIL_PARTIAL_ELEMENT] = "%llu bytes are not a multiple of the element size %llu",
	[DETAIL_NO_ADDRESSES] = "the message has %llu bytes after its header, but the buffer addresses need %llu",
	[DETAIL_ADDRESS_MISMATCH] =
		"the message contains the data address %#llx, but the operation has %llu bytes of data to read there",
	[DETAIL_BAD_LAYOUT] =
		"the description of the target datatype in the message (%llu bytes) does not match %llu bytes of data",
	[DETAIL_OP_TOO_LARGE] = "the operation has %llu bytes; a message can have at most %llu",
	[DETAIL_DATA_TOO_SHORT] = "received %llu bytes of data, but the operation needs %llu",
	[DETAIL_OUTSIDE_WINDOW] = "the access ends at byte %llu, but the window has %llu bytes",
	[DETAIL_NOT_ATTACHED] = "addresses %#llx to %#llx are not attached",
	[DETAIL_OUT_OF_ORDER] = "message %llu of the origin arrived directly after message %llu (out of order)",
	[DETAIL_AFTER_STOP] =
		"message %llu of the origin was not applied, because an earlier message failed (%llu have been "
		"applied)",
	[DETAIL_ALREADY_LOCKED] =
		"message %llu of the origin requests a lock that the origin already holds (mode %llu: 1 shared, 2 "
		"exclusive)",
	[DETAIL_NOT_LOCKED] =
		"message %llu of the origin releases a lock that the origin does not hold (%llu messages are queued)",
	[DETAIL_ALREADY_STARTED] =
		"message %llu of the origin starts an access epoch inside another one (%llu exposure epochs are "
		"unused)",
	[DETAIL_NOT_STARTED] =
		"message %llu of the origin completes an access epoch that was not started (%llu exposure epochs are "
		"unused)",
	[DETAIL_QUEUE_FULL] =
		"the target would have to queue %llu bytes of operations until it grants the lock or calls "
		"MPI_Win_post; the maximum is %llu",
	[DETAIL_NO_MEMORY] =
		"out of memory to queue %llu bytes of operations until a lock is granted or MPI_Win_post is called; "
		"%llu bytes are queued already",
	[DETAIL_ACK_DECREASED] = "the target reports that it has applied %llu messages, but it reported %llu before",
	[DETAIL_ACK_NOT_SENT] = "the target reports that it has applied %llu messages, but only %llu were sent",
	[DETAIL_UNEXPECTED_RESULT] = "the target answered message %llu with %llu bytes, but no answer is due",
	[DETAIL_RESULT_ORDER] = "the target answered message %llu, but the next answer is due for message %llu",
	[DETAIL_RESULT_LENGTH] = "the target answered with %llu bytes, but %llu were requested",
	[DETAIL_RESULT_MISSING] =
		"the target reports that it has applied %llu messages, but it has sent no result for message %llu",
};

static _Thread_local struct gompi_error_detail last_detail;

int gompi_set_error_detail(int class, enum gompi_error_detail_code code, uint64_t a, uint64_t b) {
	last_detail = (struct gompi_error_detail){.class = class, .code = code, .a = a, .b = b};
	return class;
}

struct gompi_error_detail gompi_consume_error_detail(int class) {
	struct gompi_error_detail r = {.class = class};
	if (last_detail.class == class)
		r = last_detail;
	last_detail = (struct gompi_error_detail){0};
	return r;
}

void gompi_store_error_detail(const struct gompi_error_detail *r) {
	last_detail = *r;
	if (last_detail.code >= DETAIL_COUNT)
		last_detail.code = DETAIL_NONE;
}

void gompi_error_detail_text(int class, char *text, int size) {
	struct gompi_error_detail r = gompi_consume_error_detail(class);
	text[0] = 0;
	if (r.code == DETAIL_NONE)
		return;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, (size_t)size, detail_texts[r.code], (unsigned long long)r.a, (unsigned long long)r.b);
#pragma GCC diagnostic pop
}
