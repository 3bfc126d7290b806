/* Proves: with the info key gompirma_share_in_place, the library shares the program's memory (malloc, static,
 *   automatic, mmap) with other processes at its address. The memory keeps its contents, at every alignment and size.
 *   Puts, gets and accumulates reach all of it in every kind of epoch. After MPI_Win_free the contents remain and the
 *   memory is private. MPI-5.0 12.2.1
 * np: 1 2 5
 * args: fence pscw lock lock_shared lock_all flush flush_all flush_local flush_local_all
 * ref: none (MPICH over UCX puts to the wrong place if the window is not aligned to 16 bytes)
 * timeout: 60
 */
#define _GNU_SOURCE
#include "../epochs.h"
#include "../in_place.h"

#include <sys/mman.h>

static int sync_kind;

/* Tests a window over mem, with the same size at every rank. */
static void one(unsigned char *mem, MPI_Aint size, const char *what) {
	int n = check_size, me = check_rank, right = (me + 1) % n, left = (me + n - 1) % n;
	unsigned char *buffer = malloc((size_t)size + 1), *got = malloc((size_t)size + 1);
	uintptr_t lo = ((uintptr_t)mem + PAGE - 1) / PAGE * PAGE, hi = ((uintptr_t)mem + (size_t)size) / PAGE * PAGE;
	struct window w = {
		.mem = mem, .size = size, .unit = 1, .comm = MPI_COMM_WORLD, .rank = me, .n = n, .name = what};
	in_place_fill(mem, (size_t)size, me, 1);
	w.win = in_place_window(mem, size, 1);
	CHECK_FILLED(mem, (size_t)size, me, 1, what);
	CHECK_SHARED(w.win, lo < hi ? "true" : size > 0 ? "false: " : "");
	if (lo < hi && in_place_told(w.win) != NULL)
		CHECK(strcmp(in_place_mode((void *)lo, NULL), "rw-s") == 0, "%s: mode %s", what,
		      in_place_mode((void *)lo, NULL));

	/* Gets all bytes of the right neighbour. */
	epoch_open(sync_kind, &w);
	epoch_target(sync_kind, &w, right);
	MPI_Get(got, (int)size, MPI_BYTE, right, 0, (int)size, MPI_BYTE, w.win);
	epoch_target_done(sync_kind, &w, right);
	epoch_close(sync_kind, &w);
	CHECK_FILLED(got, (size_t)size, right, 1, what);

	/* Puts all bytes to the right neighbour. */
	in_place_fill(buffer, (size_t)size, right, 2);
	epoch_open(sync_kind, &w);
	epoch_target(sync_kind, &w, right);
	MPI_Put(buffer, (int)size, MPI_BYTE, right, 0, (int)size, MPI_BYTE, w.win);
	epoch_target_done(sync_kind, &w, right);
	epoch_close(sync_kind, &w);
	CHECK_FILLED(mem, (size_t)size, me, 2, what);

	/* Puts every third byte with a vector type; then accumulates to all bytes. */
	int third = (int)(size / 3);
	MPI_Datatype vector;
	MPI_Type_vector(third, 1, 3, MPI_BYTE, &vector);
	MPI_Type_commit(&vector);
	in_place_fill(buffer, (size_t)third, me, 3);
	epoch_open(sync_kind, &w);
	epoch_target(sync_kind, &w, right);
	if (third > 0)
		MPI_Put(buffer, third, MPI_BYTE, right, 0, 1, vector, w.win);
	epoch_target_done(sync_kind, &w, right);
	epoch_close(sync_kind, &w);
	for (int i = 0; i < third; i++)
		if (mem[3 * i] != in_place_byte(left, (size_t)i, 3)) {
			CHECK(0, "%s: byte %d of a vector is %d", what, i, mem[3 * i]);
			break;
		}
	memset(got, 0, (size_t)size);
	epoch_open(sync_kind, &w);
	epoch_target(sync_kind, &w, right);
	if (third > 0)
		MPI_Get(got, third, MPI_BYTE, right, 0, 1, vector, w.win);
	epoch_target_done(sync_kind, &w, right);
	epoch_close(sync_kind, &w);
	CHECK_FILLED(got, (size_t)third, me, 3, what);
	MPI_Type_free(&vector);

	in_place_fill(mem, (size_t)size, me, 4);
	memset(buffer, 1, (size_t)size);
	memset(got, 0, (size_t)size);
	epoch_open(sync_kind, &w);
	epoch_target(sync_kind, &w, right);
	MPI_Get_accumulate(buffer, (int)size, MPI_UINT8_T, got, (int)size, MPI_UINT8_T, right, 0, (int)size,
			   MPI_UINT8_T, MPI_SUM, w.win);
	epoch_target_done(sync_kind, &w, right);
	epoch_close(sync_kind, &w);
	CHECK_FILLED(got, (size_t)size, right, 4, what);
	for (MPI_Aint i = 0; i < size; i++)
		if (mem[i] != (unsigned char)(in_place_byte(me, (size_t)i, 4) + 1)) {
			CHECK(0, "%s: byte %ld is %d after MPI_SUM", what, (long)i, mem[i]);
			break;
		}

	in_place_fill(mem, (size_t)size, me, 5);
	MPI_Win_free(&w.win);
	CHECK_FILLED(mem, (size_t)size, me, 5, what);
	if (size > 0)
		CHECK(strcmp(in_place_mode(mem + size / 2, NULL), "rw-p") == 0, "%s: mode %s after MPI_Win_free", what,
		      in_place_mode(mem + size / 2, NULL));
	in_place_fill(mem, (size_t)size, me, 6); /* the memory must still be writable */
	CHECK_FILLED(mem, (size_t)size, me, 6, what);
	free(buffer);
	free(got);
}

static unsigned char data_memory[5 * PAGE] = {1}; /* in the data segment; bss_memory is zero-initialized */
static unsigned char bss_memory[5 * PAGE];

static void on_stack(size_t size) {
	unsigned char area[size + 100];
	memset(area, 0x5a, sizeof area);
	one(area + 50, (MPI_Aint)size, "stack");
	for (int i = 0; i < 50; i++)
		CHECK(area[i] == 0x5a && area[50 + size + (size_t)i] == 0x5a,
		      "the stack around the window has changed");
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	sync_kind = epoch_named(check_arg);
	if (sync_kind < 0)
		return check_end();
	static const MPI_Aint sizes[] = {0, 1, 100, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE - 1, 2 * PAGE, 3 * PAGE + 5};
	static const int skips[] = {0, 1, 16, PAGE - 8, PAGE - 3};
	unsigned char *area = aligned_alloc(PAGE, 8 * PAGE);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (size_t j = 0; j < sizeof skips / sizeof *skips; j++) {
			memset(area, 0xa5, 8 * PAGE);
			one(area + skips[j], sizes[i], "aligned_alloc");
			for (int k = 0; k < 8 * PAGE; k++)
				if ((k < skips[j] || k >= skips[j] + sizes[i]) && area[k] != 0xa5) {
					CHECK(0, "skip %d, size %ld: byte %d outside of the window has changed",
					      skips[j], (long)sizes[i], k);
					break;
				}
		}
	free(area);
	one(data_memory, sizeof data_memory, "data");
	one(bss_memory, sizeof bss_memory, "bss");
	on_stack(20000);
	on_stack(3000);
	area = malloc(100000);
	one(area, 100000, "malloc");
	free(area);
	area = malloc(3000000);
	one(area, 3000000, "malloc of its own mapping");
	free(area);
	area = mmap(NULL, 10 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	one(area, 10 * PAGE, "mmap");
	one(area + PAGE, 8 * PAGE, "middle of mmap");
	munmap(area, 10 * PAGE);
	return check_end();
}
