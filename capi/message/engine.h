// The messages of a process for Go, which starts operations of several messages, waits in its own way, and has several
// processes in one for its tests. C has messages.h.
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

// Where the processes of the job are: as struct gompi_node.
struct gompi_engine_place {
	char *control, *rings;
	size_t cell_stride, ring_stride;
	int n, me;
	const struct gompi_processes *processes; // stays where it is
	bool oversubscribed, no_cma;
};
struct gompi_messages *gompi_engine_open(const struct gompi_engine_place *place);
void gompi_engine_close(struct gompi_messages *m);
void gompi_engine_enter(struct gompi_messages *m);
void gompi_engine_leave(void);

bool gompi_engine_progress(struct gompi_messages *m);
void gompi_engine_remind(struct gompi_messages *m);
bool gompi_engine_flushed(struct gompi_messages *m);
// An error class once a message can no longer come, because the inbox of its lane is damaged.
int gompi_engine_broken(struct gompi_messages *m);

// A send or receive. at, size, count, skip: struct gompi_buffer. Addresses are numbers, since they may be of Go's
// memory.
struct gompi_engine_operation {
	uint64_t context;
	uintptr_t comm;
	int32_t source, world, peer, tag; // as in struct gompi_request
	uint8_t mode;
	bool receive, blocking, urgent, persistent;
	uintptr_t at;
	int64_t size, count, skip;
	uintptr_t datatype; // handle, 0: the buffer is one run of memory
	uintptr_t program;  // where the caller keeps the type's program, should C not know the handle
};

// Starts o. NULL: it is over already, or, with *no_memory, cannot be started.
struct gompi_request *gompi_engine_start(struct gompi_messages *m, const struct gompi_engine_operation *o,
					 bool *no_memory);
// What a complete request has ended with.
struct gompi_engine_result {
	int32_t source, tag, class;
	bool cancelled;
	int64_t bytes;
	char *text; // NULL if class is MPI_SUCCESS, or there is no memory; the caller frees it
};
// Does o to its end, as MPI_Send and MPI_Recv do. false: m are not the messages of the application, for which alone
// waits in C make progress.
bool gompi_engine_do(struct gompi_messages *m, const struct gompi_engine_operation *o, struct gompi_engine_result *out);
// Starts the receive of a message that a matched probe has taken out; m is used up. NULL: there is no memory.
struct gompi_request *gompi_engine_receive(struct gompi_message *m, const struct gompi_engine_operation *o);
void gompi_engine_restart(struct gompi_request *r);
void gompi_engine_cancel(struct gompi_request *r);
// Lets a request go: at once if it is over or inactive, else when it is over.
void gompi_engine_free(struct gompi_request *r);
// What core/request knows of the life of r.
uint32_t *gompi_engine_state(struct gompi_request *r);

void gompi_engine_result(const struct gompi_request *r, struct gompi_engine_result *out);

// A handle for the application, 0: there are too many.
uintptr_t gompi_engine_handle(struct gompi_request *r);
bool gompi_engine_is_receive(const struct gompi_request *r);
bool gompi_engine_is_persistent(const struct gompi_request *r);

// The message that a receive of a pattern would take; taken out with take. Its envelope and size in *out.
struct gompi_message *gompi_engine_probe(struct gompi_messages *m, uint64_t context, int32_t source, int32_t tag,
					 bool take, uintptr_t comm, struct gompi_engine_result *out);
// Messages that have come unexpected so far, in the lane of a context: only a new one changes what a probe finds.
uint64_t gompi_engine_arrived(struct gompi_messages *m, uint64_t context);

void gompi_engine_forget(struct gompi_messages *m, uint64_t context, int n);

// What is under way, for tests.
struct gompi_engine_stock {
	int64_t sends, receives, held, backlog, queues, unexpected, posted, picked, number_places, numbers_added,
		in_pieces; // receives so far whose data came, or comes, in pieces
	bool asks;         // those who send to keep their messages
};
void gompi_engine_stock(struct gompi_messages *m, struct gompi_engine_stock *out);
// Hands a record to a process as if it had come, for tests: n bytes with the fixed part first.
void gompi_engine_inject(struct gompi_messages *m, const void *record, int64_t n);

#pragma GCC visibility pop
#endif
