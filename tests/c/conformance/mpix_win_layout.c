/* Proves: MPIX_Gompirma_win_layout returns size, displacement unit, process and paths of each member's memory, for
 *   windows of each kind. It also returns the address at which the member's memory is mapped in the calling process.
 *   The member sees a store to that address. Errors do not change the layout and call no handler.
 * np: 2 3
 * ref: none (of gompirma only)
 * again: GOMPIRMA_NO_CMA=1
 * nodes: 2
 * timeout: 20
 */
#include "../check.h"

#include "mpix_gompirma.h"

enum { INTS = 1000 };
#define BIT(way) (1u << MPIX_GOMPIRMA_##way)

static int rank, n, node_n;
static int nodes[3]; /* nodes[r]: true if rank r is on this node */

/* Checks the layout of each rank's memory. Stores to the memory that is mapped in this process, and checks that the
 * stores of the other ranks to this rank's memory are visible. */
static void look(MPI_Win win, const int *own, unsigned near, int dynamic) {
	struct MPIX_Gompirma_layout l;
	for (int r = 0; r < n; r++) {
		memset(&l, 7, sizeof l);
		CHECK_OK(MPIX_Gompirma_win_layout(win, r, &l));
		CHECK(l.process == r, "rank %d is process %d", r, l.process);
		CHECK(l.size == (dynamic ? 0 : (MPI_Aint)((INTS + r) * sizeof(int))), "size %lld of rank %d",
		      (long long)l.size, r);
		CHECK(l.disp_unit == (dynamic ? 1 : r + 1), "unit %d of rank %d", l.disp_unit, r);
		unsigned want = !nodes[r] ? BIT(NETWORK) : r == rank && !dynamic ? BIT(DIRECT) : near;
		if (getenv("GOMPIRMA_NO_CMA") != NULL)
			want &= ~BIT(CMA);
		CHECK(l.ways == want, "ways %#x of rank %d, not %#x", l.ways, r, want);
		if (l.ways == BIT(DIRECT) && l.base != NULL) {
			CHECK(l.from == 0 && l.to == l.size, "bytes %lld to %lld of rank %d", (long long)l.from,
			      (long long)l.to, r);
			((int *)l.base)[rank] = 100 + rank;
		} else {
			CHECK(l.base == NULL && l.from == 0 && l.to == 0, "memory of rank %d is mapped", r);
		}
	}
	MPI_Win_sync(win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_sync(win);
	for (int r = 0; r < n && near == BIT(DIRECT); r++)
		CHECK(own[r] == (nodes[r] ? 100 + r : 0), "rank %d has stored %d", r, own[r]);
	struct MPIX_Gompirma_layout before = l;
	CHECK_CLASS(MPIX_Gompirma_win_layout(win, n, &l), MPI_ERR_RANK);
	CHECK_CLASS(MPIX_Gompirma_win_layout(win, -1, &l), MPI_ERR_RANK);
	CHECK_CLASS(MPIX_Gompirma_win_layout(win, 0, NULL), MPI_ERR_ARG);
	CHECK(memcmp(&before, &l, sizeof l) == 0, "an error has changed the layout");
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Win win;
	MPI_Comm node;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Comm_size(node, &node_n);
	int mine[3] = {0}, all[3];
	MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, node);
	for (int i = 0; i < node_n; i++)
		mine[all[i]] = 1;
	memcpy(nodes, mine, sizeof nodes);
	MPI_Comm_free(&node);
	MPI_Aint size = (MPI_Aint)((INTS + rank) * sizeof(int));
	int *memory;

	MPI_Win_allocate(size, rank + 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	MPI_Win_lock_all(0, win);
	look(win, memory, BIT(DIRECT), 0);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);

	memory = calloc(1, (size_t)size);
	MPI_Win_create(memory, size, rank + 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_lock_all(0, win);
	look(win, memory, BIT(RING) | BIT(CMA), 0);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	free(memory);

	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_lock_all(0, win);
	look(win, NULL, BIT(DIRECT) | BIT(RING) | BIT(CMA), 1);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);

	struct MPIX_Gompirma_layout l;
	CHECK_CLASS(MPIX_Gompirma_win_layout(MPI_WIN_NULL, 0, &l), MPI_ERR_WIN);
	return check_end();
}
