// User-defined operations on elements that are transferred without the gaps of their datatype.
#include <stdlib.h>

#include "coll/reduction.h"

int gompi_combine_packed(const struct gompi_reduction *r, const void *in, void *inout, uint64_t n) {
	const struct gompi_type *t = r->unpacked_type;
	int64_t lo, hi, bytes = (int64_t)(n * r->size), count = (int64_t)n;
	enum { ALIGNED = 16 };
	if (!gompi_type_bounds(t, count, &lo, &hi))
		return MPI_ERR_NO_MEM;
	// The user-defined function gets the addresses a and b below. Both are multiples of ALIGNED, which suffices for
	// any type: the data of a begins at a + lo = memory + skew, and skew is lo modulo ALIGNED.
	uint64_t skew = (uint64_t)lo & (ALIGNED - 1), size = (uint64_t)(hi - lo) + skew;
	size = (size + ALIGNED - 1) & -(uint64_t)ALIGNED;
	char *memory = calloc(2, size + ALIGNED);
	if (memory == NULL)
		return MPI_ERR_NO_MEM;
	char *a = memory + skew - lo, *b = a + size;
	gompi_typed_unpack(a, count, t, 0, in, bytes);
	gompi_typed_unpack(b, count, t, 0, inout, bytes);
	gompi_op_call_user(r->function, r->large, (uintptr_t)a, (uintptr_t)b, count, r->type);
	gompi_typed_pack(inout, bytes, b, count, t, 0);
	free(memory);
	return 0;
}
