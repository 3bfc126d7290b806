// MPI_Alloc_mem and MPI_Free_mem (MPI-5.0 9.2). Go allocates the memory (core/rma/memory.go, pool.go). This file caches
// freed blocks, so that programs which repeatedly allocate and free the same sizes do not call Go. For Go, a cached
// block is still allocated. MPI_Alloc_mem returns a cached block with its old contents: MPI does not define the
// contents of new memory.
#include "win/alloc_mem.h"

#include <string.h>

#include "base/biased_mutex.h"
#include "base/error_status.h"
#include "base/go_callbacks.h"
#include "base/state.h"
#include "win/z_calls.h"

enum {
	TABLE_ENTRIES = 256,        // number of entries of the table, which is indexed by a hash of the address
	SIZE_CLASSES = 64,          // maximum number of size classes: four per power of two, from MIN_BYTES on
	MIN_BYTES = 64,             // equals core/rma.MinAlignment, to which every block is aligned
	MAX_BYTES = 1 << 20,        // largest block that is cached
	MAX_CACHED_BYTES = 2 << 20, // maximum total size of the cached blocks
};

// A block that Go has allocated.
struct known_block {
	char *at; // NULL if the entry is free
	int64_t bytes;
	bool is_cached;                  // the application has freed it, so it is in the cache
	struct known_block *next_cached; // next cached block of its size class
};

static struct {
	struct gompi_biased_mutex lock;
	struct known_block entry[TABLE_ENTRIES];
	struct known_block *by_size[SIZE_CLASSES];
	int64_t cached_bytes; // total size of the cached blocks, in bytes
} block_cache;

// Returns the index of the smallest size class that holds the given number of bytes, which is from 1 to MAX_BYTES.
static int size_class_of(int64_t bytes) {
	uint64_t n = bytes <= MIN_BYTES ? MIN_BYTES : (uint64_t)bytes;
	int power = 63 - __builtin_clzll(n); // 2^power <= n
	uint64_t quarter = (uint64_t)1 << (power - 2);
	return 4 * (power - 6) + (int)((n - ((uint64_t)1 << power) + quarter - 1) / quarter);
}
_Static_assert(4 * (20 - 6) + 4 < SIZE_CLASSES, "the largest cached size has no size class");

static struct known_block *find_entry(const void *at) {
	return &block_cache.entry[(uintptr_t)at / MIN_BYTES * UINT64_C(0x9E3779B97F4A7C15) >> 56];
}
_Static_assert(TABLE_ENTRIES == 1 << 8, "the highest 8 bits");

void gompi_alloc_mem_reset_cache(void) {
	gompi_biased_lock(&block_cache.lock);
	memset(block_cache.entry, 0, sizeof block_cache.entry);
	memset(block_cache.by_size, 0, sizeof block_cache.by_size);
	block_cache.cached_bytes = 0;
	gompi_biased_unlock(&block_cache.lock);
}

// Removes a block from the cache and returns it. The block has at least `size` bytes, and at most slightly more than
// twice as many. Returns NULL if the cache has no such block.
static char *take_cached(MPI_Aint size) {
	gompi_biased_lock(&block_cache.lock);
	int number = size_class_of(size), last = number + 4;
	while (number < last && (block_cache.by_size[number] == NULL || block_cache.by_size[number]->bytes < size))
		number++;
	struct known_block **first = &block_cache.by_size[number], *p = *first;
	char *at = NULL;
	if (p != NULL && p->bytes >= size) {
		*first = p->next_cached;
		p->is_cached = false;
		block_cache.cached_bytes -= p->bytes;
		at = p->at;
	}
	gompi_biased_unlock(&block_cache.lock);
	return at;
}

int gompi_alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr) {
	if (__builtin_expect(size > 0 && size <= MAX_BYTES && info == MPI_INFO_NULL && baseptr != NULL &&
				     gompi_load(&gompi_state.running),
			     1)) {
		char *at = take_cached(size);
		if (at != NULL) {
			*(void **)baseptr = at;
			return MPI_SUCCESS;
		}
	}
	return gompi_go_callbacks.alloc_mem_uncached(size, (uintptr_t)info, baseptr);
}
GOMPI_ENTRY(MPI_Alloc_mem, gompi_alloc_mem);

enum cache_result { CACHED, ALREADY_CACHED, NOT_CACHED };

// Adds a freed block to the cache. Returns ALREADY_CACHED if the application has freed the block before. `bytes` is the
// size of the block as reported by Go, or 0 if the caller has not queried Go. If `bytes` is 0, only a block that
// already has an entry in the table can be cached.
static enum cache_result cache_block(char *at, int64_t bytes) {
	enum cache_result result = NOT_CACHED;
	gompi_biased_lock(&block_cache.lock);
	struct known_block *p = find_entry(at);
	bool known = p->at == at;
	if (known && p->is_cached) {
		result = ALREADY_CACHED;
	} else if (known || (bytes > 0 && p->at == NULL)) {
		if (!known)
			*p = (struct known_block){.at = at, .bytes = bytes};
		if (block_cache.cached_bytes + p->bytes <= MAX_CACHED_BYTES) {
			struct known_block **first = &block_cache.by_size[size_class_of(p->bytes)];
			p->next_cached = *first;
			p->is_cached = true;
			block_cache.cached_bytes += p->bytes;
			*first = p;
			result = CACHED;
		} else {
			p->at = NULL; // the cache is full, so the caller lets Go free the block
		}
	}
	gompi_biased_unlock(&block_cache.lock);
	return result;
}

// Returns true if the table entry for an address is free (unlocked check).
static bool is_entry_free(const void *at) { return gompi_load((void *_Atomic *)&find_entry(at)->at) == NULL; }

int gompi_free_mem(void *base) {
	if (__builtin_expect(base != NULL && gompi_load(&gompi_state.running), 1)) {
		enum cache_result result = cache_block(base, 0);
		if (result == NOT_CACHED && is_entry_free(base)) {
			int64_t bytes = gompi_go_callbacks.alloc_mem_bytes(base);
			if (bytes > 0 && bytes <= MAX_BYTES)
				result = cache_block(base, bytes);
		}
		if (result == CACHED)
			return MPI_SUCCESS;
		if (result == ALREADY_CACHED) {
			struct gompi_error_status v;
			gompi_set_error(&v, MPI_ERR_BASE, "%p was not returned by MPI_Alloc_mem, or has been freed",
					base);
			return gompi_return_error(v.class, "MPI_Free_mem", v.text, GOMPI_ON_NONE, 0);
		}
	}
	return gompi_go_callbacks.free_mem_uncached(base);
}
GOMPI_ENTRY(MPI_Free_mem, gompi_free_mem);
