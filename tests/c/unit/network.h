/* A network among threads of one process (fabric/fabric.h), for what meets over it: a list of records for each member,
 * whose order among different senders is random, and now and then a record that no member sends. A member's meeting has
 * an id of its own (network_id), so that one process can have those of all; it is the first word of a record. */
#ifndef NETWORK_H
#define NETWORK_H

#include "only_meetings.h"

struct letter {
	struct letter *next;
	size_t length;
	int from;
	_Alignas(8) char data[];
};

enum { NETWORK_MOST = 16 };

static struct box {
	pthread_mutex_t mu;
	struct letter *first[NETWORK_MOST], **last[NETWORK_MOST]; /* by sender */
	gompi_a32 letters;
} boxes[NETWORK_MOST];

static _Thread_local int network_self;
static _Thread_local unsigned network_seed;
static _Thread_local struct letter *open_letter;
static int network_members;

static unsigned network_draw(unsigned below) { return (unsigned)rand_r(&network_seed) / 7 % below; }

char *gompi_fabric_reserve(int peer, enum gompi_port port, size_t length, enum gompi_fabric_wait wait, int *class) {
	CHECK(port == FABRIC_MEET && wait == FABRIC_WAIT && open_letter == NULL && length <= GOMPI_FABRIC_RECORD,
	      "a record of %zu bytes for port %d", length, port);
	CHECK(peer != network_self && peer >= 0 && peer < network_members, "%d sends to %d", network_self, peer);
	open_letter = malloc(sizeof *open_letter + length);
	if (open_letter == NULL)
		abort();
	return open_letter->data;
}

/* The id of the meeting that all network_members call by the same number. */
static uint64_t network_id(uint64_t id, int member) { return (id & 0xffffffff) | (uint64_t)(member + 1) << 32; }

void gompi_fabric_commit(int peer, size_t length, enum gompi_urgency urgency) {
	struct letter *l = open_letter;
	struct box *b = &boxes[peer];
	uint64_t id;
	open_letter = NULL;
	l->next = NULL, l->length = length, l->from = network_self;
	memcpy(&id, l->data, sizeof id);
	id = network_id(id, peer);
	memcpy(l->data, &id, sizeof id);
	pthread_mutex_lock(&b->mu);
	if (b->first[network_self] == NULL)
		b->last[network_self] = &b->first[network_self];
	*b->last[network_self] = l;
	b->last[network_self] = &l->next;
	pthread_mutex_unlock(&b->mu);
	gompi_add_total(&b->letters, 1);
	gompi_wake(&gompi_my_cell()->wait);
}

static gompi_a32 network_strangers;

/* A record that no member sends, or with the head of one of them. */
static void strange(int to, const struct letter *l) {
	char data[200];
	size_t length = network_draw(sizeof data);
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (char)network_draw(256);
	if (network_draw(4) != 0)
		memcpy(data, l->data, sizeof(uint64_t) * (1 + network_draw(3)));
	gompi_add(&network_strangers, 1);
	/* who really sends in this round may say anything, so another one says it */
	handler->record(network_draw(2) ? to : network_members + (int)network_draw(3), data, length);
}

static bool mail_ready(void) {
	for (int i = 0; i < network_members; i++)
		if (gompi_load(&boxes[i].letters) != 0)
			return true;
	return false;
}

static bool mail_serve(void) {
	bool worked = false;
	for (int i = 0; i < network_members; i++) {
		struct box *b = &boxes[i];
		if (gompi_load_total(&b->letters) == 0 || pthread_mutex_trylock(&b->mu) != 0)
			continue;
		int from = (int)network_draw((unsigned)network_members);
		for (int k = 0; k < network_members && b->first[from] == NULL; k++)
			from = (from + 1) % network_members;
		struct letter *l = b->first[from];
		if (l != NULL) {
			b->first[from] = l->next;
			if (network_draw(8) == 0)
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

/* Starts it for the rooms. */
static void network_start(void) {
	static const struct gompi_service mail = {.ready = mail_ready, .serve = mail_serve};
	gompi_service_add(&mail);
	gompi_meet_start();
	for (int i = 0; i < NETWORK_MOST; i++)
		pthread_mutex_init(&boxes[i].mu, NULL);
}

/* Whether everything has been received. */
static bool network_empty(void) {
	for (int i = 0; i < NETWORK_MOST; i++)
		if (gompi_load(&boxes[i].letters) != 0)
			return false;
	return true;
}

#endif
