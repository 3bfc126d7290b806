/* Proves for handles that the C code creates (base/table.h): a lookup returns only the object of that handle. A lookup
 * of a freed handle returns no object, even if many other handles were created since, and even if the table grows
 * during the lookup. A handle number is reused only after many other handles. A table whose caller chooses the handles
 * (gompi_table_put) finds exactly the handles that were entered. */
#include "../unit.h"

#include "base/table.h"

enum { ABOVE = 5 << 27, NUMBERS = 1 << 25 };
static struct gompi_handles handles;

static uint32_t next(uint32_t *x) { return (*x = *x * 1664525 + 1013904223) >> 8; }

static void open_one(void) { gompi_handles_open(&handles, ABOVE, NUMBERS - 1); }

static void *of(uintptr_t handle) { return gompi_table_get(&handles.table, handle); }

static uintptr_t make(void *object) {
	uintptr_t h = gompi_handles_add(&handles, object);
	CHECK(h >> 25 == ABOVE >> 25, "handle %#zx", (size_t)h);
	return h;
}

/* --- Comparison with a plain array */

static void compare_with_array(void) {
	enum { MAX_LIVE = 5000, STEPS = 300000, OLD = 20000 };
	static char object[MAX_LIVE];
	static char *live[MAX_LIVE];
	static uintptr_t handle[MAX_LIVE], old[OLD];
	/* a table for given handles, with the same entries */
	struct gompi_table put_table = {.entries = &gompi_table_empty};
	int n = 0, olds = 0;
	uint32_t x = 5;
	open_one();
	CHECK(of(ABOVE) == NULL && of(0) == NULL && of(1) == NULL, "a handle before there is any");
	for (int step = 0; step < STEPS; step++) {
		int max_live = step / 20000 % 3 == 0 ? 10 : step / 20000 % 3 == 1 ? MAX_LIVE : 300;
		if (n < max_live && (n == 0 || next(&x) % 2 == 0)) {
			live[n] = &object[next(&x) % MAX_LIVE];
			handle[n] = make(live[n]);
			CHECK(gompi_table_put(&put_table, handle[n], live[n]), "no memory");
			n++;
		} else {
			int i = (int)(next(&x) % (uint32_t)n);
			CHECK(of(handle[i]) == live[i], "step %d: a handle leads elsewhere", step);
			gompi_handles_remove(&handles, handle[i]);
			CHECK(of(handle[i]) == NULL, "step %d: a handle that was given back", step);
			CHECK(gompi_table_remove(&put_table, handle[i]) == live[i], "step %d: what was given", step);
			CHECK(gompi_table_remove(&put_table, handle[i]) == NULL, "step %d: taken twice", step);
			old[olds++ % OLD] = handle[i];
			n--;
			live[i] = live[n], handle[i] = handle[n];
		}
		if (olds > 0) {
			uintptr_t h = old[next(&x) % (uint32_t)(olds < OLD ? olds : OLD)];
			CHECK(of(h) == NULL && gompi_table_get(&put_table, h) == NULL, "step %d: an old handle", step);
		}
		if (step % 10007 == 0) {
			gompi_handles_trim(&handles);
			for (int i = 0; i < n; i++)
				CHECK(of(handle[i]) == live[i] && gompi_table_get(&put_table, handle[i]) == live[i],
				      "step %d: handle %d", step, i);
		}
	}
	for (uint32_t k = 0; k < 100000; k++) { /* looks up random handles, and values like those of free entries */
		of(ABOVE | (next(&x) << 12 ^ next(&x)) % NUMBERS);
		uintptr_t h = ~(uintptr_t)(next(&x) % NUMBERS);
		CHECK(of(h) == NULL && of(h ^ (uintptr_t)(k % 64) << 32) == NULL, "%#zx leads somewhere", (size_t)h);
	}
	while (n > 0)
		gompi_handles_remove(&handles, handle[--n]);
	gompi_handles_close(&handles);
	handles = (struct gompi_handles){.table = put_table};
	gompi_handles_close(&handles);
}

/* Tests that no handle is reused soon if objects are created and freed one after the other while other objects live. */
static void reuse_delay(void) {
	enum { KEPT = 100, ROUNDS = 3000000 };
	uint8_t *used = calloc(1, NUMBERS / 8);
	open_one();
	for (int i = 0; i < KEPT; i++)
		make(used);
	for (int i = 0; i < ROUNDS; i++) {
		uintptr_t h = make(used);
		uint32_t number = (uint32_t)h % NUMBERS;
		if (used[number / 8] >> number % 8 & 1) {
			CHECK(0, "number %u came again after at most %d others", number, i);
			break;
		}
		used[number / 8] |= (uint8_t)(1 << number % 8);
		gompi_handles_remove(&handles, h);
	}
	gompi_handles_close(&handles);
	free(used);
}

/* --- Threads that look up handles while the table grows */

enum { LOOKERS = 3, WATCHED = 50, GROWTH = 20000 };
static char watched[WATCHED];
static uintptr_t watched_handle[WATCHED];
static gompi_a32 grown;

static void lookup_thread(int i) {
	if (i == LOOKERS) {
		for (int k = 0; k < GROWTH; k++) {
			uintptr_t h = make(watched);
			if (k % 3 == 0)
				gompi_handles_remove(&handles, h);
		}
		gompi_store(&grown, 1);
		return;
	}
	do
		for (int k = 0; k < WATCHED; k++)
			CHECK(of(watched_handle[k]) == &watched[k], "handle %d leads elsewhere while the table grows",
			      k);
	while (gompi_load(&grown) == 0);
}

static void growth(void) {
	open_one();
	for (int i = 0; i < WATCHED; i++)
		watched_handle[i] = make(&watched[i]);
	unit_threads(LOOKERS + 1, lookup_thread);
	gompi_handles_close(&handles);
}

int main(void) {
	compare_with_array();
	reuse_delay();
	growth();
	return unit_end();
}
