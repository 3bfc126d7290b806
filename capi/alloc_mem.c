// MPI_Alloc_mem and MPI_Free_mem (MPI-5.0 9.2). Memory is Go's (core/rma/memory.go, pool.go). What has been freed is
// kept here for a while, so that programs which allocate and free the same again and again need no Go for it. To Go a
// piece that is kept is allocated. It is given out as the program has left it: MPI says nothing of what is in memory.
#include "alloc_mem.h"

#include <string.h>

#include "base/biased.h"
#include "base/state.h"
#include "base/verdict.h"
#include "z_entry.h"

enum {
	PLACES = 256,        // pieces that are known, by address
	SIZES = 64,          // four from each power of two to the next, from LEAST on
	LEAST = 64,          // core/rma.LeastAlignment: pieces are at multiples of it, those of a page on pages
	MOST = 1 << 20,      // bytes of a piece
	MOST_KEPT = 2 << 20, // bytes that are kept
};

// A piece that Go has allocated.
struct known_piece {
	char *at; // NULL: none
	int64_t room;
	bool kept;                // it has been freed
	struct known_piece *next; // of those of its size that are kept
};

static struct {
	struct gompi_biased lock;
	struct known_piece place[PLACES];
	struct known_piece *of_size[SIZES];
	int64_t kept; // bytes
} pieces;

// Returns the number of the least size that is not less than so many bytes, which are more than 0 and up to MOST.
static int size_number(int64_t bytes) {
	uint64_t n = bytes <= LEAST ? LEAST : (uint64_t)bytes;
	int power = 63 - __builtin_clzll(n); // 2^power <= n
	uint64_t quarter = (uint64_t)1 << (power - 2);
	return 4 * (power - 6) + (int)((n - ((uint64_t)1 << power) + quarter - 1) / quarter);
}
_Static_assert(4 * (20 - 6) + 4 < SIZES, "MOST");

static struct known_piece *place_for(const void *at) {
	return &pieces.place[(uintptr_t)at / LEAST * UINT64_C(0x9E3779B97F4A7C15) >> 56];
}
_Static_assert(PLACES == 1 << 8, "the highest 8 bits");

void gompi_alloc_mem_forget(void) {
	gompi_biased_take(&pieces.lock);
	memset(pieces.place, 0, sizeof pieces.place);
	memset(pieces.of_size, 0, sizeof pieces.of_size);
	pieces.kept = 0;
	gompi_biased_give(&pieces.lock);
}

// Returns a piece that is kept with room for size bytes, and not much more than twice as many, or NULL.
static char *take_piece(MPI_Aint size) {
	gompi_biased_take(&pieces.lock);
	int number = size_number(size), last = number + 4;
	while (number < last && (pieces.of_size[number] == NULL || pieces.of_size[number]->room < size))
		number++;
	struct known_piece **first = &pieces.of_size[number], *p = *first;
	char *at = NULL;
	if (p != NULL && p->room >= size) {
		*first = p->next;
		p->kept = false;
		pieces.kept -= p->room;
		at = p->at;
	}
	gompi_biased_give(&pieces.lock);
	return at;
}

int gompi_alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr) {
	if (__builtin_expect(size > 0 && size <= MOST && info == MPI_INFO_NULL && baseptr != NULL &&
				     gompi_load(&gompi_state.running),
			     1)) {
		char *at = take_piece(size);
		if (at != NULL) {
			*(void **)baseptr = at;
			return MPI_SUCCESS;
		}
	}
	const char *outer = gompi_enter("MPI_Alloc_mem");
	int rc = gompi_alloc_mem_anew(size, (uintptr_t)info, (uintptr_t)baseptr);
	gompi_leave(outer);
	return rc < 0 ? gompi_raise(rc) : rc;
}
GOMPI_ENTRY(MPI_Alloc_mem, gompi_alloc_mem)

enum keep { KEPT, KEPT_ALREADY, CANNOT_KEEP };

// Keeps a piece that has been freed, of which Go says how much room it has, or, where that is 0, that is known.
static enum keep keep_piece(char *at, int64_t room) {
	enum keep done = CANNOT_KEEP;
	gompi_biased_take(&pieces.lock);
	struct known_piece *p = place_for(at);
	bool known = p->at == at;
	if (known && p->kept) {
		done = KEPT_ALREADY;
	} else if (known || (room > 0 && p->at == NULL)) {
		if (!known)
			*p = (struct known_piece){.at = at, .room = room};
		if (pieces.kept + p->room <= MOST_KEPT) {
			struct known_piece **first = &pieces.of_size[size_number(p->room)];
			p->next = *first;
			p->kept = true;
			pieces.kept += p->room;
			*first = p;
			done = KEPT;
		} else {
			p->at = NULL; // Go frees it
		}
	}
	gompi_biased_give(&pieces.lock);
	return done;
}

// Returns true if keep_piece can keep one more where an address belongs.
static bool has_room_in(const void *at) { return gompi_load((void *_Atomic *)&place_for(at)->at) == NULL; }

int gompi_free_mem(void *base) {
	static const char call[] = "MPI_Free_mem";
	if (__builtin_expect(base != NULL && gompi_load(&gompi_state.running), 1)) {
		enum keep done = keep_piece(base, 0);
		if (done == CANNOT_KEEP && has_room_in(base)) {
			int64_t room = gompi_alloc_mem_room((uintptr_t)base);
			if (room > 0 && room <= MOST)
				done = keep_piece(base, room);
		}
		if (done == KEPT)
			return MPI_SUCCESS;
		if (done == KEPT_ALREADY) {
			struct gompi_verdict v;
			gompi_error(&v, MPI_ERR_BASE,
				    "%p is no memory that MPI_Alloc_mem returned and that is still allocated", base);
			return gompi_refuse(v.class, call, v.text, GOMPI_ON_NONE, 0);
		}
	}
	const char *outer = gompi_enter(call);
	int rc = gompi_free_mem_for_good((uintptr_t)base);
	gompi_leave(outer);
	return rc < 0 ? gompi_raise(rc) : rc;
}
GOMPI_ENTRY(MPI_Free_mem, gompi_free_mem)
