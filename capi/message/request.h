// Requests: active sends, receives and other operations, and the handles that the application holds for them.
#ifndef GOMPI_REQUEST_H
#define GOMPI_REQUEST_H

#include "base/object_pool.h"
#include "fabric/fabric.h"
#include "datatype/buffer.h"
#include "message/queue.h"

// The states of a request. A request that is not persistent is active from its creation on.
enum { REQUEST_ACTIVE, REQUEST_COMPLETE, REQUEST_INACTIVE };

enum gompi_mode { MODE_STANDARD, MODE_SYNCHRONOUS, MODE_BUFFERED, MODE_READY };

// The result of a request. Its field `class` is MPI_SUCCESS or the error class.
struct gompi_result {
	int32_t source, tag, class;
	bool cancelled;
	int64_t bytes;
};

struct gompi_messages;
struct gompi_vci;
struct gompi_request;
struct gompi_wait_details;
struct gompi_wait_desc;

// Functions of a kind of request other than messages. The caller holds no lock, except for on_complete. Functions that
// return int return 0 or an error class, and describe the error in v. A NULL entry means that there is nothing to do,
// or that the kind does not support the operation.
struct gompi_request_kind {
	// Advances the operation, for kinds whose waits must do more than progress messages. Does not block.
	void (*progress)(struct gompi_request *r);
	// Writes the outcome of a complete request to result. Called before each read of the result, so several times
	// if the application queries the request before it ends the request.
	void (*query)(struct gompi_request *r);
	// Starts a persistent request. Its state is active already.
	int (*start)(struct gompi_request *r, struct gompi_error_status *v);
	int (*cancel)(struct gompi_request *r, struct gompi_error_status *v);
	// The function `release` is called when neither the application nor the operation needs the request any more.
	// If `release` fails, it may set result.class. The function free_object later frees the remaining data of the
	// kind. By then only the field `object` of the request is valid.
	void (*release)(struct gompi_request *r);
	void (*free_object)(struct gompi_request *r);
	// Writes the error description to v. The error class is result.class.
	void (*error_detail)(const struct gompi_request *r, struct gompi_error_status *v);
	// For a message that is a part of another request: called when the message is complete. Unlike the other
	// functions, it is called under the VCI's lock.
	void (*on_complete)(struct gompi_vci *l, struct gompi_request *r);
	// May be NULL. Completes an active request with an error class, because a process has failed or the
	// communicator is revoked.
	void (*abandon)(struct gompi_request *r, int class);
	// May be NULL. Describes the processes on which a wait for the request depends: changes those fields of *t and
	// *what that differ from the defaults.
	void (*describe_wait)(const struct gompi_request *r, struct gompi_wait_desc *what,
			      struct gompi_wait_details *t);
	bool survives;            // no failure of a process ends a wait: the operation completes itself with an error
	bool keeps_handle;        // MPI_Request_free of an active request: the handle stays valid until completion
	bool free_needs_inactive; // MPI_Request_free of an active request fails with MPI_ERR_REQUEST
	bool frees_at_once;       // MPI_Request_free of an active request frees the request immediately
};

// The callbacks of a generalized request.
struct gompi_grequest_callbacks {
	MPI_Grequest_query_function *query;
	MPI_Grequest_free_function *free;
	MPI_Grequest_cancel_function *cancel;
	void *extra_state;
	const char *failed_callback; // name of the callback that returned the request's error
};

// State of a flush request (MPI_Buffer_iflush), which waits until the messages of an attached buffer have been sent.
struct gompi_bsend_flush_wait {
	struct gompi_request *next; // next request that waits for the same buffer
	uint64_t last_seq;          // sequence number of the last message that it waits for
};

struct gompi_request {
	union {
		struct gompi_entry entry; // if `posted` is set: this receive in its matching queue
		struct gompi_grequest_callbacks functions;
		struct gompi_bsend_flush_wait flush;
		struct {
			union {
				struct gompi_message *matched; // for a receive: the message whose data will arrive
				struct gompi_link *peer_link;  // for a send: the link to the target
				char *text;                    // for other kinds: error text, or NULL
			};
			union {
				// for a receive: bytes that will arrive (at most the buffer's size); for a send: bytes
				// that are sent in fragments
				int64_t transfer_bytes;
				const char *operation; // for a plan: name of the collective in wait reports, or NULL
			};
			union {
				struct {
					int64_t done_bytes; // bytes that have arrived or have been sent in fragments
					// for a receive: bytes of the whole message; for a send: id of the receive at
					// the target
					uint64_t size_or_receive_id;
				};
				// for a send with `registered` set: the memory that the receiver may read
				struct gompi_region region;
			};
			uint64_t id;                // id in the VCI's send_ids or receive_ids; 0 if none
			struct gompi_request *next; // next in the work list, in a list of streams, or in the free list
		};
	};
	const struct gompi_request_kind *kind; // NULL for a message
	uintptr_t object;                      // private data of the kind, usually an address
	gompi_a32 state;                       // REQUEST_ACTIVE, REQUEST_COMPLETE or REQUEST_INACTIVE
	bool receive;                          // true: a receive; false: a send, or no message at all
	bool persistent;                       // persistent request, which MPI_Start starts
	bool in_persistent_table;  // the request's handle and memory do not belong to the VCI (persistent.c)
	bool has_handle;           // the application holds a handle
	bool freed;                // MPI_Request_free was called on the active request; completion frees it
	bool posted;               // in the list of posted receives; the field `entry` is valid
	bool blocking;             // a blocking call: the thread that started it waits for it
	bool use_rendezvous;       // a send: the data stays in this process until a receive matches
	bool urgent;               // the record must notify the receiver's progress thread
	bool cancel_requested;     // a send: its cancellation has been requested
	bool record_pending;       // a send: its first record is pending; the receiver knows nothing yet
	bool message_dropped;      // a send: the receiver has discarded the message without receiving it
	bool registered;           // a send: the field `region` is valid
	uint8_t mode;              // enum gompi_mode
	uint32_t handle;           // valid if has_handle is set
	int32_t peer, tag, source; // peer: rank of destination or source; source (of a send): rank of this process
	// a send, or another kind: process number of the destination (base/process.h); -1 if there are several
	int32_t world;
	uint64_t context;
	uintptr_t comm; // handle of the object on which errors are raised; for MPI_Rput and similar calls the window
	struct gompi_vci *vci;
	struct gompi_message *fetches_for; // for an internal receive: the message whose data it fetches; else NULL
	struct gompi_buffer buf;
	struct gompi_result result; // valid once the request is complete
};

// The handle of a persistent message request has the kind GOMPI_KIND_PERSISTENT. Any other request handle consists of
// GOMPI_KIND_REQUEST, the index of the VCI, and a number (struct gompi_handles).
enum { GOMPI_REQUEST_INDEX_BITS = 25 };

enum { GOMPI_REQUEST_MAX_FREE = 256 }; // maximum length of a VCI's free list of requests

// The handles of a VCI's live requests, and its free list.
struct gompi_requests {
	struct gompi_handles handles;
	struct gompi_request *free_list;
	int free_count;
};

// The ids by which records of other processes refer to requests: an index and a generation. An id repeats only after
// 2^32 other requests have used its index, so a late or forged answer finds nothing. A struct gompi_handles cannot hold
// the ids: gompi_messages_flushed iterates over all sends of a VCI, so the used entries must be contiguous.
struct gompi_id_table {
	struct gompi_id_entry {
		struct gompi_request *request;
		uint32_t generation, next_free;
	} * entries;
	// entries_used: number of entries that have been used so far; capacity: number of allocated entries;
	// first_free: index of the first free entry + 1
	uint32_t entries_used, capacity, first_free;
	uint32_t first_generation; // highest generation in earlier, freed tables; new entries start above it
	gompi_ai32 used;           // number of ids in use
	uint64_t total_added;      // number of ids added since the start
};

#pragma GCC visibility push(hidden)

// Resets a request to its initial state. The caller then fills in VCI, operation, peer and buffer.
static inline void gompi_request_clear(struct gompi_request *r) {
	memset((char *)r + offsetof(struct gompi_request, state), 0,
	       offsetof(struct gompi_request, handle) - offsetof(struct gompi_request, state));
	r->kind = NULL;
	r->id = 0;
	r->peer_link = NULL;
	r->done_bytes = r->transfer_bytes = 0;
	r->fetches_for = NULL;
	r->result = (struct gompi_result){0};
	r->buf.type_held_by_owner = false;
}

static inline uintptr_t gompi_request_handle(const struct gompi_request *r) { return r->handle; }

uint64_t gompi_id_add(struct gompi_id_table *s, struct gompi_request *r);
struct gompi_request *gompi_id_find(const struct gompi_id_table *s, uint64_t id);
void gompi_id_remove(struct gompi_id_table *s, uint64_t id);

// gompi_requests_open initializes the requests of VCI i. gompi_requests_close frees the free list and the table.
void gompi_requests_open(struct gompi_requests *s, int i);
void gompi_requests_close(struct gompi_requests *s);

// Writes the error description of a complete request to v. Returns its class.
int gompi_request_error_detail(const struct gompi_request *r, struct gompi_error_status *v);
// Writes to v why a request can never complete, for class MPI_ERR_PROC_ABORTED or MPI_ERR_INTERN. Returns the class.
__attribute__((cold)) int gompi_request_fill_failure(int class, struct gompi_error_status *v);

// Implements free_object and error_detail of kinds that keep the error description in text.
void gompi_request_free_text(struct gompi_request *r);
void gompi_request_text_detail(const struct gompi_request *r, struct gompi_error_status *v);

// Creates an active request of a kind other than messages, with a handle, in the VCI of a context of m. Returns NULL
// if m is NULL, memory ran out, or too many requests are live.
struct gompi_request *gompi_request_new(struct gompi_messages *m, uint64_t context,
					const struct gompi_request_kind *kind, uintptr_t object);
// Completes a request of gompi_request_new. The caller has written result. Frees the request if the application has
// called MPI_Request_free.
void gompi_request_complete(struct gompi_request *r);
// Calls the release function of a request that neither the application nor the operation needs, then frees the request.
// Returns result.class, which the release function may have set. v describes the error.
int gompi_request_destroy(struct gompi_request *r, struct gompi_error_status *v);

#pragma GCC visibility pop
#endif
