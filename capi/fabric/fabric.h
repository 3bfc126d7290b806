// The network between the nodes of a job: records that arrive in order, and reads and writes of memory that others have
// registered. On libfabric, which core/fabric loads and sets up when a job spans nodes; on one node nothing of this
// runs.
//
// A peer is a process on another node, by its number. Connections are made at the first use. What is
// sent to a peer gathers in a frame, which leaves when it is full, when somebody says so, or in the progress thread's
// next round. Frames cost credits, which the peer gives back when it has taken the frame, so nobody's memory is flooded
// and nothing is lost; answers cost none.
//
// This room knows neither windows nor messages: it gives records to the port that they are for.
#ifndef GOMPI_FABRIC_H
#define GOMPI_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/order.h"

#pragma GCC visibility push(hidden)

// Whom a record is for.
enum gompi_port {
	FABRIC_OWN,      // this room: who has died
	FABRIC_CALL,     // this room: who cannot be reached
	FABRIC_RMA,      // transport/
	FABRIC_MESSAGES, // message/
	FABRIC_LEADERS,  // barriers and small reductions between nodes
	FABRIC_PORTS
};

// What a port does with what comes from peers. Both are called by one thread at a time in the process, whichever makes
// progress, with no lock of this room held. They may reserve with FABRIC_ANSWER and start reads and writes, but wait
// for nothing.
struct gompi_port_handler {
	// A record of at most GOMPI_FABRIC_RECORD bytes, aligned to 8, which only this call reads and which is gone
	// afterwards. Records of one peer come in the order in which they were reserved there, those of all its ports
	// together. Only the length is known to be right: whatever it says is to be checked.
	void (*record)(int peer, const char *data, size_t length);
	// After a FABRIC_TRY has failed: there may be room now. May be NULL.
	void (*room)(int peer);
};

// Makes h the handler of a port. Before the network is opened.
void gompi_fabric_listen(enum gompi_port port, const struct gompi_port_handler *h);

// Returns true if the job spans nodes and the network is open. MPI_Finalize closes it while other threads look.
extern atomic_bool gompi_fabric_open;
static inline bool gompi_fabric_is_open(void) {
	return gompi_load_acquire(&gompi_fabric_open); // pairs with the release of gompi_net_begin
}

// The most bytes of a record: those of a message of 64 KiB.
enum { GOMPI_FABRIC_RECORD = (64 << 10) + 128 };

enum gompi_fabric_wait {
	FABRIC_WAIT,   // serves what arrives until there is room: calls of MPI
	FABRIC_TRY,    // there is room now, or there is not
	FABRIC_ANSWER, // there is room, in memory of this process if need be: to a record that the peer has sent
};

// Room for a record to peer, aligned to 8; the caller writes it and calls gompi_fabric_commit, and does nothing else in
// between: it holds the lock of the peer. NULL: *class is MPI_ERR_PROC_ABORTED, the peer is gone; MPI_ERR_PENDING,
// there is no room (FABRIC_TRY); MPI_ERR_NO_MEM.
char *gompi_fabric_reserve(int peer, enum gompi_port port, size_t length, enum gompi_fabric_wait wait, int *class);

// When a record leaves.
enum gompi_urgency {
	FABRIC_NOW,     // at once, with all that lies there for the peer
	FABRIC_DONE,    // when what has arrived with what it answers has been done
	FABRIC_PENDING, // with the next that leaves for this peer, at the latest in the progress thread's next round
};

// Sends what has been written to the room reserved for peer; its last bytes may be given up, length is what remains.
void gompi_fabric_commit(int peer, size_t length, enum gompi_urgency urgency);

// Sends what lies there for a peer, or for all of them (-1).
void gompi_fabric_push(int peer);
// Sends what lies there for all if there is something that was to leave as FABRIC_DONE.
void gompi_fabric_push_done(void);

// Memory that others may read and write, as they address it. 16 bytes, as they are sent.
struct gompi_region {
	uint64_t key;     // random, or the provider's; 0: none
	uint64_t address; // what an offset is added to
};

// Registers bytes of memory for peers to read, and to write if they shall; else it may be memory that nobody can write
// to. It must be there until gompi_fabric_unregister. 0, MPI_ERR_NO_MEM, MPI_ERR_OTHER.
int gompi_fabric_register(void *at, uint64_t bytes, bool writable, struct gompi_region *region);
void gompi_fabric_unregister(const struct gompi_region *region);

// A read or write under way. The caller keeps it, and local, until done is called: by one thread at a time, under no
// lock, possibly before the call that starts it returns; class is 0 or MPI_ERR_PROC_ABORTED, MPI_ERR_OTHER. done may
// start others and wake whoever waits (gompi_wake), and must not wait.
struct gompi_transfer {
	void (*done)(struct gompi_transfer *t, int class);
	char *local;
	uint64_t bytes;
	struct gompi_region region;
	uint64_t offset; // in the region
	int32_t peer;
	bool write;
	uint64_t rest[6]; // this room's
};

// Starts t, all of which but rest the caller has filled in. It always starts, sooner or later. A write is done when its
// data is at the peer, where whoever looks sees it. The caller has checked that region has these bytes: a provider ends
// the whole connection over one wrong address. Nothing is promised about the order of transfers and records.
void gompi_fabric_transfer(struct gompi_transfer *t);

// True if the network has a device that reaches memory by itself. Else processors move the data, with the system's
// calls, the peer's as well.
extern bool gompi_fabric_device;

// Returns true if a transfer of so many bytes that starts now takes less time than records with them.
bool gompi_transfer_pays(uint64_t bytes);

// Returns true if a peer is known to be dead, or silent for too long. All calls that wait for it end.
bool gompi_fabric_gone(int peer);

// Takes what has arrived, sends what can leave. Returns true if there was anything. Part of every wait; does not
// block.
bool gompi_fabric_progress(void);

#pragma GCC visibility pop
#endif
