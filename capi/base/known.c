#include "base/known.h"

void *gompi_known_take(struct gompi_known *k) {
	bool full = gompi_add(&k->taken, 1) >= k->most && k->most != 0;
	void *slot = full ? NULL : gompi_spares_take(&k->spares);
	if (slot == NULL)
		gompi_sub(&k->taken, 1);
	return slot;
}

void gompi_known_give(struct gompi_known *k, void *slot) {
	if (k->end != NULL) {
		k->end(slot);
	} else {
		gompi_spares_give(&k->spares, slot);
		gompi_sub(&k->taken, 1);
	}
}

bool gompi_known_keep(struct gompi_known *k, uintptr_t handle, void *slot) {
	void *kept = gompi_table_put(&k->table, handle, slot);
	if (kept != slot)
		gompi_known_give(k, slot);
	return kept != NULL;
}

void gompi_known_forget(struct gompi_known *k, uintptr_t handle) {
	// Most objects that are freed are in no or in one table.
	void *slot = gompi_table_get(&k->table, handle);
	if (slot == NULL || (slot = gompi_table_remove(&k->table, handle)) == NULL)
		return;
	if (k->changes) { // who reads it has begun before
		gompi_brief_take(&k->reading);
		gompi_known_done(k);
	}
	gompi_known_give(k, slot);
}
