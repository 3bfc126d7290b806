// What a call that gives a request (MPI_Rput and its kind) has left under way: reads, writes and what comes back to the
// application's own buffer. Everything else is over when the call returns, and needs no request.
#ifndef GOMPI_ONGOING_H
#define GOMPI_ONGOING_H

#include "base/order.h"
#include "win/operation.h"
#include "win/win.h"
#include "win/why.h"

struct gompi_stream;

struct gompi_ongoing {
	gompi_a32 left;              // parts that are under way, and 1 until the call has sent them all
	gompi_a32 class;             // of the first part that has failed
	struct gompi_reason reason;  // of that one
	int process;                 // on this node that parts went to by its ring, -1: none
	bool rung;                   // it has been woken for them
	struct gompi_stream *remote; // that gives back what has been asked for with records; NULL: none
	bool dynamic;                // the window: what an error of its means
	struct gompi_request *request;
	struct gompi_ongoing *next;
};

#pragma GCC visibility push(hidden)

extern gompi_a32 gompi_ongoing_news; // 1: all parts of one may be over

// What an operation with a request leaves under way, made at the first use. NULL: it may leave nothing, or there is no
// memory: then its call waits.
struct gompi_ongoing *gompi_ongoing_of(const struct gompi_win *w, const struct gompi_operation *o);

// A part is about to be sent: by the ring of a process of this node, as records of a stream, or as a transfer.
void gompi_ongoing_by_ring(struct gompi_ongoing *g, int process);
void gompi_ongoing_by_stream(struct gompi_ongoing *g, struct gompi_stream *s);
void gompi_ongoing_by_transfer(struct gompi_ongoing *g);
// A part is over, and what came is where it belongs; why: NULL, or what is wrong with it. Nothing may touch g after
// that. Whoever calls it wakes the process.
void gompi_ongoing_part_over(struct gompi_ongoing *g, const struct gompi_reason *why);
// A stream is no more: it gives nothing back.
void gompi_ongoing_stream_gone(const struct gompi_stream *s);

// The call has sent all that it could, and rc is what became of that: gives the request of what g, or NULL, has left,
// or that of operations that are over. What the call returns: 0 or an error class, which this thread then remembers the
// reason of; or GOMPI_ONGOING_WAITS: there is no memory for a request, so the call is to wait, and to ask again.
enum { GOMPI_ONGOING_WAITS = -1 };
int gompi_ongoing_sent(struct gompi_ongoing *g, struct gompi_win *w, const struct gompi_operation *o, int rc);

// Has every wait end requests whose parts are over.
void gompi_ongoing_open(void);

#pragma GCC visibility pop
#endif
