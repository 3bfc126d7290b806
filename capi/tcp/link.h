// What the files of this room share: peers, links (sockets) and what goes through them.
#ifndef GOMPI_TCP_LINK_H
#define GOMPI_TCP_LINK_H

#include <sys/uio.h>

#include "tcp/address.h"
#include "tcp/tcp.h"

#pragma GCC visibility push(hidden)

// --- What is sent through a link that is open: heads, each with what follows it

enum gompi_tcp_kind {
	TCP_FRAME = 1, // a message
	TCP_WRITE,     // bytes for registered memory
	TCP_READ,      // wants some
	TCP_DATA,      // has them: the answer to a read
	TCP_DONE,      // the answer to a write, or to a read that cannot be
	TCP_CONFIRM,   // the first of who has asked for the link: it is open
	TCP_BYE,       // this side would give the link up, and sends nothing more until it has an answer
	TCP_STAY,      // the answers to that: no
	TCP_GO,        // yes
};

struct gompi_tcp_head {
	uint32_t kind;
	uint32_t length; // of what follows the head
	// Of reads, writes and their answers:
	uint64_t id;     // of who asks
	uint64_t key;    // of the memory; TCP_DONE: an error of libfabric, 0: none
	uint64_t offset; // in it
	uint64_t bytes;  // TCP_READ: wanted
};
enum { GOMPI_TCP_SHORT = 8 }; // bytes of the head of what is no read, write or answer to one

static inline size_t gompi_tcp_head_bytes(uint32_t kind) {
	return kind >= TCP_WRITE && kind <= TCP_DONE ? sizeof(struct gompi_tcp_head) : GOMPI_TCP_SHORT;
}

// Registered memory.
struct gompi_tcp_memory {
	struct fid_mr mr;
	struct gompi_tcp_memory *next;
	char *at;
	uint64_t bytes, access;
};
struct gompi_tcp_memory *gompi_tcp_memory_of(uint64_t key);
void gompi_tcp_memory_add(struct gompi_tcp_memory *m);
void gompi_tcp_memory_remove(struct gompi_tcp_memory *m);

// Something to be sent.
struct gompi_tcp_item {
	struct gompi_tcp_item *next;
	struct gompi_tcp_head head;
	uint32_t head_bytes;
	struct iovec data;                     // what follows the head
	size_t sent;                           // bytes of both
	void *context;                         // completed when all is sent, NULL: nothing is
	char *copy;                            // freed then
	const struct gompi_tcp_memory *memory; // that data is part of, NULL: none
};

// A read or write under way: its answer has not come.
struct gompi_tcp_request {
	struct gompi_tcp_request *next;
	uint64_t id;
	void *context;
	char *to; // of a read
	uint64_t bytes;
};

// --- Links

enum gompi_link_state {
	LINK_CONNECTING, // asked by this side: the system is at it
	LINK_ASKING,     // connected; the other side's number is awaited, or its answer
	LINK_STRANGE,    // accepted by this side: whoever it is has not proved to be of the job
	LINK_TAKEN,      // has proved it, and has been told that it is taken; it has not confirmed
	LINK_OPEN,
	LINK_BYE, // this side has offered to give it up
};

enum {
	GOMPI_SCRATCH = 16 << 10, // bytes taken from a socket before it is known where they go
	GOMPI_HANDSHAKE = 64,     // the most bytes of a message before a link is open
	GOMPI_ATTEMPTS = 4,       // links to a peer that are tried at the same time
};

struct gompi_tcp_link {
	int fd;
	enum gompi_link_state state;
	bool requested;                       // by this side, and its request has left
	uint32_t watched;                     // what epoll says of it
	int address;                          // which of the host's, of one that this side has asked for
	struct gompi_tcp_link *next, *before; // all of them
	struct gompi_tcp_peer *peer;          // NULL: not known
	int64_t deadline;                     // 0: none
	int64_t used;                         // when something has gone through it last
	uint64_t mine[2], theirs[2];          // numbers drawn by lot, for the proofs

	// What arrives: the head, then bytes for a sink, NULL: nobody wants them.
	union {
		struct gompi_tcp_head head;
		char bytes[GOMPI_HANDSHAKE];
	} in;
	size_t have;
	bool in_body;
	char *sink;
	size_t left;
	struct gompi_tcp_place *place;         // of a message
	struct gompi_tcp_request *answered;    // of the answer to a read
	const struct gompi_tcp_memory *memory; // of a write, whose bytes go there
	char *stash;                           // bytes for which there was no place
	size_t stash_bytes;
	struct gompi_tcp_link *next_stalled;
	bool stalled;
};

// A place for a message.
struct gompi_tcp_place {
	struct gompi_tcp_place *next;
	char *at;
	size_t bytes;
	void *context;
};

struct gompi_tcp_peer {
	int rank;
	struct gompi_tcp_link *link;                     // the one that is open, or is about to be
	struct gompi_tcp_link *attempts[GOMPI_ATTEMPTS]; // asked for by this side
	bool gone;
	bool has_been; // connected
	struct gompi_tcp_item *first, *last;
	struct gompi_tcp_item *ahead; // the last one in front of the data of reads and writes; NULL: there is none
	struct gompi_tcp_request *requests;
	struct gompi_tcp_peer *next; // of those that want a link

	// Trying. A round is over when all addresses have been tried.
	bool wants;                          // a link
	int round, at;                       // number of the round, of the next address in it
	int order[GOMPI_HOST_ADDRESSES + 1]; // of the addresses of the host
	int n;
	int64_t since, next_try, pause;
	bool warned, refused, unreachable;
	struct {
		int error; // of the system, -1: whoever answers there is somebody else, 0: not tried to the end
		int64_t when;
	} failed[GOMPI_HOST_ADDRESSES + 1];
};

struct gompi_tcp_state {
	struct gompi_tcp_job job;
	struct gompi_tcp_host here;
	uint16_t port;
	int listeners[GOMPI_HOST_ADDRESSES], n_listeners;
	int epoll, timer;
	int64_t timer_at;
	struct gompi_tcp_peer **peers; // by rank
	struct gompi_tcp_host *hosts;  // by node
	int8_t *worked;                // by node: the address that has been connected to, -1: none
	struct gompi_tcp_link *links;
	struct gompi_tcp_peer *wanting;
	struct gompi_tcp_place *places; // that wait for messages
	struct gompi_tcp_place *places_free;
	struct gompi_tcp_link *stalled;
	struct gompi_tcp_link *hot;
	uint64_t id;
	int most_links;
	int strangers;       // links that are LINK_STRANGE
	int reserve;         // a descriptor that is closed to accept one more stranger; -1: in use
	bool reserve_owed;   // a peer has it, and no idle link has been given up for that
	int64_t accept_at;   // the listeners are not watched until then; 0: they are
	bool short_of_files; // and it has been said
	// What link.c finds out, and connect.c deals with: gompi_link_broken, gompi_link_bye.
	void (*broken)(struct gompi_tcp_link *l, int error);
	void (*bye)(struct gompi_tcp_link *l, enum gompi_tcp_kind kind);
};
extern struct gompi_tcp_state gompi_tcp_state;

struct gompi_tcp_peer *gompi_tcp_peer(int rank); // NULL: there is no memory
// Has the system say when something arrives, and if out when there is room.
void gompi_link_watch(struct gompi_tcp_link *l, bool out);

// --- link.c: what goes through a link

// Sends what it can of what waits for the peer.
void gompi_link_send(struct gompi_tcp_link *l);
// Puts an item behind what waits, but in front of the data of reads and writes if it is not such itself; the head's
// kind, length and the rest are filled in.
struct gompi_tcp_item *gompi_item_get(void);
void gompi_item_put(struct gompi_tcp_item *i);
void gompi_peer_append(struct gompi_tcp_peer *p, struct gompi_tcp_item *i);
// Sends a head alone, ahead of nothing; false: there is no memory.
bool gompi_link_tell(struct gompi_tcp_link *l, enum gompi_tcp_kind kind);
// Takes what has arrived, up to a bound. Returns true if there was something.
bool gompi_link_receive(struct gompi_tcp_link *l);
// Goes on with bytes that waited for places.
bool gompi_links_unstall(void);
// Forgets that memory: what still goes there is dropped, what comes from there is zeros.
void gompi_links_forget(const struct gompi_tcp_memory *m);
// Ends all that waits for the peer with an error of libfabric.
void gompi_peer_fail(struct gompi_tcp_peer *p, int error);

// --- connect.c: links come and go

int gompi_listen(char *why, size_t why_bytes); // 0 or an errno, why is written if it says more
// The peer wants a link.
void gompi_peer_wants(struct gompi_tcp_peer *p);
// The listener, the clock, or a link that is not open has something to do.
void gompi_listener_ready(int fd);
// Opens the descriptor that is kept for strangers unless it is open, or cannot be.
void gompi_reserve_descriptor(void);
void gompi_timers(int64_t now);
void gompi_link_handshake(struct gompi_tcp_link *l, bool out);
// A link that was open has ended; error is of the system, 0: orderly.
void gompi_link_broken(struct gompi_tcp_link *l, int error);
void gompi_link_close(struct gompi_tcp_link *l);
// Frees those that have been closed; nobody in a call refers to one.
void gompi_links_free(void);
// Answers to an offer to give it up.
void gompi_link_bye(struct gompi_tcp_link *l, enum gompi_tcp_kind kind);
// When the clock is to ring at the latest.
void gompi_timer_at(int64_t when);

// --- completion.c

struct gompi_tcp_completion {
	void *context;
	size_t length;
	int error; // of libfabric
};
// Reserves the place of an operation's completion. Returns false if there is no memory: the operation must not start.
bool gompi_completion_promise(void);
// Gives the place back: the operation has not started.
void gompi_completion_withdraw(void);
// Completes an operation, whose place has been reserved.
void gompi_complete(void *context, size_t length, int error);
// Drops all completions and places: the endpoint is closed.
void gompi_completions_drop(void);
// The first that has not been told, and the one after it, once that has been; NULL: there is none.
const struct gompi_tcp_completion *gompi_completion_first(void);
const struct gompi_tcp_completion *gompi_completion_next(void);

#pragma GCC visibility pop
#endif
