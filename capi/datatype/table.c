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

// Types removed last, oldest first from next on.
static struct {
	pthread_mutex_t mu;
	const struct gompi_type *kept[64];
	unsigned next;
	unsigned long freed; // since gompi_type_trim
} removed = {.mu = PTHREAD_MUTEX_INITIALIZER};

// Ends the hold of a handle, of small types when so many others have been removed.
static void remove_later(void *type) {
	const int64_t large = 1 << 16; // words
	const struct gompi_type *old = type;
	if (gompi_type_life(old)->words < large) {
		pthread_mutex_lock(&removed.mu);
		old = removed.kept[removed.next];
		removed.kept[removed.next] = type;
		removed.next = (removed.next + 1) % (sizeof removed.kept / sizeof *removed.kept);
		removed.freed++;
		pthread_mutex_unlock(&removed.mu);
	}
	if (old != NULL)
		gompi_type_drop(old);
}

struct gompi_known gompi_types = {.table = {&gompi_table_nothing}, .end = remove_later};

// Those that were asked for their facts before they were committed: slots without a program.
static struct gompi_known uncommitted = {
	.table = {&gompi_table_nothing}, .ask = &gompi_up.tell_facts, .end = remove_later};

static bool keep_type(struct gompi_known *k, uintptr_t handle, struct gompi_facts facts, const int64_t *program,
		      int64_t words) {
	size_t bytes = (size_t)words * sizeof *program;
	struct gompi_type_life *life = malloc(sizeof *life + bytes);
	if (!life)
		return false;
	gompi_store(&life->holds, 1);
	life->words = words;
	life->facts = facts;
	if (words > 0)
		memcpy(life + 1, program, bytes);
	return gompi_known_keep(k, handle, life + 1);
}

bool gompi_type_install(uintptr_t handle, struct gompi_facts facts, const int64_t *program, int64_t words) {
	if (handle - GOMPI_TYPE_FIRST >= GOMPI_TYPE_PREDEFINED)
		return keep_type(&gompi_types, handle, facts, program, words);
	if (words > GOMPI_TYPE_SLOT_WORDS)
		return false;
	memcpy(gompi_type_slots[handle - GOMPI_TYPE_FIRST], program, (size_t)words * sizeof *program);
	gompi_facts_slots[handle - GOMPI_TYPE_FIRST] = facts;
	return true;
}

bool gompi_facts_put(uintptr_t handle, struct gompi_facts facts) {
	return keep_type(&uncommitted, handle, facts, NULL, 0);
}

const struct gompi_facts *gompi_facts_ask(MPI_Datatype datatype) {
	const struct gompi_type *t = gompi_known_get(&uncommitted, (uintptr_t)datatype);
	return t != NULL ? &gompi_type_life(t)->facts : NULL;
}

void gompi_type_remove(uintptr_t handle) {
	gompi_known_forget(&uncommitted, handle);
	gompi_known_forget(&gompi_types, handle);
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
