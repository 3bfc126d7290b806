/* Simulates a network (fabric/fabric.h) for internode groups whose members are threads of this process. Each member has
 * one list of incoming records (letters) per sender. Records of different senders are delivered in random order, and
 * the network adds records from processes that are not members. A real process holds the state of one member of a
 * group; here one process holds that of all members. So each member has its own id for the same group, which is the
 * first word of each record (network_id converts it). Each member also has its own peer number for the same process
 * (network_peer). */
#ifndef NETWORK_H
#define NETWORK_H

#include "fabric/early.h"
#include "internode_only.h"

struct letter {
	struct letter *next;
	size_t length;
	int from;
	_Alignas(8) char data[];
};

enum { NETWORK_MAX_MEMBERS = 16 };

static struct box {
	/* serving: held by the thread that delivers letters to this member; mu: guards the lists */
	pthread_mutex_t serving, mu;
	struct letter *first[NETWORK_MAX_MEMBERS], **last[NETWORK_MAX_MEMBERS]; /* one list per sender */
	gompi_a32 letters;
} boxes[NETWORK_MAX_MEMBERS];

static _Thread_local int network_self;
static _Thread_local unsigned network_seed;
static _Thread_local struct letter *open_letter;
static int network_members;

static unsigned network_draw(unsigned below) { return (unsigned)rand_r(&network_seed) / 7 % below; }

/* Returns the peer number that `member` uses for the member `other`. */
static int32_t network_peer(int member, int other) { return member * NETWORK_MAX_MEMBERS + other; }

char *gompi_fabric_reserve(int peer, enum gompi_port port, size_t length, enum gompi_fabric_wait wait, int *class) {
	int from = peer / NETWORK_MAX_MEMBERS, to = peer % NETWORK_MAX_MEMBERS;
	bool answer = wait == FABRIC_ANSWER, strange = to == from || to >= network_members;
	CHECK(port == FABRIC_INTERNODE && wait != FABRIC_TRY && open_letter == NULL && length <= GOMPI_MAX_RECORD_BYTES,
	      "a record of %zu bytes for port %d", length, port);
	CHECK(answer || (from == network_self && !strange), "%d sends to %d as %d", network_self, to, from);
	*class = MPI_ERR_PROC_ABORTED;
	if (strange)
		return NULL;
	open_letter = malloc(sizeof *open_letter + length);
	if (open_letter == NULL)
		abort();
	return open_letter->data;
}

/* Converts a group id: `id` is the id that some member has for the group. Returns the id that `member` has for it. */
static uint64_t network_id(uint64_t id, int member) { return (id & 0xffffffff) | (uint64_t)(member + 1) << 32; }

void gompi_fabric_commit(int peer, size_t length, enum gompi_urgency urgency) {
	struct letter *l = open_letter;
	int from = peer / NETWORK_MAX_MEMBERS, to = peer % NETWORK_MAX_MEMBERS;
	struct box *b = &boxes[to];
	uint64_t id;
	open_letter = NULL;
	l->next = NULL, l->length = length, l->from = from;
	memcpy(&id, l->data, sizeof id);
	id = network_id(id, to);
	memcpy(l->data, &id, sizeof id);
	pthread_mutex_lock(&b->mu);
	if (b->first[from] == NULL)
		b->last[from] = &b->first[from];
	*b->last[from] = l;
	b->last[from] = &l->next;
	pthread_mutex_unlock(&b->mu);
	gompi_add_seq_cst(&b->letters, 1);
	gompi_wake(&gompi_my_cell()->wait);
}

static gompi_a32 network_strangers;
static void (*network_listens)(int member, const struct internode_record *r); /* if not NULL, called for each record */

/* Delivers a random record from a process that is not a member. Often copies the first words of a member's record. */
static void strange(int to, const struct letter *l) {
	char data[200];
	size_t length = network_draw(sizeof data);
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (char)network_draw(256);
	if (network_draw(4) != 0)
		memcpy(data, l->data, sizeof(uint64_t) * (1 + network_draw(3)));
	gompi_add(&network_strangers, 1);
	/* The sender must not be a member, because a member's record may be accepted. */
	handler->on_record(network_peer(to, network_draw(2) ? to : NETWORK_MAX_MEMBERS - 1 - (int)network_draw(3)),
			   data, length);
}

static bool mail_ready(void) {
	for (int i = 0; i < network_members; i++)
		if (gompi_load(&boxes[i].letters) != 0)
			return true;
	return false;
}

/* Removes the first letter of a random sender from the box. Returns NULL if the box is empty. */
static struct letter *take_letter(struct box *b) {
	pthread_mutex_lock(&b->mu);
	int from = (int)network_draw((unsigned)network_members);
	for (int k = 0; k < network_members && b->first[from] == NULL; k++)
		from = (from + 1) % network_members;
	struct letter *l = b->first[from];
	if (l != NULL)
		b->first[from] = l->next;
	pthread_mutex_unlock(&b->mu);
	return l;
}

static bool mail_serve(void) {
	bool worked = false;
	for (int i = 0; i < network_members; i++) {
		struct box *b = &boxes[i];
		if (gompi_load_seq_cst(&b->letters) == 0 || pthread_mutex_trylock(&b->serving) != 0)
			continue;
		struct letter *l = take_letter(b);
		if (l != NULL) {
			if (network_draw(8) == 0)
				strange(i, l);
			if (network_listens != NULL)
				network_listens(i, (const struct internode_record *)(const void *)l->data);
			handler->on_record(network_peer(i, l->from), l->data, l->length);
			gompi_sub_seq_cst(&b->letters, 1);
			free(l);
			worked = true;
		}
		pthread_mutex_unlock(&b->serving);
	}
	return worked;
}

bool gompi_fabric_progress(void) { return mail_serve(); }

/* Starts the simulated network: adds its service and opens the boxes. */
static void network_start(void) {
	static const struct gompi_service mail = {.has_work = mail_ready, .serve = mail_serve};
	gompi_service_add(&mail);
	gompi_internode_start();
	for (int i = 0; i < NETWORK_MAX_MEMBERS; i++) {
		pthread_mutex_init(&boxes[i].serving, NULL);
		pthread_mutex_init(&boxes[i].mu, NULL);
	}
}

/* Returns true if all requests were delivered. Answers may be left, because no call has to wait for them. */
static bool network_empty(void) {
	for (int i = 0; i < NETWORK_MAX_MEMBERS; i++)
		for (int k = 0; k < NETWORK_MAX_MEMBERS; k++)
			for (const struct letter *l = boxes[i].first[k]; l != NULL; l = l->next)
				if (((const struct internode_record *)(const void *)l->data)->kind < INTERNODE_IS_OPEN)
					return false;
	return true;
}

#endif
