// The network between the nodes of a job: ordered records, and reads and writes (RMA) of memory that peers have
// registered. It runs on an implementation of struct gompi_net_ops, for example on TCP sockets. core/fabric opens the
// network when a job spans nodes. If all processes are on one node, the network is never opened.
//
// A peer is a process on another node, identified by its number (base/process.h). Connections are made at first use.
// Records to a peer are collected in a frame. The frame is sent when it is full, when a caller requests it, or in the
// next round of the progress thread. A frame with records uses a credit (flow control), which the peer returns when it
// has received the frame. This bounds the receiver's memory, so that no frame is dropped for lack of memory. A reply
// (FABRIC_ANSWER) never blocks the sender: without a credit, the reply waits in a queue of the sender.
//
// This directory knows neither windows nor messages. It passes each record to the handler of the port that is named in
// the record.
#ifndef GOMPI_FABRIC_H
#define GOMPI_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomics.h"
#include "net/net_ops.h"

#pragma GCC visibility push(hidden)

// Ports identify the receiver of a record. Each port has one handler.
enum gompi_port {
	FABRIC_FAILURES,     // this directory: reports of failed processes (health.c)
	FABRIC_CONNECT_BACK, // this directory: requests to connect (connect_back.c)
	FABRIC_RMA,          // transport/
	FABRIC_MESSAGES,     // message/
	FABRIC_PORTS
};

// The callbacks of a port. At most one thread of the process at a time calls them: the thread that currently serves the
// network. This thread holds no lock of this directory. The callbacks may reserve records with FABRIC_ANSWER and start
// transfers, but must not block.
struct gompi_port_handler {
	// Handles a record of at most GOMPI_MAX_RECORD_BYTES bytes, aligned to 8. The data is valid only during the
	// call, and no other thread reads it. Records of one peer are delivered in the order in which the peer reserved
	// them, across all ports. Only the length has been validated: the handler must check the contents.
	void (*on_record)(int peer, const char *data, size_t length);
	// Called after a reservation with FABRIC_TRY has failed, when space may be available again. May be NULL.
	void (*on_room)(int peer);
};

// Makes h the handler of a port. Callers call it before the network is opened.
void gompi_fabric_set_handler(enum gompi_port port, const struct gompi_port_handler *h);

// True while the job spans nodes and the network is open. It is atomic, because other threads may read it while
// MPI_Finalize clears it.
extern atomic_bool gompi_fabric_open_flag;
static inline bool gompi_fabric_is_open(void) {
	return gompi_load_acquire(&gompi_fabric_open_flag); // pairs with the release in gompi_net_begin
}

// Maximum length of a record in bytes: enough for a message of 64 KiB.
enum { GOMPI_MAX_RECORD_BYTES = (64 << 10) + 128 };

enum gompi_fabric_wait {
	FABRIC_WAIT, // blocks, and makes progress, until space is available; for MPI calls
	FABRIC_TRY,  // fails if no space is available now
	// never blocks: without a credit, the record waits in the memory of this process; only for replies to a record
	// of the peer
	FABRIC_ANSWER,
};

// Reserves space for a record to peer and returns the address for its data, aligned to 8. Acquires the peer's lock,
// which gompi_fabric_commit releases; in between the caller may only write the record. On failure returns NULL and sets
// *class: MPI_ERR_PROC_ABORTED if the peer has failed, MPI_ERR_PENDING if there is no space (FABRIC_TRY only),
// MPI_ERR_NO_MEM if out of memory.
char *gompi_fabric_reserve(int peer, enum gompi_port port, size_t length, enum gompi_fabric_wait wait, int *class);

// When a committed record is sent.
enum gompi_urgency {
	FABRIC_NOW,         // at once, with all records that are queued for the peer
	FABRIC_AFTER_BATCH, // when the serving thread has handled all arrivals of its current poll
	FABRIC_PENDING,     // with the next frame to this peer, at the latest in the progress thread's next round
};

// Queues or sends the reserved record, and releases the peer's lock. The argument `length` is the final length, at most
// the reserved length.
void gompi_fabric_commit(int peer, size_t length, enum gompi_urgency urgency);

// Sends the queued records of a peer, or of all peers (-1).
void gompi_fabric_flush(int peer);
// Sends the queued records of a peer on another node, and asks it for an acknowledgement. Returns a number that
// identifies the records that this process has committed for the peer so far. gompi_fabric_is_delivered returns true if
// the peer has received these records, or has failed. If it returns false, the acknowledgement wakes the waits on
// gompi_my_cell()->wait.
uint32_t gompi_fabric_request_delivery(int peer);
bool gompi_fabric_is_delivered(int peer, uint32_t number);
// Sends the queued records of all peers if any record has been committed with FABRIC_AFTER_BATCH.
void gompi_fabric_flush_batch(void);

// Registers memory that peers may read, and also write if `writable` is true. If `writable` is false, the memory may be
// mapped read-only. The memory must stay valid until gompi_fabric_unregister. Returns 0, MPI_ERR_NO_MEM or
// MPI_ERR_OTHER.
int gompi_fabric_register(void *at, uint64_t bytes, bool writable, struct gompi_region *region);
void gompi_fabric_unregister(const struct gompi_region *region);

// A read or write of a peer's memory in progress. The caller keeps this structure and the memory at `local` valid until
// the callback `done` is called. One thread at a time calls `done`, without holding a lock, possibly before
// gompi_fabric_transfer returns. The argument `class` is 0, MPI_ERR_PROC_ABORTED, MPI_ERR_NO_MEM or MPI_ERR_OTHER. The
// callback may start other transfers and wake waiters (gompi_wake); it must not block.
struct gompi_transfer {
	void (*done)(struct gompi_transfer *t, int class);
	char *local;
	uint64_t bytes;
	struct gompi_region region;
	uint64_t offset; // in the region
	int32_t peer;
	bool is_write;
	uint64_t internal[6]; // private to this directory (transfer.c)
};

// Starts t. The caller has set all fields except `internal`. The transfer may be queued, and always starts eventually.
// A write completes when its data is visible in the peer's memory. The caller must have checked that the range is
// inside the region: some providers close the whole connection after one invalid address. Transfers are not ordered
// relative to each other or to records.
void gompi_fabric_transfer(struct gompi_transfer *t);

// True if the network device accesses memory without the CPU (RDMA). Otherwise the CPUs on both sides move the data
// with system calls.
extern bool gompi_fabric_has_rdma;

// Returns true if a transfer of this size, started now, is expected to be faster than records with the same data.
bool gompi_fabric_use_rdma(uint64_t bytes);

// Returns true if a peer is known to have failed or has been silent for too long. All waits for such a peer return an
// error.
bool gompi_fabric_peer_failed(int peer);

// Handles arrivals and completions, and sends queued records. Returns true if there was work. Every wait in the library
// calls this function. Does not block.
bool gompi_fabric_progress(void);

#pragma GCC visibility pop
#endif
