// The names of peers in messages.
#include "net/message_head.h"

#include <stdlib.h>

bool gompi_message_names_open(struct gompi_message_names *t, const struct gompi_net_job *job) {
	size_t entries = 2;
	while (entries < 2 * (size_t)job->max_added)
		entries *= 2;
	*t = (struct gompi_message_names){.universe = job->universe,
					  .self = job->rank,
					  .size = job->size,
					  .capacity = job->size + job->max_added,
					  .mask = entries - 1};
	memcpy(t->secret, job->secret, sizeof t->secret);
	t->foreign = calloc((size_t)job->max_added + 1, sizeof *t->foreign); // untouched pages use no memory
	t->by_name = calloc(entries, sizeof *t->by_name);
	return t->foreign != NULL && t->by_name != NULL;
}

void gompi_message_names_close(struct gompi_message_names *t) {
	free(t->foreign);
	free(t->by_name);
	*t = (struct gompi_message_names){0};
}

// Returns the entry of a name in the hash table, or the free entry for it. At least half of the entries are free.
static int32_t *entry_of(const struct gompi_message_names *t, uint64_t universe, uint32_t number) {
	for (uint64_t at = (universe ^ number) * 0x9e3779b97f4a7c15u >> 32;; at++) {
		int32_t *entry = &t->by_name[at & t->mask];
		const struct gompi_foreign_name *f = *entry == 0 ? NULL : &t->foreign[*entry - t->size];
		if (f == NULL || (f->universe == universe && f->number == number))
			return entry;
	}
}

void gompi_message_names_add(struct gompi_message_names *t, const struct gompi_net_foreign *f) {
	struct gompi_foreign_name *name = &t->foreign[f->peer - t->size];
	*name = (struct gompi_foreign_name){.universe = f->universe, .number = f->number};
	memcpy(name->secret, f->secret, sizeof name->secret);
	*entry_of(t, f->universe, f->number) = f->peer;
}

int gompi_message_names_find(const struct gompi_message_names *t, uint64_t universe, uint32_t number) {
	const int32_t *entry = entry_of(t, universe, number);
	return *entry == 0 ? -1 : *entry;
}
