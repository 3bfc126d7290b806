/* Proves: while the owner continuously changes its table of attached memory (win/attached.h), a lookup by another
 * process returns no half-written entry, and always finds a region that stays attached. If the owner died during a
 * change, the lookup returns an error. If the owner is only slow, the lookup waits. The owner cannot attach overlapping
 * regions. The owner knows which attached memory other processes cannot address directly. */
#include "../unit.h"

#include "win/attached.h"
#include "win/z_calls.h"

enum { READERS = 3, LOOKS = 2000, REGION = 4096 };

static struct gompi_win *w;
static struct gompi_attached_regions *table;
static gompi_a32 readers_left;
static char *heap;

/* Returns the address of region k. Each region has another size, so that a lookup that mixes two entries is
 * detected. */
static uint64_t address_of(uint64_t k) { return (k + 1) << 16; }
static uint64_t size_of(uint64_t k) { return REGION + 16 * k; }

static void *attached_table(uintptr_t win, int rank) {
	CHECK(win == w->handle && rank == 1, "table of %d", rank);
	return table;
}

static void *map_attached(uintptr_t win, int64_t offset, int64_t size) {
	(void)win;
	CHECK(offset >= 0 && (uint64_t)size == size_of((uint64_t)offset), "%lld bytes of region %lld", (long long)size,
	      (long long)offset);
	return heap + offset * 2 * REGION;
}

/* The owner's descriptor of the window. `w` is the descriptor of the process that looks up memory. */
static struct gompi_win *owner;

static int attach(uint64_t k, uint64_t from, uint64_t to) {
	return gompi_win_attach((MPI_Win)owner->handle, (char *)address_of(k) + from, (MPI_Aint)(to - from));
}
static int detach(uint64_t k) { return gompi_win_detach((MPI_Win)owner->handle, (char *)address_of(k)); }

static void begin_change(void) { gompi_add_seq_cst(&table->version, 1); }
static void end_change(void) { gompi_add_seq_cst(&table->version, 1); }

/* Runs in the owner: attaches and detaches regions below and above region 2, which stays attached. So region 2 is
 * alternately the first and the second entry of the table. */
static void changes(void) {
	for (uint32_t i = 0; gompi_load(&readers_left) > 0; i++) {
		uint64_t k = i / 2 % 4 == 2 ? 1 : i / 2 % 4;
		CHECK((i % 2 == 0 ? attach(k, 0, size_of(k)) : detach(k)) == MPI_SUCCESS, "region %d", (int)k);
		if (i % 2 == 0) /* leaves the table unchanged for a while, so that lookups succeed */
			sched_yield();
	}
	for (uint64_t k = 0; k < 4; k++)
		if (k != 2)
			detach(k);
}

/* Looks up bytes `from` to `to` - 1 of region k. Returns true if at least byte `from` is attached. */
static bool find(uint64_t k, uint64_t from, uint64_t to) {
	char *here;
	uint64_t end = 0;
	int rc = gompi_attached_find_prefix(w, 1, address_of(k) + from, address_of(k) + to, &here, &end);
	if (rc == MPI_ERR_RMA_RANGE)
		return false;
	CHECK(rc == MPI_SUCCESS, "class %d", rc);
	uint64_t max_end = to < size_of(k) ? to : size_of(k);
	CHECK(end == address_of(k) + max_end, "region %d ends at %#llx", (int)k, (unsigned long long)end);
	CHECK(here == heap + k * 2 * REGION + from, "region %d is mapped at %td", (int)k, here - heap);
	return true;
}

static void reads(int i) {
	if (i == READERS) {
		changes();
		return;
	}
	int found = 0;
	for (uint64_t k = 0; k < LOOKS || found == 0; k++) {
		CHECK(find(2, k % REGION, 2 * REGION), "region 2 is not there");
		CHECK(!find(2, size_of(2), size_of(2) + 1), "something behind region 2");
		found += find(k % 2 == 0 ? 0 : 3, 0, 8);
	}
	gompi_sub(&readers_left, 1);
}

static int refused;
static int raise_error(int class, const char *call, const char *text, int kind, uintptr_t object) {
	CHECK(kind == GOMPI_ON_WIN && object == owner->handle && text[0] != 0, "%s on %d", text, kind);
	refused++;
	return class;
}

static int grown;
static int grow_attached(uintptr_t win, uint64_t *bytes, char *text) {
	grown++;
	*bytes = sizeof *table + (size_t)grown * 4 * sizeof table->entry[0];
	return MPI_SUCCESS;
}

/* Tests valid and invalid calls of attach and detach, and gompi_attached_overlaps, which ignores memory that
 * origins can address directly. */
static void writes(void) {
	refused = grown = 0;
	CHECK(attach(2, 0, size_of(2)) == MPI_SUCCESS && grown == 1, "not attached");
	CHECK(attach(2, 0, size_of(2)) == MPI_ERR_RMA_ATTACH && attach(2, 8, 16) == MPI_ERR_RMA_ATTACH, "twice");
	CHECK(attach(1, 0, 2 << 16) == MPI_ERR_RMA_ATTACH, "around another");
	CHECK(attach(1, 0, 1 << 16) == MPI_SUCCESS && detach(1) == MPI_SUCCESS, "up to another");
	CHECK(attach(2, size_of(2), size_of(2) + 1) == MPI_SUCCESS, "behind another");
	CHECK(gompi_win_detach((MPI_Win)owner->handle, (char *)address_of(2) + size_of(2)) == MPI_SUCCESS, "behind");
	CHECK(attach(2, 0, 0) == MPI_SUCCESS && attach(3, 0, 0) == MPI_SUCCESS, "no bytes");
	CHECK(detach(3) == MPI_SUCCESS && detach(3) == MPI_ERR_BASE, "no bytes are attached once");
	CHECK(detach(2) == MPI_SUCCESS && detach(2) == MPI_SUCCESS && detach(2) == MPI_ERR_BASE,
	      "those with bytes first");
	for (int k = 20; k > 0; k--)
		CHECK(attach((uint64_t)k + 10, 0, 8) == MPI_SUCCESS, "%d of many", k);
	CHECK(gompi_load(&table->count) == 20 && grown == 5, "%d times more memory", grown);
	for (int k = 1; k <= 20; k++)
		CHECK(detach((uint64_t)(k * 7 % 20) + 11) == MPI_SUCCESS, "%d of many", k);
	owner->flavor = MPI_WIN_FLAVOR_CREATE;
	CHECK(attach(2, 0, 8) == MPI_ERR_RMA_FLAVOR && detach(2) == MPI_ERR_RMA_FLAVOR, "not a dynamic window");
	owner->flavor = MPI_WIN_FLAVOR_DYNAMIC;
	CHECK(attach(2, 1, 0) == MPI_ERR_SIZE && gompi_load(&table->count) == 0 && refused == 8, "%d refused", refused);
	CHECK(gompi_load(&table->version) % 2 == 0, "in the middle of a change");
	CHECK(attach(2, 0, size_of(2)) == MPI_SUCCESS, "not attached");
	CHECK(!gompi_attached_overlaps(owner->handle, 0, UINT64_MAX), "shared memory is reached otherwise");
	gompi_heap_region_remove(address_of(2));
	CHECK(detach(2) == MPI_SUCCESS && attach(2, 0, size_of(2)) == MPI_SUCCESS, "again");
	CHECK(gompi_attached_overlaps(owner->handle, address_of(2) + size_of(2) - 1, UINT64_MAX) &&
		      !gompi_attached_overlaps(owner->handle, address_of(2) + size_of(2), UINT64_MAX),
	      "ordinary memory");
	gompi_heap_region_add(address_of(2), size_of(2), 2);
	CHECK(detach(2) == MPI_SUCCESS && attach(2, 0, size_of(2)) == MPI_SUCCESS, "and again");
}

static int failure_checks;
static void none_failed(void) {
	if (++failure_checks == 3) /* the slow owner ends its change */
		end_change();
}
static void other_failed(void) { gompi_store_seq_cst(&gompi_node_header()->failed_count, 1); }
static void owner_failed(void) { gompi_store(&gompi_cell(1)->state, GOMPI_STATE_FAILED); }
static void first_other_failed(void) {
	if (++failure_checks == 3)
		failure_checks = 0;
	gompi_go_callbacks.find_failed = first_other_failed;
	other_failed();
}

int main(void) {
	unit_node(2);
	heap = unit_memory(16 * REGION);
	table = (struct gompi_attached_regions *)unit_memory(sizeof *table + 32 * sizeof table->entry[0]);
	gompi_go_callbacks.attached_table = attached_table;
	gompi_go_callbacks.map_attached = map_attached;
	gompi_go_callbacks.grow_attached = grow_attached;
	gompi_go_callbacks.raise_error = raise_error;
	for (uint64_t k = 4; k-- > 0;)
		gompi_heap_region_add(address_of(k), size_of(k), (int64_t)k);
	for (int oversubscribed = 0; oversubscribed < 2; oversubscribed++) {
		gompi_node.policy.is_oversubscribed = oversubscribed;
		w = unit_window(2, heap, 0, false);
		w->attached = calloc(2, sizeof *w->attached);
		owner = unit_window(2, heap, 0, false);
		owner->flavor = MPI_WIN_FLAVOR_DYNAMIC;
		owner->me = 1;
		owner->attached = calloc(2, sizeof *owner->attached);
		gompi_store(&owner->attached[1], table);
		gompi_store(&table->count, 0);
		writes();
		gompi_store(&readers_left, READERS);
		unit_threads(READERS + 1, reads);

		unit_hurry = true;
		failure_checks = 0;
		gompi_go_callbacks.find_failed = none_failed;
		begin_change();
		CHECK(find(2, 0, 8) && failure_checks == 3, "%d looks for the dead", failure_checks);
		gompi_go_callbacks.find_failed = owner_failed;
		begin_change();
		char *here;
		int rc = gompi_attached_find(w, 1, address_of(2), address_of(2) + 8, &here);
		CHECK(rc == MPI_ERR_PROC_ABORTED && failure_checks == 3, "class %d of a dead process' table, %d looks",
		      rc, failure_checks);
		gompi_store(&gompi_node_header()->failed_count, 0);
		gompi_store(&gompi_cell(1)->state, 0);
		end_change();
		unit_hurry = false;
	}
	return unit_end();
}
