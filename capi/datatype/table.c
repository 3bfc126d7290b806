// The tables that gompi_type_get looks into.
#include "datatype/datatype.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Alignas(64) int64_t gompi_type_slots[GOMPI_TYPE_PREDEFINED][GOMPI_TYPE_SLOT_WORDS];
struct gompi_table gompi_type_table = {&gompi_table_nothing};

// Types removed last, oldest first from next on.
static struct {
	pthread_mutex_t mu;
	const struct gompi_type *kept[64];
	unsigned next;
	unsigned long freed; // since gompi_type_trim
} removed = {.mu = PTHREAD_MUTEX_INITIALIZER};

bool gompi_type_install(uintptr_t handle, const int64_t *program, int64_t words) {
	size_t bytes = (size_t)words * sizeof *program;
	if (handle - GOMPI_TYPE_FIRST < GOMPI_TYPE_PREDEFINED) {
		if (words > GOMPI_TYPE_SLOT_WORDS)
			return false;
		memcpy(gompi_type_slots[handle - GOMPI_TYPE_FIRST], program, bytes);
		return true;
	}
	struct gompi_type_life *life = malloc(sizeof *life + bytes);
	if (!life)
		return false;
	gompi_store(&life->holds, 1);
	memcpy(life + 1, program, bytes);
	if (!gompi_table_put(&gompi_type_table, handle, life + 1)) {
		free(life);
		return false;
	}
	return true;
}

void gompi_type_remove(uintptr_t handle) {
	const struct gompi_type *old = gompi_table_remove(&gompi_type_table, handle);
	if (!old)
		return;
	const int64_t large = 1 << 16; // words
	if (old->words < large) {
		pthread_mutex_lock(&removed.mu);
		const struct gompi_type *oldest = removed.kept[removed.next];
		removed.kept[removed.next] = old;
		removed.next = (removed.next + 1) % (sizeof removed.kept / sizeof *removed.kept);
		removed.freed++;
		pthread_mutex_unlock(&removed.mu);
		old = oldest;
	}
	if (old)
		gompi_type_drop(old);
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
