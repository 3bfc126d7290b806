#include "comm/revoked_ids.h"

enum { STORED_IDS = 256 };
static uint64_t ids[STORED_IDS];
static gompi_a32 id_count; // number of ids that have been stored so far

struct gompi_mutex gompi_failures_lock;

void gompi_revoked_id_add(uint64_t id) { ids[gompi_add(&id_count, 1) % STORED_IDS] = id; }

bool gompi_revoked_id_exists(uint64_t id) {
	if (gompi_load(&id_count) == 0)
		return false;
	gompi_mutex_lock(&gompi_failures_lock);
	bool exists = false;
	for (int i = 0; i < STORED_IDS; i++)
		exists = exists || ids[i] == id;
	gompi_mutex_unlock(&gompi_failures_lock);
	return exists;
}
