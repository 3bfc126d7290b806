// Ids of communicators whose revocation has arrived when they did not exist: before their creation, or after they have
// been freed.
#ifndef GOMPI_COMM_REVOKED_IDS_H
#define GOMPI_COMM_REVOKED_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mutex.h"

#pragma GCC visibility push(hidden)

// Guards the ids, and the lists of failed members of all communicators (failures.c). No communicator is closed while
// another thread holds the lock.
extern struct gompi_mutex gompi_failures_lock;

// Stores an id. The caller holds gompi_failures_lock. An old id is replaced after some hundred further ones.
void gompi_revoked_id_add(uint64_t id);

// Returns true if the id has been stored.
bool gompi_revoked_id_exists(uint64_t id);

#pragma GCC visibility pop
#endif
