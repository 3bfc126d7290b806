/* Proves: a type that is removed while an operation holds a reference remains unchanged until the last reference is
 * released, even if other types are created and removed meanwhile. A lookup of the removed type's handle returns no
 * type. After the last reference the type is freed. Threads acquire and release references concurrently. Acquiring and
 * releasing references to a predefined type has no effect. */
#include "../unit.h"

#include "datatype/z_calls.h"

enum { THREADS = 4, HOLDS = 5000, OTHERS = 300, LONG = 100000 };

/* Installs a type whose program has `words` 8-byte words. The type's size and the last word are `number`. Returns the
 * type's handle. */
static uintptr_t install(int64_t words, int64_t number) {
	int64_t *program = calloc((size_t)words, sizeof *program);
	*(struct gompi_type *)program = (struct gompi_type){.magic = 1, .words = words, .size = number};
	program[words - 1] = number;
	uintptr_t handle = gompi_type_add_program((struct gompi_type_props){0}, program, words);
	CHECK(handle != 0, "no memory");
	free(program);
	return handle;
}

static void check_unchanged(const struct gompi_type *t, int64_t words, int64_t number) {
	CHECK(t->words == words && t->size == number && ((const int64_t *)t)[words - 1] == number,
	      "a held type has changed: %lld words, size %lld", (long long)t->words, (long long)t->size);
}

static const struct gompi_type *get(uintptr_t handle) { return gompi_type_get((MPI_Datatype)handle); }

/* Checks that a removed type remains unchanged while references exist. Must be called with a small and a large size,
 * because the library caches the memory of small types and frees that of large types at once. */
static void remove_while_held(int64_t words) {
	uintptr_t handle = install(words, 7);
	const struct gompi_type *t = get(handle);
	gompi_type_retain(t);
	gompi_type_retain(t);
	CHECK(gompi_type_remove(handle), "a type is not found");
	CHECK(get(handle) == NULL && !gompi_type_remove(handle), "a removed type is found");
	for (int i = 0; i < OTHERS; i++)
		gompi_type_remove(install(words, i));
	check_unchanged(t, words, 7);
	gompi_type_release(t);
	check_unchanged(t, words, 7);
	gompi_type_release(t); /* frees the type; otherwise the leak checker reports it */
}

static const struct gompi_type *shared;

static void holder(int i) {
	(void)i;
	for (int k = 0; k < HOLDS; k++) {
		gompi_type_retain(shared);
		check_unchanged(shared, 40, 9);
		gompi_type_release(shared);
	}
	gompi_type_release(shared); /* the reference that threads() acquired for this thread */
}

static void threads(void) {
	uintptr_t handle = install(40, 9);
	shared = get(handle);
	for (int i = 0; i < THREADS; i++)
		gompi_type_retain(shared);
	gompi_type_remove(handle);
	for (int i = 0; i < OTHERS; i++)
		gompi_type_remove(install(40, i));
	unit_threads(THREADS, holder);
}

/* Tests a long chain of types, each of which is a duplicate of the previous type and refers to it. The last type keeps
 * all others alive. When the last type is freed, all are freed. */
static void free_chain(void) {
	MPI_Datatype first, type, next;
	CHECK(gompi_type_contiguous(2, MPI_INT, &first) == MPI_SUCCESS, "no type");
	gompi_type_retain(gompi_type_get_any(first));
	const struct gompi_type *t = gompi_type_get_any(first);
	CHECK(gompi_type_dup(first, &type) == MPI_SUCCESS && gompi_type_free(&first) == MPI_SUCCESS, "no copy");
	for (int i = 0; i < LONG; i++) {
		CHECK(gompi_type_dup(type, &next) == MPI_SUCCESS && gompi_type_free(&type) == MPI_SUCCESS, "no copy");
		type = next;
	}
	CHECK(gompi_load(&gompi_type_meta(t)->ref_count) == 2, "the first type has %lld holds",
	      (long long)gompi_load(&gompi_type_meta(t)->ref_count));
	CHECK(gompi_type_free(&type) == MPI_SUCCESS && type == MPI_DATATYPE_NULL, "not freed");
	for (int i = 0; i < OTHERS; i++)
		gompi_type_remove(install(40, i));
	CHECK(gompi_load(&gompi_type_meta(t)->ref_count) == 1, "the first type is still used");
	gompi_type_release(t);
}

static void predefined(void) {
	const struct gompi_type *t = get((uintptr_t)MPI_INT);
	int64_t before[GOMPI_TYPE_SLOT_WORDS];
	memcpy(before, gompi_type_slots, sizeof before);
	gompi_type_release(t);
	gompi_type_retain(t);
	gompi_type_release(t);
	CHECK(get((uintptr_t)MPI_INT) == t && t->size == 4, "MPI_INT was freed");
	CHECK(memcmp(before, gompi_type_slots, sizeof before) == 0, "a hold of a predefined type is written down");
}

int main(void) {
	unit_types();
	remove_while_held(40);
	remove_while_held(1 << 17);
	threads();
	free_chain();
	predefined();
	return unit_end();
}
