// Copies of contiguous application memory.
#include "datatype/memory.h"

#include "base/abi.h"
#include "base/clock.h"
#include "base/minmax.h"
#include "datatype/block_copy.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

__attribute__((noipa)) int gompi_copy_bytes(void *to, const void *from, int64_t bytes) {
	if (bytes < GOMPI_LONG_COPY_BYTES)
		memmove(to, from, (size_t)bytes);
	else
		gompi_copy_long(to, from, (uint64_t)bytes);
	return MPI_SUCCESS;
}

// Calls memmove, except for copies whose destination begins 1 to 15 bytes after the source, apart from a multiple of
// the page size. These take 20 times as long on some processors, because memmove executes the instruction `rep movsb`:
// 13 us instead of 0.6 us for 32 KiB. The loop of this function takes 0.9 us.
void gompi_copy_long(void *to, const void *from, uint64_t n) {
	enum { PAGE = 4096, MAX_SLOW_DISTANCE = 15, BLOCK = 64 };
	const uint64_t distance = (uintptr_t)to - (uintptr_t)from;
	const bool is_slow = distance % PAGE - 1 < MAX_SLOW_DISTANCE, overlaps = distance < n || -distance < n;
	if (__builtin_expect(!is_slow || overlaps, 1)) {
		memmove(to, from, n);
		return;
	}
	uint64_t done = 0;
	for (; n - done >= BLOCK; done += BLOCK)
		copy_one((char *)to + done, (const char *)from + done, BLOCK);
	memcpy((char *)to + done, (const char *)from + done, n - done);
}

// Without stores that bypass the caches, nothing measures the distance: the cores count as near, and both stay 0.
_Atomic bool gompi_cores_are_distant;
_Thread_local uint32_t gompi_copies_until_sample;

#ifdef __SSE2__
// Copies n bytes with stores that bypass the caches.
static void copy_past_caches(char *to, const char *from, uint64_t n) {
	enum { LINE = 64 };
	const uint64_t first = gompi_min_u64(-(uintptr_t)to % LINE, n);
	uint64_t done = first;
	memcpy(to, from, first);
	for (; n - done >= LINE; done += LINE) {
		__m128i part[4];
		memcpy(part, from + done, sizeof part);
		for (int i = 0; i < 4; i++)
			_mm_stream_si128((__m128i *)(to + done) + i, part[i]);
	}
	memcpy(to + done, from + done, n - done);
	_mm_sfence(); // a store with release order does not order these stores
}

// The distance of this process' core to the readers' cores is unknown, and changes if the system moves a process. So a
// thread measures it in one of SAMPLE_PERIOD long copies: it copies the first SAMPLE_BYTES bytes or less through the
// caches. If the stores take longer than DISTANT_NS plus DISTANT_NS_PER_KIB, the cores are probably distant: near cores
// take 180 ns for 1 KiB and 500 ns for 4 KiB, distant cores 600 ns and 1,800 ns. A sample is wrong if the system
// interrupts it, so several samples vote (far_votes). Samples follow each other faster while they disagree.
enum {
	SAMPLE_PERIOD = 128,
	SAMPLE_PERIOD_IN_DOUBT = 8,
	SAMPLE_BYTES = 4 << 10,
	DISTANT_NS = 100,
	DISTANT_NS_PER_KIB = 200,
	DISTANT_VOTES = 2,
	MAX_VOTES = 3,
};

static gompi_a32 far_votes; // 0 to MAX_VOTES; the cores count as distant from DISTANT_VOTES on

// Copies the first bytes of a copy, measures the time and votes. Returns the number of copied bytes.
static __attribute__((noinline)) uint64_t copy_sample(char *to, const char *from, uint64_t n) {
	const uint64_t bytes = gompi_min_u64(n, SAMPLE_BYTES);
	const int64_t start = gompi_now_ns();
	gompi_copy_long(to, from, bytes);
	gompi_full_fence(); // waits until the stores have left the CPU's store buffer
	const bool is_far = gompi_now_ns() - start > DISTANT_NS + (int64_t)bytes * DISTANT_NS_PER_KIB / 1024;
	uint32_t votes = gompi_load(&far_votes); // concurrent samples may lose a vote
	if (is_far)
		votes += votes < MAX_VOTES;
	else
		votes -= votes > 0;
	gompi_store(&far_votes, votes);
	gompi_store(&gompi_cores_are_distant, votes >= DISTANT_VOTES);
	gompi_copies_until_sample = votes == 0 || votes == MAX_VOTES ? SAMPLE_PERIOD : SAMPLE_PERIOD_IN_DOUBT;
	return bytes;
}

char *gompi_copy_out_long(char *to, const void *from, uint64_t n, bool bypass) {
	uint64_t done = 0;
	if (__builtin_expect(gompi_copies_until_sample-- == 0, 0))
		done = copy_sample(to, from, n);
	if (bypass || gompi_load(&gompi_cores_are_distant))
		copy_past_caches(to + done, (const char *)from + done, n - done);
	else
		gompi_copy_small(to + done, (const char *)from + done, n - done);
	return to;
}
#else
char *gompi_copy_out_long(char *to, const void *from, uint64_t n, bool bypass) {
	(void)bypass;
	gompi_copy_long(to, from, n);
	return to;
}
#endif
