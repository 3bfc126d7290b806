/* Proves for groups of node leaders (message/leaders.c) of any size: barriers synchronize, and exchanges and broadcasts
 * return the right data, in whatever order records arrive and whenever each member opens the group. All members get an
 * error for mismatched calls. Records from non-members change nothing. A member may run far ahead of the others in many
 * groups. The record that a root sends in case the other member is a root too is dropped after the group has been
 * closed. */
#include "../network.h"

enum { MAX_MEMBERS = 9, CALLS = 300 };

/* --- The calls, the same at all members */

static gompi_a32 calls_begun[MAX_MEMBERS];

static void barrier(struct gompi_leaders *m, unsigned k) {
	static const struct gompi_wait_desc what = {.call = "a barrier", .peer = -1, .object = 0};
	gompi_store(&calls_begun[network_self], k);
	int rc = gompi_leaders_barrier(m, &what);
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

static const struct gompi_leaders_blocks *blocks_here(void *arg, struct gompi_leaders_blocks *new) {
	static _Thread_local struct gompi_leaders_blocks b;
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

enum { ALL = LEADERS_ALLGATHER, EACH = LEADERS_ALLTOALL, TO_ROOT = LEADERS_GATHER, VERDICT };

static void gather(struct gompi_leaders *m, unsigned k, unsigned bytes, int odd, int kind, int root,
		   uint64_t segments) {
	static const struct gompi_wait_desc what = {.call = "a gather", .peer = -1, .object = 0};
	const char *received[MAX_MEMBERS];
	struct test_input mine = {k, bytes, kind == EACH};
	struct gompi_leaders_blocks b = {.flow = kind == VERDICT ? LEADERS_GATHER : (enum gompi_leaders_flow)kind,
					 .root = root,
					 .wait_for_root = kind == VERDICT,
					 .block_bytes = bytes,
					 .fill = put,
					 .arg = &mine,
					 .received = received};
	struct gompi_leaders_call words = {7, network_self == odd ? k + 1 : k, network_self}, other = {8, 8, 100};
	const struct gompi_leaders_call *differs = odd == -2 - network_self ? &other : NULL;
	gompi_store(&calls_begun[network_self], k);
	int rc = gompi_leaders_exchange(m, &words, differs, &b, &what);
	bool hears = kind != TO_ROOT || network_self == root || network_members != 2;
	if (odd != -1 && (hears || rc != 0)) {
		int who = odd >= 0 ? odd : 100;
		bool right =
			rc == GOMPI_LEADERS_MISMATCH &&
			(odd == network_self ? words.rank != network_self && words.format == k : words.rank == who);
		CHECK(right, "call %u: a gather of what differs returns %d, rank %d", k, rc, words.rank);
	} else {
		CHECK(rc == 0, "call %u: a gather returns %d", k, rc);
		blocks_here(NULL, &b);
		if (odd == -1 && (kind < TO_ROOT || network_self == root))
			check_blocks(&mine, 0);
	}
	if (odd == -1 && kind < TO_ROOT && network_members <= GOMPI_STREAM_MAX_MEMBERS) {
		rc = gompi_leaders_stream(m, &b, segments, check_blocks, &what);
		CHECK(rc == 0, "call %u: %d segments: %d", k, (int)segments, rc);
	}
	for (int i = 0; hears && i < network_members; i++)
		CHECK(gompi_load(&calls_begun[i]) >= k, "call %u: member %d has not called", k, i);
}

/* Calls a gather in which each member passes itself as the root. All members must get the mismatch error. */
static void test_all_roots(struct gompi_leaders *m, unsigned k, unsigned bytes) {
	static const struct gompi_wait_desc what = {.call = "a gather", .peer = -1, .object = 0};
	const char *received[MAX_MEMBERS];
	struct test_input mine = {k, bytes, false};
	struct gompi_leaders_blocks b = {.flow = LEADERS_GATHER,
					 .root = network_self,
					 .wait_for_root = k % 2,
					 .block_bytes = bytes,
					 .fill = put,
					 .arg = &mine,
					 .received = received};
	struct gompi_leaders_call words = {(uint64_t)network_self, k, network_self};
	gompi_store(&calls_begun[network_self], k);
	int rc = gompi_leaders_exchange(m, &words, NULL, &b, &what);
	CHECK(rc == (network_members > 1 ? GOMPI_LEADERS_MISMATCH : 0) &&
		      (rc == 0 || (words.rank != network_self && words.signature == (uint64_t)words.rank)),
	      "call %u: a gather by several roots returns %d, rank %d", k, rc, words.rank);
}

static void bcast(struct gompi_leaders *m, unsigned k, unsigned bytes, int root) {
	static const struct gompi_wait_desc what = {.call = "a broadcast", .peer = -1, .object = 0};
	static _Thread_local char mine[GOMPI_LEADERS_MAX_BYTES];
	struct gompi_leaders_call words = {network_self == root ? k : 0, network_self == root ? 5 : 0, network_self};
	const void *data = NULL;
	uint32_t received_bytes = network_self == root ? bytes : 12345;
	gompi_store(&calls_begun[network_self], k);
	for (unsigned i = 0; i < bytes; i++)
		mine[i] = expected(k, root, i);
	if (network_self == root)
		data = mine;
	int rc = gompi_leaders_bcast(m, root, &words, &data, &received_bytes, &what);
	CHECK(rc == 0 && received_bytes == bytes && words.signature == k && words.format == 5 && words.rank == root,
	      "call %u: a broadcast returns %d, %u bytes", k, rc, received_bytes);
	CHECK(memcmp(data, mine, bytes) == 0, "call %u: the data of a broadcast", k);
}

static uint64_t leaders_number;

static struct gompi_leaders *open_leaders(uint64_t number, int i) {
	int32_t peers[MAX_MEMBERS];
	for (int k = 0; k < network_members; k++)
		peers[k] = k;
	struct gompi_leaders *m = gompi_leaders_open(network_messages[i], number << 4, network_members, i, peers);
	CHECK(m != NULL, "no group");
	return m;
}

static void run(int i) {
	unsigned common = (unsigned)leaders_number;
	network_self = i, network_seed = 17 + (unsigned)i;
	unit_late(network_draw(1000)); /* records for a late member arrive before it opens the group */
	struct gompi_leaders *m = open_leaders(leaders_number, i);
	for (unsigned k = 1; k <= CALLS && check_errors == 0; k++) {
		unsigned r = (unsigned)rand_r(&common) / 7,
			 most = GOMPI_LEADERS_MAX_BYTES / (network_members < 4 ? 1u : (unsigned)network_members / 2),
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
	gompi_leaders_close(m);
}

/* --- A member that is ahead of the other members */

enum { LEADERS = 3000, OTHER_LEADERS = 1000000, OTHER_CALL = 77 };
static unsigned most_data;
static gompi_a32 root_is_done;

static void all_broadcasts(int i) {
	unsigned common = most_data;
	for (unsigned k = 1; k <= LEADERS && check_errors == 0; k++) {
		unsigned bytes = (unsigned)rand_r(&common) / 7 % (most_data + 1);
		struct gompi_leaders *m = open_leaders(leaders_number + k, i);
		bcast(m, k, bytes, 0);
		gompi_leaders_close(m);
	}
}

/* Makes the calls of member 0 in many groups before any other member opens these groups. Meanwhile another thread of
 * member 0 and the other members make a call in another group. */
static void test_far_ahead(int i) {
	bool other_thread = i == network_members;
	network_self = other_thread ? 0 : i, network_seed = 23 + (unsigned)i;
	if (i == 0) {
		all_broadcasts(0);
		gompi_store(&root_is_done, 1);
		return;
	}
	struct gompi_leaders *m = open_leaders(OTHER_LEADERS + leaders_number, network_self);
	bcast(m, OTHER_CALL, 100, 0);
	gompi_leaders_close(m);
	while (!other_thread && gompi_load(&root_is_done) == 0)
		sched_yield();
	if (!other_thread)
		all_broadcasts(i);
}

/* --- Records of a root that arrive for a closed group */

/* Delivers a record to member 0 with the flag RECORD_IF_OPEN. Checks that it is stored only while the group is open. */
static void deliver_if_open(bool is_open) {
	struct leader_record r = {
		.record = {.valid_flag = (uint64_t)(gompi_vci_of(network_messages[0], OTHER_LEADERS << 4) -
						    network_messages[0]->vci),
			   .word = gompi_record_word(RECORD_EAGER, RECORD_IF_OPEN, sizeof r),
			   .context = OTHER_LEADERS << 4,
			   .source = 1,
			   .size = sizeof r.message},
		.message = {.generation = 7, .kind = LEADERS_BLOCKS}};
	int64_t before = unexpected_messages(network_messages[0]);
	gompi_remote_handle_record(network_messages[0], 1, (const char *)&r, sizeof r);
	CHECK(unexpected_messages(network_messages[0]) == before + is_open, "a record for %s group",
	      is_open ? "an open" : "a closed");
}

/* Makes a call fail and closes its group. Checks that nothing is left of the messages of the group. */
static void test_late_records(void) {
	static const struct gompi_wait_desc what = {.call = "a barrier", .peer = -1, .object = 0};
	network_self = 0, network_members = 2;
	const int64_t before = unexpected_messages(network_messages[0]);
	for (unsigned turn = 0; turn < 3; turn++) {
		struct gompi_leaders *m = open_leaders(OTHER_LEADERS, 0);
		deliver_if_open(true);
		gompi_store_seq_cst(&gompi_node_header()->failed_count, 1);
		int rc = gompi_leaders_barrier(m, &what);
		gompi_store_seq_cst(&gompi_node_header()->failed_count, 0);
		CHECK(rc == MPI_ERR_PROC_ABORTED, "a barrier without the other returns %d", rc);
		deliver_if_open(true);
		gompi_leaders_close(m);
		deliver_if_open(false);
		CHECK(unexpected_messages(network_messages[0]) == before, "%d messages are left",
		      (int)(unexpected_messages(network_messages[0]) - before));
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
	for (network_members = 2; network_members <= 3; network_members++)
		for (most_data = 0; most_data <= 2000 && check_errors == 0; most_data += 1000) {
			leaders_number += LEADERS;
			gompi_store(&root_is_done, 0);
			unit_threads(network_members + 1, test_far_ahead);
			CHECK(network_empty() || check_errors > 0, "%d members: some records were not received",
			      network_members);
		}
	if (check_errors == 0)
		test_late_records();
	CHECK(gompi_load(&network_strangers) > 100, "%u strange records", gompi_load(&network_strangers));
	return unit_end();
}
