// Pending parts of operations with requests (MPI_Rput and the like): reads, writes and results that access the
// application's own buffer after the call has returned. All other operations are complete when the call returns, and
// need no pending request.
#ifndef GOMPI_ONGOING_H
#define GOMPI_ONGOING_H

#include "base/order.h"
#include "win/operation.h"
#include "win/win.h"
#include "win/why.h"

struct gompi_stream;

struct gompi_ongoing {
	gompi_a32 left;              // parts in progress, plus 1 until the call has sent them all
	gompi_a32 class;             // of the first part that has failed
	struct gompi_reason reason;  // of that part
	int process;                 // on this node, to whose ring parts have been sent; -1 if none
	bool rung;                   // its doorbell has been rung for these parts
	struct gompi_stream *remote; // stream whose answers are expected; NULL if none
	bool dynamic;                // the window is dynamic: this changes the meaning of errors
	struct gompi_request *request;
	struct gompi_ongoing *next;
};

#pragma GCC visibility push(hidden)

extern gompi_a32 gompi_ongoing_news; // 1: some request may have completed

// Returns the pending state of an operation with a request; creates it at first use. Returns NULL if the operation must
// not leave anything pending, or if out of memory: then the call waits.
struct gompi_ongoing *gompi_ongoing_of(const struct gompi_win *w, const struct gompi_operation *o);

// Adds a part, before it is sent: through the ring of a process of this node, as records of a stream, or as a transfer.
void gompi_ongoing_by_ring(struct gompi_ongoing *g, int process);
void gompi_ongoing_by_stream(struct gompi_ongoing *g, struct gompi_stream *s);
void gompi_ongoing_by_transfer(struct gompi_ongoing *g);
// Ends a part, after its data has been stored. why is its error, or NULL. The caller must not use g afterwards, and
// must wake the process.
void gompi_ongoing_part_over(struct gompi_ongoing *g, const struct gompi_reason *why);
// Ends all parts that expect answers of a stream that is being freed.
void gompi_ongoing_stream_gone(const struct gompi_stream *s);

// Ends the sending part of a call with a request. rc is the result so far. If parts are pending in g (which may be
// NULL), creates a request for them in *o->request; otherwise stores a completed request. Returns 0 or an error class,
// whose reason is stored for this thread. Returns GOMPI_ONGOING_WAITS if out of memory for a request: the caller then
// waits for the parts, and calls again.
enum { GOMPI_ONGOING_WAITS = -1 };
int gompi_ongoing_sent(struct gompi_ongoing *g, struct gompi_win *w, const struct gompi_operation *o, int rc);

// Makes every wait complete requests whose parts have ended.
void gompi_ongoing_open(void);

#pragma GCC visibility pop
#endif
