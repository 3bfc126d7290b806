/* The predefined types of unit.h. This file is compiled once for all programs, because the functions of types.h take
 * long to compile with the address and undefined-behaviour sanitizers. */
#include "../types.h"

#include "datatype/atomic.h"
#include "datatype/datatype.h"
#include "datatype/predefined.h"

void unit_types(void);
int unit_types_count(void);
const struct type *unit_type(int i);

int unit_types_count(void) { return types_count(); }
const struct type *unit_type(int i) { return types + i; }

/* Returns the class of a type for atomic updates (GOMPI_U8 ...), as capi/datatype.go computes it. */
static int unit_class(const struct type *t) {
	int size = t->size == 1 ? 0 : t->size == 2 ? 1 : t->size == 4 ? 2 : t->size == 8 ? 3 : -1;
	if (size < 0)
		return GOMPI_NO_CLASS;
	if (t->class & (CLASS_INTEGER | CLASS_FORTRAN_INTEGER | CLASS_MULTI | CLASS_CHARACTER))
		return (t->is_unsigned ? GOMPI_U8 : GOMPI_I8) + 2 * size;
	if (t->class == CLASS_FLOAT)
		return size == 2 ? GOMPI_F32 : size == 3 ? GOMPI_F64 : GOMPI_NO_CLASS;
	if (t->class == CLASS_LOGICAL)
		return GOMPI_L8 + size;
	return t->class == CLASS_BYTE ? GOMPI_BYTE : GOMPI_NO_CLASS;
}

/* Returns the true upper bound of the type: the offset of the end of its data, without padding. */
static int64_t unit_data_end(const struct type *t) {
	return t->handle == MPI_DOUBLE_INT || t->handle == MPI_LONG_INT ? 12
	       : t->handle == MPI_LONG_DOUBLE_INT                       ? 20
									: (int64_t)t->size;
}

/* Installs the types of types.h. */
void unit_types(void) {
	for (int i = 0; i < types_count(); i++) {
		const struct type *t = types + i;
		int64_t program[GOMPI_TYPE_SLOT_WORDS] = {0}, extent = (int64_t)t->size, end = unit_data_end(t);
		bool inner_gap = t->handle == MPI_SHORT_INT, gaps = inner_gap || end != extent;
		int64_t element = GOMPI_TYPE_HEAD, bytes = gaps ? element + 2 : element, size = inner_gap ? 6 : end;
		const int64_t contiguous = (gaps ? 0 : GOMPI_TYPE_CONTIGUOUS) | (inner_gap ? 0 : GOMPI_TYPE_STRIDED);
		*(struct gompi_type *)program = (struct gompi_type){.magic = 1,
								    .words = GOMPI_TYPE_SLOT_WORDS,
								    .flags = contiguous | GOMPI_TYPE_ELEM_CONTIGUOUS,
								    .elem = (int64_t)(uintptr_t)t->handle,
								    .elem_size = extent,
								    .elements = 1,
								    .size = size,
								    .extent = extent,
								    .true_ub = end,
								    .depth = 1,
								    .segments = inner_gap ? 2 : 1,
								    .root = bytes,
								    .elem_root = element,
								    .block = inner_gap ? 0 : end,
								    .repeat = inner_gap ? 0 : 1};
		memcpy(program + element, (int64_t[]){1, extent}, 2 * sizeof *program);
		if (inner_gap) /* MPI_SHORT_INT is two blocks: 2 bytes at offset 0 and 4 bytes at offset 4 */
			memcpy(program + bytes, (int64_t[]){4, 6, 2, 0, 4, 0, 2, 6}, 8 * sizeof *program);
		else if (gaps)
			memcpy(program + bytes, (int64_t[]){1, end}, 2 * sizeof *program);
		if (!gompi_type_install((uintptr_t)t->handle, (struct gompi_type_props){0}, program,
					GOMPI_TYPE_SLOT_WORDS))
			abort();
		gompi_type_fill_tables((uintptr_t)t->handle, (int)size, !gaps, unit_class(t),
				       !(t->class & (CLASS_FLOAT | CLASS_COMPLEX | CLASS_PAIR | CLASS_OTHER)));
	}
}
