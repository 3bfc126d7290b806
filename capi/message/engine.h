// The interface of the message layer for Go. Go starts operations that consist of several messages, and has its own
// wait loops. Tests in Go simulate several MPI processes in one test process. C callers use messages.h.
#ifndef GOMPI_MESSAGE_ENGINE_H
#define GOMPI_MESSAGE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gompi_messages;
struct gompi_processes;
struct gompi_request;
struct gompi_message;

#pragma GCC visibility push(hidden)

// Describes the shared memory of the node's processes. The fields are those of struct gompi_node, where some have other
// names: rings is message_rings, ring_stride is message_stride, me is local_index. The flag no_cma forbids
// process_vm_readv.
struct gompi_engine_config {
	char *control, *rings;
	size_t cell_stride, ring_stride;
	int n, me;
	struct gompi_processes *processes; // must stay valid, at this address, until gompi_engine_close
	bool oversubscribed, no_cma;
};
struct gompi_messages *gompi_engine_open(const struct gompi_engine_config *place);
void gompi_engine_close(struct gompi_messages *m);
void gompi_engine_attach(struct gompi_messages *m);
void gompi_engine_detach(void);

bool gompi_engine_progress(struct gompi_messages *m);
void gompi_engine_remind(struct gompi_messages *m);
bool gompi_engine_flushed(struct gompi_messages *m);
// Returns an error class if the inbox of a VCI is damaged, so that further messages cannot arrive; else 0.
int gompi_engine_inbox_error(struct gompi_messages *m);

// Describes a send or receive. The fields `at`, `size` and `count` are those of struct gompi_buffer. Addresses are
// integers because they may point to memory of Go.
struct gompi_engine_operation {
	uint64_t context;
	uintptr_t comm;
	int32_t source, world, peer, tag; // as in struct gompi_request
	uint8_t mode;
	bool receive, blocking, urgent, persistent;
	bool depends_on_all; // as in struct gompi_wait_desc; used in a fault-tolerant job
	uintptr_t at;
	int64_t size, count;
	uintptr_t datatype; // handle; 0 if the buffer is contiguous
	uintptr_t program;  // address of the caller's struct gompi_type; used if C does not know the handle
	uintptr_t members;  // address of member_count process numbers, see gompi_request_set_members
	int32_t member_count;
	uintptr_t outer; // as in struct gompi_wait_desc
};

// Starts the operation o. If o is persistent, only creates its request. Returns NULL if the operation is already
// complete. If memory has run out, sets *no_memory and returns NULL.
struct gompi_request *gompi_engine_start(struct gompi_messages *m, const struct gompi_engine_operation *o,
					 bool *no_memory);
// The result of a complete request.
struct gompi_engine_result {
	int32_t source, tag, class;
	bool cancelled;
	int64_t bytes;
	char *text; // NULL if class is MPI_SUCCESS or memory ran out; the caller frees it
};
// Performs the operation o and waits until it is complete, as MPI_Send and MPI_Recv do. Returns false if m is not the
// message layer of the application: waits in C make progress for that layer only.
bool gompi_engine_perform(struct gompi_messages *m, const struct gompi_engine_operation *o,
			  struct gompi_engine_result *out);
// Starts the receive of a message that a matched probe has extracted, and consumes m. Returns NULL if out of memory; m
// then stays valid.
struct gompi_request *gompi_engine_receive(struct gompi_message *m, const struct gompi_engine_operation *o);
void gompi_engine_restart(struct gompi_request *r);
void gompi_engine_cancel(struct gompi_request *r);
// Frees a request: immediately if it is complete or inactive, else upon completion.
void gompi_engine_free(struct gompi_request *r);
// Returns the address of the field `state` of r, which Go reads.
uint32_t *gompi_engine_state(struct gompi_request *r);

void gompi_engine_result(const struct gompi_request *r, struct gompi_engine_result *out);

// Returns a handle for the application, or 0 if too many requests are live.
uintptr_t gompi_engine_handle(struct gompi_request *r);
bool gompi_engine_is_persistent(const struct gompi_request *r);

// Returns the message that a receive with this context, source and tag would match, or NULL. Stores its envelope and
// size in *out. If `extract` is set, extracts the message (matched probe).
struct gompi_message *gompi_engine_probe(struct gompi_messages *m, uint64_t context, int32_t source, int32_t tag,
					 bool extract, uintptr_t comm, struct gompi_engine_result *out);

void gompi_engine_close_contexts(struct gompi_messages *m, uint64_t context, int n);

// Counts of objects in use in all VCIs, for tests. ids_added and fragmented_receives are totals since the start.
struct gompi_engine_counts {
	int64_t sends, receives, unexpected_bytes, pending_links, queues, unexpected, posted, extracted, id_entries,
		ids_added,
		fragmented_receives; // total number of receives whose data has been sent in fragments
	bool throttles;              // true if the process has asked senders to keep their data (FLOW_RENDEZVOUS)
};
void gompi_engine_counts(struct gompi_messages *m, struct gompi_engine_counts *out);
// Handles a record of n bytes (fixed part and payload) as if it had arrived at the process. For tests.
void gompi_engine_inject(struct gompi_messages *m, const void *record, int64_t n);

#pragma GCC visibility pop
#endif
