// What the files of this room share: the endpoint of the process, and who may touch it.
//
// A provider is called by one thread at a time, under gompi_net.lock. What there is for a peer is under the lock of the
// peer (peer.h), which is taken first. One thread at a time takes out what has arrived (progress.c); it calls handlers
// with no lock held.
#ifndef GOMPI_FABRIC_NET_H
#define GOMPI_FABRIC_NET_H

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "base/mutex.h"
#include "fabric/fabric.h"

#pragma GCC visibility push(hidden)

// The endpoint, written once by gompi_net_open.
struct gompi_net {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av; // NULL: own
	struct fid_cq *cq;
	struct fid_ep *ep;    // which reaches all peers
	bool own;             // the provider is tcp/, whose addresses are ranks
	int fd;               // readable when there is something in cq, -1: there is no such thing
	bool local_keys;      // memory that a provider sends from or receives to is registered first
	size_t inject;        // so many bytes go without a completion
	uint64_t most;        // bytes of a transfer
	uint64_t secret[2];   // of the job
	char *addresses;      // of all processes, by rank
	size_t address_bytes; // of each
	int size;             // so many processes it reaches

	_Alignas(64) struct gompi_mutex lock;
	gompi_a32 wanted; // so many threads want the lock to send something
};
extern struct gompi_net gompi_net;

// The lock for who has something to send: who only looks what has arrived leaves it to them.
static inline void gompi_net_take(void) {
	if (__builtin_expect(!gompi_mutex_try(&gompi_net.lock), 0)) {
		gompi_add(&gompi_net.wanted, 1);
		gompi_mutex_take(&gompi_net.lock);
		gompi_sub(&gompi_net.wanted, 1);
	}
}
static inline bool gompi_net_try(void) {
	return gompi_load(&gompi_net.wanted) == 0 && gompi_mutex_try(&gompi_net.lock);
}
static inline void gompi_net_give(void) { gompi_mutex_give(&gompi_net.lock); }

// What a provider is asked to do. It keeps context until it has done it, and names it then.
enum gompi_op_kind { GOMPI_OP_SEND, GOMPI_OP_RECEIVE, GOMPI_OP_PART };
struct gompi_op {
	struct fi_context2 context;
	enum gompi_op_kind kind;
};

// Memory of this process that a provider sends from or receives to, where it wants that registered. Under the lock.
struct gompi_local {
	struct fid_mr *mr;
	struct gompi_local *next, *before;
};
// access is FI_SEND, FI_RECV, FI_READ: what is read comes here, FI_WRITE: what is written goes from here, and no more
// than that: memory that is only sent may be such that nobody can write to it. 0, or an error of libfabric.
int gompi_local_register(void *at, uint64_t bytes, uint64_t access, struct gompi_local **l);
void gompi_local_unregister(struct gompi_local *l);
static inline void *gompi_local_descriptor(const struct gompi_local *l) { return l != NULL ? fi_mr_desc(l->mr) : NULL; }

// Takes back all registrations that are left, under the lock.
void gompi_memory_end(void);

// Counters, for the tests and for who looks for an error.
struct gompi_net_counts {
	gompi_a64 frames_sent, frames_taken, frames_dropped, credits_sent, transfers;
};
extern struct gompi_net_counts gompi_net_counts;

#pragma GCC visibility pop
#endif
