/* Proves for the head of messages in networks without authentication: its code equals the result of
 * `openssl mac SIPHASH`. The head names the sender to the receiver. A message is rejected if its head, its first bytes
 * or its length have changed, if it is for another process, and if an attacker who knows everything except the secret
 * guesses the code.
 *
 * sanitizer: address (one thread)
 */
#include "../unit.h"

#include "net/message_head.h"

enum { SELF = 3, PEER = 5, SIZE = 8 };
static uint64_t seed = 1;
static const uint64_t secret[2] = {0x0123456789abcdef, 42};

/* Checks the code of bytes 0, 1, ... 23 with key 0, 1, ... 15. */
static void known_code(void) {
	struct gompi_message_head h;
	uint64_t key[2];
	char at[8];
	for (int i = 0; i < 16; i++)
		((unsigned char *)key)[i] = ((unsigned char *)&h)[8 + i] = (unsigned char)i;
	for (int i = 0; i < 8; i++)
		at[i] = (char)(16 + i);
	const uint64_t mac = gompi_message_mac(&h, at, key);
	CHECK(mac == 0xb8ad50c6f649af94, "code %llx", (unsigned long long)mac);
}

static int source(const char *at, size_t bytes, int self, int size) {
	struct gompi_message_head h;
	memcpy(&h, at - sizeof h, sizeof h);
	return gompi_message_source(&h, at, bytes, self, size, secret);
}

int main(void) {
	enum { HEAD = sizeof(struct gompi_message_head), BYTES = 40 };
	_Alignas(8) char memory[HEAD + BYTES], *at = memory + HEAD;
	known_code();
	memset(memory, 7, sizeof memory);
	CHECK(gompi_message_head_write(at, BYTES, PEER, SELF, secret) == memory, "the place of the head");
	CHECK(source(at, BYTES, SELF, SIZE) == PEER, "the sender");
	CHECK(source(at, BYTES, SELF + 1, SIZE) == -1, "a message for another process");
	CHECK(source(at, BYTES, SELF, PEER) == -1, "a sender that does not exist");
	CHECK(source(at, BYTES - 8, SELF, SIZE) == -1 && source(at, 0, SELF, SIZE) == -1, "a truncated message");
	for (int bit = 0; bit < 8 * (HEAD + 8); bit++) {
		memory[bit / 8] ^= (char)(1 << bit % 8);
		CHECK(source(at, BYTES, SELF, SIZE) == -1, "bit %d may change", bit);
		memory[bit / 8] ^= (char)(1 << bit % 8);
	}
	for (int i = 0; i < 100000; i++) {
		const uint64_t guess = check_random(&seed);
		memcpy(memory, &guess, sizeof guess);
		CHECK(source(at, BYTES, SELF, SIZE) == -1, "a code was guessed");
	}
	return unit_end();
}
