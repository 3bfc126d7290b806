/* Proves: accumulates of all sizes by several origins at once stay atomic and ordered at the border of memory that is
 *   shared in place (gompirma_share_in_place). The memory begins and ends within a page, and only its whole pages are
 *   shared. Covers elements before, across and after the border, aligned or not, several at a time, and elements of
 *   different sizes at the same address. MPI-5.0 12.7.1, 12.7.2
 * np: 2 3 5
 * args: lock_all fence
 * ref: none (MPICH over UCX puts to the wrong place if the window is not aligned to 16 bytes)
 * timeout: 90
 */
#include "../in_place.h"

enum { TIMES = 60, MEMORY = 5 * PAGE };

static void begin(MPI_Win win) { *check_arg == 'f' ? MPI_Win_fence(0, win) : MPI_Win_lock_all(0, win); }
static void end(MPI_Win win) {
	if (*check_arg == 'f')
		MPI_Win_fence(0, win);
	else
		MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
	MPI_Datatype type;
	int size;
} types[] = {{MPI_UINT8_T, 1}, {MPI_UINT16_T, 2}, {MPI_UINT32_T, 4}, {MPI_UINT64_T, 8}};

static void add(void *at, int size, uint64_t by) {
	uint64_t x = 0;
	memcpy(&x, at, (size_t)size); /* little endian, as the whole test assumes */
	x += by;
	memcpy(at, &x, (size_t)size);
}

/* Adds from all ranks to elements of one size at rank 0, at every distance from the two borders. These elements
 * overlap, so no byte may exceed 255: a carry would change a neighbouring element. */
static void one_size(unsigned char *mem, MPI_Aint size, MPI_Win win, int t) {
	int bytes = types[t].size;
	uint64_t one = 0x0101010101010101u;
	int times = 200 / check_size < TIMES ? 200 / check_size : TIMES;
	unsigned char *wanted = malloc((size_t)size);
	MPI_Aint borders[] = {(MPI_Aint)(-(uintptr_t)mem % PAGE),
			      (MPI_Aint)(((uintptr_t)mem + (size_t)size) / PAGE * PAGE - (uintptr_t)mem)};
	MPI_Bcast(borders, 2, MPI_AINT, 0, MPI_COMM_WORLD);
	for (int shift = 0; shift < bytes; shift++) {
		MPI_Barrier(MPI_COMM_WORLD);
		memset(mem, 0, (size_t)size);
		memset(wanted, 0, (size_t)size);
		MPI_Barrier(MPI_COMM_WORLD);
		begin(win);
		for (int time = 0; time < times; time++)
			for (int b = 0; b < 2; b++)
				for (int k = -2; k < 2; k++) {
					MPI_Aint at = borders[b] + k * bytes + shift;
					if (at >= 0 && at + bytes <= size)
						MPI_Accumulate(&one, 1, types[t].type, 0, at, 1, types[t].type, MPI_SUM,
							       win);
				}
		/* Adds to consecutive elements across both borders in one call. */
		uint64_t many[PAGE / 8 * 4];
		for (size_t i = 0; i < sizeof many / 8; i++)
			many[i] = one;
		int count = (int)(size - shift) / bytes;
		if (count > (int)sizeof many / bytes)
			count = (int)sizeof many / bytes;
		MPI_Accumulate(many, count, types[t].type, 0, shift, count, types[t].type, MPI_SUM, win);
		end(win);
		if (check_rank == 0) {
			for (int b = 0; b < 2; b++)
				for (int k = -2; k < 2; k++) {
					MPI_Aint at = borders[b] + k * bytes + shift;
					if (at >= 0 && at + bytes <= size)
						add(wanted + at, bytes, one * (uint64_t)(times * check_size));
				}
			for (int i = 0; i < count; i++)
				add(wanted + shift + i * bytes, bytes, one * (uint64_t)check_size);
			for (MPI_Aint i = 0; i < size; i++)
				if (mem[i] != wanted[i]) {
					CHECK(0,
					      "elements of %d bytes, shift %d: byte %ld is %d, not %d (borders %ld, "
					      "%ld)",
					      bytes, shift, (long)i, mem[i], wanted[i], (long)borders[0],
					      (long)borders[1]);
					break;
				}
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	free(wanted);
}

/* Adds from even ranks to an element of 8 bytes across the border, and from odd ranks to its first 4 bytes. The two
 * sizes add to different bytes, so the sum shows a lost update of either. */
static void mixed_sizes(unsigned char *mem, MPI_Aint size, MPI_Win win) {
	MPI_Aint border = (MPI_Aint)(-(uintptr_t)mem % PAGE);
	MPI_Bcast(&border, 1, MPI_AINT, 0, MPI_COMM_WORLD);
	if (border < 8 || border + 8 > size)
		return;
	uint64_t large = (uint64_t)1 << 48; /* adds to bytes 6 and 7 */
	uint32_t small = 1;                 /* adds to bytes 0 to 3 */
	MPI_Barrier(MPI_COMM_WORLD);
	memset(mem, 0, (size_t)size);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int shift = 1; shift < 8; shift++) {
		MPI_Aint at = border - shift;
		begin(win);
		for (int time = 0; time < TIMES; time++) {
			if (check_rank % 2 == 0)
				MPI_Accumulate(&large, 1, MPI_UINT64_T, 0, at, 1, MPI_UINT64_T, MPI_SUM, win);
			else
				MPI_Accumulate(&small, 1, MPI_UINT32_T, 0, at, 1, MPI_UINT32_T, MPI_SUM, win);
		}
		end(win);
		if (check_rank == 0) {
			uint64_t got, want = large * (uint64_t)(TIMES * ((check_size + 1) / 2)) +
					     (uint64_t)(TIMES * (check_size / 2));
			memcpy(&got, mem + at, 8);
			CHECK(got == want, "8 and 4 bytes, %d before the border: %#llx, not %#llx", shift,
			      (unsigned long long)got, (unsigned long long)want);
			memset(mem + at, 0, 8);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* Checks that operations of one origin on one address are ordered. Replaces all elements across the border by one large
 * accumulate, and then fetches and replaces the elements near the border one by one. */
static void ordered(unsigned char *mem, MPI_Aint size, MPI_Win win) {
	int right = (check_rank + 1) % check_size, count = (int)(size / 4);
	uint32_t *values = malloc((size_t)count * 4), got;
	MPI_Aint border = (MPI_Aint)(-(uintptr_t)mem % PAGE), theirs;
	MPI_Sendrecv(&border, 1, MPI_AINT, (check_rank + check_size - 1) % check_size, 0, &theirs, 1, MPI_AINT, right,
		     0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (*check_arg == 'f')
		goto out; /* the test needs results before the epoch ends, but a fence epoch has no flush */
	begin(win);
	for (int time = 0; time < TIMES; time++) {
		for (int i = 0; i < count; i++)
			values[i] = (uint32_t)(time * 1000 + i % 1000);
		MPI_Accumulate(values, count, MPI_UINT32_T, right, 0, count, MPI_UINT32_T, MPI_REPLACE, win);
		for (int k = -3; k < 3; k++) {
			MPI_Aint i = theirs / 4 + k;
			uint32_t next = 7;
			if (i < 0 || i >= count)
				continue;
			MPI_Fetch_and_op(&next, &got, MPI_UINT32_T, right, i * 4, MPI_REPLACE, win);
			MPI_Win_flush(right, win);
			CHECK(got == values[i], "element %ld is %u after a large replace of %u", (long)i, got,
			      values[i]);
			MPI_Get_accumulate(NULL, 0, MPI_UINT32_T, &got, 1, MPI_UINT32_T, right, i * 4, 1, MPI_UINT32_T,
					   MPI_NO_OP, win);
			MPI_Win_flush(right, win);
			CHECK(got == next, "element %ld is %u after a small replace of %u", (long)i, got, next);
		}
	}
	end(win);
out:
	free(values);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Counts with Compare_and_swap in elements before, across and after the border. */
static void counters(unsigned char *mem, MPI_Aint size, MPI_Win win) {
	MPI_Aint border = (MPI_Aint)(-(uintptr_t)mem % PAGE);
	MPI_Bcast(&border, 1, MPI_AINT, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	memset(mem, 0, (size_t)size);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	MPI_Win_lock_all(0, win);
	for (int k = -1; k < 2; k++) {
		MPI_Aint at = border + k * 8 - (k == 0 ? 3 : 0); /* the middle element lies across the border */
		if (at < 0 || at + 8 > size)
			continue;
		for (int time = 0; time < TIMES; time++)
			for (int64_t old = 0, new, seen;; old = seen) {
				new = old + 1;
				MPI_Compare_and_swap(&new, &old, &seen, MPI_INT64_T, 0, at, win);
				MPI_Win_flush(0, win);
				if (seen == old)
					break;
			}
		MPI_Barrier(MPI_COMM_WORLD);
		if (check_rank == 0) {
			int64_t got;
			memcpy(&got, mem + at, 8);
			CHECK(got == TIMES * check_size, "counter at border %+d: %lld", k, (long long)got);
			memset(mem + at, 0, 8);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Win_unlock_all(win);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	unsigned char *area = aligned_alloc(PAGE, MEMORY);
	static const struct {
		int skip;
		MPI_Aint size;
	} cases[] = {{16, 3 * PAGE}, {PAGE - 24, 2 * PAGE}, {PAGE - 21, PAGE + 40}, {0, PAGE + 64}, {3, 2 * PAGE}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		unsigned char *mem = area + cases[i].skip;
		MPI_Win win = in_place_window(mem, cases[i].size, 1);
		CHECK_SHARED(win, "true: bytes");
		for (size_t t = 0; t < sizeof types / sizeof *types; t++)
			one_size(mem, cases[i].size, win, (int)t);
		mixed_sizes(mem, cases[i].size, win);
		ordered(mem, cases[i].size, win);
		counters(mem, cases[i].size, win);
		MPI_Win_free(&win);
	}
	free(area);
	return check_end();
}
