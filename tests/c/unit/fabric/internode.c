/* Proves for groups of node leaders (fabric/internode.c) of any size: barriers synchronize, and gathers and broadcasts
 * return the right data, in whatever order records arrive and whenever each member opens the group. All members get an
 * error for mismatched calls. Records from non-members change nothing. For early arrivals (fabric/early.c): a member
 * may run far ahead in many groups. It waits if the other members have stored too many early arrivals. No record is
 * lost, and this wait does not block calls of other threads in other groups. */
#include "../network.h"

enum { MAX_MEMBERS = 9, CALLS = 300 };

/* --- The calls, the same at all members */

static gompi_a32 calls_begun[MAX_MEMBERS];

static void barrier(struct gompi_internode *m, unsigned k) {
	static const struct gompi_wait_desc what = {.call = "a barrier", .peer = -1, .object = 0};
	gompi_store(&calls_begun[network_self], k);
	int rc = gompi_internode_barrier(m, &what);
	CHECK(rc == 0, "call %u: a barrier returns %d", k, rc);
	for (int i = 0; i < network_members; i++)
		CHECK(gompi_load(&calls_begun[i]) >= k, "call %u: member %d has not called", k, i);
}

static char expected(unsigned k, int member, unsigned byte) { return (char)(k * 31 + (unsigned)member * 7 + byte); }

/* The data that a member sends in call k: one block for all members, or a different block for each member. */
struct test_input {
	unsigned k, bytes;
	bool each;
};

static char block_byte(const struct test_input *b, int member, int to, uint64_t segment, unsigned byte) {
	return expected(b->k, member + (b->each ? to * 5 : 0), byte + (unsigned)segment * 11);
}

static void put(void *arg, int to, uint64_t segment, char *at) {
	const struct test_input *b = arg;
	for (unsigned i = 0; i < b->bytes; i++)
		at[i] = block_byte(b, network_self, to, segment, i);
}

static const struct gompi_internode_blocks *blocks_here(void *arg, struct gompi_internode_blocks *new) {
	static _Thread_local struct gompi_internode_blocks b;
	if (new != NULL)
		b = *new;
	return &b;
}

static void check_blocks(void *arg, uint64_t segment) {
	const struct test_input *b = arg;
	const char **received = blocks_here(arg, NULL)->received;
	for (int i = 0; i < network_members; i++)
		for (unsigned k = 0; i != network_self && k < b->bytes; k++)
			if (received[i][k] != block_byte(b, i, network_self, segment, k)) {
				CHECK(false, "call %u: byte %u of %u of member %d, segment %d", b->k, k, b->bytes, i,
				      (int)segment);
				return;
			}
}

enum { ALL, EACH, TO_ROOT, VERDICT };

static void gather(struct gompi_internode *m, unsigned k, unsigned bytes, int odd, int kind, int root,
		   uint64_t segments) {
	static const struct gompi_wait_desc what = {.call = "a gather", .peer = -1, .object = 0};
	const char *received[MAX_MEMBERS];
	struct test_input mine = {k, bytes, kind == EACH};
	struct gompi_internode_blocks b = {bytes, put, &mine, received};
	struct gompi_internode_call words = {7, network_self == odd ? k + 1 : k, network_self}, other = {8, 8, 100};
	const struct gompi_internode_call *differs = odd == -2 - network_self ? &other : NULL;
	gompi_store(&calls_begun[network_self], k);
	int rc = kind == ALL    ? gompi_internode_allgather(m, &words, differs, &b, &what)
		 : kind == EACH ? gompi_internode_alltoall(m, &words, differs, &b, &what)
				: gompi_internode_gather(m, root, &words, differs, &b, kind == VERDICT, &what);
	bool hears = kind != TO_ROOT || network_self == root || network_members != 2;
	if (odd != -1 && (hears || rc != 0)) {
		int who = odd >= 0 ? odd : 100;
		bool right =
			rc == GOMPI_INTERNODE_MISMATCH &&
			(odd == network_self ? words.rank != network_self && words.format == k : words.rank == who);
		CHECK(right, "call %u: a gather of what differs returns %d, rank %d", k, rc, words.rank);
	} else {
		CHECK(rc == 0, "call %u: a gather returns %d", k, rc);
		blocks_here(NULL, &b);
		if (odd == -1 && (kind < TO_ROOT || network_self == root))
			check_blocks(&mine, 0);
	}
	if (odd == -1 && kind < TO_ROOT && network_members <= GOMPI_STREAM_MAX_MEMBERS) {
		rc = gompi_internode_stream(m, &b, segments, check_blocks, &what);
		CHECK(rc == 0, "call %u: %d segments: %d", k, (int)segments, rc);
	}
	for (int i = 0; hears && i < network_members; i++)
		CHECK(gompi_load(&calls_begun[i]) >= k, "call %u: member %d has not called", k, i);
}

/* Calls a gather in which each member passes itself as the root. All members must get the mismatch error. */
static void test_all_roots(struct gompi_internode *m, unsigned k, unsigned bytes) {
	static const struct gompi_wait_desc what = {.call = "a gather", .peer = -1, .object = 0};
	const char *received[MAX_MEMBERS];
	struct test_input mine = {k, bytes, false};
	struct gompi_internode_blocks b = {bytes, put, &mine, received};
	struct gompi_internode_call words = {(uint64_t)network_self, k, network_self};
	gompi_store(&calls_begun[network_self], k);
	int rc = gompi_internode_gather(m, network_self, &words, NULL, &b, k % 2, &what);
	CHECK(rc == (network_members > 1 ? GOMPI_INTERNODE_MISMATCH : 0) &&
		      (rc == 0 || (words.rank != network_self && words.signature == (uint64_t)words.rank)),
	      "call %u: a gather by several roots returns %d, rank %d", k, rc, words.rank);
}

static void bcast(struct gompi_internode *m, unsigned k, unsigned bytes, int root) {
	static const struct gompi_wait_desc what = {.call = "a broadcast", .peer = -1, .object = 0};
	static _Thread_local char mine[GOMPI_INTERNODE_MAX_BYTES];
	struct gompi_internode_call words = {network_self == root ? k : 0, network_self == root ? 5 : 0, network_self};
	const void *data = NULL;
	uint32_t received_bytes = network_self == root ? bytes : 12345;
	gompi_store(&calls_begun[network_self], k);
	for (unsigned i = 0; i < bytes; i++)
		mine[i] = expected(k, root, i);
	if (network_self == root)
		data = mine;
	int rc = gompi_internode_bcast(m, root, &words, &data, &received_bytes, &what);
	CHECK(rc == 0 && received_bytes == bytes && words.signature == k && words.format == 5 && words.rank == root,
	      "call %u: a broadcast returns %d, %u bytes", k, rc, received_bytes);
	CHECK(memcmp(data, mine, bytes) == 0, "call %u: the data of a broadcast", k);
}

static uint64_t leaders_number;

static struct gompi_internode *open_leaders(uint64_t number, int i) {
	int32_t peers[MAX_MEMBERS];
	for (int k = 0; k < network_members; k++)
		peers[k] = network_peer(i, k);
	struct gompi_internode *m = gompi_internode_open(network_id(number, i), network_members, i, peers);
	CHECK(m != NULL, "no group");
	return m;
}

static void run(int i) {
	unsigned common = (unsigned)leaders_number;
	network_self = i, network_seed = 17 + (unsigned)i;
	unit_late(network_draw(1000)); /* records for a late member arrive before it opens the group */
	struct gompi_internode *m = open_leaders(leaders_number, i);
	for (unsigned k = 1; k <= CALLS && check_errors == 0; k++) {
		unsigned r = (unsigned)rand_r(&common) / 7,
			 most = GOMPI_INTERNODE_MAX_BYTES / (network_members < 4 ? 1u : (unsigned)network_members / 2),
			 bytes = (r >> 8) % 3 == 0 ? (r >> 10) % (k % 16 == 0 ? most : 1800) : (r >> 10) % 20;
		int who = (int)((r >> 4) % (unsigned)network_members);
		bool only = k / 40 % 2; /* true: a broadcast by member 0, which then runs ahead of the other members */
		switch (only ? 7 : r % 8) {
		case 0:
		case 1:
			barrier(m, k);
			break;
		case 2:
			gather(m, k, bytes, network_members > 1 && r % 3 == 0 ? who : -1, (int)(r >> 9) % 4, who,
			       r >> 8 & 31);
			break;
		case 3:
			gather(m, k, bytes, r % 3 == 0 ? -2 - who : -1, (int)(r >> 9) % 4, 0, r >> 8 & 7);
			break;
		case 4:
			gather(m, k, bytes, -1, (int)(r >> 9) % 4, who, 1);
			break;
		case 5:
			test_all_roots(m, k, bytes);
			break;
		default:
			bcast(m, k, bytes, only ? 0 : who);
		}
	}
	gompi_internode_close(m);
}

/* --- A member that is ahead of the other members */

enum { LEADERS = 3000, OTHER_LEADERS = 1000000, OTHER_CALL = 77 };
static unsigned most_data;
static gompi_a32 root_group; /* number of the group in which the root makes its call */
static gompi_a32 query_seen; /* 1 if the root has asked a peer whether a group is open, and waits for the answer */

static void on_query(int member, const struct internode_record *r) {
	if (r->kind == INTERNODE_QUERY_OPEN)
		gompi_store(&query_seen, 1);
}

static void all_broadcasts(int i) {
	unsigned common = most_data;
	for (unsigned k = 1; k <= LEADERS && check_errors == 0; k++) {
		unsigned bytes = (unsigned)rand_r(&common) / 7 % (most_data + 1);
		if (i == 0)
			gompi_store(&root_group, k);
		struct gompi_internode *m = open_leaders(leaders_number + k, i);
		bcast(m, k, bytes, 0);
		gompi_internode_close(m);
	}
	if (i == 0)
		gompi_store(&root_group, LEADERS + 1);
}

/* Makes member 0 run ahead of the other members until it must wait. Then another thread of member 0 and the other
 * members make a call in another group. The other members open the groups of member 0's calls only after this call. */
static void test_far_ahead(int i) {
	bool other_thread = i == network_members;
	network_self = other_thread ? 0 : i, network_seed = 23 + (unsigned)i;
	if (i == 0) {
		all_broadcasts(0);
		return;
	}
	while (gompi_load(&query_seen) == 0 && gompi_load(&root_group) <= LEADERS)
		sched_yield();
	unsigned at = gompi_load(&root_group),
		 most = GOMPI_EARLY_MAX_BYTES / (sizeof(struct internode_record) + GOMPI_EARLY_OVERHEAD);
	CHECK((!other_thread && i != 1) || at <= most + 1,
	      "%u members, up to %u bytes: the root waits in group %u, the last may be %u", network_members, most_data,
	      at, most + 1);
	struct gompi_internode *m = open_leaders(OTHER_LEADERS + leaders_number, network_self);
	bcast(m, OTHER_CALL, 100, 0);
	gompi_internode_close(m);
	if (!other_thread)
		all_broadcasts(i);
}

/* --- Records that arrive for a closed group */

static gompi_a32 acked_bytes;  /* number of bytes acknowledged to member 1 */
static gompi_a32 open_replies; /* number of answers to member 1's queries if the group is open */

static void on_ack(int member, const struct internode_record *r) {
	if (member != 1)
		return;
	if (r->kind == INTERNODE_IS_OPEN)
		gompi_add(&open_replies, 1);
	if (r->kind == INTERNODE_IS_OPEN || r->kind == INTERNODE_ACK)
		gompi_add(&acked_bytes, r->call.bytes);
}

/* Makes a call fail and closes its group. Then as many records of the group arrive as the protocol allows. Checks that
 * the records are acknowledged, although the group is closed. */
static void test_late_records(void) {
	static _Alignas(8) char data[sizeof(struct internode_record) + GOMPI_INTERNODE_MAX_BYTES];
	struct internode_record *r = (void *)data;
	const uint32_t cost = sizeof data + GOMPI_EARLY_OVERHEAD;
	static const struct gompi_wait_desc what = {.call = "a barrier", .peer = -1, .object = 0};
	network_self = 0, network_members = 2, network_listens = on_ack;
	for (unsigned turn = 0; turn < 3; turn++) {
		uint32_t sent = 0, told_before = gompi_load(&acked_bytes);
		struct gompi_internode *m = open_leaders(OTHER_LEADERS, 0);
		*r = (struct internode_record){.id = m->id, .generation = 1, .kind = INTERNODE_BCAST, .is_early = 1};
		gompi_store_seq_cst(&gompi_node_header()->failed_count, 1);
		int rc = gompi_internode_barrier(m, &what);
		gompi_store_seq_cst(&gompi_node_header()->failed_count, 0);
		CHECK(rc == MPI_ERR_PROC_ABORTED, "a barrier without the other returns %d", rc);
		gompi_internode_close(m);
		for (; sent < 10 * cost; sent += cost)
			handler->on_record(network_peer(0, 1), data, sizeof data);
		r->kind = INTERNODE_QUERY_OPEN;
		handler->on_record(network_peer(0, 1), data, sizeof *r);
		while (mail_serve()) {
		}
		CHECK(gompi_load(&open_replies) == turn + 1, "%u questions, %u answers", turn + 1,
		      gompi_load(&open_replies));
		/* In turn 0 the answer also acknowledges records of earlier tests. */
		CHECK(turn == 0 || gompi_load(&acked_bytes) - told_before == sent, "%u bytes of %u are settled",
		      gompi_load(&acked_bytes) - told_before, sent);
	}
}

int main(void) {
	unit_node(1);
	network_start();
	for (network_members = 1; network_members <= MAX_MEMBERS && check_errors == 0; network_members++) {
		leaders_number++;
		for (int i = 0; i < MAX_MEMBERS; i++)
			gompi_store(&calls_begun[i], 0);
		unit_threads(network_members, run);
		/* Deliver the remaining records: with two members, no call had to wait for the root's last record. */
		while (mail_serve()) {
		}
		CHECK(network_empty() || check_errors > 0, "%d members: some records were not received",
		      network_members);
	}
	network_listens = on_query;
	for (network_members = 2; network_members <= 3; network_members++)
		for (most_data = 0; most_data <= 2000 && check_errors == 0; most_data += 1000) {
			leaders_number += LEADERS;
			gompi_store(&root_group, 0);
			gompi_store(&query_seen, 0);
			unit_threads(network_members + 1, test_far_ahead);
			CHECK(network_empty() || check_errors > 0, "%d members: some records were not received",
			      network_members);
		}
	if (check_errors == 0)
		test_late_records();
	CHECK(gompi_load(&network_strangers) > 100, "%u strange records", gompi_load(&network_strangers));
	return unit_end();
}
