/* Proves: a window over ordinary memory that several origins use much at a time keeps every promise while the library
 *   may move it to where origins address it directly: no put, accumulate, swap or ticket is lost or doubled, an
 *   origin's accumulates arrive in their order, what was flushed is read back, locks exclude, gets see no mixture; with
 *   targets that wait, that call MPI, and that work on the memory themselves. MPI-5.0 12.2.1, 12.5, 12.7
 * np: 2 3 4
 * nodes: 1 (nothing gets hot where there is a network)
 * args: wait calls stores vectors pairs
 * ref: mpich
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 120
 */
#include "../in_place.h"

enum { PAGES = 64, SIZE = PAGES * PAGE, WORDS = SIZE / 8, ROUNDS = 4000, LEAST_ROUNDS = 1200 };

/* Where what is, in words of 8 bytes: on pages of their own. */
enum { TICKET = 512, SUMS = 1024, GUARDED = 1536, SWAPPED = 2048, SLOTS = 2560, SLOT = 1024 };

static int64_t *memory;
static MPI_Win win;

static int64_t fetch(int target, MPI_Aint word, int64_t add) {
	int64_t before = -1;
	MPI_Fetch_and_op(&add, &before, MPI_INT64_T, target, word, add ? MPI_SUM : MPI_NO_OP, win);
	MPI_Win_flush(target, win);
	return before;
}

/* One round of everything at one target; *last is the last ticket that this origin drew. */
static void work(int target, int64_t round, int64_t *last) {
	MPI_Aint sum = SUMS + 8 * check_rank, slot = SLOTS + SLOT * check_rank;
	int64_t one = 1, two = 2, got = -1, seen = -1, numbers[8], back[8];
	int64_t ticket = fetch(target, TICKET, 1);
	CHECK(ticket > *last, "ticket %lld after %lld", (long long)ticket, (long long)*last);
	*last = ticket;
	/* accumulates without a flush between them: the last one sees the first ones */
	MPI_Accumulate(&one, 1, MPI_INT64_T, target, sum, 1, MPI_INT64_T, MPI_SUM, win);
	MPI_Accumulate(&two, 1, MPI_INT64_T, target, sum, 1, MPI_INT64_T, MPI_SUM, win);
	MPI_Fetch_and_op(&one, &seen, MPI_INT64_T, target, sum, MPI_NO_OP, win);
	MPI_Win_flush(target, win);
	CHECK(seen == 3 * (round + 1), "round %lld: the sum is %lld", (long long)round, (long long)seen);
	/* a put that is read back, somewhere else each time */
	MPI_Aint at = slot + round * 8 % (SLOT - 8);
	for (int i = 0; i < 8; i++)
		numbers[i] = round * 1000 + i;
	MPI_Put(numbers, 8, MPI_INT64_T, target, at, 8, MPI_INT64_T, win);
	MPI_Win_flush(target, win);
	MPI_Get(back, 8, MPI_INT64_T, target, at, 8, MPI_INT64_T, win);
	MPI_Win_flush(target, win);
	CHECK(memcmp(numbers, back, sizeof back) == 0, "round %lld: what was put is not read back", (long long)round);
	/* a counter by compare and swap */
	for (;;) {
		int64_t expected = fetch(target, SWAPPED, 0), next = expected + 1;
		MPI_Compare_and_swap(&next, &expected, &got, MPI_INT64_T, target, SWAPPED, win);
		MPI_Win_flush(target, win);
		if (got == expected)
			break;
	}
}

/* Large puts, and strided ones, whose bytes are read back. */
static void vectors(int target, int64_t round) {
	static int64_t from[SLOT], to[SLOT];
	MPI_Datatype strided;
	MPI_Type_vector(200, 1, 3, MPI_INT64_T, &strided);
	MPI_Type_commit(&strided);
	MPI_Aint slot = SLOTS + SLOT * check_rank;
	for (int i = 0; i < SLOT; i++)
		from[i] = round * SLOT + i;
	MPI_Put(from, SLOT, MPI_INT64_T, target, slot, SLOT, MPI_INT64_T, win);
	MPI_Win_flush(target, win);
	from[0] = -round;
	MPI_Put(from, 1, strided, target, slot, 1, strided, win);
	MPI_Win_flush(target, win);
	memset(to, 0, sizeof to);
	MPI_Get(to, SLOT, MPI_INT64_T, target, slot, SLOT, MPI_INT64_T, win);
	MPI_Win_flush(target, win);
	CHECK(memcmp(from, to, sizeof to) == 0, "round %lld", (long long)round);
	memset(to, 0, sizeof to);
	MPI_Get(to, 1, strided, target, slot, 1, strided, win);
	MPI_Win_flush(target, win);
	for (int i = 0; i < 200; i++)
		CHECK(to[3 * i] == from[3 * i], "round %lld, element %d", (long long)round, i);
	MPI_Type_free(&strided);
}

/* Adds to two words, far from each other, that must always be the same, under an exclusive lock. */
static void guarded(int target) {
	int64_t a = -1, b = -2;
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
	MPI_Get(&a, 1, MPI_INT64_T, target, GUARDED, 1, MPI_INT64_T, win);
	MPI_Get(&b, 1, MPI_INT64_T, target, WORDS - 600, 1, MPI_INT64_T, win);
	MPI_Win_flush(target, win);
	CHECK(a == b, "under the lock there are %lld and %lld", (long long)a, (long long)b);
	a++;
	MPI_Put(&a, 1, MPI_INT64_T, target, GUARDED, 1, MPI_INT64_T, win);
	MPI_Put(&a, 1, MPI_INT64_T, target, WORDS - 600, 1, MPI_INT64_T, win);
	MPI_Win_unlock(target, win);
}

static void check_target(int origins, int rounds, int64_t locked) {
	CHECK(memory[TICKET] == (int64_t)origins * rounds, "%lld tickets", (long long)memory[TICKET]);
	CHECK(memory[SWAPPED] == (int64_t)origins * rounds, "%lld swaps", (long long)memory[SWAPPED]);
	CHECK(memory[GUARDED] == locked && memory[WORDS - 600] == locked, "%lld and %lld under the lock, not %lld",
	      (long long)memory[GUARDED], (long long)memory[WORDS - 600], (long long)locked);
	CHECK_SHARED(win, "true");
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int calls = strcmp(check_arg, "calls") == 0, stores = strcmp(check_arg, "stores") == 0,
	    strided = strcmp(check_arg, "vectors") == 0, pairs = strcmp(check_arg, "pairs") == 0;
	int rounds = strided ? LEAST_ROUNDS : ROUNDS, origins = check_size - 1, over = 0;
	int64_t last = -1;
	memory = aligned_alloc(PAGE, SIZE);
	memset(memory, 0, SIZE);
	MPI_Win_create(memory, SIZE, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (pairs) { /* everybody is an origin and a target */
		int right = (check_rank + 1) % check_size;
		MPI_Win_lock_all(0, win);
		for (int64_t round = 0; round < rounds; round++)
			work(right, round, &last);
		MPI_Win_unlock_all(win);
		MPI_Barrier(MPI_COMM_WORLD);
		check_target(1, rounds, 0);
	} else if (check_rank != 0) {
		MPI_Win_lock_all(0, win);
		for (int64_t round = 0; round < rounds; round++) {
			work(0, round, &last);
			if (strided)
				vectors(0, round);
		}
		MPI_Win_unlock_all(win);
		for (int i = 0; i < 200; i++)
			guarded(0);
		MPI_Ssend(&over, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
	} else {
		int64_t mine = 0, *own = memory + SLOTS + WORDS / 2;
		while (over < origins && (calls || stores)) {
			int found;
			MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
			if (found) {
				MPI_Recv(&found, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				over++;
			}
			if (stores) { /* own words, by plain loads and stores; others see them under a lock */
				MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
				for (int i = 0; i < 1000; i++) {
					CHECK(own[i] == mine, "word %d is %lld, not %lld", i, (long long)own[i],
					      (long long)mine);
					own[i] = mine + 1;
				}
				mine++;
				MPI_Win_unlock(0, win);
			}
		}
		while (over < origins) {
			MPI_Recv(&(int){0}, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			over++;
		}
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		check_target(origins, rounds, 200 * origins);
		for (int o = 1; o < check_size; o++)
			CHECK(memory[SUMS + 8 * o] == 3 * (int64_t)rounds, "the sum of rank %d is %lld", o,
			      (long long)memory[SUMS + 8 * o]);
		MPI_Win_unlock(0, win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_free(&win);
	if (check_rank == 0 && !pairs)
		CHECK(memory[TICKET] == (int64_t)origins * rounds, "after MPI_Win_free there are %lld tickets",
		      (long long)memory[TICKET]);
	free(memory);
	return check_end();
}
