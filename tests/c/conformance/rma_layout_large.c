/* Proves: operations with target datatypes of many thousand blocks reach every block in order and change nothing
 *   between the blocks. The data is several times larger than the library's transfer buffers. Covers short and long
 *   blocks at equal distances, blocks of one size and of several sizes at odd distances, and many copies of a small
 *   type. Covers put, get, accumulate and get_accumulate. Tests every window kind. MPI-5.0 12.3
 * np: 1 2 3
 * args: short long odd sizes copies
 * again: GOMPIRMA_NO_CMA=1
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { WORDS = 120000, PIECES = 15000 };

static const char *shape;
static int count; /* number of copies of the datatype in one operation */
static MPI_Datatype type;
static int lengths[PIECES], places[PIECES];
static long at[WORDS]; /* indices of the words in the type, in the order of its type map */
static int words;

static void add(long from, int n) {
	for (int i = 0; i < n; i++)
		at[words++] = from + i;
}

static void make_type(void) {
	words = 0;
	count = 1;
	if (strcmp(shape, "short") == 0) {
		MPI_Type_vector(2 * PIECES, 1, 3, MPI_LONG, &type);
		for (int i = 0; i < 2 * PIECES; i++)
			add(3L * i, 1);
	} else if (strcmp(shape, "long") == 0) {
		MPI_Type_vector(900, 100, 130, MPI_LONG, &type);
		for (int i = 0; i < 900; i++)
			add(130L * i, 100);
	} else if (strcmp(shape, "odd") == 0) {
		for (int i = 0; i < PIECES; i++)
			add(places[i] = 7 * i + i % 5, 2);
		MPI_Type_create_indexed_block(PIECES, 2, places, MPI_LONG, &type);
	} else if (strcmp(shape, "sizes") == 0) { /* blocks in reverse order of address */
		for (int i = 0; i < PIECES; i++)
			add(places[i] = 7 * (PIECES - 1 - i), lengths[i] = 1 + i % 4);
		MPI_Type_indexed(PIECES, lengths, places, MPI_LONG, &type);
	} else {
		MPI_Datatype small;
		MPI_Type_vector(2, 3, 5, MPI_LONG, &small);
		MPI_Type_create_resized(small, 0, 11 * sizeof(long), &type);
		MPI_Type_free(&small);
		count = 10000;
		for (int i = 0; i < count; i++) {
			add(11L * i, 3);
			add(11L * i + 5, 3);
		}
	}
	MPI_Type_commit(&type);
}

static long value(int rank, int k) { return 1000000L * (rank + 1) + k; }

static void body(struct window *w) {
	static long data[WORDS], got[WORDS], want[WORDS];
	int target = (w->rank + 1) % w->n, from = (w->rank + w->n - 1) % w->n, bad = 0;
	long *mem = w->mem;
	for (int i = 0; i < WORDS; i++)
		mem[i] = -i;
	for (int k = 0; k < words; k++)
		data[k] = value(w->rank, k);
	MPI_Barrier(w->comm);
	MPI_Win_lock_all(0, w->win);
	MPI_Put(data, words, MPI_LONG, target, window_at(w, target, 0), count, type, w->win);
	MPI_Win_flush(target, w->win);
	MPI_Get(got, words, MPI_LONG, target, window_at(w, target, 0), count, type, w->win);
	MPI_Win_flush(target, w->win);
	for (int k = 0; k < words; k++)
		bad += got[k] != data[k];
	CHECK(bad == 0, "%s, %s: get: %d of %d words are wrong", w->name, shape, bad, words);
	MPI_Accumulate(data, words, MPI_LONG, target, window_at(w, target, 0), count, type, MPI_SUM, w->win);
	memset(got, 0, sizeof got);
	MPI_Get_accumulate(data, words, MPI_LONG, got, words, MPI_LONG, target, window_at(w, target, 0), count, type,
			   MPI_SUM, w->win);
	MPI_Win_unlock_all(w->win);
	bad = 0;
	for (int k = 0; k < words; k++)
		bad += got[k] != 2 * data[k];
	CHECK(bad == 0, "%s, %s: get_accumulate: %d of %d words are wrong", w->name, shape, bad, words);
	MPI_Barrier(w->comm);
	for (int i = 0; i < WORDS; i++)
		want[i] = -i;
	for (int k = 0; k < words; k++)
		want[at[k]] = 3 * value(from, k);
	bad = 0;
	int first = -1;
	for (int i = 0; i < WORDS; i++)
		if (mem[i] != want[i]) {
			bad++;
			first = first < 0 ? i : first;
		}
	CHECK(bad == 0, "%s, %s: %d words of the window are wrong, the first is %d: %ld, not %ld", w->name, shape, bad,
	      first, mem[first < 0 ? 0 : first], want[first < 0 ? 0 : first]);
	MPI_Barrier(w->comm);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	shape = argc > 1 ? argv[1] : "short";
	make_type();
	windows_each(WORDS * (MPI_Aint)sizeof(long), sizeof(long), MPI_COMM_WORLD, body);
	MPI_Type_free(&type);
	return check_end();
}
