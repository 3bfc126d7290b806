// The tables that gompi_type_get and gompi_facts_get look into.
#include "datatype/datatype.h"
#include "datatype/facts.h"

#include "base/up.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Alignas(64) int64_t gompi_type_slots[GOMPI_TYPE_PREDEFINED][GOMPI_TYPE_SLOT_WORDS];
struct gompi_facts gompi_facts_slots[GOMPI_TYPE_PREDEFINED];
struct gompi_table gompi_type_table = {&gompi_table_nothing};

// The facts of types that were asked for them before they were committed.
static struct gompi_table uncommitted = {&gompi_table_nothing};

// What there was of a type; each may be NULL.
struct rest {
	struct gompi_facts *facts;
	const struct gompi_type *type;
};

static void end(struct rest r) {
	free(r.facts);
	if (r.type)
		gompi_type_drop(r.type);
}

// Types removed last, oldest first from next on.
static struct {
	pthread_mutex_t mu;
	struct rest kept[64];
	unsigned next;
	unsigned long freed; // since gompi_type_trim
} removed = {.mu = PTHREAD_MUTEX_INITIALIZER};

bool gompi_type_install(uintptr_t handle, struct gompi_facts facts, const int64_t *program, int64_t words) {
	size_t bytes = (size_t)words * sizeof *program;
	if (handle - GOMPI_TYPE_FIRST < GOMPI_TYPE_PREDEFINED) {
		if (words > GOMPI_TYPE_SLOT_WORDS)
			return false;
		memcpy(gompi_type_slots[handle - GOMPI_TYPE_FIRST], program, bytes);
		gompi_facts_slots[handle - GOMPI_TYPE_FIRST] = facts;
		return true;
	}
	struct gompi_type_life *life = malloc(sizeof *life + bytes);
	if (!life)
		return false;
	gompi_store(&life->holds, 1);
	life->facts = facts;
	memcpy(life + 1, program, bytes);
	if (!gompi_table_put(&gompi_type_table, handle, life + 1)) {
		free(life);
		return false;
	}
	return true;
}

bool gompi_facts_put(uintptr_t handle, struct gompi_facts facts) {
	if (gompi_table_get(&uncommitted, handle))
		return true;
	struct gompi_facts *copy = malloc(sizeof *copy);
	if (!copy)
		return false;
	*copy = facts;
	if (!gompi_table_put(&uncommitted, handle, copy)) {
		free(copy);
		return false;
	}
	return true;
}

const struct gompi_facts *gompi_facts_ask(MPI_Datatype datatype) {
	uintptr_t handle = (uintptr_t)datatype;
	const struct gompi_facts *f = gompi_table_get(&uncommitted, handle);
	return f || !gompi_up.tell_facts(handle) ? f : gompi_table_get(&uncommitted, handle);
}

// Most types are not in both tables.
static void *take_from(struct gompi_table *t, uintptr_t handle) {
	return gompi_table_get(t, handle) ? gompi_table_remove(t, handle) : NULL;
}

void gompi_type_remove(uintptr_t handle) {
	struct rest old = {take_from(&uncommitted, handle), take_from(&gompi_type_table, handle)};
	if (!old.facts && !old.type)
		return;
	const int64_t large = 1 << 16; // words
	if (!old.type || old.type->words < large) {
		pthread_mutex_lock(&removed.mu);
		struct rest oldest = removed.kept[removed.next];
		removed.kept[removed.next] = old;
		removed.next = (removed.next + 1) % (sizeof removed.kept / sizeof *removed.kept);
		removed.freed++;
		pthread_mutex_unlock(&removed.mu);
		old = oldest;
	}
	end(old);
}

void gompi_type_end(const struct gompi_type *t) { free(gompi_type_life(t)); }

void gompi_type_trim(void) {
	const unsigned long many = 1 << 14;
	pthread_mutex_lock(&removed.mu);
	bool worth = removed.freed >= many;
	if (worth)
		removed.freed = 0;
	pthread_mutex_unlock(&removed.mu);
	if (worth)
		malloc_trim(0);
}
