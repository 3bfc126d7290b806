#include "coll/nbc_persistent.h"

#include <stdlib.h>

#include "base/go_callbacks.h"

enum { COUNT_BITS = 8, COUNT_MASK = (1 << COUNT_BITS) - 1 };
_Static_assert((int)GOMPI_NBC_MAX_RANKS < (int)COUNT_MASK, "numbers of members fit into the low bits");
_Static_assert((int)GOMPI_NBC_MAX_PERSISTENT < (int)COUNT_MASK, "places fit into the low bits");

static struct gompi_nbc_table *nbc_table_of(const struct gompi_nbc *parent) {
	return (struct gompi_nbc_table *)(parent->member + parent->n);
}

static uint64_t nbc_bytes(const struct gompi_nbc *b) { return (uint64_t)b->n * sizeof *b->member; }

// Returns the index of the entry in a value of last_choice, or -1 if the value has no entry.
static int choice_index(uint64_t chosen) {
	const uint64_t index = chosen & COUNT_MASK;
	return index <= GOMPI_NBC_MAX_PERSISTENT ? (int)index - 1 : -1;
}

// Stores the number of the collective of the last choice in the chosen entry, because the member that made the choice
// may not have done so yet. The number in an entry only grows, so a late call changes nothing. Returns the last choice
// (last_choice).
static uint64_t apply_choice(struct gompi_nbc_table *t) {
	const uint64_t chosen = gompi_load_acquire(&t->last_choice); // pairs with the change in choose_entry
	const uint64_t number = chosen >> COUNT_BITS;
	const int i = choice_index(chosen);
	if (i < 0)
		return chosen;
	uint64_t old = gompi_load(&t->entry[i].number);
	while (old < number && !gompi_cas_weak_seq_cst(&t->entry[i].number, &old, number))
		;
	return chosen;
}

static bool ensure_memory(struct gompi_nbc *parent, struct gompi_nbc_entry *e) {
	// Acquire: pairs with another member's change of block_name below. If this member then chooses the entry,
	// members that see the choice also see the other member's block.
	if (gompi_load_acquire(&e->block_name) != 0)
		return true;
	uint64_t none = 0, name = gompi_go_callbacks.alloc_block(parent->owner, nbc_bytes(parent));
	if (name == 0)
		return false;
	if (!gompi_cas_strong(&e->block_name, &none, name))
		gompi_go_callbacks.free_block(parent->owner, name, nbc_bytes(parent));
	return true;
}

// Returns the index + 1 of a free entry that has memory, or 0 if all entries are in use or no memory is left.
static uint64_t find_free_entry(struct gompi_nbc *parent) {
	struct gompi_nbc_table *t = nbc_table_of(parent);
	for (uint64_t i = 0; i < GOMPI_NBC_MAX_PERSISTENT; i++) {
		struct gompi_nbc_entry *e = &t->entry[i];
		uint64_t number = gompi_load(&e->number), freed_by_all = number << COUNT_BITS | (uint64_t)parent->n;
		// acquire: pairs with the change in gompi_nbc_persistent_close
		if (number == 0 || gompi_load_acquire(&e->freed_count) == freed_by_all)
			return ensure_memory(parent, e) ? i + 1 : 0;
	}
	return 0;
}

// Returns the index of the entry of the collective with this number. Chooses a free entry if no other member has chosen
// one. Returns -1 if all members run the collective with messages.
static int choose_entry(struct gompi_nbc *parent, uint64_t number) {
	struct gompi_nbc_table *t = nbc_table_of(parent);
	uint64_t last;
	while ((last = apply_choice(t)) >> COUNT_BITS < number)
		gompi_cas_strong(&t->last_choice, &last, number << COUNT_BITS | find_free_entry(parent));
	if (last >> COUNT_BITS == number)
		return choice_index(last);
	for (int i = 0; i < GOMPI_NBC_MAX_PERSISTENT; i++)
		if (gompi_load(&t->entry[i].number) == number)
			return i;
	return -1;
}

struct gompi_nbc *gompi_nbc_persistent_open(struct gompi_nbc *parent, uint64_t number, bool *use_messages) {
	int i = choose_entry(parent, number);
	*use_messages = i < 0;
	if (i < 0)
		return NULL;
	if (parent->mapped == NULL &&
	    (parent->mapped = calloc(GOMPI_NBC_MAX_PERSISTENT, sizeof *parent->mapped)) == NULL)
		return NULL;
	void **memory = &parent->mapped[i];
	if (*memory == NULL)
		*memory = gompi_go_callbacks.map_block(
			parent->owner, gompi_load(&nbc_table_of(parent)->entry[i].block_name), nbc_bytes(parent));
	if (*memory == NULL)
		return NULL;
	struct gompi_nbc *b = gompi_nbc_open(*memory, parent->n, parent->me, parent->peers, parent->owner);
	if (b == NULL)
		return NULL;
	b->parent = parent;
	b->object = parent->object;
	b->entry = i, b->number = number;
	return b;
}

void gompi_nbc_persistent_close(struct gompi_nbc *b) {
	struct gompi_nbc_entry *e = &nbc_table_of(b->parent)->entry[b->entry];
	uint64_t freed = gompi_load_acquire(&e->freed_count), count;
	do {
		count = freed >> COUNT_BITS == b->number ? freed & COUNT_MASK : 0;
		if (count + 1 == (uint64_t)b->n)
			gompi_nbc_reset(b);
	} while (!gompi_cas_weak_seq_cst(&e->freed_count, &freed, b->number << COUNT_BITS | (count + 1)));
	gompi_nbc_close(b);
}

void gompi_nbc_persistent_reset(struct gompi_nbc *parent) {
	struct gompi_nbc_table *t = nbc_table_of(parent);
	if (gompi_load(&t->last_choice) == 0)
		return;
	gompi_store(&t->last_choice, 0);
	for (int i = 0; i < GOMPI_NBC_MAX_PERSISTENT; i++) {
		struct gompi_nbc_entry *e = &t->entry[i];
		uint64_t block = gompi_load(&e->block_name);
		if (block != 0)
			gompi_go_callbacks.free_block(parent->owner, block, nbc_bytes(parent));
		gompi_store(&e->number, 0);
		gompi_store(&e->freed_count, 0);
		gompi_store(&e->block_name, 0);
	}
}
