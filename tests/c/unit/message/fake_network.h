/* Simulates a network (fabric/fabric.h) between processes that this process simulates. Records are queued until a
 * process makes progress. The queue has limited space, except for answers. RDMA reads and writes between registered
 * regions also run at the next progress. The test defines network_sender, which returns the sender of a record, and
 * network_deliver, which passes the record to its receiver. */
#ifndef FAKE_NETWORK_H
#define FAKE_NETWORK_H

#include "fabric/fabric.h"
#include "../unit.h"

enum { NETWORK_PEERS = 4, NETWORK_QUEUE_BYTES = 256 << 10, NETWORK_REGIONS = 4096 };

static int network_sender(const char *record);
static void network_deliver(int to, int from, const char *record, size_t length);
static void network_space(int of, int peer);

struct network_record {
	struct network_record *next;
	size_t length;
	_Alignas(8) char data[];
};

static struct network_peer {
	pthread_mutex_t lock;
	struct network_record *first, *last, *reserved;
	size_t bytes;
	bool refused; /* true if a sender found no space and waits to be notified of free space */
} network[NETWORK_PEERS] = {{.lock = PTHREAD_MUTEX_INITIALIZER},
			    {.lock = PTHREAD_MUTEX_INITIALIZER},
			    {.lock = PTHREAD_MUTEX_INITIALIZER},
			    {.lock = PTHREAD_MUTEX_INITIALIZER}};
static pthread_mutex_t network_progress_lock = PTHREAD_MUTEX_INITIALIZER, network_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gompi_transfer *network_transfers;
static struct {
	char *at;
	uint64_t bytes, key;
} network_regions[NETWORK_REGIONS];
/* network_registered: number of regions that are registered now. network_transfer_count: number of RDMA transfers that
 * have been started. */
static int64_t network_registered, network_transfer_count;

atomic_bool gompi_fabric_open_flag = true;
bool gompi_fabric_has_rdma = true;
void gompi_fabric_set_handler(enum gompi_port port, const struct gompi_port_handler *h) { (void)port, (void)h; }

char *gompi_fabric_reserve(int peer, enum gompi_port port, size_t length, enum gompi_fabric_wait wait, int *class) {
	struct network_peer *p = &network[peer];
	CHECK(port == FABRIC_MESSAGES && length <= GOMPI_MAX_RECORD_BYTES && wait != FABRIC_WAIT,
	      "a record of %d bytes", (int)length);
	pthread_mutex_lock(&p->lock);
	if (wait == FABRIC_TRY && p->bytes + length > NETWORK_QUEUE_BYTES) {
		p->refused = true;
		pthread_mutex_unlock(&p->lock);
		*class = MPI_ERR_PENDING;
		return NULL;
	}
	p->reserved = malloc(sizeof *p->reserved + length);
	*p->reserved = (struct network_record){.length = length};
	return p->reserved->data;
}

void gompi_fabric_commit(int peer, size_t length, enum gompi_urgency urgency) {
	struct network_peer *p = &network[peer];
	struct network_record *r = p->reserved;
	(void)urgency;
	CHECK(length <= r->length, "%d bytes of %d", (int)length, (int)r->length);
	r->length = length;
	p->bytes += length;
	*(p->first == NULL ? &p->first : &p->last->next) = r;
	p->last = r;
	pthread_mutex_unlock(&p->lock);
}

void gompi_fabric_flush(int peer) { (void)peer; }
bool gompi_fabric_peer_failed(int peer) { return (void)peer, false; }

int gompi_fabric_register(void *at, uint64_t bytes, bool writable, struct gompi_region *region) {
	(void)writable;
	static uint64_t key;
	pthread_mutex_lock(&network_lock);
	int i = 0;
	while (i < NETWORK_REGIONS && network_regions[i].key != 0)
		i++;
	if (i < NETWORK_REGIONS) {
		network_regions[i].at = at;
		network_regions[i].bytes = bytes;
		network_regions[i].key = ++key;
		*region = (struct gompi_region){.key = key, .address = (uint64_t)(uintptr_t)at};
		network_registered++;
	}
	pthread_mutex_unlock(&network_lock);
	return i < NETWORK_REGIONS ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int region_of(const struct gompi_region *region) {
	int i = 0;
	while (i < NETWORK_REGIONS && network_regions[i].key != region->key)
		i++;
	return region->key != 0 ? i : NETWORK_REGIONS;
}

void gompi_fabric_unregister(const struct gompi_region *region) {
	pthread_mutex_lock(&network_lock);
	int i = region_of(region);
	CHECK(i < NETWORK_REGIONS, "an unknown region");
	if (i < NETWORK_REGIONS)
		network_regions[i].key = 0;
	network_registered--;
	pthread_mutex_unlock(&network_lock);
}

void gompi_fabric_transfer(struct gompi_transfer *t) {
	pthread_mutex_lock(&network_lock);
	t->internal[0] = (uint64_t)(uintptr_t)network_transfers;
	network_transfers = t;
	network_transfer_count++;
	pthread_mutex_unlock(&network_lock);
}

/* Executes one RDMA transfer. Returns false if no transfer is pending. */
static bool network_transfer(void) {
	pthread_mutex_lock(&network_lock);
	struct gompi_transfer *t = network_transfers;
	int class = MPI_ERR_OTHER;
	if (t != NULL) {
		network_transfers = (struct gompi_transfer *)(uintptr_t)t->internal[0];
		int i = region_of(&t->region);
		if (i < NETWORK_REGIONS && t->region.address == (uint64_t)(uintptr_t)network_regions[i].at &&
		    t->offset <= network_regions[i].bytes && t->bytes <= network_regions[i].bytes - t->offset) {
			char *there = network_regions[i].at + t->offset;
			memcpy(t->is_write ? there : t->local, t->is_write ? t->local : there, t->bytes);
			class = MPI_SUCCESS;
		}
	}
	pthread_mutex_unlock(&network_lock);
	if (t != NULL)
		t->done(t, class);
	return t != NULL;
}

bool gompi_fabric_progress(void) {
	bool worked = false;
	if (pthread_mutex_trylock(&network_progress_lock) != 0)
		return false;
	for (int i = 0; i < NETWORK_PEERS; i++) {
		struct network_peer *p = &network[i];
		pthread_mutex_lock(&p->lock);
		struct network_record *r = p->first;
		if (r != NULL) {
			p->first = r->next;
			p->bytes -= r->length;
		}
		bool notify = p->refused && p->bytes < NETWORK_QUEUE_BYTES / 2;
		p->refused = p->refused && !notify;
		pthread_mutex_unlock(&p->lock);
		if (r != NULL) { /* delivers a copy of exactly the same length: the sanitizer checks reads */
			char *copy = malloc(r->length);
			memcpy(copy, r->data, r->length);
			network_deliver(i, network_sender(r->data), copy, r->length);
			free(copy), free(r);
			worked = true;
		}
		for (int k = 0; notify && k < NETWORK_PEERS; k++)
			if (k != i)
				network_space(k, i);
	}
	worked = network_transfer() || worked;
	pthread_mutex_unlock(&network_progress_lock);
	return worked;
}

#endif
