package datatype

/*
#include "datatype/datatype.h"

// These functions take the address of a buffer as an integer. If the data begins at an offset from the address, the
// address itself may be outside of all memory, and Go does not allow such pointers.
static int64_t pack_at(void *out, int64_t limit, uintptr_t buf, int64_t count, const int64_t *program,
		       int64_t position) {
	return gompi_typed_pack(out, limit, (const void *)buf, count, (const struct gompi_type *)program, position);
}

static int64_t unpack_at(uintptr_t buf, int64_t count, const int64_t *program, int64_t position, const void *in,
			 int64_t limit) {
	return gompi_typed_unpack((void *)buf, count, (const struct gompi_type *)program, position, in, limit);
}
*/
import "C"

import "unsafe"

// Pack implements Pack of core/datatype with gompi_typed_pack.
func Pack(dst []byte, address uintptr, count int64, program []int64, position int64) int64 {
	return int64(C.pack_at(unsafe.Pointer(unsafe.SliceData(dst)), C.int64_t(len(dst)), C.uintptr_t(address),
		C.int64_t(count), (*C.int64_t)(&program[0]), C.int64_t(position)))
}

// Unpack implements Unpack of core/datatype with gompi_typed_unpack.
func Unpack(address uintptr, count int64, program []int64, position int64, src []byte) int64 {
	return int64(C.unpack_at(C.uintptr_t(address), C.int64_t(count), (*C.int64_t)(&program[0]),
		C.int64_t(position), unsafe.Pointer(unsafe.SliceData(src)), C.int64_t(len(src))))
}
