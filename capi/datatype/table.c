// The tables in which gompi_type_get and gompi_type_props_get find types, and the lifetime of types.
#include "datatype/datatype.h"
#include "datatype/type_props.h"

#include "base/object_pool.h"
#include "datatype/program.h"
#include "datatype/recipe.h"

#include <stdlib.h>
#include <string.h>

_Alignas(64) int64_t gompi_type_slots[GOMPI_TYPE_PREDEFINED][GOMPI_TYPE_SLOT_WORDS];
_Alignas(64) struct gompi_type_props_slot gompi_type_props_slots[GOMPI_TYPE_PREDEFINED];
struct gompi_handles gompi_types = {.table = {.entries = &gompi_table_empty},
				    .kind_bits = GOMPI_KIND_DATATYPE << GOMPI_KIND_BITS,
				    .max_number = (1 << GOMPI_KIND_BITS) - 1};

// `lock` guards changes of the table. `removed` holds the most recently removed types; the oldest of them has the index
// `next`.
static struct {
	struct gompi_biased_mutex lock;
	const struct gompi_type *removed[64];
	unsigned next;
	struct gompi_live_count live_count;
} type_table_state;

bool gompi_type_install(uintptr_t handle, struct gompi_type_props props, const int64_t *program, int64_t words) {
	if (words > GOMPI_TYPE_SLOT_WORDS)
		return false;
	memcpy(gompi_type_slots[handle - GOMPI_TYPE_FIRST], program, (size_t)words * sizeof *program);
	gompi_type_props_slots[handle - GOMPI_TYPE_FIRST].props = props;
	return true;
}

// Returns the memory of the oldest removed type. Returns NULL if the memory is too small, more than four times too
// large, or still in use. This speeds up programs that create and free types in loops.
static struct gompi_type_meta *reuse_removed(size_t bytes) {
	struct gompi_type_meta *meta = NULL;
	gompi_biased_lock(&type_table_state.lock);
	const struct gompi_type *t = type_table_state.removed[type_table_state.next];
	if (t != NULL) {
		meta = gompi_type_meta(t);
		// acquire: pairs with gompi_type_release, so that the last holder has read the type before its memory
		// is reused
		if (meta->alloc_bytes >= bytes && meta->alloc_bytes / 4 <= bytes && !meta->holds_types &&
		    gompi_load_acquire(&meta->ref_count) == 1)
			type_table_state.removed[type_table_state.next] = NULL;
		else
			meta = NULL;
	}
	gompi_biased_unlock(&type_table_state.lock);
	return meta;
}

struct gompi_type *gompi_type_new(int64_t words, size_t extra_bytes) {
	size_t bytes = sizeof(struct gompi_type_meta) + (size_t)words * sizeof(int64_t) + extra_bytes;
	struct gompi_type_meta *meta = reuse_removed(bytes);
	if (meta == NULL) {
		meta = malloc(bytes);
		if (meta == NULL)
			return NULL;
		meta->alloc_bytes = bytes;
	}
	gompi_store(&meta->ref_count, 1);
	meta->recipe = NULL;
	meta->holds_types = false;
	meta->words = words;
	return memset(meta + 1, 0, sizeof(struct gompi_type));
}

uintptr_t gompi_type_add_handle(struct gompi_type *t) {
	gompi_biased_lock(&type_table_state.lock);
	uintptr_t handle = gompi_handles_add(&gompi_types, t);
	gompi_type_meta(t)->handle = handle;
	if (handle != 0)
		gompi_live_count_inc(&type_table_state.live_count);
	gompi_biased_unlock(&type_table_state.lock);
	if (handle == 0)
		gompi_type_destroy(t);
	return handle;
}

uintptr_t gompi_type_add_program(struct gompi_type_props props, const int64_t *program, int64_t words) {
	struct gompi_type *t = gompi_type_new(words, 0);
	if (t == NULL)
		return 0;
	memcpy(t, program, (size_t)words * sizeof *program);
	gompi_type_meta(t)->props = props;
	return gompi_type_add_handle(t);
}

bool gompi_type_commit_handle(uintptr_t handle) {
	const struct gompi_type *t = gompi_type_get_any((MPI_Datatype)handle);
	if (t != NULL && t->magic == 0)
		((struct gompi_type *)(uintptr_t)t)->magic = GOMPI_TYPE_MAGIC;
	return t != NULL;
}

// Keeps a small type alive in the array `removed` until types that are removed later have filled the array.
bool gompi_type_remove(uintptr_t handle) {
	const int64_t large_words = 1 << 16;
	gompi_biased_lock(&type_table_state.lock);
	const struct gompi_type *old = gompi_table_get(&gompi_types.table, handle);
	bool found = old != NULL;
	if (found) {
		gompi_handles_remove(&gompi_types, handle);
		if (gompi_live_count_dec(&type_table_state.live_count))
			gompi_handles_trim(&gompi_types);
		if (gompi_type_meta(old)->words < large_words) {
			const struct gompi_type *removed = old;
			old = type_table_state.removed[type_table_state.next];
			type_table_state.removed[type_table_state.next] = removed;
			type_table_state.next = (type_table_state.next + 1) %
						(sizeof type_table_state.removed / sizeof *type_table_state.removed);
		}
	}
	gompi_biased_unlock(&type_table_state.lock);
	if (old != NULL)
		gompi_type_release(old);
	return found;
}

// Frees a type, and recursively each type from which it was constructed and to which it held the last reference.
void gompi_type_destroy(const struct gompi_type *t) {
	gompi_type_meta(t)->next_to_free = NULL;
	for (const struct gompi_type *last = t, *next; t != NULL; t = next) {
		const struct gompi_recipe *r = gompi_type_meta(t)->recipe;
		int64_t types = gompi_type_meta(t)->holds_types ? r->type_count : 0;
		for (int64_t i = 0; i < types; i++) {
			const struct gompi_type *old = gompi_recipe_type(r, i);
			if (!gompi_type_is_freeable(old) || gompi_sub_seq_cst(&gompi_type_meta(old)->ref_count, 1) != 1)
				continue;
			gompi_type_meta(old)->next_to_free = NULL;
			gompi_type_meta(last)->next_to_free = old;
			last = old;
		}
		next = gompi_type_meta(t)->next_to_free;
		free(gompi_type_meta(t));
	}
}
