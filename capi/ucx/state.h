// State that the files of this directory share.
#ifndef GOMPI_UCX_STATE_H
#define GOMPI_UCX_STATE_H

#include "net/completion_queue.h"
#include "net/key_table.h"
#include "net/message_head.h"
#include "ucx/library.h"

#pragma GCC visibility push(hidden)

// Identifiers of active messages. Each has a struct gompi_message_head as its header.
enum {
	UCX_FRAME,        // data: a message of fabric/
	UCX_RKEY_REQUEST, // data: struct gompi_ucx_rkey_head; requests the remote key of registered memory
	UCX_RKEY_REPLY,   // data: struct gompi_ucx_rkey_head, then the packed remote key; none if the key is unknown
	UCX_MESSAGES
};

struct gompi_ucx_rkey_head {
	uint64_t key;
};

// Memory that peers access.
struct gompi_ucx_memory {
	struct gompi_key_entry entry; // entry of the table gompi_ucx_state.memory
	ucp_mem_h memory;
	void *packed; // the remote key, as it is sent to peers
	size_t packed_bytes;
};

// What this directory stores in an operation.
struct gompi_ucx_op {
	struct gompi_net_op *next; // next in the list of posted buffers, or of accesses that wait for a remote key
	char *at;
	uint64_t bytes;
	struct gompi_message_head head; // for a receive: head of the message
	struct gompi_ucx_rkey *rkey;    // for an access: remote key
	uint64_t address;               // for an access: address in the peer's memory
	bool is_write;                  // access
};
_Static_assert(sizeof(struct gompi_ucx_op) <= GOMPI_NET_OP_BYTES, "the state of an operation");
static inline struct gompi_ucx_op *gompi_ucx_op(struct gompi_net_op *op) {
	return (struct gompi_ucx_op *)(void *)op->reserved;
}

// A remote key of a peer's memory. For each peer, a limited number of keys stay cached while no access uses them.
struct gompi_ucx_rkey {
	struct gompi_ucx_rkey *next;
	uint64_t key;
	ucp_rkey_h rkey;              // NULL while the request for the key has not been answered
	struct gompi_net_op *waiting; // accesses
	int uses;                     // number of accesses in progress
};

struct gompi_ucx_peer {
	int number;
	ucp_ep_h ep; // NULL after the peer has failed
	bool has_failed;
	struct gompi_ucx_peer *next_failed; // list of failed peers whose endpoint must be closed
	struct gompi_ucx_rkey *rkeys;       // in order of last use, most recent first
};

// A message that has arrived and waits for a posted buffer.
struct gompi_ucx_arrival {
	struct gompi_ucx_arrival *next;
	struct gompi_message_head head;
	void *data; // the message in UCX's memory, or a descriptor for a rendezvous
	size_t bytes;
	bool is_rendezvous;
};

struct gompi_ucx_state {
	ucp_context_h context;
	ucp_worker_h worker;
	int fd;
	struct gompi_message_names names;
	const struct gompi_net_events *events;
	char *addresses;                     // addresses by peer, of GOMPI_ADDRESS_BYTES each
	struct gompi_ucx_peer **peers;       // peers by number
	int peer_count;                      // number of peers that have been added
	struct gompi_ucx_peer *failed_peers; // list
	struct gompi_key_table memory;
	struct gompi_completion_queue completions;
	struct gompi_net_op *posted; // list of receive buffers
	struct gompi_ucx_arrival *arrivals, **arrivals_end;
};
extern struct gompi_ucx_state gompi_ucx_state;

// Converts the status of an operation.
enum gompi_net_error gompi_ucx_error(ucs_status_t status);

// Adds the completion of an operation, for which an entry has been reserved.
static inline void gompi_ucx_complete(struct gompi_net_op *op, enum gompi_net_error error) {
	gompi_completion_add(&gompi_ucx_state.completions, (struct gompi_net_completion){.op = op, .error = error});
}

// Returns the peer, connecting it at first use. On error returns NULL and sets *error.
struct gompi_ucx_peer *gompi_ucx_peer(int number, enum gompi_net_error *error);

// Starts to close a peer's endpoint. Returns the request, or NULL if the endpoint is closed.
void *gompi_ucx_close_endpoint(struct gompi_ucx_peer *p);

// Declares a peer failed. The next poll ends the accesses that wait for it.
void gompi_ucx_peer_fail(struct gompi_ucx_peer *p);

// Sends a message of this directory, copying the data. Returns false if out of memory, or if UCX refuses the message.
bool gompi_ucx_send_control(struct gompi_ucx_peer *p, unsigned id, const void *data, size_t bytes);

// Functions of struct gompi_net_ops, and handlers of messages about remote keys (memory.c).
enum gompi_net_error gompi_ucx_read(int peer, char *to, uint64_t bytes, struct gompi_net_local *local, uint64_t key,
				    uint64_t address, struct gompi_net_op *op);
enum gompi_net_error gompi_ucx_write(int peer, char *from, uint64_t bytes, struct gompi_net_local *local, uint64_t key,
				     uint64_t address, struct gompi_net_op *op);
enum gompi_net_error gompi_ucx_register(char *at, uint64_t bytes, bool writable, struct gompi_region *region);
void gompi_ucx_unregister(uint64_t key);
void gompi_ucx_on_rkey_request(struct gompi_ucx_peer *p, const char *data, size_t bytes);
void gompi_ucx_on_rkey_reply(struct gompi_ucx_peer *p, const char *data, size_t bytes);
// Completes the accesses that wait for remote keys of a failed peer.
void gompi_ucx_fail_accesses(struct gompi_ucx_peer *p);
// Frees the remote keys of a peer.
void gompi_ucx_free_rkeys(struct gompi_ucx_peer *p);
// Ends all registrations of this process.
void gompi_ucx_free_memory(void);

#pragma GCC visibility pop
#endif
