#include "comm/revoked_ids.h"

enum { STORED_IDS = 256 };
static uint64_t ids[STORED_IDS];
static uint32_t id_count; // number of ids that have been stored so far

struct gompi_mutex gompi_failures_lock;

static bool is_stored_locked(uint64_t id) {
	bool is_stored = false;
	for (uint32_t i = 0; i < id_count && i < STORED_IDS; i++)
		is_stored = is_stored || ids[i] == id;
	return is_stored;
}

void gompi_revoked_id_add(uint64_t id) {
	if (!is_stored_locked(id)) // each member of the communicator sends the revocation
		ids[id_count++ % STORED_IDS] = id;
}

// Takes the lock in any case. A revocation that has looked up the communicator before it existed may not have stored
// its id yet.
bool gompi_revoked_id_exists(uint64_t id) {
	gompi_mutex_lock(&gompi_failures_lock);
	bool exists = is_stored_locked(id);
	gompi_mutex_unlock(&gompi_failures_lock);
	return exists;
}
