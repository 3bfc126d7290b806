// Conversion between the native representation of data and external32 (MPI-5.0 14.5.2). This is big-endian and has no
// gaps. A long has 4 bytes and a wide character 2 bytes; a long double is an IEEE binary128 number.
#ifndef GOMPI_CONVERT_H
#define GOMPI_CONVERT_H

#include "base/error_status.h"
#include "datatype/datatype.h"

#pragma GCC visibility push(hidden)

// Copies n bytes and reverses the bytes of each number, which has `size` bytes. `to` may equal `from`.
void gompi_swap_bytes(char *to, const char *from, int64_t n, int size);

// Converts count > 0 copies of a committed type at the address `data`, from native data to external32 if is_pack is
// true, otherwise in the opposite direction. Stops before the first number that does not fit into external_bytes bytes
// at `external`. Stores in *native_bytes how many bytes of native data have been converted. Returns MPI_SUCCESS, or
// fills in the error status and returns its class: MPI_ERR_CONVERSION if a number does not fit, MPI_ERR_NO_MEM. The
// elements before the error have been converted.
int gompi_external_convert(struct gompi_error_status *v, const struct gompi_type *t, int64_t count, void *data,
			   char *external, int64_t external_bytes, bool is_pack, int64_t *native_bytes);

#pragma GCC visibility pop
#endif
