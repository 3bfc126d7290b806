/* Simulates a network for tests of transport/stream.h by a queue. Records that this process sends to peer 1 are
 * delivered to this process as if peer 1 had sent them, so this process plays both origin and target. All other code is
 * the library's. */
#ifndef LOOP_H
#define LOOP_H

#include "../unit.h"

#include "fabric/fabric.h"
#include "rma/z_calls.h"
#include "transport/stream.h"
#include "transport/transport.h"
#include "win/lock.h"

enum { PEER = 1, OTHER = 1, SIZE = 96 << 10 };

/* --- The simulated network */

struct record {
	struct record *next;
	size_t length;
	_Alignas(8) char data[];
};

static const struct gompi_port_handler *rma;
static pthread_mutex_t peer_mu = PTHREAD_MUTEX_INITIALIZER, queue_mu = PTHREAD_MUTEX_INITIALIZER;
static struct record *open_record, *queue, **queue_end = &queue;
static struct gompi_transfer *moves;
static atomic_flag progressing = ATOMIC_FLAG_INIT;
static gompi_a32 cut;         /* 1 if the peer has failed */
static bool extra_peers;      /* true if there are other peers than peer 1; records for them are dropped */
static bool hold_pending;     /* true if a record is delivered only after a flush of the network */
static size_t queued, pushed; /* number of records in the queue, and of those that may be delivered */
static size_t asked_for;      /* number of bytes reserved for the last record */
static gompi_a64 records;     /* number of records delivered so far */

atomic_bool gompi_fabric_open_flag = true;
void gompi_fabric_set_handler(enum gompi_port port, const struct gompi_port_handler *h) {
	if (port == FABRIC_RMA)
		rma = h;
}

char *gompi_fabric_reserve(int peer, enum gompi_port port, size_t length, enum gompi_fabric_wait wait, int *class) {
	CHECK((peer == PEER || extra_peers) && port == FABRIC_RMA && length <= GOMPI_MAX_RECORD_BYTES,
	      "peer %d, %zu bytes", peer, length);
	if (gompi_load(&cut)) {
		*class = MPI_ERR_PROC_ABORTED;
		return NULL;
	}
	pthread_mutex_lock(&peer_mu);
	open_record = malloc(sizeof *open_record + length);
	memset(open_record->data, 0xa5, length);
	open_record->length = asked_for = length;
	(void)wait;
	return open_record->data;
}

void gompi_fabric_flush(int peer) {
	(void)peer;
	pthread_mutex_lock(&queue_mu);
	pushed = queued;
	pthread_mutex_unlock(&queue_mu);
}

void gompi_fabric_commit(int peer, size_t length, enum gompi_urgency urgency) {
	struct record *r = open_record;
	struct gompi_packet *m = (struct gompi_packet *)(void *)r->data;
	CHECK(length <= r->length, "%zu bytes of %zu", length, r->length);
	r->length = length;
	r->next = NULL;
	if (m->origin == 0)
		m->origin = OTHER;
	if (peer != PEER) {
		free(r);
		pthread_mutex_unlock(&peer_mu);
		return;
	}
	pthread_mutex_lock(&queue_mu);
	*queue_end = r;
	queue_end = &r->next;
	queued++;
	pthread_mutex_unlock(&queue_mu);
	pthread_mutex_unlock(&peer_mu);
	if (urgency == FABRIC_NOW)
		gompi_fabric_flush(peer);
}

/* Stubs of capi/message, which is not linked. No request can be created, so request-based operations wait in the
 * call. */
struct gompi_messages;
struct gompi_request;
struct gompi_request_kind;
struct gompi_messages *_Atomic gompi_app_messages;
struct gompi_request *gompi_request_new(struct gompi_messages *m, uint64_t context,
					const struct gompi_request_kind *kind, uintptr_t object) {
	(void)m, (void)context, (void)kind, (void)object;
	return NULL;
}
void gompi_request_complete(struct gompi_request *r) { (void)r; }
void gompi_messages_use_services(bool on) { (void)on; }

int gompi_fabric_register(void *at, uint64_t bytes, bool writable, struct gompi_region *region) {
	(void)writable;
	*region = (struct gompi_region){1, (uint64_t)(uintptr_t)at};
	(void)bytes;
	return MPI_SUCCESS;
}
void gompi_fabric_unregister(const struct gompi_region *region) { (void)region; }

void gompi_fabric_transfer(struct gompi_transfer *t) {
	pthread_mutex_lock(&queue_mu);
	t->internal[0] = (uint64_t)(uintptr_t)moves;
	moves = t;
	pthread_mutex_unlock(&queue_mu);
}

bool gompi_fabric_use_rdma(uint64_t bytes) { return bytes >= 8 << 10; }

bool gompi_fabric_peer_failed(int peer) {
	(void)peer;
	return gompi_load(&cut) != 0;
}

/* Delivers one record, or executes one RDMA transfer if there is no record to deliver. Returns false if there was
 * neither a record nor a transfer. */
static bool step(void) {
	struct record *r = NULL;
	struct gompi_transfer *t = NULL;
	pthread_mutex_lock(&queue_mu);
	if (queue != NULL && (!hold_pending || pushed > 0)) {
		r = queue;
		queued--;
		pushed -= pushed > 0;
		queue = r->next;
		if (queue == NULL)
			queue_end = &queue;
	} else if ((t = moves) != NULL) {
		moves = (struct gompi_transfer *)(uintptr_t)t->internal[0];
	}
	pthread_mutex_unlock(&queue_mu);
	if (r != NULL) {
		char *copy = malloc(r->length); /* exactly as long as the record: the sanitizer checks reads */
		memcpy(copy, r->data, r->length);
		rma->on_record(PEER, copy, r->length);
		gompi_add(&records, 1);
		free(copy);
		free(r);
	} else if (t != NULL) {
		char *there = (char *)(uintptr_t)(t->region.address + t->offset);
		memcpy(t->is_write ? there : t->local, t->is_write ? t->local : there, t->bytes);
		t->done(t, MPI_SUCCESS);
	}
	return r != NULL || t != NULL;
}

bool gompi_fabric_progress(void) {
	if (gompi_flag_test_and_set(&progressing))
		return false;
	bool worked = step();
	gompi_flag_clear(&progressing);
	return worked;
}

static bool always(void) { return true; }
static void host_name_of(int peer, char *name, int size) { snprintf(name, (size_t)size, "host%d", peer); }

/* --- A window whose member 1 is on another node. This process plays both members */

static struct gompi_win *w;
static MPI_Win win;
static char *memory;
static uint32_t members = 2; /* number of members, 2 or 3; member 2 is on a third node, to which records are dropped */

static void fresh(bool registered, bool oversubscribed) {
	static const struct gompi_service service = {.has_work = always, .serve = gompi_fabric_progress};
	static uintptr_t handle = 0x5001;
	unit_node(1);
	gompi_go_callbacks.host_of = host_name_of;
	gompi_node.processes = unit_processes((int)members, (int32_t[]){0, 1, 2}, (int32_t[]){0, -1, -1});
	gompi_node.policy.is_oversubscribed = oversubscribed;
	gompi_service_add(&service);
	gompi_stream_open();
	memory = unit_memory(SIZE);
	struct gompi_member_plan member = {
		.base = (uintptr_t)memory, .address = (uintptr_t)memory, .size = SIZE, .disp_unit = 1, .direct = true};
	struct gompi_remote_plan remote[] = {{SIZE, 1, 0}, {SIZE, 1, PEER}, {SIZE, 1, PEER + 1}};
	struct gompi_region regions[] = {{0, 0}, {0, 0}, {0, 0}};
	if (registered)
		gompi_fabric_register(memory, SIZE, true, &regions[OTHER]);
	if (w != NULL)
		gompi_win_close(w->handle);
	struct gompi_win_plan plan = {.handle = handle++,
				      .shared = (uintptr_t)unit_memory(unit_control(1, 1)),
				      .flavor = MPI_WIN_FLAVOR_ALLOCATE,
				      .n = members,
				      .local_size = 1};
	CHECK(gompi_win_open(&plan, &member), "no window");
	gompi_win_set_members(plan.handle, 0, plan.n, remote);
	gompi_win_set_regions(plan.handle, 0, plan.n, regions);
	win = (MPI_Win)plan.handle;
	w = gompi_win_get(win);
	gompi_store(&cut, 0);
}

static void check_success(int line, int class, const char *call) {
	CHECK(class == MPI_SUCCESS, "line %d: class %d of %s", line, class, call);
}
#define CHECK_SUCCESS(call) check_success(__LINE__, call, #call)

#endif
