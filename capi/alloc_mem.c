// MPI_Alloc_mem and MPI_Free_mem (MPI-5.0 9.2). Go allocates the memory (core/rma/memory.go, pool.go). This file caches
// freed blocks, so that programs which repeatedly allocate and free the same sizes do not call Go. For Go, a cached
// block is still allocated. A cached block is returned with its old contents: MPI does not define the contents of new
// memory.
#include "alloc_mem.h"

#include <string.h>

#include "base/biased.h"
#include "base/state.h"
#include "base/verdict.h"
#include "z_entry.h"

enum {
	PLACES = 256,        // table entries, indexed by a hash of the address
	SIZES = 64,          // size classes: four per power of two, starting at LEAST
	LEAST = 64,          // core/rma.LeastAlignment; all blocks are aligned to it, blocks of a page or more to pages
	MOST = 1 << 20,      // largest block that is cached, in bytes
	MOST_KEPT = 2 << 20, // limit on the total size of cached blocks, in bytes
};

// A block that Go has allocated.
struct known_piece {
	char *at; // NULL if the entry is free
	int64_t room;
	bool kept;                // the application has freed it, so it is in the cache
	struct known_piece *next; // next cached block of its size class
};

static struct {
	struct gompi_biased lock;
	struct known_piece place[PLACES];
	struct known_piece *of_size[SIZES];
	int64_t kept; // total size of the cached blocks, in bytes
} pieces;

// Returns the index of the smallest size class that holds the given number of bytes, which is from 1 to MOST.
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

// Removes a block of at least size bytes, and of little more than twice that, from the cache and returns it. Returns
// NULL if there is none.
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
GOMPI_ENTRY(MPI_Alloc_mem, gompi_alloc_mem);

enum keep { KEPT, KEPT_ALREADY, CANNOT_KEEP };

// Adds a freed block to the cache. room is the size of the block that Go reports. It is 0 if the caller has not asked
// Go. Then only a block with an entry in the table can be cached.
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
			p->at = NULL; // the cache is full, so the caller lets Go free the block
		}
	}
	gompi_biased_give(&pieces.lock);
	return done;
}

// Returns true if the table entry for an address is free (unlocked check).
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
			gompi_error(&v, MPI_ERR_BASE, "%p was not returned by MPI_Alloc_mem, or has been freed", base);
			return gompi_refuse(v.class, call, v.text, GOMPI_ON_NONE, 0);
		}
	}
	const char *outer = gompi_enter(call);
	int rc = gompi_free_mem_for_good((uintptr_t)base);
	gompi_leave(outer);
	return rc < 0 ? gompi_raise(rc) : rc;
}
GOMPI_ENTRY(MPI_Free_mem, gompi_free_mem);
