// State shared by the files of this directory: the endpoint of the process, and its locks.
//
// One thread at a time calls the provider, under gompi_net.lock. The peer's own lock (peer.h) protects the state of a
// peer. Lock order: the peer's lock, then gompi_net.lock. One thread at a time, the serving thread, reads completions
// (progress.c); it calls handlers without holding a lock.
#ifndef GOMPI_FABRIC_NET_H
#define GOMPI_FABRIC_NET_H

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "base/mutex.h"
#include "fabric/fabric.h"

#pragma GCC visibility push(hidden)

// The endpoint. Written once, by gompi_net_open.
struct gompi_net {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av; // NULL if is_builtin
	struct fid_cq *cq;
	struct fid_ep *ep;     // a single endpoint reaches all peers
	bool is_builtin;       // the provider is tcp/, which uses ranks as addresses
	int fd;                // readable if cq has completions; -1 if the provider has no descriptor
	bool needs_local_mr;   // the provider requires registration of memory that it sends from or receives to
	size_t inject_bytes;   // messages up to this size are sent without a completion
	uint64_t max_op_bytes; // maximum bytes of a transfer
	uint64_t secret[2];    // of the job
	char *addresses;       // of all processes, by rank
	size_t address_bytes;  // bytes of each
	int size;              // number of processes in the job

	_Alignas(64) struct gompi_mutex lock;
	gompi_a32 waiting_senders; // number of threads that wait for the lock in order to send
};
extern struct gompi_net gompi_net;

// Acquires or releases the lock. gompi_net_lock acquires it in order to call the provider. gompi_net_try_lock acquires
// it in order to poll for completions. It fails if the lock is held or if a thread waits to send, so that senders have
// priority.
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

// An operation of the provider. The provider keeps context until completion, and returns it then.
enum gompi_net_op_kind { GOMPI_NET_OP_SEND, GOMPI_NET_OP_RECEIVE, GOMPI_NET_OP_SEGMENT };
struct gompi_net_op {
	struct fi_context2 context;
	enum gompi_net_op_kind kind;
};

// Memory that a provider sends from or receives to, registered if the provider requires that. Under gompi_net.lock.
struct gompi_local_mr {
	struct fid_mr *mr;
	struct gompi_local_mr *next, *prev;
};
// gompi_local_mr_register registers local memory. access is FI_SEND, FI_RECV, FI_READ (destination of a read) or
// FI_WRITE (source of a write), and not more: memory that is only sent may be read-only. Returns 0, or an error of
// libfabric.
int gompi_local_mr_register(void *at, uint64_t bytes, uint64_t access, struct gompi_local_mr **l);
void gompi_local_mr_unregister(struct gompi_local_mr *l);
static inline void *gompi_local_mr_descriptor(const struct gompi_local_mr *l) {
	return l != NULL ? fi_mr_desc(l->mr) : NULL;
}

// Releases all registrations that are left. The caller holds gompi_net.lock.
void gompi_registrations_free(void);

// Counters for tests and debugging.
struct gompi_net_counts {
	gompi_a64 frames_sent, frames_received, frames_dropped, credits_sent, transfers;
};
extern struct gompi_net_counts gompi_net_counts;

#pragma GCC visibility pop
#endif
