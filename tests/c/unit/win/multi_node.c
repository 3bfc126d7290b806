/* Proves for a window with members on several nodes: its control memory on a node has entries exactly from the lowest
 * to the highest rank on this node. It also has the barrier and the post counters of the members on this node. All
 * processes of the node compute the same address for each word. Data about the members comes from a table in shared
 * memory, of which each process of the node writes a part. If there is no shared table, it comes from a private table.
 * Operations on members of other nodes use the network path.
 *
 * sanitizer: address (one thread)
 */
#include "../unit.h"

#include "transport/transport.h"
#include "win/lock.h"
#include "win/z_calls.h"

enum { MEMBERS = 1000, HERE = 7, BYTES = 4096 };

/* The window's ranks on this node. The ranks in MPI_COMM_WORLD have the reverse order (peer_of). */
static const int32_t here[HERE] = {3, 4, 90, 91, 92, 500, 998};
static int32_t places[MEMBERS];

static int32_t peer_of(int rank) { return MEMBERS - 1 - rank; }

static struct gompi_win *open_as(int me, char *control, char *memory, struct gompi_win_remote *table) {
	static uintptr_t handle = 0x1101;
	static struct gompi_remote_plan remote[MEMBERS];
	static struct gompi_region regions[MEMBERS];
	struct gompi_member_plan members[HERE];
	for (int i = 0; i < HERE; i++)
		members[i] = (struct gompi_member_plan){.base = (uintptr_t)memory + (uintptr_t)i * BYTES,
							.address = 0x1000 + (uintptr_t)i,
							.size = BYTES,
							.rank = here[i],
							.peer = peer_of(here[i]),
							.disp_unit = 1,
							.direct = true};
	for (int i = 0; i < MEMBERS; i++) {
		remote[i] = (struct gompi_remote_plan){.size = BYTES, .disp_unit = i + 1, .peer = peer_of(i)};
		regions[i] = (struct gompi_region){.key = (uint64_t)i, .address = 2 * (uint64_t)i};
	}
	struct gompi_win_plan plan = {.handle = handle++,
				      .shared = (uintptr_t)control,
				      .remote = (uintptr_t)table,
				      .flavor = MPI_WIN_FLAVOR_ALLOCATE,
				      .me = here[me],
				      .n = MEMBERS,
				      .local_size = HERE};
	if (!gompi_win_open(&plan, members))
		abort();
	int first = table == NULL ? 0 : MEMBERS * me / HERE, end = table == NULL ? MEMBERS : MEMBERS * (me + 1) / HERE;
	gompi_win_set_members(plan.handle, first, end - first, &remote[first]);
	gompi_win_set_regions(plan.handle, first, end - first, &regions[first]);
	return gompi_win_get((MPI_Win)plan.handle);
}

static void check(struct gompi_win_remote *table) {
	/* The control memory ends at the end of accessible memory, so that a write beyond the end crashes. */
	size_t bytes = unit_control(here[HERE - 1] - here[0] + 1, HERE), gap = (4096 - bytes % 4096) % 4096;
	gap &= ~(size_t)63;
	char *control = unit_memory(bytes + gap) + gap, *memory = unit_memory(HERE * BYTES);
	struct gompi_win *of[HERE];
	for (int i = 0; i < HERE; i++)
		of[i] = open_as(i, control, memory, table);

	for (int i = 0; i < HERE; i++) {
		struct gompi_win *w = of[i];
		CHECK(w->me == here[i] && w->local_rank == i && w->local_size == HERE, "number %d", w->local_rank);
		CHECK((char *)gompi_member(w, here[0]) == control, "the lowest line begins at %td",
		      (char *)gompi_member(w, here[0]) - control);
		CHECK((char *)w->posts + HERE * HERE == control + bytes, "posts end at %td",
		      (char *)w->posts + HERE * HERE - control);
		for (int j = 0; j < HERE; j++) {
			CHECK(gompi_win_rank_of_local(w, j) == here[j] && gompi_win_local_rank(w, here[j]) == j,
			      "number %d", j);
			CHECK(gompi_member(w, here[j])->address == 0x1000 + (uintptr_t)j, "line of %d", here[j]);
			CHECK(gompi_post_counter(w, here[i], here[j]) == gompi_post_counter(of[j], here[i], here[j]),
			      "posts");
		}
		for (int r = 0, j = 0; r < MEMBERS; r++) {
			bool near = j < HERE && here[j] == r;
			CHECK(gompi_win_is_remote(w, r) == !near, "where %d is", r);
			CHECK(gompi_win_peer(w, r) == peer_of(r) && gompi_win_bytes(w, r) == BYTES, "rank %d", r);
			CHECK(w->remote[r].region.key == (uint64_t)r, "region of %d", r);
			int unit;
			MPI_Aint size;
			void *base;
			gompi_win_shared_query((MPI_Win)w->handle, r, &size, &unit, &base);
			CHECK(unit == (near ? 1 : r + 1) && size == (near ? BYTES : 0) && (base != NULL) == near,
			      "rank %d: %d, %zu, %p", r, unit, (size_t)size, base);
			CHECK(w->targets[r].mapped_bytes == (near ? BYTES : 0), "reach of %d", r);
			CHECK((gompi_transport_to(w, r) == &gompi_transport_node) == near, "path to %d", r);
			j += near;
		}
	}

	/* Checks that the post counters of different pairs are different bytes, and that the locks of different members
	 * are different words. */
	for (int i = 0; i < HERE; i++) {
		for (int j = 0; j < HERE; j++)
			gompi_store(gompi_post_counter(of[j], here[i], here[j]), (uint8_t)(i * HERE + j));
		CHECK(gompi_lock_try(gompi_member(of[HERE - 1 - i], here[i]), true, false), "lock of %d", here[i]);
	}
	for (int i = 0; i < HERE; i++) {
		for (int j = 0; j < HERE; j++)
			CHECK(gompi_load(gompi_post_counter(of[i], here[i], here[j])) == i * HERE + j, "posts %d %d", i,
			      j);
		gompi_unlock(of[i], here[i], true);
		CHECK(gompi_load(&gompi_member(of[0], here[i])->lock) == 0, "lock of %d", here[i]);
	}
	for (int i = 0; i < HERE; i++)
		gompi_win_close(of[i]->handle);
}

int main(void) {
	unit_node(HERE);
	for (int i = 0; i < MEMBERS; i++)
		places[i] = -1;
	for (int i = 0; i < HERE; i++)
		places[peer_of(here[i])] = i;
	gompi_node.processes = unit_processes(MEMBERS, NULL, places);
	check(NULL);
	check((struct gompi_win_remote *)unit_memory(MEMBERS * sizeof(struct gompi_win_remote)));
	return unit_end();
}
