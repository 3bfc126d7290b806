/* Proves: for a window with a million members, a process needs memory only for the members on its own node. Data about
 * the other members is in a table that the processes of the node share. If there is no shared table, the process has a
 * private table, with memory only for the pages that it has accessed. When a window is freed, the memory of its tables
 * is released, even if its descriptor is cached.
 *
 * sanitizer: address (one thread)
 */
#include "../unit.h"

enum { MEMBERS = 1000000, BYTES = 64, PAGE = 4096, WINDOWS = 20 };

/* The ranks on this node. */
static const int32_t here[2] = {400000, 900001};

static size_t pages_with_memory(const void *at, size_t bytes) {
	static unsigned char in[MEMBERS * sizeof(struct gompi_target) / PAGE + 1];
	size_t n = 0, pages = (bytes + PAGE - 1) / PAGE;
	if (mincore((void *)(uintptr_t)at, bytes, in) != 0)
		abort();
	for (size_t i = 0; i < pages; i++)
		n += in[i] & 1;
	return n;
}

static struct gompi_win *opened(int flavor, char *control, char *memory, struct gompi_win_remote *table) {
	static uintptr_t handle = 0x1101;
	struct gompi_member_plan members[2];
	for (int i = 0; i < 2; i++)
		members[i] = (struct gompi_member_plan){.base = (uintptr_t)memory,
							.size = BYTES,
							.rank = here[i],
							.peer = here[i],
							.disp_unit = 1,
							.direct = true};
	struct gompi_win_plan plan = {.handle = handle++,
				      .shared = (uintptr_t)control,
				      .remote = (uintptr_t)table,
				      .flavor = flavor,
				      .me = here[0],
				      .n = MEMBERS,
				      .local_size = 2,
				      .group = {.n = MEMBERS, .stride = 1}};
	if (!gompi_win_open(&plan, members))
		abort();
	return gompi_win_get((MPI_Win)plan.handle);
}

static size_t mapped(void) {
	size_t pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (f == NULL || fscanf(f, "%zu", &pages) != 1)
		abort();
	fclose(f);
	return pages * PAGE;
}

int main(void) {
	static int32_t node_of[MEMBERS], places[MEMBERS];
	for (int i = 0; i < MEMBERS; i++) {
		node_of[i] = i != here[0] && i != here[1];
		places[i] = i == here[0] ? 0 : i == here[1] ? 1 : -1;
	}
	unit_node(2);
	gompi_node.processes = unit_processes(MEMBERS, node_of, places);
	char *control = unit_memory(unit_control(here[1] - here[0] + 1, 2)), *memory = unit_memory(BYTES);
	struct gompi_win_remote *table = (struct gompi_win_remote *)unit_memory(MEMBERS * sizeof *table);

	struct gompi_win *w = opened(MPI_WIN_FLAVOR_ALLOCATE, control, memory, table);
	struct gompi_remote_plan last = {.size = 7, .disp_unit = 5, .peer = MEMBERS - 1};
	gompi_win_set_members(w->handle, MEMBERS - 1, 1, &last);
	size_t bytes = MEMBERS * sizeof *w->targets;
	CHECK(w->remote == table && w->private_remote == NULL && table[MEMBERS - 1].size == 7, "the node's table");
	CHECK(gompi_win_bytes(w, MEMBERS - 1) == 7 && gompi_win_peer(w, MEMBERS - 1) == MEMBERS - 1, "the last member");
	CHECK(pages_with_memory(w->targets, bytes) == 2, "%zu pages", pages_with_memory(w->targets, bytes));
	CHECK(gompi_win_is_remote(w, MEMBERS - 1) && gompi_win_disp_unit(w, MEMBERS - 1) == 5,
	      "where the last member is");
	CHECK(!gompi_win_is_remote(w, here[1]) && gompi_win_disp_unit(w, here[1]) == 1, "where the other one is");
	gompi_win_close(w->handle);

	w = opened(MPI_WIN_FLAVOR_DYNAMIC, control, memory, NULL);
	gompi_win_set_members(w->handle, MEMBERS - 1, 1, &last);
	CHECK(w->private_remote != NULL && w->remote == w->private_remote, "a table of its own");
	CHECK(pages_with_memory(w->private_remote, MEMBERS * sizeof *w->private_remote) == 1, "a page of that");
	CHECK(pages_with_memory(w->attached, MEMBERS * sizeof *w->attached) == 1, "a page for attached memory");
	gompi_win_close(w->handle);

	/* After WINDOWS windows were created and freed, the mapped size must not grow any more. */
	size_t before = 0;
	for (int i = 0; i < 3 * WINDOWS; i++) {
		w = opened(MPI_WIN_FLAVOR_DYNAMIC, control, memory, NULL);
		gompi_win_close(w->handle);
		if (i == WINDOWS)
			before = mapped();
	}
	CHECK(mapped() <= before + (1 << 20), "%zu bytes are mapped, %zu before", mapped(), before);
	return unit_end();
}
