/* Proves: meetings of any number of members meet, give all the data of all and of one, in any order of arrival and
 * whenever each opens them; what does not go together is told to all; records of strangers change nothing
 * (fabric/meet.c). */
#include "network.h"

enum { MOST = 9, CALLS = 300 };

/* --- The calls, the same at all members */

static gompi_a32 called[MOST];

static void barrier(struct gompi_meeting *m, unsigned k) {
	static const struct gompi_waiting what = {"a barrier", -1, 0};
	gompi_store(&called[network_self], k);
	int rc;
	if (k % 2) {
		rc = gompi_meet(m, &what);
	} else {
		rc = gompi_meet_begin(m);
		sched_yield();
		if (rc == 0)
			rc = gompi_meet_end(m, &what);
	}
	CHECK(rc == 0, "call %u: a barrier returns %d", k, rc);
	for (int i = 0; i < network_members; i++)
		CHECK(gompi_load(&called[i]) >= k, "call %u: member %d has not called", k, i);
}

static char expected(unsigned k, int member, unsigned byte) { return (char)(k * 31 + (unsigned)member * 7 + byte); }

static void gather(struct gompi_meeting *m, unsigned k, unsigned bytes, int odd) {
	static const struct gompi_waiting what = {"a gather", -1, 0};
	static _Thread_local char all[GOMPI_MEET_MOST];
	struct gompi_meet_words words = {7, network_self == odd ? k + 1 : k, network_self}, other = {8, 8, 100};
	gompi_store(&called[network_self], k);
	for (unsigned i = 0; i < bytes; i++)
		all[(unsigned)network_self * bytes + i] = expected(k, network_self, i);
	int rc = gompi_meet_gather(m, &words, odd == -2 - network_self ? &other : NULL, all, bytes, &what);
	if (odd != -1) {
		int who = odd >= 0 ? odd : 100;
		bool right = rc == GOMPI_MEET_DIFFER &&
			     (odd == network_self ? words.rank != network_self && words.plan == k : words.rank == who);
		CHECK(right, "call %u: a gather of what differs returns %d, rank %d", k, rc, words.rank);
	} else {
		CHECK(rc == 0, "call %u: a gather returns %d", k, rc);
		for (unsigned i = 0; i < (unsigned)network_members * bytes; i++)
			CHECK(all[i] == expected(k, (int)(i / bytes), i % bytes), "call %u: byte %u of %u each", k, i,
			      bytes);
	}
	for (int i = 0; i < network_members; i++)
		CHECK(gompi_load(&called[i]) >= k, "call %u: member %d has not called", k, i);
}

static void bcast(struct gompi_meeting *m, unsigned k, unsigned bytes, int root) {
	static const struct gompi_waiting what = {"a broadcast", -1, 0};
	char mine[GOMPI_MEET_MOST];
	struct gompi_meet_words words = {network_self == root ? k : 0, network_self == root ? 5 : 0, network_self};
	const void *data = NULL;
	uint32_t got = network_self == root ? bytes : 12345;
	gompi_store(&called[network_self], k);
	for (unsigned i = 0; i < bytes; i++)
		mine[i] = expected(k, root, i);
	if (network_self == root)
		data = mine;
	int rc = gompi_meet_bcast(m, root, &words, &data, &got, &what);
	CHECK(rc == 0 && got == bytes && words.what == k && words.plan == 5 && words.rank == root,
	      "call %u: a broadcast returns %d, %u bytes", k, rc, got);
	CHECK(memcmp(data, mine, bytes) == 0, "call %u: the data of a broadcast", k);
}

static uint64_t meeting_number;

static void run(int i) {
	int32_t peers[MOST];
	unsigned common = (unsigned)meeting_number;
	network_self = i, network_seed = 17 + (unsigned)i;
	for (int k = 0; k < network_members; k++)
		peers[k] = k;
	for (unsigned d = network_draw(2000); d > 0; d--) /* who is late has records that it does not know yet */
		sched_yield();
	struct gompi_meeting *m = gompi_meeting_open(network_id(meeting_number, i), network_members, i, peers);
	CHECK(m != NULL, "no meeting");
	for (unsigned k = 1; k <= CALLS && check_errors == 0; k++) {
		unsigned r = (unsigned)rand_r(&common) / 7,
			 bytes = (r >> 8) % 3 == 0 ? (r >> 10) % 1800 : (r >> 10) % 20;
		int who = (int)((r >> 4) % (unsigned)network_members);
		bool only = k / 40 % 2; /* a root that waits for nobody */
		switch (only ? 7 : r % 8) {
		case 0:
		case 1:
			barrier(m, k);
			break;
		case 2:
			gather(m, k, bytes, network_members > 1 && r % 3 == 0 ? who : -1);
			break;
		case 3:
			gather(m, k, bytes, r % 3 == 0 ? -2 - who : -1);
			break;
		default:
			bcast(m, k, bytes, only ? 0 : who);
		}
	}
	gompi_meeting_close(m);
}

int main(void) {
	unit_node(1);
	network_start();
	for (network_members = 1; network_members <= MOST && check_errors == 0; network_members++) {
		meeting_number++;
		for (int i = 0; i < MOST; i++)
			gompi_store(&called[i], 0);
		unit_threads(network_members, run);
		CHECK(network_empty() || check_errors > 0, "%d members have not got all", network_members);
	}
	CHECK(gompi_load(&network_strangers) > 100, "%u strange records", gompi_load(&network_strangers));
	return unit_end();
}
