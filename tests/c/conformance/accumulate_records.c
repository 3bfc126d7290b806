/* Proves: an accumulate, fetch or swap of several bytes as MPI_BYTE is atomic as a whole with respect to all other such
 *   calls. This holds at odd addresses too, so ranks can exchange structures through a window. The test computes all
 *   fields of a record from one number; no call may ever see fields of two records. Exactly one rank receives a record
 *   that was swapped out. gompirma promises this; the standard promises atomicity only per byte. MPI-5.0 12.7.1
 * np: 2 3 5
 * args: replace swap chain
 * ref: mpich
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { ROUNDS = 800, PARTS = 5, BYTES = PARTS * 4 };

static void make(char *record, uint32_t number) {
	for (uint32_t i = 0; i < PARTS; i++) {
		uint32_t part = (number + 1) * (2654435761u + 2 * i);
		memcpy(record + 4 * i, &part, 4);
	}
}

/* Returns the number from which all fields of the record were computed, or -1 if the fields disagree. */
static int number_of(const char *record, int most) {
	char other[BYTES];
	for (int n = 0; n < most; n++) {
		make(other, n);
		if (other[0] == record[0] && memcmp(other, record, BYTES) == 0)
			return n;
	}
	return -1;
}

/* Checks that even ranks never read a mix of two records while odd ranks replace rank 0's record. */
static void replace(struct window *w, MPI_Aint at) {
	char record[BYTES], seen[BYTES];
	int torn = 0;
	for (int i = 0; i < ROUNDS; i++) {
		if (w->rank % 2) {
			make(record, i % 8);
			MPI_Accumulate(record, BYTES, MPI_BYTE, 0, window_at(w, 0, at), BYTES, MPI_BYTE, MPI_REPLACE,
				       w->win);
		} else {
			MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, seen, BYTES, MPI_BYTE, 0, window_at(w, 0, at),
					   BYTES, MPI_BYTE, MPI_NO_OP, w->win);
		}
		MPI_Win_flush(0, w->win);
		torn += w->rank % 2 == 0 && number_of(seen, 8) < 0;
	}
	CHECK(torn == 0, "%s window, %d bytes at %d: %d of %d are torn", w->name, BYTES, (int)at, torn, ROUNDS);
}

/* Checks that each record that a rank swaps in is received by exactly one rank, or is in the window at the end. */
static void swap(struct window *w, MPI_Aint at) {
	enum { TIMES = 60 };
	int total = TIMES * w->n + 1;
	char record[BYTES], old[BYTES], *seen = calloc(total, 1), *all = calloc(total, 1);
	for (int i = 0; i < TIMES; i++) {
		make(record, 1 + w->rank * TIMES + i);
		MPI_Get_accumulate(record, BYTES, MPI_BYTE, old, BYTES, MPI_BYTE, 0, window_at(w, 0, at), BYTES,
				   MPI_BYTE, MPI_REPLACE, w->win);
		MPI_Win_flush(0, w->win);
		int n = number_of(old, total);
		CHECK(n >= 0, "%s window: what was swapped out is no record", w->name);
		if (n >= 0)
			seen[n]++;
	}
	MPI_Barrier(w->comm);
	if (w->rank == 0) {
		int n = number_of((char *)w->mem + at, total);
		CHECK(n >= 0, "%s window: what is there in the end is no record", w->name);
		if (n >= 0)
			seen[n]++;
	}
	MPI_Allreduce(seen, all, total, MPI_SIGNED_CHAR, MPI_SUM, w->comm);
	for (int i = 0; i < total; i++)
		CHECK(all[i] == 1, "%s window: record %d came out %d times", w->name, i, all[i]);
	free(seen);
	free(all);
}

/* Passes a token from rank to rank. The rank that has the token writes the next rank and a number to its own record.
 * The other ranks poll that record until it contains their rank. */
static void chain(struct window *w, MPI_Aint at) {
	enum { TURNS = 100 };
	struct {
		int32_t rank;
		char gap[4];
		int64_t turn;
	} link, named = {-1, "", -1};
	MPI_Accumulate(&named, sizeof named, MPI_BYTE, w->rank, window_at(w, w->rank, at), sizeof named, MPI_BYTE,
		       MPI_REPLACE, w->win);
	MPI_Win_flush(w->rank, w->win);
	MPI_Barrier(w->comm);
	int holder = 0;
	for (int64_t turn = 0; turn < TURNS; turn++) {
		int next = (int)((turn * 7 + 1) % w->n);
		if (holder == w->rank) {
			link.rank = next;
			link.turn = turn;
			memset(link.gap, 0, sizeof link.gap);
			MPI_Accumulate(&link, sizeof link, MPI_BYTE, holder, window_at(w, holder, at), sizeof link,
				       MPI_BYTE, MPI_REPLACE, w->win);
			MPI_Win_flush(holder, w->win);
		} else {
			do {
				MPI_Get_accumulate(NULL, 0, MPI_BYTE, &link, sizeof link, MPI_BYTE, holder,
						   window_at(w, holder, at), sizeof link, MPI_BYTE, MPI_NO_OP, w->win);
				MPI_Win_flush(holder, w->win);
			} while (link.turn < turn && link.rank == named.rank);
			CHECK(link.rank == next && link.turn == turn, "%s window, turn %d: named are %d and %d",
			      w->name, (int)turn, link.rank, (int)link.turn);
		}
		MPI_Barrier(w->comm);
		if (holder == w->rank) {
			MPI_Accumulate(&named, sizeof named, MPI_BYTE, holder, window_at(w, holder, at), sizeof named,
				       MPI_BYTE, MPI_REPLACE, w->win);
			MPI_Win_flush(holder, w->win);
		}
		MPI_Barrier(w->comm);
		holder = next;
	}
}

static void body(struct window *w) {
	static const MPI_Aint places[] = {0, 3, 8, 52};
	for (int i = 0; i < 4; i++) {
		make((char *)w->mem + places[i], 0);
		MPI_Win_lock_all(0, w->win);
		MPI_Win_sync(w->win);
		MPI_Barrier(w->comm);
		(strcmp(check_arg, "replace") == 0 ? replace
		 : strcmp(check_arg, "swap") == 0  ? swap
						   : chain)(w, places[i]);
		MPI_Barrier(w->comm);
		MPI_Win_unlock_all(w->win);
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(128, 1, MPI_COMM_WORLD, body);
	return check_end();
}
