/* Proves: a type that is removed while an operation holds it stays as it is until the last hold is dropped, whatever is
 * made and removed meanwhile, and its handle finds nothing; nothing keeps it longer. Threads hold and drop it at once.
 * Predefined types are held for nothing.
 */
#include "../unit.h"

enum { DERIVED = 0x58000000, THREADS = 4, HOLDS = 5000, OTHERS = 300 };

/* A program of so many words whose size and last word are told by a number. */
static void install(uintptr_t handle, int64_t words, int64_t number) {
	int64_t *program = calloc((size_t)words, sizeof *program);
	*(struct gompi_type *)program = (struct gompi_type){.magic = 1, .words = words, .size = number};
	program[words - 1] = number;
	CHECK(gompi_type_install(handle, (struct gompi_facts){0}, program, words), "no memory");
	free(program);
}

static void same(const struct gompi_type *t, int64_t words, int64_t number) {
	CHECK(t->words == words && t->size == number && ((const int64_t *)t)[words - 1] == number,
	      "a held type has changed: %lld words, size %lld", (long long)t->words, (long long)t->size);
}

static const struct gompi_type *get(uintptr_t handle) { return gompi_type_get((MPI_Datatype)handle); }

/* Small types stay for a while, large ones go at once. */
static void removed(int64_t words) {
	install(DERIVED + 1, words, 7);
	const struct gompi_type *t = get(DERIVED + 1);
	gompi_type_hold(t);
	gompi_type_hold(t);
	gompi_type_remove(DERIVED + 1);
	CHECK(get(DERIVED + 1) == NULL, "a removed type is found");
	for (int i = 0; i < OTHERS; i++) {
		install((uintptr_t)(DERIVED + 2 + i), words, i);
		gompi_type_remove((uintptr_t)(DERIVED + 2 + i));
	}
	same(t, words, 7);
	gompi_type_drop(t);
	same(t, words, 7);
	gompi_type_drop(t); /* the address sanitizer looks for what nobody has freed */
}

static const struct gompi_type *shared;

static void holder(int i) {
	(void)i;
	for (int k = 0; k < HOLDS; k++) {
		gompi_type_hold(shared);
		same(shared, 40, 9);
		gompi_type_drop(shared);
	}
	gompi_type_drop(shared); /* taken for this thread before it began */
}

static void threads(void) {
	install(DERIVED, 40, 9);
	shared = get(DERIVED);
	for (int i = 0; i < THREADS; i++)
		gompi_type_hold(shared);
	gompi_type_remove(DERIVED);
	for (int i = 0; i < OTHERS; i++) {
		install((uintptr_t)(DERIVED + 2 + i), 40, i);
		gompi_type_remove((uintptr_t)(DERIVED + 2 + i));
	}
	unit_threads(THREADS, holder);
}

static void predefined(void) {
	const struct gompi_type *t = get((uintptr_t)MPI_INT);
	int64_t before[GOMPI_TYPE_SLOT_WORDS];
	memcpy(before, gompi_type_slots, sizeof before);
	gompi_type_drop(t);
	gompi_type_hold(t);
	gompi_type_drop(t);
	CHECK(get((uintptr_t)MPI_INT) == t && t->size == 4, "MPI_INT has gone");
	CHECK(memcmp(before, gompi_type_slots, sizeof before) == 0, "a hold of a predefined type is written down");
}

int main(void) {
	unit_types();
	removed(40);
	removed(1 << 17);
	threads();
	predefined();
	return unit_end();
}
