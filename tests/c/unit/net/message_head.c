/* Proves for the head of messages in networks without authentication: its code equals the result of
 * `openssl mac SIPHASH`. The head names the sender to the receiver, also if the two are of different jobs. A message is
 * rejected if its head, its first bytes or its length have changed. A message for another process or from an unknown
 * one is rejected too, and so is one of an attacker who knows everything except the secret and guesses the code.
 *
 * sanitizer: address (one thread)
 */
#include "../unit.h"

#include "net/message_head.h"

enum { SELF = 3, PEER = 5, SIZE = 8, ADDED = 100 };
enum { HEAD = sizeof(struct gompi_message_head), BYTES = 40 };
static uint64_t seed = 1;
static _Alignas(8) char memory[HEAD + BYTES];
static char *const at = memory + HEAD;

/* Checks the code of bytes 0, 1, ... 31 with key 0, 1, ... 15. */
static void known_code(void) {
	struct gompi_message_head h;
	uint64_t key[2];
	char data[8];
	for (int i = 0; i < 24; i++)
		((unsigned char *)&h)[8 + i] = (unsigned char)i;
	for (int i = 0; i < 16; i++)
		((unsigned char *)key)[i] = (unsigned char)i;
	for (int i = 0; i < 8; i++)
		data[i] = (char)(24 + i);
	const uint64_t mac = gompi_message_mac(&h, data, key);
	CHECK(mac == 0x7127512f72f27cce, "code %llx", (unsigned long long)mac);
}

static struct gompi_message_names names(uint64_t universe, int self, int size) {
	const struct gompi_net_job job = {
		.size = size, .rank = self, .max_added = ADDED, .universe = universe, .secret = {universe + 1, 42}};
	struct gompi_message_names t;
	CHECK(gompi_message_names_open(&t, &job), "out of memory");
	return t;
}

static void add(struct gompi_message_names *t, int peer, uint64_t universe, uint32_t number) {
	const struct gompi_net_foreign f = {
		.peer = peer, .universe = universe, .number = number, .secret = {universe + 1, 42}};
	gompi_message_names_add(t, &f);
}

static int source(size_t bytes, const struct gompi_message_names *t) {
	struct gompi_message_head h;
	memcpy(&h, at - sizeof h, sizeof h);
	return gompi_message_source(&h, at, bytes, t);
}

/* Checks messages to a process of another job, and its answers. */
static void other_job(void) {
	struct gompi_message_names a = names(10, SELF, SIZE), b = names(20, 1, 2), c = names(30, 0, 1);
	for (int i = 0; i < ADDED; i++)
		add(&a, SIZE + i, i == 7 ? 20 : 1000 + i, i == 7 ? 1 : 5);
	gompi_message_head_write(at, BYTES, SIZE + 7, &a);
	CHECK(source(BYTES, &b) == -1, "a sender that is not known yet");
	add(&b, 2, 10, SELF + 1);
	add(&b, 3, 10, SELF);
	CHECK(source(BYTES, &b) == 3, "the sender");
	CHECK(source(BYTES, &c) == -1, "a message for another job");
	gompi_message_head_write(at, BYTES, 3, &b);
	CHECK(source(BYTES, &a) == SIZE + 7, "the sender of the answer");
	/* a later process with the same name replaces the one that has ended */
	add(&a, SIZE + 9, 20, 1);
	CHECK(source(BYTES, &a) == SIZE + 9, "the later process");
	CHECK(gompi_message_names_find(&a, 1003, 5) == SIZE + 3 && gompi_message_names_find(&a, 1003, 6) == -1,
	      "other names");
	gompi_message_names_close(&a);
	gompi_message_names_close(&b);
	gompi_message_names_close(&c);
}

int main(void) {
	struct gompi_message_names self = names(10, SELF, SIZE), peer = names(10, PEER, SIZE),
				   next = names(10, SELF + 1, SIZE), few = names(10, SELF, PEER);
	known_code();
	memset(memory, 7, sizeof memory);
	CHECK(gompi_message_head_write(at, BYTES, SELF, &peer) == memory, "the place of the head");
	CHECK(source(BYTES, &self) == PEER, "the sender");
	CHECK(source(BYTES, &next) == -1, "a message for another process");
	CHECK(source(BYTES, &few) == -1, "a sender that does not exist");
	CHECK(source(BYTES - 8, &self) == -1 && source(0, &self) == -1, "a truncated message");
	for (int bit = 0; bit < 8 * (HEAD + 8); bit++) {
		memory[bit / 8] ^= (char)(1 << bit % 8);
		CHECK(source(BYTES, &self) == -1, "bit %d may change", bit);
		memory[bit / 8] ^= (char)(1 << bit % 8);
	}
	for (int i = 0; i < 100000; i++) {
		const uint64_t guess = check_random(&seed);
		memcpy(memory, &guess, sizeof guess);
		CHECK(source(BYTES, &self) == -1, "a code was guessed");
	}
	other_job();
	gompi_message_names_close(&self);
	gompi_message_names_close(&peer);
	gompi_message_names_close(&next);
	gompi_message_names_close(&few);
	return unit_end();
}
