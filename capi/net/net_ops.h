// The interface of a network between nodes. fabric/ calls a network only through struct gompi_net_ops, and knows none
// of its types and error codes. The implementations are tcp/ (sockets), ofi/ (libfabric) and ucx/ (UCX).
//
// A network delivers messages into buffers that the receiver has posted, and reads and writes memory that peers have
// registered. Messages to a peer may arrive in any order. A peer is identified by its number, the rank in
// MPI_COMM_WORLD. A network makes connections itself when it needs them, and reports a peer that has failed.
//
// The caller serializes all calls with one lock. The functions choose, list, open and begin need no lock, because no
// other call runs at the same time. Only choose, list, open, begin and close may take long.
#ifndef GOMPI_NET_OPS_H
#define GOMPI_NET_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Errors of a network's functions and of completions.
enum gompi_net_error {
	NET_SUCCESS,
	NET_AGAIN,       // cannot be accepted now: call again after the network has made progress
	NET_NO_MEM,      // out of memory
	NET_PEER_FAILED, // the peer has ended or cannot be reached
	NET_FAILED,      // any other reason
};

enum {
	GOMPI_NET_ERROR_BYTES = 1000,   // bytes of an error text
	GOMPI_PROVIDER_NAME_BYTES = 64, // bytes of a provider's name
	GOMPI_ADDRESS_BYTES = 512,      // maximum bytes of the address that a process publishes
	GOMPI_HOST_DATA_BYTES = 256,    // maximum bytes of the address data that all processes of a host share
	// The network may overwrite this number of bytes in front of each message that is sent, and in front of each
	// receive buffer. It stores its own head there, so that head and message are contiguous.
	GOMPI_NET_HEAD_BYTES = 32,
	GOMPI_NET_OP_BYTES = 80, // bytes of an operation that belong to the network until the operation completes
};

// A provider: an implementation, or one of the networks that a library such as libfabric supports.
struct gompi_provider {
	char name[GOMPI_PROVIDER_NAME_BYTES];
	uint32_t version; // all processes of a job must use the same version
};

// Properties of an open network. The function `open` fills in the struct.
struct gompi_net_endpoint {
	char address[GOMPI_ADDRESS_BYTES]; // the address at which peers reach this process
	size_t address_bytes;
	char host[GOMPI_HOST_DATA_BYTES]; // address data that all processes of this host share; may be empty
	size_t host_bytes;
	int fd;                // readable if there are completions or arrivals; -1 if the network has no descriptor
	size_t inject_bytes;   // maximum message of `inject`
	size_t message_bytes;  // maximum message of `send`
	uint64_t max_op_bytes; // maximum bytes of a read or write
	bool needs_local;      // memory for messages, reads and writes must be registered with register_local
	bool has_rdma;         // reads and writes do not need the CPUs
};

// The job, for `begin`. The arrays are valid only during the call. The peers of the job have the numbers 0 to size - 1.
// The function `add` adds at most max_added processes of other jobs, with the next numbers.
struct gompi_net_job {
	int size, rank;
	int max_added;
	uint64_t universe;     // identifies the processes that have common numbers
	const char *addresses; // addresses by rank, of address_bytes each
	size_t address_bytes;
	int nodes;
	const char *hosts; // published data of all nodes
	// nodes + 1 offsets in `hosts`: node i has the bytes from host_offsets[i] to host_offsets[i + 1]
	const uint32_t *host_offsets;
	const int32_t *node_of; // node numbers by rank, from 0
	uint64_t secret[2];
	int64_t timeout_ns; // time after which a peer counts as unreachable; 0 if it never does
};

// A process of another job, for `add`. The pointers are valid only during the call.
struct gompi_net_foreign {
	int peer, node;    // numbers of the process and of its node, as this process counts them
	uint64_t universe; // identifies the set of processes in which `number` is unique
	uint32_t number;
	const char *address, *host; // as in struct gompi_net_endpoint
	size_t address_bytes, host_bytes;
	uint64_t secret[2]; // the secret of its job
};

// Event callbacks. The network calls them inside its functions, so the thread holds the caller's lock.
struct gompi_net_events {
	// A connection to a peer has ended unexpectedly, because the process or its network has failed.
	void (*on_failed)(int peer);
	// This process stops trying to reach the peer, because it has been unable to connect to any address of the peer
	// for a long time.
	void (*on_unreachable)(int peer);
	// This process has tried to connect for a second without success, so the callback should request that the peer
	// connect instead. Called again at each further attempt.
	void (*on_connect_back)(int peer);
	// Writes the host name of a peer, for messages, to `name`, which has `bytes` bytes.
	void (*host_name)(int peer, char *name, int bytes);
};

// An operation in progress. The caller keeps it valid until a completion names it.
struct gompi_net_op {
	_Alignas(16) char reserved[GOMPI_NET_OP_BYTES]; // space for the network's state of the operation
	int kind;                                       // set and read by the caller
};

struct gompi_net_completion {
	struct gompi_net_op *op;
	size_t bytes; // for a receive: length of the message
	int peer;     // for a receive: sender of the message
	enum gompi_net_error error;
};

// Registered memory in the form in which peers address it. These 16 bytes are sent to peers.
struct gompi_region {
	uint64_t key;     // not 0; 0 means that memory is not registered
	uint64_t address; // base to which an offset is added
};

// Local memory that messages are sent from or received into, or that is the source of a write or destination of a read.
// Used only if needs_local is true, else NULL.
struct gompi_net_local;
enum gompi_net_access { NET_ACCESS_MESSAGES, NET_ACCESS_READ, NET_ACCESS_WRITE };

// Result of gompi_net_ops.choose.
enum gompi_net_choice {
	NET_NOT_CHOSEN, // the network has no suitable provider on this machine
	NET_CHOSEN,
	NET_UNAVAILABLE, // the provider that the user has requested cannot be used
};

// A provider of a network on this machine, and why it would be used or not.
struct gompi_candidate {
	struct gompi_provider provider;
	bool is_chosen;
	const char *explanation;
};

struct gompi_net_ops {
	// The name of the only provider. NULL if the network has several, with the names that its library gives them.
	const char *name;
	// Chooses the provider for the job. The argument `wanted` is the name of a provider of this network that the
	// user has requested, or NULL. Without a request, the network is chosen only if it suits this machine better
	// than TCP sockets. Writes the reason to error_detail if it returns NET_UNAVAILABLE. May load a library.
	enum gompi_net_choice (*choose)(const char *wanted, struct gompi_provider *chosen,
					char error_detail[GOMPI_NET_ERROR_BYTES]);
	// Lists the providers of this network on this machine. The argument `chosen` is the provider that a job would
	// use, or NULL; wanted is true if the user has requested it. Returns the number of entries, at most capacity.
	int (*list)(const struct gompi_provider *chosen, bool wanted, struct gompi_candidate *list, int capacity);

	// Opens the endpoint of this process. On failure returns false and writes the reason to error_detail.
	bool (*open)(const struct gompi_provider *provider, struct gompi_net_endpoint *e,
		     char error_detail[GOMPI_NET_ERROR_BYTES]);
	// Stores the addresses of all processes; afterwards the other functions can be called. On failure returns false
	// and writes the reason to error_detail.
	bool (*begin)(const struct gompi_net_job *job, const struct gompi_net_events *events,
		      char error_detail[GOMPI_NET_ERROR_BYTES]);
	// Makes a process of another job a peer. Errors: NET_FAILED if the data is invalid, NET_NO_MEM.
	enum gompi_net_error (*add)(const struct gompi_net_foreign *f);
	// Ends all operations without completions, ends all registrations, and frees all state.
	void (*close)(void);

	// Sends a message. Completes when the memory can be reused. Local memory as in struct gompi_net_local.
	enum gompi_net_error (*send)(int peer, char *at, size_t bytes, struct gompi_net_local *local,
				     struct gompi_net_op *op);
	// Sends a message of at most inject_bytes, without a completion. The caller may reuse the memory on return.
	// NULL if inject_bytes is 0.
	enum gompi_net_error (*inject)(int peer, char *at, size_t bytes);
	// Posts a buffer for one message from any peer. A message that does not fit is an error of the peer.
	enum gompi_net_error (*post_receive)(char *at, size_t bytes, struct gompi_net_local *local,
					     struct gompi_net_op *op);
	// Reads or writes memory that a peer has registered. The argument `address` is the region's address plus an
	// offset. A write completes when the data is in the peer's memory.
	enum gompi_net_error (*read)(int peer, char *to, uint64_t bytes, struct gompi_net_local *local, uint64_t key,
				     uint64_t address, struct gompi_net_op *op);
	enum gompi_net_error (*write)(int peer, char *from, uint64_t bytes, struct gompi_net_local *local, uint64_t key,
				      uint64_t address, struct gompi_net_op *op);

	// Registers memory that peers may read, and also write if `writable` is true. The memory may be mapped
	// read-only if `writable` is false.
	enum gompi_net_error (*register_memory)(char *at, uint64_t bytes, bool writable, struct gompi_region *region);
	// Ends a registration. Accesses of peers that are still in progress do not touch the memory any more.
	void (*unregister_memory)(uint64_t key);
	// Registers local memory. The memory may be mapped read-only if it is only sent (NET_ACCESS_WRITE). NULL if
	// needs_local is never true.
	enum gompi_net_error (*register_local)(char *at, uint64_t bytes, enum gompi_net_access access,
					       struct gompi_net_local **local);
	void (*unregister_local)(struct gompi_net_local *local);

	// Makes progress, and stores at most `capacity` completions. Returns their number.
	int (*poll)(struct gompi_net_completion *completions, int capacity);
	// Prepares a sleep. Returns true if there is no work now and the endpoint's descriptor will become readable
	// when work arrives.
	bool (*arm)(void);

	// Connects to a peer although there is nothing to send, because the peer has requested it. NULL if the network
	// does not need such requests.
	void (*connect)(int peer);
	// Returns true if no process listens for the peer: since the last connection ended, attempts to connect have
	// been refused. NULL if the network accepts a message only if it is connected.
	bool (*is_refused)(int peer);
};

#endif
