// State that the files of this directory share: peers, links (connected sockets), and the data to send and receive
// through links.
#ifndef GOMPI_TCP_LINK_H
#define GOMPI_TCP_LINK_H

#include <sys/uio.h>

#include "net/completion_queue.h"
#include "net/key_table.h"
#include "tcp/address.h"
#include "tcp/tcp.h"

#pragma GCC visibility push(hidden)

// --- The protocol on an open link: heads, each followed by its data

enum gompi_tcp_kind {
	TCP_FRAME = 1,    // a message
	TCP_WRITE,        // data for registered memory
	TCP_READ,         // requests data of registered memory
	TCP_DATA,         // reply to a read: the data
	TCP_DONE,         // reply to a write, or to a read that has failed or is empty
	TCP_CONFIRM,      // first head from the connecting side: confirms that the link is open
	TCP_CLOSE_OFFER,  // offers to close the idle link; the sender sends nothing more until the reply arrives
	TCP_CLOSE_REJECT, // reply to TCP_CLOSE_OFFER: the link stays open
	TCP_CLOSE_ACCEPT, // reply to TCP_CLOSE_OFFER: the link is closed
};

struct gompi_tcp_head {
	uint32_t kind;
	uint32_t length; // bytes that follow the head
	// The fields below exist only in reads, writes and replies to them.
	uint64_t id;     // id of the request, chosen by the requester
	uint64_t key;    // key of the memory; in TCP_DONE: enum gompi_net_error
	uint64_t offset; // offset in the registered memory
	uint64_t bytes;  // TCP_READ: bytes requested
};
enum { GOMPI_TCP_SHORT_HEAD_BYTES = 8 }; // bytes of a head without these fields

static inline size_t gompi_tcp_head_bytes(uint32_t kind) {
	return kind >= TCP_WRITE && kind <= TCP_DONE ? sizeof(struct gompi_tcp_head) : GOMPI_TCP_SHORT_HEAD_BYTES;
}

// Registered memory. Peers may read it.
struct gompi_tcp_memory {
	struct gompi_key_entry entry; // entry of the table gompi_tcp_state.memory
	char *at;
	uint64_t bytes;
	bool is_writable; // peers may also write
};

// An item to be sent: a head and its data.
struct gompi_tcp_item {
	struct gompi_tcp_item *next;
	struct gompi_tcp_head head;
	uint32_t head_bytes;
	struct iovec data; // data that follows the head
	size_t sent_bytes; // bytes of head and data that have been sent
	// operation that completes when the item is sent; NULL if none
	struct gompi_net_op *op;
	// copy of the data, freed when the item is sent; NULL if there is no copy
	char *owned_copy;
	const struct gompi_tcp_memory *memory; // registered memory that contains `data`; NULL if none
};

// What this directory stores in a receive, a read or a write.
struct gompi_tcp_op {
	struct gompi_net_op *next; // next in the list of posted buffers, or of the peer's requests
	uint64_t id;               // identifies a read or write; unused for a receive
	char *at;                  // receive buffer, or destination of a read; NULL for a write
	uint64_t bytes;
};
_Static_assert(sizeof(struct gompi_tcp_op) <= GOMPI_NET_OP_BYTES, "the state of an operation");
static inline struct gompi_tcp_op *gompi_tcp_op(struct gompi_net_op *op) {
	return (struct gompi_tcp_op *)(void *)op->reserved;
}

// --- Links

enum gompi_link_state {
	LINK_CONNECTING, // connect(2) is in progress
	LINK_HANDSHAKE,  // connected by this side; waits for the other side's hello or response
	// accepted by this side; the peer has not proved yet that it belongs to the job
	LINK_UNAUTHENTICATED,
	LINK_ACCEPTED, // accepted and authenticated; waits for TCP_CONFIRM
	LINK_OPEN,
	LINK_CLOSING, // this side has offered to close the link because it is idle
};

enum {
	GOMPI_SCRATCH_BYTES = 16 << 10, // bytes read from a socket before their destination is known
	GOMPI_HANDSHAKE_BYTES = 64,     // maximum bytes of a handshake message
	GOMPI_MAX_ATTEMPTS = 4,         // maximum number of concurrent connection attempts to a peer
};

struct gompi_tcp_link {
	int fd; // -1 if the link is closed
	enum gompi_link_state state;
	bool request_sent;                        // this side has sent its request
	uint32_t epoll_events;                    // events for which the link is registered with epoll
	int address_index;                        // index of the peer's address, if this side connects (tried_address)
	struct gompi_tcp_link *next, *prev;       // list of all links
	struct gompi_tcp_peer *peer;              // NULL if the peer is not known yet
	int64_t deadline_ns;                      // time by which the current state must end; 0 if unlimited
	int64_t last_used_ns;                     // time of the last data received or the last state change
	uint64_t local_nonce[2], remote_nonce[2]; // random numbers for the proofs

	// Receive state: first bytes of the head, then data for address `sink`. If `sink` is NULL, the data is
	// discarded.
	union {
		struct gompi_tcp_head head;
		char bytes[GOMPI_HANDSHAKE_BYTES];
	} in;
	size_t head_have_bytes; // received bytes of the head or of the handshake message
	bool in_body;           // the head is complete, and its data is arriving
	char *sink;
	size_t body_left_bytes; // bytes of the data that have not arrived
	// the receive operation for the data of the arriving TCP_FRAME, or the read operation that the arriving
	// TCP_DATA answers
	struct gompi_net_op *op;
	const struct gompi_tcp_memory *memory; // registered memory to which the arriving TCP_WRITE stores
	char *stash;                           // received bytes that wait for a receive buffer; NULL if none
	size_t stash_bytes;
	struct gompi_tcp_link *next_stalled;
	bool is_stalled; // the link waits for a receive buffer; it is in the list `stalled`
};

struct gompi_tcp_peer {
	int rank; // number of the peer, as this process counts
	// the peer's number in its universe, and the secret that it accepts; a peer of another job has another universe
	// and secret
	uint64_t universe, secret[2];
	uint32_t number;
	struct gompi_tcp_link *link;                         // link that is open or LINK_ACCEPTED; NULL if none
	struct gompi_tcp_link *attempts[GOMPI_MAX_ATTEMPTS]; // connection attempts of this side
	bool has_failed;
	bool was_connected;                              // a link to the peer has been open
	struct gompi_tcp_item *queue_first, *queue_last; // items to send
	struct gompi_tcp_item *last_before_bulk; // last item that is not bulk data (is_bulk); NULL if there is none
	struct gompi_net_op *requests;           // list of reads and writes without a reply yet
	struct gompi_tcp_peer *next;             // next in the list wanting_peers

	// State of the connection attempts. A round ends when all addresses have been tried.
	bool wants_link;
	int round, next_address;                         // number of complete rounds; next index in address_order
	int address_order[GOMPI_HOST_MAX_ADDRESSES + 1]; // indexes of the host's addresses
	int address_count;
	// wanted_since_ns: time (ns) when the attempts began. next_try_ns: time of the next attempt. pause_ns: duration
	// of the last pause before a round.
	int64_t wanted_since_ns, next_try_ns, pause_ns;
	// is_warned: a message has been printed. is_refused: all addresses refuse connections. is_unreachable: this
	// process has stopped trying.
	bool is_warned, is_refused, is_unreachable;
	struct {
		int error; // errno of the last attempt; -1 if another process answers; 0 if not known yet
		int64_t when;
	} address_errors[GOMPI_HOST_MAX_ADDRESSES + 1];
};

struct gompi_tcp_state {
	struct gompi_net_job job; // its array `addresses` has the ports, by rank; `hosts` is NULL
	const struct gompi_net_events *events;
	struct gompi_tcp_host local_host;
	uint16_t port; // port of the listening sockets
	int listeners[GOMPI_HOST_MAX_ADDRESSES], listener_count;
	int epoll, timer;              // descriptors of epoll(7) and of the timer (timerfd)
	int64_t timer_ns;              // time at which `timer` expires; 0 if it is not set
	struct gompi_tcp_peer **peers; // by number
	int peer_count;                // all peers have numbers below this one
	struct gompi_tcp_host *hosts;  // by node
	struct gompi_key_table memory; // registered memory (struct gompi_tcp_memory)
	struct gompi_completion_queue completions;
	int8_t *good_address; // by node: index of the address that worked last, plus 1; 0 if none
	struct gompi_tcp_link *links;
	struct gompi_tcp_peer *wanting_peers; // list of the peers whose wants_link is true
	struct gompi_net_op *posted;          // list of receive buffers
	struct gompi_tcp_link *stalled;       // list of links that wait for a receive buffer
	struct gompi_tcp_link *hot_link;      // the link that received data last; it is polled first
	uint64_t last_request_id;             // id of the last read or write
	int max_links;                        // number of links above which idle links are closed
	int unauth_links;                     // number of links in state LINK_UNAUTHENTICATED
	int spare_fd;                         // spare descriptor, closed to accept one more connection; -1 if closed
	// spare_fd is closed, and this process has not yet sent an offer to close an idle link
	bool spare_fd_owed;
	int64_t accept_at_ns;      // the listeners are not watched until this time; 0 if they are watched
	bool fd_shortage_reported; // the lack of file descriptors has been reported
	// Functions of connect.c that link.c calls through pointers, because files must not depend on each other in a
	// cycle: gompi_link_broken and gompi_link_on_close.
	void (*on_broken)(struct gompi_tcp_link *l, int error);
	void (*on_close)(struct gompi_tcp_link *l, enum gompi_tcp_kind kind);
};
extern struct gompi_tcp_state gompi_tcp_state;

struct gompi_tcp_peer *gompi_tcp_peer(int rank); // returns NULL if out of memory
// Registers a link with epoll for input (unless it is stalled) and, if `out` is set, for output.
void gompi_link_set_events(struct gompi_tcp_link *l, bool out);

// --- link.c: data through a link

// Sends as much as possible of the queue of the link's peer.
void gompi_link_send(struct gompi_tcp_link *l);
// Returns a zeroed item, or NULL if out of memory. gompi_item_free frees an item. gompi_tcp_peer_enqueue queues an item
// whose head has been filled in. It appends items with large data of reads and writes to the queue, and inserts all
// other items before these.
struct gompi_tcp_item *gompi_item_alloc(void);
void gompi_item_free(struct gompi_tcp_item *i);
void gompi_tcp_peer_enqueue(struct gompi_tcp_peer *p, struct gompi_tcp_item *i);
// Queues a head without data, and sends the queue. Returns false if out of memory.
bool gompi_link_send_control(struct gompi_tcp_link *l, enum gompi_tcp_kind kind);
// Receives and handles the data that has arrived, up to a limit. Returns true if there was any data.
bool gompi_link_receive(struct gompi_tcp_link *l);
// Handles data that has waited for receive buffers. Returns true if there was any such data.
bool gompi_links_resume(void);
// Ends all uses of registered memory m. Data that still arrives for m is dropped, and data of m that has not been sent
// yet is replaced by zeros.
void gompi_links_drop_memory(const struct gompi_tcp_memory *m);
// Completes all items and requests of a peer with NET_PEER_FAILED.
void gompi_tcp_peer_fail(struct gompi_tcp_peer *p);

// --- connect.c: opening and closing links

int gompi_tcp_listen(char *error_detail,
		     size_t error_bytes); // returns 0 or an errno; writes details, if any, to error_detail
// Requests a link to the peer: tries to connect until a link is open.
void gompi_tcp_peer_want_link(struct gompi_tcp_peer *p);
// Accepts waiting connections of a listening socket.
void gompi_listener_accept(int fd);
// Opens the spare descriptor if it is closed and a descriptor is available.
void gompi_spare_fd_open(void);
void gompi_timers_run(int64_t now);
void gompi_link_handshake(struct gompi_tcp_link *l, bool out);
// Ends a link after an error. The argument `error` is an errno, or 0 if the other side closed the connection.
void gompi_link_broken(struct gompi_tcp_link *l, int error);
void gompi_link_close(struct gompi_tcp_link *l);
// Frees closed links. The caller ensures that no function that uses a closed link is running.
void gompi_links_free(void);
// Handles TCP_CLOSE_OFFER and the replies to it.
void gompi_link_on_close(struct gompi_tcp_link *l, enum gompi_tcp_kind kind);
// Makes the timer expire at `when` (ns) at the latest.
void gompi_timer_set(int64_t when);

#pragma GCC visibility pop
#endif
