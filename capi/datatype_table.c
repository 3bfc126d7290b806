// The tables that gompi_type_get looks into.
#include "datatype.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Alignas(64) int64_t gompi_type_slots[GOMPI_TYPE_PREDEFINED][GOMPI_TYPE_SLOT_WORDS];
struct gompi_type_entry gompi_type_entries[GOMPI_TYPE_INDICES];

// Types removed last, oldest first from next on.
static struct {
    pthread_mutex_t mu;
    void *kept[64];
    unsigned next;
} removed = {.mu = PTHREAD_MUTEX_INITIALIZER};

bool gompi_type_install(uintptr_t handle, const int64_t *program, int64_t words)
{
    size_t bytes = (size_t)words * sizeof *program;
    if (handle - GOMPI_TYPE_FIRST < GOMPI_TYPE_PREDEFINED) {
        if (words > GOMPI_TYPE_SLOT_WORDS)
            return false;
        memcpy(gompi_type_slots[handle - GOMPI_TYPE_FIRST], program, bytes);
        return true;
    }
    void *copy = malloc(bytes);
    if (!copy)
        return false;
    memcpy(copy, program, bytes);
    struct gompi_type_entry *e = &gompi_type_entries[handle & (GOMPI_TYPE_INDICES - 1)];
    e->type = copy;
    // release: pairs with the acquire in gompi_type_get
    atomic_store_explicit(&e->handle, handle, memory_order_release);
    return true;
}

void gompi_type_remove(uintptr_t handle)
{
    struct gompi_type_entry *e = &gompi_type_entries[handle & (GOMPI_TYPE_INDICES - 1)];
    if (atomic_load_explicit(&e->handle, memory_order_relaxed) != handle)
        return;
    atomic_store_explicit(&e->handle, 0, memory_order_relaxed);
    void *old = (void *)e->type;
    e->type = NULL;
    const size_t large = 1 << 16; // words
    if ((size_t)((struct gompi_type *)old)->words < large) {
        pthread_mutex_lock(&removed.mu);
        void *oldest = removed.kept[removed.next];
        removed.kept[removed.next] = old;
        removed.next = (removed.next + 1) % (sizeof removed.kept / sizeof *removed.kept);
        pthread_mutex_unlock(&removed.mu);
        old = oldest;
    }
    free(old);
}
