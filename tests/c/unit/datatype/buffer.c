/* Proves: gompi_buffer_check accepts data that lies in the address space. It rejects negative and too large counts,
 * NULL, MPI constants instead of addresses, and data that extends beyond either end of the address space.
 * gompi_copy_out_shared copies exactly the requested bytes, for all alignments and lengths, whether its stores bypass
 * the caches or not. gompi_copy_long copies as memmove does, for all distances of source and destination that decide
 * how it copies.
 *
 * sanitizer: address (one thread)
 */
#include "../unit.h"

#include "datatype/buffer.h"
#include "datatype/memory.h"

static char memory[100];

/* Installs a type of one int at the given displacement, with the given extent. Returns its handle. */
static MPI_Datatype install(int64_t displacement, int64_t extent) {
	struct gompi_type t = {.magic = GOMPI_TYPE_MAGIC,
			       .words = GOMPI_TYPE_HEAD,
			       .size = 4,
			       .lb = 0,
			       .extent = extent,
			       .true_lb = displacement,
			       .true_ub = displacement + 4,
			       .origin = displacement};
	return (MPI_Datatype)gompi_type_add_program((struct gompi_type_props){0}, (const int64_t *)&t, GOMPI_TYPE_HEAD);
}

static void check(const char *name, uintptr_t at, int64_t count, MPI_Datatype type, int class) {
	struct gompi_buffer b;
	struct gompi_error_status v = {.class = MPI_SUCCESS};
	int rc = gompi_buffer_check(&b, (const void *)at, count, type, false, &v);
	CHECK(rc == class && v.class == class, "%s: class %d, not %d (%s)", name, rc, class, v.text);
	CHECK(rc != MPI_SUCCESS || b.size == 4 * count, "%s: %lld bytes", name, (long long)b.size);
}

static void copy_out_shared(void) {
	enum { LINE = 64, MOST = 2 * GOMPI_BYPASS_DISTANT_BYTES };
	static char from[MOST + LINE], to[MOST + 3 * LINE];
	for (int i = 0; i < MOST + LINE; i++)
		from[i] = (char)(i + i / 256 + 1);
	for (int offset = 0; offset < LINE; offset++)
		for (int n = 0; n <= MOST; n += 1 + n / 20)
			for (int bypass = 0; bypass <= (n >= GOMPI_BYPASS_DISTANT_BYTES); bypass++) {
				char *at = to + LINE + offset;
				int wrong = 0;
				memset(to, 0, sizeof to);
				wrong += (bypass ? gompi_copy_out_long(at, from + offset / 3, (uint64_t)n, true)
						 : gompi_copy_out_shared(at, from + offset / 3, (uint64_t)n)) != at;
				for (int i = 0; i < (int)sizeof to; i++) {
					const int k = i - LINE - offset;
					wrong += to[i] != (k >= 0 && k < n ? from[k + offset / 3] : 0);
				}
				CHECK(wrong == 0, "%d bytes to offset %d: %d bytes are wrong", n, offset, wrong);
			}
}

static void copy_long(void) {
	enum { PAGE = 4096, MOST = 2 * PAGE, MIDDLE = 2 * PAGE, ROOM = 3 * MIDDLE };
	static char expected[ROOM], got[ROOM];
	const int pages[] = {-PAGE, 0, PAGE};
	for (int p = 0; p < 3; p++)
		for (int distance = pages[p] - 20; distance <= pages[p] + 20; distance++)
			for (int n = GOMPI_LONG_COPY_BYTES; n <= MOST; n += 1021) {
				for (int i = 0; i < ROOM; i++)
					expected[i] = got[i] = (char)(i + i / 256 + i / PAGE);
				memmove(expected + MIDDLE + distance, expected + MIDDLE, (size_t)n);
				gompi_copy_long(got + MIDDLE + distance, got + MIDDLE, (uint64_t)n);
				CHECK(memcmp(expected, got, ROOM) == 0, "%d bytes by %d bytes: wrong data", n,
				      distance);
			}
}

int main(void) {
	const uintptr_t base = (uintptr_t)memory;
	const int64_t far = INT64_C(1) << 62;
	unit_types();
	copy_out_shared();
	copy_long();
	check("valid", base, 25, MPI_INT, MPI_SUCCESS);
	check("negative count", base, -1, MPI_INT, MPI_ERR_COUNT);
	check("size above 64 bits", base, far, MPI_INT, MPI_ERR_VALUE_TOO_LARGE);
	check("NULL", 0, 1, MPI_INT, MPI_ERR_BUFFER);
	check("MPI_IN_PLACE", (uintptr_t)MPI_IN_PLACE, 1, MPI_INT, MPI_ERR_BUFFER);
	check("NULL with no data", 0, 0, MPI_INT, MPI_SUCCESS);
	check("the end of the address space", ~(uintptr_t)7, 3, MPI_INT, MPI_ERR_BUFFER);
	check("data at NULL", base, 1, install(-(int64_t)base, 4), MPI_ERR_BUFFER);
	check("data across the last address", base, 1, install(-(int64_t)base - 2, 4), MPI_ERR_BUFFER);
	check("bounds above 64 bits", base, 3, install(0, far), MPI_ERR_COUNT);
	check("bounds within 64 bits", base, 2, install(0, far), MPI_SUCCESS);
	check("data below NULL", base, 2, install(0, -far), MPI_ERR_BUFFER);
	return unit_end();
}
