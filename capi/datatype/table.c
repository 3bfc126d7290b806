// The tables behind gompi_type_get and gompi_facts_get, and the lifetime of types.
#include "datatype/datatype.h"
#include "datatype/facts.h"

#include "base/objects.h"
#include "datatype/program.h"
#include "datatype/recipe.h"

#include <stdlib.h>
#include <string.h>

_Alignas(64) int64_t gompi_type_slots[GOMPI_TYPE_PREDEFINED][GOMPI_TYPE_SLOT_WORDS];
_Alignas(64) struct gompi_facts_slot gompi_facts_slots[GOMPI_TYPE_PREDEFINED];
struct gompi_handles gompi_types = {.table = {&gompi_table_nothing},
				    .above = GOMPI_KIND_DATATYPE << GOMPI_KIND_BITS,
				    .numbers = (1 << GOMPI_KIND_BITS) - 1};

// The lock guards changes of the table. kept holds the most recently removed types; the oldest one is at next.
static struct {
	struct gompi_biased lock;
	const struct gompi_type *kept[64];
	unsigned next;
	struct gompi_crowd crowd;
} changes;

bool gompi_type_install(uintptr_t handle, struct gompi_facts facts, const int64_t *program, int64_t words) {
	if (words > GOMPI_TYPE_SLOT_WORDS)
		return false;
	memcpy(gompi_type_slots[handle - GOMPI_TYPE_FIRST], program, (size_t)words * sizeof *program);
	gompi_facts_slots[handle - GOMPI_TYPE_FIRST].facts = facts;
	return true;
}

// Returns the memory of the type that was removed the longest time ago, or NULL if it is too small or still in use.
// This serves programs that create and free types in loops.
static struct gompi_type_life *take_kept(size_t bytes) {
	struct gompi_type_life *life = NULL;
	gompi_biased_take(&changes.lock);
	const struct gompi_type *t = changes.kept[changes.next];
	if (t != NULL) {
		life = gompi_type_life(t);
		// Acquire: pairs with gompi_type_drop, so that the last holder has read the type before its memory is
		// reused.
		if (life->room >= bytes && life->room / 4 <= bytes && !life->holder &&
		    gompi_load_acquire(&life->holds) == 1)
			changes.kept[changes.next] = NULL;
		else
			life = NULL;
	}
	gompi_biased_give(&changes.lock);
	return life;
}

struct gompi_type *gompi_type_new(int64_t words, size_t more) {
	size_t bytes = sizeof(struct gompi_type_life) + (size_t)words * sizeof(int64_t) + more;
	struct gompi_type_life *life = take_kept(bytes);
	if (life == NULL) {
		life = malloc(bytes);
		if (life == NULL)
			return NULL;
		life->room = bytes;
	}
	gompi_store(&life->holds, 1);
	gompi_store(&life->number, 0);
	life->recipe = NULL;
	life->holder = false;
	life->words = words;
	return memset(life + 1, 0, sizeof(struct gompi_type));
}

uintptr_t gompi_type_add(struct gompi_type *t) {
	gompi_biased_take(&changes.lock);
	uintptr_t handle = gompi_handles_add(&gompi_types, t);
	gompi_type_life(t)->handle = handle;
	if (handle != 0)
		gompi_crowd_more(&changes.crowd);
	gompi_biased_give(&changes.lock);
	if (handle == 0)
		gompi_type_end(t);
	return handle;
}

uintptr_t gompi_type_add_program(struct gompi_facts facts, const int64_t *program, int64_t words, uintptr_t number) {
	struct gompi_type *t = gompi_type_new(words, 0);
	if (t == NULL)
		return 0;
	memcpy(t, program, (size_t)words * sizeof *program);
	gompi_type_life(t)->facts = facts;
	gompi_store(&gompi_type_life(t)->number, number);
	return gompi_type_add(t);
}

const struct gompi_type *gompi_type_find(uintptr_t handle, uintptr_t *number) {
	gompi_biased_take(&changes.lock);
	const struct gompi_type *t = gompi_table_get(&gompi_types.table, handle);
	*number = t != NULL ? gompi_type_number(t) : 0;
	if (t != NULL && *number == 0)
		gompi_type_hold(t);
	else
		t = NULL;
	gompi_biased_give(&changes.lock);
	return t;
}

bool gompi_type_know(const struct gompi_type *t, uintptr_t number) {
	gompi_biased_take(&changes.lock);
	bool live = gompi_table_get(&gompi_types.table, gompi_type_life(t)->handle) == t;
	if (live)
		gompi_store(&gompi_type_life(t)->number, number);
	gompi_biased_give(&changes.lock);
	return live;
}

bool gompi_type_commit_handle(uintptr_t handle) {
	const struct gompi_type *t = gompi_type_live((MPI_Datatype)handle);
	if (t != NULL && t->magic == 0)
		((struct gompi_type *)(uintptr_t)t)->magic = GOMPI_TYPE_MAGIC;
	return t != NULL;
}

// Keeps the memory of small types until as many others as kept has entries have been removed.
bool gompi_type_remove_known(uintptr_t handle, uintptr_t *number) {
	const int64_t large = 1 << 16; // words
	gompi_biased_take(&changes.lock);
	const struct gompi_type *old = gompi_table_get(&gompi_types.table, handle);
	bool found = old != NULL;
	*number = found ? gompi_type_number(old) : 0;
	if (found) {
		gompi_handles_remove(&gompi_types, handle);
		if (gompi_crowd_less(&changes.crowd))
			gompi_handles_trim(&gompi_types);
		if (gompi_type_life(old)->words < large) {
			const struct gompi_type *removed = old;
			old = changes.kept[changes.next];
			changes.kept[changes.next] = removed;
			changes.next = (changes.next + 1) % (sizeof changes.kept / sizeof *changes.kept);
		}
	}
	gompi_biased_give(&changes.lock);
	if (old != NULL)
		gompi_type_drop(old);
	return found;
}

bool gompi_type_remove(uintptr_t handle) {
	uintptr_t number;
	return gompi_type_remove_known(handle, &number);
}

// Frees a type, and all types to which only it held a reference, because it was constructed from them, and so on.
void gompi_type_end(const struct gompi_type *t) {
	gompi_type_life(t)->next = NULL;
	for (const struct gompi_type *last = t, *next; t != NULL; t = next) {
		const struct gompi_recipe *r = gompi_type_life(t)->recipe;
		int64_t types = gompi_type_life(t)->holder ? r->types_number : 0;
		for (int64_t i = 0; i < types; i++) {
			const struct gompi_type *old = gompi_recipe_type(r, i);
			if (!gompi_type_mortal(old) || gompi_sub_total(&gompi_type_life(old)->holds, 1) != 1)
				continue;
			gompi_type_life(old)->next = NULL;
			gompi_type_life(last)->next = old;
			last = old;
		}
		next = gompi_type_life(t)->next;
		free(gompi_type_life(t));
	}
}
