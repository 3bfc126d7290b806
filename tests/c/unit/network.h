/* Simulates a network (fabric/fabric.h) for groups of node leaders whose members are threads of this process. Each
 * member has its own message layer, and one list of incoming records (letters) per sender. Records of different senders
 * are delivered in random order, and the network adds records from processes that are not members. */
#ifndef NETWORK_H
#define NETWORK_H

#include "leaders_only.h"

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

static struct gompi_messages *network_messages[NETWORK_MAX_MEMBERS];
static _Thread_local int network_self;
static _Thread_local unsigned network_seed;
static _Thread_local struct letter *open_letter;
static int network_members;

static unsigned network_draw(unsigned below) { return (unsigned)rand_r(&network_seed) / 7 % below; }

char *gompi_fabric_reserve(int peer, enum gompi_port port, size_t length, enum gompi_fabric_wait wait, int *class) {
	CHECK(port == FABRIC_MESSAGES && open_letter == NULL && length <= GOMPI_MAX_RECORD_BYTES,
	      "a record of %zu bytes for port %d", length, port);
	*class = MPI_ERR_PROC_ABORTED;
	if (wait != FABRIC_WAIT) /* an answer to the record of a process that is not a member */
		return NULL;
	CHECK(peer != network_self && peer < network_members, "%d sends to %d", network_self, peer);
	open_letter = malloc(sizeof *open_letter + length);
	if (open_letter == NULL)
		abort();
	return open_letter->data;
}

void gompi_fabric_commit(int peer, size_t length, enum gompi_urgency urgency) {
	struct letter *l = open_letter;
	int from = network_self;
	struct box *b = &boxes[peer];
	open_letter = NULL;
	l->next = NULL, l->length = length, l->from = from;
	pthread_mutex_lock(&b->mu);
	if (b->first[from] == NULL)
		b->last[from] = &b->first[from];
	*b->last[from] = l;
	b->last[from] = &l->next;
	pthread_mutex_unlock(&b->mu);
	gompi_add_seq_cst(&b->letters, 1);
	for (int i = 0; i < network_members; i++)
		gompi_wake(&gompi_messages_cell(network_messages[i], 0)->wait);
}

static gompi_a32 network_strangers;

/* Delivers a random record from a process that is not a member. Often copies a member's record, or its first words. */
static void strange(int to, const struct letter *l) {
	char data[200];
	size_t length = network_draw(sizeof data), copied = network_draw(3) * RECORD_SIZE;
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (char)network_draw(256);
	if (l->length <= sizeof data && network_draw(4) != 0) {
		length = l->length;
		memcpy(data, l->data, copied < length ? copied : length);
	}
	gompi_add(&network_strangers, 1);
	gompi_remote_handle_record(network_messages[to], NETWORK_MAX_MEMBERS - 1 - (int)network_draw(3), data, length);
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
			gompi_remote_handle_record(network_messages[i], l->from, l->data, l->length);
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
	for (int i = 0; i < NETWORK_MAX_MEMBERS; i++) {
		network_messages[i] = open_messages(i, NETWORK_MAX_MEMBERS);
		pthread_mutex_init(&boxes[i].serving, NULL);
		pthread_mutex_init(&boxes[i].mu, NULL);
	}
}

/* Returns true if all records were delivered. */
static bool network_empty(void) { return !mail_ready(); }

#endif
