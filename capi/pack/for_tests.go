package pack

/*
#include "datatype/datatype.h"
#include "pack/convert.h"

// Converts `count` elements of the datatype `handle` at the address `data`, which may be invalid.
static int convert(struct gompi_error_status *v, uintptr_t handle, int64_t count, uintptr_t data, void *external,
		   int64_t bytes, bool is_pack) {
	int64_t native_bytes;
	return gompi_external_convert(v, gompi_type_get_any((MPI_Datatype)handle), count, (void *)data, external, bytes,
				      is_pack, &native_bytes);
}
*/
import "C"

import "unsafe"

// Wrappers for tests, which cannot use cgo.

// Convert converts count copies of a type at an address to external32 or, if isPack is false, external32 to copies of
// the type. It returns the class of an error.
func Convert(h, address uintptr, count int64, external []byte, isPack bool) (class int32) {
	var v C.struct_gompi_error_status
	if len(external) == 0 {
		return 0
	}
	return int32(C.convert(&v, C.uintptr_t(h), C.int64_t(count), C.uintptr_t(address),
		unsafe.Pointer(&external[0]), C.int64_t(len(external)), C.bool(isPack)))
}
