// State that the files of this directory share: the network and its lock.
//
// A thread that calls the functions of the network (gompi_net.ops) holds gompi_net.lock. Each peer has a lock that
// protects its state (peer.h). Lock order: the peer's lock, then gompi_net.lock. The serving thread, which is one
// thread at a time, reads completions (progress.c). It calls the ports' handlers without holding a lock.
#ifndef GOMPI_FABRIC_NET_H
#define GOMPI_FABRIC_NET_H

#include "base/mutex.h"
#include "fabric/fabric.h"

#pragma GCC visibility push(hidden)

// gompi_net_open and gompi_net_begin write the fields before `lock` once, before any other use.
struct gompi_net {
	const struct gompi_net_ops *ops;
	int fd;                // readable if there are completions; -1 if the network has no descriptor
	bool needs_local;      // the memory of messages, reads and writes must be registered (register_local)
	size_t inject_bytes;   // messages up to this size are injected (copied, sent without a completion)
	uint64_t max_op_bytes; // maximum bytes of a read or write
	int size;              // number of processes in the job
	int capacity;          // peers have numbers below this one; those from `size` on belong to other jobs

	_Alignas(64) struct gompi_mutex lock;
	gompi_a32 waiting_senders; // number of threads that wait for gompi_net.lock in order to send
};
extern struct gompi_net gompi_net;

// Acquires gompi_net.lock in order to call the network. gompi_net_try_lock acquires the lock in order to poll for
// completions. It fails if the lock is held or if a thread waits in gompi_net_lock, so that senders have priority.
// gompi_net_unlock releases the lock.
static inline void gompi_net_lock(void) {
	if (__builtin_expect(!gompi_mutex_trylock(&gompi_net.lock), 0)) {
		gompi_add(&gompi_net.waiting_senders, 1);
		gompi_mutex_lock(&gompi_net.lock);
		gompi_sub(&gompi_net.waiting_senders, 1);
	}
}
static inline bool gompi_net_try_lock(void) {
	return gompi_load(&gompi_net.waiting_senders) == 0 && gompi_mutex_trylock(&gompi_net.lock);
}
static inline void gompi_net_unlock(void) { gompi_mutex_unlock(&gompi_net.lock); }

// The field `kind` of operations of the network.
enum gompi_net_op_kind { GOMPI_NET_OP_SEND, GOMPI_NET_OP_RECEIVE, GOMPI_NET_OP_SEGMENT };

// Counters for tests and debugging.
struct gompi_net_counts {
	gompi_a64 frames_sent, frames_received, frames_dropped, credits_sent, transfers;
};
extern struct gompi_net_counts gompi_net_counts;

#pragma GCC visibility pop
#endif
