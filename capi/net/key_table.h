// Registered memory by key.
#ifndef GOMPI_NET_KEY_TABLE_H
#define GOMPI_NET_KEY_TABLE_H

#include <stdint.h>

#include "base/random.h"

// The first member of a network's struct for registered memory.
struct gompi_key_entry {
	struct gompi_key_entry *next;
	uint64_t key;
};

enum { GOMPI_KEY_BUCKETS = 256 };
struct gompi_key_table {
	struct gompi_key_entry *bucket[GOMPI_KEY_BUCKETS];
};

static inline struct gompi_key_entry **gompi_key_bucket(struct gompi_key_table *t, uint64_t key) {
	return &t->bucket[(key ^ key >> 32 ^ key >> 8) % GOMPI_KEY_BUCKETS];
}

// Returns the entry with this key, or NULL.
static inline struct gompi_key_entry *gompi_key_find(struct gompi_key_table *t, uint64_t key) {
	struct gompi_key_entry *e = *gompi_key_bucket(t, key);
	while (e != NULL && e->key != key)
		e = e->next;
	return e;
}

// Adds an entry, whose key is not in the table yet.
static inline void gompi_key_add(struct gompi_key_table *t, struct gompi_key_entry *e) {
	struct gompi_key_entry **first = gompi_key_bucket(t, e->key);
	e->next = *first;
	*first = e;
}

// Removes and returns the entry with this key, or returns NULL.
static inline struct gompi_key_entry *gompi_key_remove(struct gompi_key_table *t, uint64_t key) {
	struct gompi_key_entry **at = gompi_key_bucket(t, key);
	while (*at != NULL && (*at)->key != key)
		at = &(*at)->next;
	struct gompi_key_entry *e = *at;
	if (e != NULL)
		*at = e->next;
	return e;
}

// Removes and returns any entry, or returns NULL if the table is empty.
static inline struct gompi_key_entry *gompi_key_remove_any(struct gompi_key_table *t) {
	for (int i = 0; i < GOMPI_KEY_BUCKETS; i++)
		if (t->bucket[i] != NULL)
			return gompi_key_remove(t, t->bucket[i]->key);
	return NULL;
}

// Returns a random key of at most `bytes` bytes, which other processes cannot guess. Returns 0 on failure.
static inline uint64_t gompi_random_key(size_t bytes) {
	uint64_t key = 0;
	if (!gompi_random(&key, sizeof key))
		return 0;
	return bytes >= sizeof key ? key : key & ((UINT64_C(1) << 8 * bytes) - 1);
}

#endif
