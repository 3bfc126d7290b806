#include "coll/persistent.h"

#include <stdlib.h>

#include "base/up.h"

enum { LOW_BITS = 8, LOW = (1 << LOW_BITS) - 1 };
_Static_assert((int)GOMPI_BOARD_MOST < (int)LOW, "numbers of members fit into the low bits");
_Static_assert((int)GOMPI_PERSISTENT_MOST < (int)LOW, "places fit into the low bits");

static struct gompi_persistent_table *table_of(const struct gompi_board *parent) {
	return (struct gompi_persistent_table *)(parent->member + parent->n);
}

static uint64_t bytes_of_board(const struct gompi_board *b) { return (uint64_t)b->n * sizeof *b->member; }

// Returns the index of the entry in a choice, or -1 if the choice has none.
static int entry_in(uint64_t chosen) {
	const uint64_t place = chosen & LOW;
	return place <= GOMPI_PERSISTENT_MOST ? (int)place - 1 : -1;
}

// Writes the last choice into its entry, which the member that made the choice may not have done yet. Returns the
// choice. Numbers only grow, so a member that is late changes nothing.
static uint64_t complete_choice(struct gompi_persistent_table *t) {
	const uint64_t chosen = gompi_load_acquire(&t->chosen); // pairs with the change in choose
	const uint64_t number = chosen >> LOW_BITS;
	const int i = entry_in(chosen);
	if (i < 0)
		return chosen;
	uint64_t old = gompi_load(&t->entry[i].number);
	while (old < number && !gompi_change_total(&t->entry[i].number, &old, number))
		;
	return chosen;
}

static bool has_memory(struct gompi_board *parent, struct gompi_persistent_entry *e) {
	// Acquire: pairs with the change of block below, at another member. This member publishes that block next.
	if (gompi_load_acquire(&e->block) != 0)
		return true;
	uint64_t name, none = 0;
	if (!gompi_up.take_block(parent->owner, bytes_of_board(parent), &name))
		return false;
	if (!gompi_change_once(&e->block, &none, name))
		gompi_up.give_block(parent->owner, name, bytes_of_board(parent));
	return true;
}

// Returns the index + 1 of a free entry that has memory, or 0 if all entries are in use or no memory is left.
static uint64_t free_place(struct gompi_board *parent) {
	struct gompi_persistent_table *t = table_of(parent);
	for (uint64_t i = 0; i < GOMPI_PERSISTENT_MOST; i++) {
		struct gompi_persistent_entry *e = &t->entry[i];
		uint64_t number = gompi_load(&e->number), all = number << LOW_BITS | (uint64_t)parent->n;
		// acquire: pairs with the change in gompi_persistent_close
		if (number == 0 || gompi_load_acquire(&e->freed) == all)
			return has_memory(parent, e) ? i + 1 : 0;
	}
	return 0;
}

// Returns the index of the entry of the collective with this number. Chooses a free entry if no other member has chosen
// one. Returns -1 if the collective goes by messages.
static int choose(struct gompi_board *parent, uint64_t number) {
	struct gompi_persistent_table *t = table_of(parent);
	uint64_t last;
	while ((last = complete_choice(t)) >> LOW_BITS < number)
		gompi_change_once(&t->chosen, &last, number << LOW_BITS | free_place(parent));
	if (last >> LOW_BITS == number)
		return entry_in(last);
	for (int i = 0; i < GOMPI_PERSISTENT_MOST; i++)
		if (gompi_load(&t->entry[i].number) == number)
			return i;
	return -1;
}

struct gompi_board *gompi_persistent_open(struct gompi_board *parent, uint64_t number, bool *messages) {
	int i = choose(parent, number);
	*messages = i < 0;
	if (i < 0)
		return NULL;
	if (parent->opened == NULL && (parent->opened = calloc(GOMPI_PERSISTENT_MOST, sizeof *parent->opened)) == NULL)
		return NULL;
	void **memory = &parent->opened[i];
	if (*memory == NULL)
		*memory = gompi_up.open_block(parent->owner, gompi_load(&table_of(parent)->entry[i].block),
					      bytes_of_board(parent));
	if (*memory == NULL)
		return NULL;
	struct gompi_board *b = gompi_board_open(*memory, parent->n, parent->me, parent->peers, parent->owner);
	if (b == NULL)
		return NULL;
	b->parent = parent;
	b->object = parent->object;
	b->entry = i, b->number = number;
	return b;
}

void gompi_persistent_close(struct gompi_board *b) {
	struct gompi_persistent_entry *e = &table_of(b->parent)->entry[b->entry];
	uint64_t freed = gompi_load_acquire(&e->freed), count;
	do {
		count = freed >> LOW_BITS == b->number ? freed & LOW : 0;
		if (count + 1 == (uint64_t)b->n)
			gompi_board_clean(b);
	} while (!gompi_change_total(&e->freed, &freed, b->number << LOW_BITS | (count + 1)));
	gompi_board_close(b);
}

void gompi_persistent_clean(struct gompi_board *parent) {
	struct gompi_persistent_table *t = table_of(parent);
	if (gompi_load(&t->chosen) == 0)
		return;
	gompi_store(&t->chosen, 0);
	for (int i = 0; i < GOMPI_PERSISTENT_MOST; i++) {
		struct gompi_persistent_entry *e = &t->entry[i];
		uint64_t block = gompi_load(&e->block);
		if (block != 0)
			gompi_up.give_block(parent->owner, block, bytes_of_board(parent));
		gompi_store(&e->number, 0);
		gompi_store(&e->freed, 0);
		gompi_store(&e->block, 0);
	}
}
