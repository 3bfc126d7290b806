// Requests: a send or receive under way, or an operation of another kind, and the handles that the application has of
// them.
#ifndef GOMPI_REQUEST_H
#define GOMPI_REQUEST_H

#include "base/objects.h"
#include "fabric/fabric.h"
#include "datatype/buffer.h"
#include "message/queue.h"

// The life of a request. One that is not persistent is active from its creation on. The numbers are core/request's.
enum { REQUEST_ACTIVE, REQUEST_COMPLETE, REQUEST_INACTIVE };

enum gompi_mode { MODE_STANDARD, MODE_SYNCHRONOUS, MODE_BUFFERED, MODE_READY };

// What became of a message. class: MPI_SUCCESS or what is wrong.
struct gompi_result {
	int32_t source, tag, class;
	bool cancelled;
	int64_t bytes;
};

struct gompi_messages;
struct gompi_lane;
struct gompi_request;
struct gompi_told;
struct gompi_waiting;

// What differs between the kinds of requests besides messages. All are called without any lock; those that return an
// int return 0 or an error code, which v tells. NULL: there is nothing to do, or it cannot be done.
struct gompi_request_kind {
	// Advances it, if a wait for it is to do more than serve messages; does not block.
	void (*progress)(struct gompi_request *r);
	// Writes what has become of a complete request to result: before each look at it, if that is not there yet.
	void (*query)(struct gompi_request *r);
	// Starts a persistent request, which is active by now.
	int (*start)(struct gompi_request *r, struct gompi_verdict *v);
	int (*cancel)(struct gompi_request *r, struct gompi_verdict *v);
	// Neither the application nor the operation needs the request any longer; result.class may become what is wrong
	// with that. After drop there is nothing left of it: that touches nothing but object.
	void (*release)(struct gompi_request *r);
	void (*drop)(struct gompi_request *r);
	// Writes what is wrong to v: class is result's.
	void (*why)(const struct gompi_request *r, struct gompi_verdict *v);
	// Of a message that stands for a part of another request: it is complete. Under the lane's lock, unlike the
	// others.
	void (*over)(struct gompi_lane *l, struct gompi_request *r);
	// NULL, or writes what a wait for it is for: the fields of t and those of what that differ.
	void (*awaits)(const struct gompi_request *r, struct gompi_waiting *what, struct gompi_told *t);
	bool keeps;        // the handle of a request that is freed while it is active lives until it is complete
	bool idle_to_free; // MPI_Request_free of an active one is MPI_ERR_REQUEST
	bool lets_go;      // one that is freed while it is active goes at once: nothing else needs it after release
};

// Of a generalized request.
struct gompi_functions {
	MPI_Grequest_query_function *query;
	MPI_Grequest_free_function *free;
	MPI_Grequest_cancel_function *cancel;
	void *extra;
	const char *failed; // which of them returned the request's error
};

// Of a request that waits for an attached buffer's messages.
struct gompi_flush {
	struct gompi_request *next; // of the same buffer
	uint64_t number;            // of the last message that it waits for
};

struct gompi_request {
	union {
		struct gompi_entry entry; // a receive that is posted
		struct gompi_functions functions;
		struct gompi_flush flush;
		struct {
			union {
				struct gompi_message *matched; // receive: the message whose data is to come
				struct gompi_link *to;         // send
				char *text;                    // carried out by Go: what is wrong, or NULL
			};
			union {
				int64_t want; // receive: bytes that will come: what fits; send: that go in pieces
				const char *operation; // of a plan: the function that has made it, or NULL
			};
			union {
				struct {
					int64_t done;  // bytes that have come, or gone, in pieces
					uint64_t full; // receive: bytes of the whole message; send: number of the
						       // receive there
				};
				struct gompi_region region; // send, registered: what the receiver may read
			};
			uint64_t id;                // number in the lane's sends or receives; 0: none
			struct gompi_request *next; // in a list of work, of streams or of those to be used again
		};
	};
	const struct gompi_request_kind *kind; // NULL: of a message
	uintptr_t object;                      // what the kind keeps with it
	gompi_a32 state;
	bool receive;              // else a send
	bool persistent;           // MPI_Start starts it again
	bool apart;                // its handle and memory are not the lane's (persistent.c)
	bool handled;              // the application has a handle
	bool freed;                // MPI_Request_free while it was active: goes when it is complete
	bool posted;               // entry counts
	bool blocking;             // the thread that started it waits for it at once
	bool stays;                // a send: its data stays here until it is matched
	bool urgent;               // the receiver's process is to look at the message even if it computes
	bool cancel;               // a send: MPI_Cancel has been called
	bool behind;               // a send: its first record waits for room here, so nobody can know of it
	bool gone;                 // a send: the receiver no longer has the message
	bool registered;           // a send: region counts
	uint8_t mode;              // enum gompi_mode
	uint32_t handle;           // if handled
	int32_t peer, tag, source; // rank of destination or source; source: this process' rank, of a send
	int32_t world; // a send, or of another kind: rank of the destination in MPI_COMM_WORLD, -1: of several
	uint64_t context;
	uintptr_t comm; // handle, which errors are raised on; of an R-form the window's
	struct gompi_lane *lane;
	struct gompi_message *fetches; // the message that the data is fetched for; NULL: it is for the application
	struct gompi_buffer buf;
	struct gompi_result result; // valid once it is complete
};

// Handles of requests: GOMPI_KIND_REQUEST, lane and number (struct gompi_handles); or GOMPI_KIND_PERSISTENT.
enum { GOMPI_REQUEST_NUMBER_BITS = 25 };

enum { GOMPI_REQUEST_SPARES = 256 }; // that a lane keeps

// The live requests of a lane, and those that wait to be used.
struct gompi_requests {
	struct gompi_handles handles;
	struct gompi_request *spare; // to be used again
	int spares;
};

// Numbers of requests that records of other processes refer to. A number is not the same for two requests until 2^32
// others have used its place, so a late or forged answer finds nothing. Not a struct gompi_handles: all of a lane's
// sends are gone through, so they lie close together.
struct gompi_numbers {
	struct gompi_number {
		struct gompi_request *request;
		uint32_t generation, next_free;
	} * at;
	uint32_t size, room, free; // places in use so far, places, first free one + 1
	uint32_t first;            // the first generation of a place that has never been used, less 1
	gompi_ai32 used;
	uint64_t added;
};

#pragma GCC visibility push(hidden)

// Makes a request one that nothing has happened to, before it is described: lane, what it is, with whom, its buffer.
static inline void gompi_request_clear(struct gompi_request *r) {
	memset((char *)r + offsetof(struct gompi_request, state), 0,
	       offsetof(struct gompi_request, handle) - offsetof(struct gompi_request, state));
	r->kind = NULL;
	r->id = 0;
	r->to = NULL;
	r->done = r->want = 0;
	r->fetches = NULL;
	r->result = (struct gompi_result){0};
	r->buf.kept = false;
}

static inline uintptr_t gompi_request_handle(const struct gompi_request *r) { return r->handle; }

uint64_t gompi_number_add(struct gompi_numbers *s, struct gompi_request *r);
struct gompi_request *gompi_number_get(const struct gompi_numbers *s, uint64_t id);
void gompi_number_remove(struct gompi_numbers *s, uint64_t id);

// Begins with no request, of lane i; gives back what a lane keeps to be used again, and its table.
void gompi_requests_open(struct gompi_requests *s, int i);
void gompi_requests_close(struct gompi_requests *s);

// Writes what is wrong with a complete request to v; its class.
int gompi_request_why(const struct gompi_request *r, struct gompi_verdict *v);
// Writes why a request never will be complete: MPI_ERR_PROC_ABORTED, MPI_ERR_INTERN.
__attribute__((cold)) int gompi_request_lost(int class, struct gompi_verdict *v);

// For kinds of requests whose text says what is wrong.
void gompi_request_drop_text(struct gompi_request *r);
void gompi_request_say_text(const struct gompi_request *r, struct gompi_verdict *v);

// Makes an active request of another kind than messages, in the lane of a context of m, with a handle. NULL: m is NULL,
// there is no memory, or too many are live.
struct gompi_request *gompi_request_new(struct gompi_messages *m, uint64_t context,
					const struct gompi_request_kind *kind, uintptr_t object);
// Completes it: result has been written. If the application has freed it, it goes.
void gompi_request_complete(struct gompi_request *r);
// Ends a request that neither the application nor an operation needs. result.class, or what is wrong with that, which v
// tells.
int gompi_request_forget(struct gompi_request *r, struct gompi_verdict *v);

#pragma GCC visibility pop
#endif
