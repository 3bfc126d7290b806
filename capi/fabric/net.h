// State that the files of this directory share: the endpoint of this process, and the lock of the provider.
//
// A thread that calls the provider holds gompi_net.lock. Each peer has a lock that protects its state (peer.h). Lock
// order: the peer's lock, then gompi_net.lock. The serving thread, which is one thread at a time, reads completions
// (progress.c). It calls the ports' handlers without holding a lock.
#ifndef GOMPI_FABRIC_NET_H
#define GOMPI_FABRIC_NET_H

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "base/mutex.h"
#include "fabric/fabric.h"

#pragma GCC visibility push(hidden)

// The endpoint. gompi_net_open and gompi_net_begin write the fields before `lock` once, before any other use.
struct gompi_net {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av; // NULL if is_builtin is true
	struct fid_cq *cq;
	struct fid_ep *ep;     // a single endpoint reaches all peers
	bool is_builtin;       // the provider is tcp/, which uses ranks as addresses
	int fd;                // readable if cq has completions; -1 if the provider has no descriptor
	bool needs_local_mr;   // the provider requires registration of the memory for sends and receives
	size_t inject_bytes;   // messages up to this size are injected (copied, sent without a completion)
	uint64_t max_op_bytes; // maximum bytes of one operation of the provider
	uint64_t secret[2];    // the job's secret key, for authentication codes
	char *addresses;       // addresses of all processes, by rank
	size_t address_bytes;  // bytes of each address
	int size;              // number of processes in the job

	_Alignas(64) struct gompi_mutex lock;
	gompi_a32 waiting_senders; // number of threads that wait for gompi_net.lock in order to send
};
extern struct gompi_net gompi_net;

// Acquires gompi_net.lock in order to call the provider. gompi_net_try_lock acquires the lock in order to poll for
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

// An operation of the provider. The provider uses the field `context` until the operation completes. The completion
// identifies the operation by the address of `context`.
enum gompi_net_op_kind { GOMPI_NET_OP_SEND, GOMPI_NET_OP_RECEIVE, GOMPI_NET_OP_SEGMENT };
struct gompi_net_op {
	struct fi_context2 context;
	enum gompi_net_op_kind kind;
};

// Registration of local memory that the provider sends from or receives into, if the provider requires a registration.
// Protected by gompi_net.lock.
struct gompi_local_mr {
	struct fid_mr *mr;
	struct gompi_local_mr *next, *prev;
};
// Registers local memory. The argument `access` is FI_SEND, FI_RECV, FI_READ (destination of a read) or FI_WRITE
// (source of a write). Callers pass only the flags that they need, because memory that is only sent may be read-only.
// Returns 0, or an error of libfabric.
int gompi_local_mr_register(void *at, uint64_t bytes, uint64_t access, struct gompi_local_mr **l);
void gompi_local_mr_unregister(struct gompi_local_mr *l);
static inline void *gompi_local_mr_descriptor(const struct gompi_local_mr *l) {
	return l != NULL ? fi_mr_desc(l->mr) : NULL;
}

// Releases all registrations that still exist. The caller holds gompi_net.lock.
void gompi_registrations_free(void);

// Counters for tests and debugging.
struct gompi_net_counts {
	gompi_a64 frames_sent, frames_received, frames_dropped, credits_sent, transfers;
};
extern struct gompi_net_counts gompi_net_counts;

#pragma GCC visibility pop
#endif
