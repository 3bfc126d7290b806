#include "transport/bounce.h"

#include "base/abi.h"
#include "base/mutex.h"
#include "transport/ongoing.h"
#include "transport/ring.h"

// Set in the name of a bounce buffer: no user-space address has this bit.
#define IN_BOUNCE ((uint64_t)1 << 63)

_Static_assert(GOMPI_RING_SIZE + (size_t)GOMPI_BOUNCES * sizeof(struct gompi_bounce) <= 576 << 10,
	       "core/shm's OperationRingSize");

static struct gompi_bounce *bounces_of(int process) {
	return (struct gompi_bounce *)(gompi_node.operation_rings + (size_t)process * gompi_node.operation_stride +
				       GOMPI_RING_SIZE);
}

// The state of this process' buffers, which are used in the order of a ring.
static struct {
	struct gompi_mutex mutex;
	gompi_a64 first, next; // in use: numbers [first, next); the index is number % GOMPI_BOUNCES
	int late;              // class of an error that has not been returned
	struct use {
		enum { USE_FREE, USE_TAKEN, USE_SENT, USE_DONE } is;
		int peer;
		uint64_t number, bytes;
		void *to;
		struct gompi_ongoing *ongoing;
	} use[GOMPI_BOUNCES];
} mine;

void gompi_bounce_open(void) { memset(&mine, 0, sizeof mine); }

static struct use *use_at(uint64_t i) { return &mine.use[i % GOMPI_BOUNCES]; }

static void end_use(struct use *u) {
	struct gompi_bounce *b = &bounces_of(gompi_node.me)[u - mine.use];
	struct gompi_reason refused = b->refused;
	bool fine = __builtin_expect(refused.class == MPI_SUCCESS, 1);
	if (fine && u->to != NULL)
		gompi_copy_in(u->to, b->data, u->bytes);
	if (u->ongoing != NULL) {
		gompi_ongoing_part_over(u->ongoing, fine ? NULL : &refused);
	} else if (!fine) {
		gompi_reason_keep(&refused);
		mine.late = refused.class;
	}
	u->is = USE_DONE;
}

// Ends the uses that have been acknowledged. The caller holds the mutex.
static void collect(void) {
	uint64_t first = gompi_load(&mine.first), next = gompi_load(&mine.next);
	for (uint64_t i = first; i != next; i++) {
		struct use *u = use_at(i);
		// Acquire: the target's stores to the buffer are visible; pairs with the release in apply_all (ring.c).
		if (u->is == USE_SENT &&
		    (int64_t)(gompi_load_acquire(&gompi_my_cell()->acks[gompi_on_node(u->peer)]) - u->number) >= 0)
			end_use(u);
		if (i == first && u->is == USE_DONE) {
			u->is = USE_FREE;
			first++;
		}
	}
	gompi_store(&mine.first, first);
}

int gompi_bounce_take(int *peer, uint64_t *number) {
	gompi_mutex_take(&mine.mutex);
	uint64_t next = gompi_load(&mine.next);
	if (next - gompi_load(&mine.first) == GOMPI_BOUNCES)
		collect();
	struct use *u = use_at(gompi_load(&mine.first));
	*peer = u->is == USE_SENT ? u->peer : -1;
	*number = u->number;
	int buffer = -1;
	if (next - gompi_load(&mine.first) < GOMPI_BOUNCES) {
		buffer = (int)(next % GOMPI_BOUNCES);
		mine.use[buffer] = (struct use){.is = USE_TAKEN};
		bounces_of(gompi_node.me)[buffer].refused.class = MPI_SUCCESS;
		gompi_store(&mine.next, next + 1);
	}
	gompi_mutex_give(&mine.mutex);
	return buffer;
}

char *gompi_bounce_data(int buffer) { return bounces_of(gompi_node.me)[buffer].data; }

void *gompi_bounce_address(int buffer) { return (void *)(uintptr_t)(IN_BOUNCE | (uint64_t)buffer); }

static void set_use(int buffer, struct use use) {
	gompi_mutex_take(&mine.mutex);
	mine.use[buffer] = use;
	gompi_mutex_give(&mine.mutex);
}

void gompi_bounce_sent(int buffer, int peer, uint64_t number, void *to, uint64_t bytes, struct gompi_ongoing *ongoing) {
	set_use(buffer,
		(struct use){
			.is = USE_SENT, .peer = peer, .number = number, .to = to, .bytes = bytes, .ongoing = ongoing});
}

void gompi_bounce_drop(int buffer) { set_use(buffer, (struct use){.is = USE_DONE}); }

bool gompi_bounce_due(int peer, uint64_t *number) {
	uint64_t i = gompi_load(&mine.first);
	if (i == gompi_load(&mine.next))
		return false;
	gompi_mutex_take(&mine.mutex);
	const struct use *u = NULL;
	for (i = gompi_load(&mine.first); u == NULL && i != gompi_load(&mine.next); i++)
		if (use_at(i)->is == USE_SENT && use_at(i)->peer == peer && use_at(i)->to != NULL)
			u = use_at(i);
	if (u != NULL)
		*number = u->number;
	gompi_mutex_give(&mine.mutex);
	return u != NULL;
}

void gompi_bounce_look(void) {
	if (gompi_load(&mine.first) == gompi_load(&mine.next))
		return;
	gompi_mutex_take(&mine.mutex);
	collect();
	gompi_mutex_give(&mine.mutex);
}

int gompi_bounce_collect(void) {
	if (gompi_load(&mine.first) == gompi_load(&mine.next))
		return MPI_SUCCESS;
	gompi_mutex_take(&mine.mutex);
	collect();
	int class = mine.late;
	mine.late = MPI_SUCCESS;
	gompi_mutex_give(&mine.mutex);
	return class;
}

// Returns the buffer that a packet of peer names, or NULL if the name is invalid.
static struct gompi_bounce *named(int peer, uint64_t address) {
	int process = gompi_on_node(peer);
	uint64_t buffer = address & ~IN_BOUNCE;
	return process >= 0 && (address & IN_BOUNCE) && buffer < GOMPI_BOUNCES ? &bounces_of(process)[buffer] : NULL;
}

bool gompi_bounce_move(int peer, uint64_t address, void *local, uint64_t bytes, bool write) {
	struct gompi_bounce *b = named(peer, address);
	if (b == NULL || bytes > GOMPI_BOUNCE_DATA)
		return false;
	gompi_copy_between(write ? b->data : local, write ? local : b->data, bytes);
	return true;
}

void gompi_bounce_refuse(int peer, uint64_t address, int class) {
	struct gompi_bounce *b = named(peer, address);
	if (b != NULL)
		b->refused = gompi_reason_take(class);
}
