/* Proves: whatever records arrive for a group of node leaders (message/leaders.c), each call on the group returns and
 * writes only its result. Records from a process whose record the call does not expect change nothing. A collective
 * over nodes (coll/hierarchy.c) returns its result or an error at all members of this node. The test acts as the other
 * members. Before or during each call it delivers corrupted copies of the records that the call waits for, and then the
 * correct records. The call may accept a corrupted copy. */
#include "../fuzz.h"
#include "../leaders_only.h"

#include "coll/protocol.h"
#include "coll/hierarchy.h"

enum {
	RECORDS = UNIT_REPEATS(90000),
	PART = 10000,
	MAX_MEMBERS = 9,
	FIRST_PEER = 100,
	PROCESSES = 200,
	AHEAD = 32, /* a corrupted record affects at most this number of calls */
	MAX_UNSYNCED_CALLS = 16,
	CANARY = 0x5a,
	GUARD_BYTES = 64
};
enum { HANDED, STRANGE, CALLED, RIGHT, DIFFERED, REFUSED, SENT, LATE }; /* indices of fuzz_count */

/* --- The simulated network */

static struct gompi_messages *messages;
static struct leader_record *open_record;

char *gompi_fabric_reserve(int peer, enum gompi_port port, size_t length, enum gompi_fabric_wait wait, int *class) {
	if (wait != FABRIC_WAIT) { /* an answer to a corrupted record */
		*class = MPI_ERR_PROC_ABORTED;
		return NULL;
	}
	CHECK(port == FABRIC_MESSAGES && length >= sizeof *open_record &&
		      length <= sizeof *open_record + GOMPI_LEADERS_MAX_BYTES,
	      "a record of %zu bytes", length);
	return (char *)(open_record = malloc(length)); /* exactly `length` bytes, so that the sanitizer checks writes */
}

/* The expected values of the records that the current call sends. */
static struct leader_record said;

void gompi_fabric_commit(int peer, size_t length, enum gompi_urgency urgency) {
	struct leader_record *r = open_record;
	volatile char sum = 0;
	for (size_t i = 0; i < length; i++)
		if (i < offsetof(struct leader_record, gap) || i >= offsetof(struct leader_record, message))
			sum = (char)(sum + ((char *)r)[i]); /* reads every byte of the record except the gap */
	CHECK(r->record.context == said.record.context && (size_t)gompi_record_length(r->record.word) == length &&
		      r->record.size == length - RECORD_LINE && r->message.generation - said.message.generation < 2,
	      "call %u sends as number %u", said.message.generation, r->message.generation);
	/* A barrier, which may precede the call, has no signature. */
	CHECK(r->message.kind != LEADERS_BLOCKS || r->message.call.signature == 0 ||
		      (r->message.call.signature == said.message.call.signature &&
		       r->message.call.format == said.message.call.format &&
		       r->message.call.bytes == said.message.call.bytes),
	      "what is said: %#llx, %#llx, %u", (unsigned long long)r->message.call.signature,
	      (unsigned long long)r->message.call.format, r->message.call.bytes);
	fuzz_count[SENT]++;
	free(r);
}

/* Records that arrive during the next call: one in each progress of the network. */
static struct late_record {
	struct late_record *next;
	int peer;
	size_t length;
	char *data;
} * late, **last_late = &late;
static pthread_mutex_t late_mu = PTHREAD_MUTEX_INITIALIZER;

static gompi_a32 late_count;
static bool late_ready(void) { return gompi_load(&late_count) != 0; }

bool gompi_fabric_progress(void) {
	pthread_mutex_lock(&late_mu);
	struct late_record *r = late;
	if (r != NULL) {
		late = r->next;
		if (late == NULL)
			last_late = &late;
		gompi_sub(&late_count, 1);
		gompi_remote_handle_record(messages, r->peer, r->data, r->length);
		free(r->data), free(r);
	}
	pthread_mutex_unlock(&late_mu);
	return r != NULL;
}

/* --- Records from the other members */

static int n, me, rounds, unsynced_calls;
static bool all_open; /* true if all members know that all members have opened the group */
static int32_t peers[MAX_MEMBERS];
static uint32_t generation;      /* number of the last call in the group */
static uint32_t uncertain_until; /* calls up to this generation may have accepted a corrupted record */
static bool corrupts;

static void deliver_record(int peer, const struct leader_record *r, size_t length) {
	char *copy = malloc(length); /* exactly as long as the record, so that the sanitizer checks reads */
	memcpy(copy, r, length);
	fuzz_count[HANDED]++;
	if (late_ready() || draw(8) == 0) {
		struct late_record *l = malloc(sizeof *l);
		*l = (struct late_record){.peer = peer, .length = length, .data = copy};
		*last_late = l;
		last_late = &l->next;
		gompi_add(&late_count, 1);
		fuzz_count[LATE]++;
		return;
	}
	gompi_remote_handle_record(messages, peer, copy, length);
	free(copy);
}

/* Delivers a corrupted copy of a record, from the member whose record the call expects or from another process. */
static void deliver_corrupted(int peer, const struct leader_record *r, size_t length) {
	size_t size = length;
	if (draw(4) == 0) /* makes the copy shorter or longer */
		size = draw(2) ? draw(length + 1) : length + (draw(8) ? 0 : GOMPI_LEADERS_MAX_BYTES - 64) + draw(100);
	struct leader_record *c = calloc(1, size + sizeof *c);
	memcpy(c, r, size < length ? size : length);
	if (size > RECORD_LINE && draw(8) != 0) {
		c->record.word = gompi_record_word(RECORD_EAGER, (unsigned)draw(2) * RECORD_IF_OPEN, (int64_t)size);
		c->record.size = size - RECORD_LINE;
	}
	for (uint64_t k = draw(3); k > 0; k--) {
		uint64_t word = any_number();
		switch (draw(12)) {
		case 0:
			c->record.context = draw(2) ? c->record.context + (draw(5) << 4) : word;
			break;
		case 1:
			c->message.generation = (uint32_t)(draw(2) ? c->message.generation + draw(20) - 10 : word);
			break;
		case 2:
			c->record.source = (int32_t)(draw(2) ? draw(MAX_MEMBERS) : word);
			break;
		case 3:
			c->message.kind = (uint32_t)(draw(2) ? draw(LEADERS_OTHER_CALL + 2) : word);
			break;
		case 4:
			c->message.call.signature =
				draw(2) ? gompi_signature_word((int)draw(20), (int)draw(MAX_MEMBERS), draw(100)) : word;
			break;
		case 5:
			c->message.call.signature =
				draw(2) ? (0xf0 + draw(3)) << 56 : c->message.call.signature ^ 1ull << draw(64);
			break;
		case 6:
			c->message.call.format = draw(2) ? gompi_format_word(draw(4000), draw(9)) : word;
			break;
		case 7:
			c->message.call.bytes = (uint32_t)(draw(2) ? c->message.call.bytes + draw(17) - 8 : word);
			break;
		case 8:
			c->message.call.rank = (int32_t)(draw(2) ? draw(2 * MAX_MEMBERS) - MAX_MEMBERS : word);
			break;
		case 9:
			c->record.word = draw(2) ? gompi_record_word((enum gompi_record_kind)draw(RECORD_KIND_COUNT),
								     (unsigned)draw(256), (int64_t)size)
						 : word;
			break;
		default:
			change_bytes((char *)c, size);
		}
	}
	bool due = draw(2);
	if (due) {
		uncertain_until = generation + 1 + AHEAD;
	} else {
		peer = draw(2) ? (int)draw(PROCESSES + 40) - 20 : peers[draw((uint64_t)n)];
		/* If some round of the call expects a record of this peer, the call may accept the corrupted copy. */
		for (int k = 0, d = 1; k < rounds; k++, d *= 2)
			if (peer == peers[(me + n - d) % n])
				uncertain_until = generation + 1 + AHEAD;
		fuzz_count[STRANGE]++;
	}
	deliver_record(peer, c, size);
	free(c);
}

/* Delivers the record that the given round of a call expects. The call is the next one if `behind` is 0, and the call
 * after that if it is 1. */
static void deliver_expected(int round, int behind, int kind, const void *data, size_t length) {
	struct leader_record *r = malloc(sizeof *r + length);
	const int rank = (me + n - (1 << round)) % n, peer = peers[rank];
	*r = said;
	r->record.word = gompi_record_word(RECORD_EAGER, 0, (int64_t)(sizeof *r + length));
	r->record.size = sizeof r->message + length;
	r->record.source = rank;
	r->message.generation = generation + 1 + (uint32_t)behind;
	r->message.kind = (uint32_t)kind, r->message.call.rank = rank;
	if (length > 0)
		memcpy(r->message.data, data, length);
	for (uint64_t k = corrupts ? draw(3) : 0; k > 0; k--)
		deliver_corrupted(peer, r, sizeof *r + length);
	deliver_record(peer, r, sizeof *r + length);
	for (uint64_t k = corrupts ? draw(2) : 0; k > 0; k--) /* delivers a corrupted duplicate */
		deliver_corrupted(peer, r, sizeof *r + length);
	free(r);
}

static void deliver_barrier(void) {
	const struct gompi_leaders_call_info call = said.message.call;
	said.message.call = (struct gompi_leaders_call_info){0};
	for (int round = 0; round < rounds; round++)
		deliver_expected(round, 0, LEADERS_BLOCKS, NULL, 0);
	said.message.call = call;
	all_open = true;
}

/* Prepares a call that does not synchronize all members. After MAX_UNSYNCED_CALLS such calls the members synchronize
 * first. The function then delivers the records of this synchronization. */
static void deliver_unsynced(void) {
	if (++unsynced_calls <= MAX_UNSYNCED_CALLS)
		return;
	deliver_barrier();
	generation++;
	unsynced_calls = 1;
}

enum { ALL = LEADERS_ALLGATHER, EACH = LEADERS_ALLTOALL, TO_ROOT = LEADERS_GATHER };

/* Delivers the records of a gather. `all` is the data of all members: each has one block of `bytes` bytes, or one block
 * for each member. If `waits` is true and there are two members, the non-root waits for a record of the root. */
static void deliver_gather(int flow, int root, bool waits, const char *all, uint32_t bytes) {
	if (flow == TO_ROOT && n == 2 && all_open) {
		deliver_unsynced();
		if (me == root || waits)
			deliver_expected(0, 0, LEADERS_BLOCKS, all + (size_t)(1 - me) * bytes, me == root ? bytes : 0);
		return;
	}
	unsynced_calls = 0, all_open = true;
	for (int round = 0, d = 1; round < rounds; round++, d *= 2) {
		int from = (me + n - d) % n, left = (root - from + n) % n, k = 0;
		char *packed = malloc((size_t)n * bytes + 1);
		for (int i = 0; i < n; i++) {
			/* ALL: the block's owner is i members before the sender. EACH (Bruck's algorithm): the block's
			 * target is i members after its owner. */
			bool goes = flow == ALL ? i < d && i < n - d : (i & d) != 0;
			int block = (from - i + n) % n;
			if (flow == TO_ROOT)
				goes = left % (2 * d) == d && i < d && i < n - left;
			if (flow == EACH) {
				int owner = (from - i % d + n) % n;
				block = owner * n + (owner + i) % n;
			}
			if (goes)
				memcpy(packed + (size_t)k++ * bytes, all + (size_t)block * bytes, bytes);
		}
		deliver_expected(round, 0, LEADERS_BLOCKS, packed, (size_t)k * bytes);
		free(packed);
	}
}

/* Delivers the records of a broadcast, and of the synchronization that may precede the broadcast. */
static void deliver_bcast(int root, const void *data, uint32_t bytes) {
	int place = (me + n - root) % n, round = 0;
	deliver_unsynced();
	while (round < rounds && (place >> round & 1) == 0)
		round++;
	if (place != 0)
		deliver_expected(round, 0, LEADERS_BCAST, data, bytes);
}

static void begin_leaders(uint64_t id, int members, int which) {
	n = members, me = which, rounds = 0, unsynced_calls = 0, generation = 0, all_open = false;
	uncertain_until = AHEAD; /* corrupted records of this group may have arrived before */
	while (1 << rounds < n)
		rounds++;
	for (int i = 0; i < n; i++)
		peers[i] = FIRST_PEER + i;
	said = (struct leader_record){.record = {.context = id}};
	said.record.valid_flag = (uint64_t)(gompi_vci_of(messages, id) - messages->vci);
}

static bool is_certain(void) { return uncertain_until < generation || uncertain_until - generation > 1000; }

static unsigned turn; /* number of calls so far */
static char content(int member, uint64_t i) { return (char)((uint64_t)member * 41 + turn * 7 + i); }

/* --- Calls on groups */

static const struct gompi_wait_desc what = {.call = "a test", .peer = -1, .object = 0};

struct test_input {
	const char *from; /* this member's block for all members, or its blocks, one for each member */
	size_t bytes;
	bool each;
};

static void fill_block(void *arg, int to, uint64_t segment, char *at) {
	const struct test_input *b = arg;
	memcpy(at, b->from + (b->each ? (size_t)to * b->bytes : 0), b->bytes);
}

static void one_gather(struct gompi_leaders *m) {
	const int flow = (int)draw(3), root = (int)draw((uint64_t)n);
	const uint64_t most = GOMPI_LEADERS_MAX_BYTES / (n < 4 ? 1 : (uint64_t)n / 2);
	uint32_t bytes = (uint32_t)(draw(2) ? draw(40) : draw(most + 1));
	size_t blocks = (size_t)n * (flow == EACH ? (size_t)n : 1), first = (size_t)me * (flow == EACH ? (size_t)n : 1);
	char *full = malloc(blocks * bytes + 1), *mine = malloc(blocks / (size_t)n * bytes + 1);
	const char *received[MAX_MEMBERS];
	struct gompi_leaders_call words = {7, draw(9), me}, other = {8, 8, 5};
	for (size_t i = 0; i < blocks * bytes; i++)
		full[i] = content((int)(i / bytes), i % bytes);
	memcpy(mine, full + first * bytes, blocks / (size_t)n * bytes);
	struct test_input b = {mine, bytes, flow == EACH};
	bool differs = draw(8) == 0, verdict = draw(2), gets = flow != TO_ROOT || me == root;
	struct gompi_leaders_blocks all = {.flow = (enum gompi_leaders_flow)flow,
					   .root = root,
					   .wait_for_root = verdict,
					   .block_bytes = bytes,
					   .fill = fill_block,
					   .arg = &b,
					   .received = received};
	for (int i = 0; i < n; i++)
		received[i] = mine;
	said.message.call.signature = words.signature, said.message.call.format = words.format,
	said.message.call.bytes = bytes;
	said.message.generation = generation + 1; /* deliver_unsynced may increase the number by one more */
	deliver_gather(flow, root, verdict || differs, full, bytes);
	++generation;
	const struct gompi_leaders_call *say = differs ? &other : NULL;
	int rc = gompi_leaders_exchange(m, &words, say, &all, &what);
	CHECK(rc == 0 || rc == GOMPI_LEADERS_MISMATCH, "a gather returns %d", rc);
	CHECK(received[me] == mine, "a gather has written what is this member's");
	for (int i = 0; rc == 0 && gets && i < n; i++) {
		volatile char sum = 0;
		for (uint32_t k = 0; k < bytes; k++)
			sum = (char)(sum + received[i][k]); /* reads every byte, so that the sanitizer checks it */
		size_t block = flow == EACH ? (size_t)i * (size_t)n + (size_t)me : (size_t)i;
		if (is_certain() && i != me)
			CHECK(memcmp(received[i], full + block * bytes, bytes) == 0,
			      "a gather has received other data");
	}
	if (is_certain()) {
		CHECK(rc == (differs ? GOMPI_LEADERS_MISMATCH : 0), "nothing is wrong, and a gather returns %d", rc);
		fuzz_count[RIGHT]++;
	}
	fuzz_count[DIFFERED] += rc != 0;
	free(mine), free(full);
}

static void one_bcast(struct gompi_leaders *m) {
	int root = (int)draw((uint64_t)n);
	uint32_t bytes = (uint32_t)(draw(2) ? draw(40) : draw(GOMPI_LEADERS_MAX_BYTES + 1)),
		 received_bytes = root == me ? bytes : 12345;
	char *full = malloc(bytes + 1);
	struct gompi_leaders_call words = {9, draw(9), me};
	for (size_t i = 0; i < bytes; i++)
		full[i] = content(root, i);
	const void *data = full;
	said.message.call.signature = words.signature, said.message.call.format = words.format,
	said.message.call.bytes = bytes;
	said.message.generation = generation + 1; /* deliver_unsynced may increase the number by one more */
	deliver_bcast(root, full, bytes);
	generation++;
	int rc = gompi_leaders_bcast(m, root, &words, &data, &received_bytes, &what);
	CHECK(rc == 0 && received_bytes <= GOMPI_LEADERS_MAX_BYTES, "a broadcast returns %d, %u bytes", rc,
	      received_bytes);
	char *seen = malloc(received_bytes + 1);
	memcpy(seen, data, received_bytes);
	if (is_certain()) {
		CHECK(received_bytes == bytes && memcmp(data, full, bytes) == 0, "a broadcast has received other data");
		fuzz_count[RIGHT]++;
	}
	/* Records that arrive after the call must not change the result that it has returned. */
	for (int k = 0; corrupts && k < 3; k++) {
		struct leader_record r = said;
		const int rank = (me + n - (1 << draw(4)) % n) % n;
		r.record.word = gompi_record_word(RECORD_EAGER, 0, sizeof r);
		r.record.source = rank, r.record.size = sizeof r.message;
		r.message.generation = generation + (uint32_t)draw(2) * AHEAD, r.message.kind = LEADERS_BCAST;
		deliver_corrupted(peers[rank], &r, sizeof r);
		while (gompi_fabric_progress()) {
		}
	}
	CHECK(memcmp(seen, data, received_bytes) == 0, "the data of a broadcast has changed");
	free(seen), free(full);
}

static void groups(uint64_t id) {
	int members = 1 + (int)draw(MAX_MEMBERS);
	begin_leaders(id << 4 | 1, members, (int)draw((uint64_t)members));
	struct gompi_leaders *m = gompi_leaders_open(messages, said.record.context, n, me, peers);
	for (int call = 0; call < 180 && check_errors == 0; call++) {
		/* Calls 60 to 119 get no corrupted records, so that the effect of earlier corrupted records ends. */
		corrupts = call / 60 != 1;
		fuzz_count[CALLED]++;
		turn++;
		switch (draw(3)) {
		case 0: {
			deliver_barrier();
			said.message.generation = ++generation;
			unsynced_calls = 0;
			int rc = gompi_leaders_barrier(m, &what);
			CHECK(rc == 0, "a barrier returns %d", rc);
			break;
		}
		case 1:
			one_gather(m);
			break;
		default:
			one_bcast(m);
		}
	}
	gompi_leaders_close(m);
}

/* --- Collectives. This node has one or two members; a thread simulates the second member */

static struct gompi_hierarchy *views[2];
static int here, members, node_of[2 * MAX_MEMBERS], rank_at[2];
static struct gompi_coll_call calls[2];
static int outcomes[2];
static pthread_barrier_t begin, over;
static bool all_done;

static void *second(void *arg) {
	for (;;) {
		pthread_barrier_wait(&begin);
		if (all_done)
			return arg;
		outcomes[1] = gompi_hierarchy_run(views[1], &calls[1]);
		pthread_barrier_wait(&over);
	}
}

static void exclusive_or(const void *in, void *inout, size_t count) {
	for (size_t i = 0; i < count; i++)
		((char *)inout)[i] ^= ((const char *)in)[i];
}

/* Fills in the call, and the input, of member number `place` on this node. */
static void make_call(int place, int kind, int root, uint64_t bytes, char *in, char *out) {
	int rank = rank_at[place];
	uint64_t all = kind == GOMPI_ALLTOALL ? bytes * (uint64_t)members : bytes;
	calls[place] = (struct gompi_coll_call){.kind = kind,
						.root = root,
						.name = "test",
						.bytes = bytes,
						.in = in,
						.out = out,
						.ins = {in, bytes, NULL},
						.outs = {out, bytes, NULL},
						.reduction = {.size = 1, .kernel = exclusive_or}};
	for (uint64_t i = 0; i < all; i++)
		in[i] = content(rank, i);
	if (kind == GOMPI_BCAST && rank == root)
		memcpy(out, in, bytes);
}

/* Returns the data that the leaders of all nodes exchange in a call: one block from each leader, or one block for each
 * pair of leaders. Sets *each to the size of a block. Sets *little to true if the call is so short that the leaders'
 * records contain the data. Sets `said` to the expected values of the records. */
static char *all_rows(int kind, int root, uint64_t bytes, uint64_t *each, bool *little) {
	bool reduces = kind == GOMPI_REDUCE || kind == GOMPI_ALLREDUCE;
	uint64_t longest = kind == GOMPI_ALLTOALL ? bytes * (uint64_t)members : bytes,
		 most = views[0]->max_ranks_per_node;
	bool pairs = kind == GOMPI_ALLTOALL && most == 1;
	uint64_t row = pairs ? bytes : longest, stride = reduces ? bytes : (8 + row + 7) / 8 * 8;
	*little = most == 1; /* true: the leaders' records contain the data */
	if (most > 1)
		*little = reduces ? bytes <= gompi_min_u64(GOMPI_SHM_SMALL_BYTES, (48 << 10) / (uint64_t)n)
				  : (uint64_t)members * stride <= GOMPI_SHM_SMALL_BYTES &&
					    (uint64_t)n * most * stride <= 2 * GOMPI_SHM_SMALL_BYTES;
	said.message.call.signature = gompi_signature_word(kind, root, reduces ? bytes : 0);
	said.message.call.format = gompi_format_word(longest, 1);
	*each = *little ? reduces ? bytes : most * stride : 0;
	said.message.call.bytes = (uint32_t)*each;
	uint64_t blocks = pairs ? (uint64_t)n : 1;
	char *all = calloc(1, (uint64_t)n * blocks * *each + 1);
	uint64_t next[MAX_MEMBERS] = {0};
	for (int rank = 0; *little && rank < members; rank++) {
		char *contribution = all + (uint64_t)node_of[rank] * blocks * *each;
		if (reduces) {
			for (uint64_t i = 0; i < bytes; i++)
				contribution[i] ^= content(rank, i);
			continue;
		}
		for (uint64_t to = 0; to < blocks; to++) {
			char *at = pairs ? contribution + to * *each : contribution + next[node_of[rank]]++ * stride;
			memcpy(at, &bytes, sizeof bytes);
			for (uint64_t i = 0; i < row; i++)
				at[8 + i] = content(rank, to * bytes + i);
		}
	}
	return all;
}

/* Returns true if `out` is the right result of member number `place` on this node. */
static bool is_right(int place, int kind, int root, uint64_t bytes, const char *out) {
	int rank = rank_at[place];
	bool gets = (kind != GOMPI_REDUCE && kind != GOMPI_GATHER) || rank == root;
	for (uint64_t i = 0; gets && i < bytes; i++) {
		int last = kind == GOMPI_SCAN ? rank + 1 : kind == GOMPI_EXSCAN ? rank : members;
		char sum = 0;
		switch (kind) {
		case GOMPI_BCAST:
			if (out[i] != content(root, i))
				return false;
			break;
		case GOMPI_REDUCE:
		case GOMPI_ALLREDUCE:
		case GOMPI_SCAN:
		case GOMPI_EXSCAN:
			for (int r = 0; r < last; r++)
				sum = (char)(sum ^ content(r, i));
			if (last > 0 && out[i] != sum)
				return false;
			break;
		case GOMPI_GATHER:
		case GOMPI_ALLGATHER:
		case GOMPI_ALLTOALL:
			for (int r = 0; r < members; r++) {
				uint64_t from = kind == GOMPI_ALLTOALL ? (uint64_t)rank * bytes : 0;
				if (out[(uint64_t)r * bytes + i] != content(r, from + i))
					return false;
			}
		}
	}
	return true;
}

static void one_collective(void) {
	static const int kinds[] = {GOMPI_BARRIER, GOMPI_BCAST,     GOMPI_BCAST,    GOMPI_REDUCE, GOMPI_ALLREDUCE,
				    GOMPI_GATHER,  GOMPI_ALLGATHER, GOMPI_ALLTOALL, GOMPI_SCAN,   GOMPI_EXSCAN};
	int kind = kinds[draw(sizeof kinds / sizeof *kinds)];
	bool rooted = kind == GOMPI_BCAST || kind == GOMPI_REDUCE || kind == GOMPI_GATHER;
	int root = rooted ? (int)draw((uint64_t)members) : 0;
	uint64_t bytes = kind == GOMPI_BARRIER ? 0 : draw(3) ? draw(64) : draw(4000);
	uint64_t size = bytes * (uint64_t)members, each;
	char *in[2], *out[2];
	for (int i = 0; i < here; i++) {
		in[i] = malloc(size + 1);
		out[i] = malloc(size + GUARD_BYTES);
		memset(out[i], CANARY, size + GUARD_BYTES);
		make_call(i, kind, root, bytes, in[i], out[i]);
	}
	said.message.generation = generation + 1; /* deliver_unsynced may increase the number by one more */
	if (kind == GOMPI_BARRIER) {
		deliver_barrier();
		unsynced_calls = 0;
	} else if (kind == GOMPI_BCAST) {
		uint32_t comes =
			views[0]->max_ranks_per_node == 1 || bytes <= GOMPI_SHM_SMALL_BYTES ? (uint32_t)bytes : 0;
		char data[GOMPI_LEADERS_MAX_BYTES];
		for (uint64_t i = 0; i < comes; i++)
			data[i] = content(root, i);
		said.message.call.signature = gompi_signature_word(GOMPI_BCAST, root, bytes),
		said.message.call.format = gompi_format_word(bytes, 1), said.message.call.bytes = comes;
		deliver_bcast(node_of[root], data, comes);
	} else {
		bool little, rooted = kind == GOMPI_REDUCE || kind == GOMPI_GATHER;
		char *all = all_rows(kind, root, bytes, &each, &little);
		deliver_gather(rooted                                                        ? TO_ROOT
			       : kind == GOMPI_ALLTOALL && views[0]->max_ranks_per_node == 1 ? EACH
											     : ALL,
			       node_of[root], !little, all, (uint32_t)each);
		free(all);
	}
	if (here == 2)
		pthread_barrier_wait(&begin);
	outcomes[0] = gompi_hierarchy_run(views[0], &calls[0]);
	if (here == 2)
		pthread_barrier_wait(&over);
	generation++;
	bool sure = is_certain();
	fuzz_count[CALLED]++;
	fuzz_count[RIGHT] += sure;
	uint64_t extent = kind == GOMPI_GATHER || kind == GOMPI_ALLGATHER || kind == GOMPI_ALLTOALL ? size : bytes;
	for (int i = 0; i < here; i++) {
		int rc = outcomes[i];
		CHECK(rc >= GOMPI_COLL_USE_MESSAGES && rc <= MPI_ERR_LASTCODE, "collective %d returns %d", kind, rc);
		CHECK(rc != GOMPI_COLL_MISMATCH || (uint32_t)calls[i].mismatch.rank < (uint32_t)members,
		      "collective %d: rank %d differs", kind, calls[i].mismatch.rank);
		for (uint64_t k = extent; k < size + GUARD_BYTES; k++)
			if (out[i][k] != CANARY) {
				CHECK(false, "collective %d: byte %d of %d was written", kind, (int)k, (int)extent);
				break;
			}
		/* The call may have accepted corrupted data, but it must have written some data. */
		if (kind == GOMPI_BCAST && rc == 0 && rank_at[i] != root && bytes >= 8)
			CHECK(memcmp(out[i], out[i] + bytes, 8) != 0, "a broadcast has given nothing");
		if (sure)
			CHECK(rc <= 0 && rc != GOMPI_COLL_MISMATCH, "nothing is wrong, and collective %d returns %d",
			      kind, rc);
		if (sure && rc == 0)
			CHECK(is_right(i, kind, root, bytes, out[i]), "what collective %d has given", kind);
		fuzz_count[REFUSED] += rc > 0;
		fuzz_count[DIFFERED] += rc == GOMPI_COLL_MISMATCH;
		free(in[i]), free(out[i]);
	}
}

static void collectives(uint64_t id) {
	int nodes = 2 + (int)draw(4), local[2] = {0, 0}, this_node = (int)draw((uint64_t)nodes);
	int32_t leaders[MAX_MEMBERS], slot_peers[2] = {0, 1};
	int counts[MAX_MEMBERS] = {0}, most = 1;
	pthread_t thread;
	char *memory = unit_memory(2 * sizeof(struct gompi_shm_member));
	char *barrier_memory = unit_memory(GOMPI_BARRIER_SIZE(2));
	members = 0;
	for (int turn = 0; turn < 2; turn++) /* turn 0 gives each node a member; turn 1 gives some nodes a second one */
		for (int k = 0; k < nodes; k++)
			if (turn == 0 || draw(2)) {
				if (k == this_node)
					rank_at[turn] = local[turn] = members;
				node_of[members++] = k;
				most = ++counts[k] > most ? counts[k] : most;
			}
	here = counts[this_node];
	begin_leaders(id << 4, nodes, this_node);
	for (int k = 0; k < nodes; k++)
		leaders[k] = peers[k];
	all_done = false;
	for (int i = 0; i < here; i++) {
		struct gompi_hierarchy v = {.n = members,
					    .me = local[i],
					    .nodes = nodes,
					    .node = this_node,
					    .local_size = here,
					    .local_rank = i,
					    .max_ranks_per_node = most,
					    .node_of = node_of,
					    .local_ranks = local};
		if (here == 2) {
			v.shm_coll = gompi_shm_coll_open(memory, 2, i, slot_peers, 0);
			v.barrier = (struct gompi_barrier *)(void *)barrier_memory;
		}
		views[i] = gompi_hierarchy_open(&v, messages, id << 4, leaders);
	}
	if (here == 2)
		pthread_create(&thread, NULL, second, NULL);
	for (int call = 0; call < 180 && check_errors == 0; call++) {
		corrupts = call / 60 != 1;
		turn++;
		one_collective();
	}
	all_done = true;
	if (here == 2) {
		pthread_barrier_wait(&begin);
		pthread_join(thread, NULL);
	}
	for (int i = 0; i < here; i++) {
		if (views[i]->shm_coll != NULL)
			gompi_shm_coll_close(views[i]->shm_coll);
		gompi_hierarchy_close(views[i]);
	}
}

static void part(uint64_t records) {
	uint64_t first = fuzz_count[HANDED];
	unit_node(1);
	static const struct gompi_service network = {.has_work = late_ready, .serve = gompi_fabric_progress};
	messages = open_messages(0, PROCESSES);
	gompi_service_add(&network);
	pthread_barrier_init(&begin, NULL, 2);
	pthread_barrier_init(&over, NULL, 2);
	for (uint64_t id = 1; fuzz_count[HANDED] - first < records && check_errors == 0; id++) {
		if (draw(2))
			groups(id);
		else
			collectives(id);
	}
}

int main(int argc, char **argv) {
	if (fuzz(argc, argv, RECORDS, PART, part) && fuzz_count[HANDED] >= RECORDS) {
		static const char *const names[] = {"strange", "calls", "sure", "different", "refused", "sent", "late"};
		static const uint64_t least[] = {RECORDS / 10,   RECORDS / 100, RECORDS / 100, RECORDS / 100,
						 RECORDS / 1000, RECORDS / 100, RECORDS / 100};
		for (int i = 0; i < 7; i++)
			CHECK(fuzz_count[STRANGE + i] > least[i], "%s: %llu", names[i],
			      (unsigned long long)fuzz_count[STRANGE + i]);
	}
	return unit_end();
}
