/* Proves: meetings of any number of members meet, give all the data of all and of one, in any order of arrival and
 * whenever each opens them; what does not go together is told to all; records of strangers change nothing
 * (fabric/meet.c).
 *
 * Members are threads of one process. The network is a list of records for each, whose order among different senders
 * is random; it gives each member's meeting an id of its own, which is the first word of a record. */
#include "unit.h"

#include "fabric/fabric.h"
#include "fabric/meet.h"

enum { MOST = 9, CALLS = 300 };

/* --- The network */

struct letter {
	struct letter *next;
	size_t length;
	int from;
	char data[];
};

static struct box {
	pthread_mutex_t mu;
	struct letter *first[MOST], **last[MOST]; /* by sender */
	gompi_a32 letters;
} boxes[MOST];

static const struct gompi_port_handler *handler;
static _Thread_local int self;
static _Thread_local unsigned seed;
static _Thread_local struct letter *open_letter;
static int members;

bool gompi_fabric_open = true;

void gompi_fabric_listen(enum gompi_port port, const struct gompi_port_handler *h) {
	if (port == FABRIC_MEET)
		handler = h;
}

static unsigned draw(unsigned below) { return (unsigned)rand_r(&seed) / 7 % below; }

char *gompi_fabric_reserve(int peer, enum gompi_port port, size_t length, enum gompi_fabric_wait wait, int *class) {
	CHECK(port == FABRIC_MEET && wait == FABRIC_WAIT && open_letter == NULL && length <= GOMPI_FABRIC_RECORD,
	      "a record of %zu bytes for port %d", length, port);
	CHECK(peer != self && peer >= 0 && peer < members, "%d sends to %d", self, peer);
	open_letter = malloc(sizeof *open_letter + length);
	if (open_letter == NULL)
		abort();
	return open_letter->data;
}

/* The id of the meeting that all members call by the same number. */
static uint64_t own_id(uint64_t id, int member) { return (id & 0xffffffff) | (uint64_t)(member + 1) << 32; }

void gompi_fabric_commit(int peer, size_t length, enum gompi_urgency urgency) {
	struct letter *l = open_letter;
	struct box *b = &boxes[peer];
	uint64_t id;
	open_letter = NULL;
	l->next = NULL, l->length = length, l->from = self;
	memcpy(&id, l->data, sizeof id);
	id = own_id(id, peer);
	memcpy(l->data, &id, sizeof id);
	pthread_mutex_lock(&b->mu);
	if (b->first[self] == NULL)
		b->last[self] = &b->first[self];
	*b->last[self] = l;
	b->last[self] = &l->next;
	pthread_mutex_unlock(&b->mu);
	gompi_add_total(&b->letters, 1);
	gompi_wake(&gompi_my_cell()->wait);
}

void gompi_fabric_push(int peer) {}
int gompi_fabric_register(void *at, uint64_t bytes, struct gompi_region *region) { return MPI_ERR_OTHER; }
void gompi_fabric_unregister(const struct gompi_region *region) {}
void gompi_fabric_transfer(struct gompi_transfer *t) {}
bool gompi_fabric_gone(int peer) { return false; }

static gompi_a32 strangers;

/* A record that no member sends, or with the head of one of them. */
static void strange(int to, const struct letter *l) {
	char data[200];
	size_t length = draw(sizeof data);
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (char)draw(256);
	if (draw(4) != 0)
		memcpy(data, l->data, sizeof(uint64_t) * (1 + draw(3)));
	gompi_add(&strangers, 1);
	/* who really sends in this round may say anything, so another one says it */
	handler->record(draw(2) ? to : members + (int)draw(3), data, length);
}

static bool mail_ready(void) {
	for (int i = 0; i < members; i++)
		if (gompi_load(&boxes[i].letters) != 0)
			return true;
	return false;
}

static bool mail_serve(void) {
	bool worked = false;
	for (int i = 0; i < members; i++) {
		struct box *b = &boxes[i];
		if (gompi_load_total(&b->letters) == 0 || pthread_mutex_trylock(&b->mu) != 0)
			continue;
		int from = (int)draw((unsigned)members);
		for (int k = 0; k < members && b->first[from] == NULL; k++)
			from = (from + 1) % members;
		struct letter *l = b->first[from];
		if (l != NULL) {
			b->first[from] = l->next;
			if (draw(8) == 0)
				strange(i, l);
			handler->record(l->from, l->data, l->length);
			gompi_sub_total(&b->letters, 1);
			free(l);
			worked = true;
		}
		pthread_mutex_unlock(&b->mu);
	}
	return worked;
}

bool gompi_fabric_progress(void) { return mail_serve(); }

/* --- The calls, the same at all members */

static gompi_a32 called[MOST];

static void barrier(struct gompi_meeting *m, unsigned k) {
	static const struct gompi_waiting what = {"a barrier", -1, 0};
	gompi_store(&called[self], k);
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
	for (int i = 0; i < members; i++)
		CHECK(gompi_load(&called[i]) >= k, "call %u: member %d has not called", k, i);
}

static char expected(unsigned k, int member, unsigned byte) { return (char)(k * 31 + (unsigned)member * 7 + byte); }

static void gather(struct gompi_meeting *m, unsigned k, unsigned bytes, int odd) {
	static const struct gompi_waiting what = {"a gather", -1, 0};
	static _Thread_local char all[GOMPI_MEET_MOST];
	struct gompi_meet_words words = {7, self == odd ? k + 1 : k, self}, other = {8, 8, 100};
	gompi_store(&called[self], k);
	for (unsigned i = 0; i < bytes; i++)
		all[(unsigned)self * bytes + i] = expected(k, self, i);
	int rc = gompi_meet_gather(m, &words, odd == -2 - self ? &other : NULL, all, bytes, &what);
	if (odd != -1) {
		int who = odd >= 0 ? odd : 100;
		bool right = rc == GOMPI_MEET_DIFFER &&
			     (odd == self ? words.rank != self && words.plan == k : words.rank == who);
		CHECK(right, "call %u: a gather of what differs returns %d, rank %d", k, rc, words.rank);
	} else {
		CHECK(rc == 0, "call %u: a gather returns %d", k, rc);
		for (unsigned i = 0; i < (unsigned)members * bytes; i++)
			CHECK(all[i] == expected(k, (int)(i / bytes), i % bytes), "call %u: byte %u of %u each", k, i,
			      bytes);
	}
	for (int i = 0; i < members; i++)
		CHECK(gompi_load(&called[i]) >= k, "call %u: member %d has not called", k, i);
}

static void bcast(struct gompi_meeting *m, unsigned k, unsigned bytes, int root) {
	static const struct gompi_waiting what = {"a broadcast", -1, 0};
	char mine[GOMPI_MEET_MOST];
	struct gompi_meet_words words = {self == root ? k : 0, self == root ? 5 : 0, self};
	const void *data = NULL;
	uint32_t got = self == root ? bytes : 12345;
	gompi_store(&called[self], k);
	for (unsigned i = 0; i < bytes; i++)
		mine[i] = expected(k, root, i);
	if (self == root)
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
	self = i, seed = 17 + (unsigned)i;
	for (int k = 0; k < members; k++)
		peers[k] = k;
	for (unsigned d = draw(2000); d > 0; d--) /* who is late has records that it does not know yet */
		sched_yield();
	struct gompi_meeting *m = gompi_meeting_open(own_id(meeting_number, i), members, i, peers);
	CHECK(m != NULL, "no meeting");
	for (unsigned k = 1; k <= CALLS && check_errors == 0; k++) {
		unsigned r = (unsigned)rand_r(&common) / 7,
			 bytes = (r >> 8) % 3 == 0 ? (r >> 10) % 1800 : (r >> 10) % 20;
		int who = (int)((r >> 4) % (unsigned)members);
		bool only = k / 40 % 2; /* a root that waits for nobody */
		switch (only ? 7 : r % 8) {
		case 0:
		case 1:
			barrier(m, k);
			break;
		case 2:
			gather(m, k, bytes, members > 1 && r % 3 == 0 ? who : -1);
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
	static const struct gompi_service mail = {mail_ready, mail_serve, NULL};
	unit_node(1);
	gompi_service_add(&mail);
	gompi_meet_start();
	for (int i = 0; i < MOST; i++)
		pthread_mutex_init(&boxes[i].mu, NULL);
	for (members = 1; members <= MOST && check_errors == 0; members++) {
		meeting_number++;
		for (int i = 0; i < MOST; i++)
			gompi_store(&called[i], 0);
		unit_threads(members, run);
		for (int i = 0; i < members; i++)
			CHECK(gompi_load(&boxes[i].letters) == 0 || check_errors > 0, "member %d has not got all", i);
	}
	CHECK(gompi_load(&strangers) > 100, "%u strange records", gompi_load(&strangers));
	return unit_end();
}
