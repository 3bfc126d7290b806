// Packs and unpacks data in the canonical representation (MPI-5.0 5.3). This file handles types whose canonical form
// only reverses the bytes of each number, if the arguments are valid. Go handles all other types and all errors
// (capi/pack.go). No function blocks or communicates.
#include <string.h>

#include "base/go_callbacks.h"
#include "datatype/buffer.h"
#include "datatype/type_props.h"
#include "pack/z_calls.h"

// Returns the committed type, and stores the size of its numbers and the total size in bytes. Returns NULL if Go must
// handle the call: the type's canonical form needs more than byte reversal, the type is not committed, datarep is not
// "external32", or the size overflows 64 bits.
static inline const struct gompi_type *reversible_type(const char *datarep, int64_t count, MPI_Datatype datatype,
						       int *swap_unit, int64_t *bytes) {
	const struct gompi_type *t = gompi_type_get(datatype);
	if (datarep == NULL || strcmp(datarep, "external32") != 0 || t == NULL || !gompi_type_bytes(t, count, bytes))
		return NULL;
	*swap_unit = gompi_type_props_of(t)->swap_unit_bytes;
	return *swap_unit != 0 ? t : NULL;
}

// Copies n bytes and reverses the bytes of each number, which has `size` <= 8 bytes. The shift moves the reversed bytes
// to the beginning of the word. `to` may equal `from`.
static inline __attribute__((always_inline)) void swap_units(char *to, const char *from, int64_t n, int size) {
	for (int64_t i = 0; i < n; i += size) {
		uint64_t word = 0;
		memcpy(&word, from + i, (size_t)size);
		word = __builtin_bswap64(word) >> (64 - 8 * size);
		memcpy(to + i, &word, (size_t)size);
	}
}

static void swap_bytes(char *to, const char *from, int64_t n, int size) {
	switch (size) {
	case 1:
		if (to != from)
			memcpy(to, from, (size_t)n);
		break;
	case 2:
		swap_units(to, from, n, 2);
		break;
	case 4:
		swap_units(to, from, n, 4);
		break;
	case 8:
		swap_units(to, from, n, 8);
		break;
	default: // 16
		for (int64_t i = 0; i < n; i += 16) {
			char halves[16];
			swap_units(halves + 8, from + i, 8, 8);
			swap_units(halves, from + i + 8, 8, 8);
			memcpy(to + i, halves, 16);
		}
	}
}

// Returns the type if the arguments are valid and there are bytes to convert. Otherwise returns NULL, and Go handles
// the call.
static inline const struct gompi_type *valid_type(const struct gompi_external *x, int *reversed, int64_t *bytes) {
	int64_t lo, hi;
	const struct gompi_type *t = reversible_type(x->datarep, x->count, x->datatype, reversed, bytes);
	return t != NULL && x->position != NULL && *bytes > 0 && *x->position >= 0 && *x->position <= x->packed_bytes &&
			       *bytes <= x->packed_bytes - *x->position && gompi_type_bounds(t, x->count, &lo, &hi) &&
			       !gompi_invalid_address(x->packed, *x->position) && !gompi_invalid_address(x->data, lo)
		       ? t
		       : NULL;
}

static int pack_external(const struct gompi_external *x) {
	int reversed;
	int64_t bytes;
	const struct gompi_type *t = valid_type(x, &reversed, &bytes);
	if (t == NULL)
		return gompi_go_callbacks.external_in_go(x, true);
	char *to = (char *)(uintptr_t)x->packed + *x->position;
	gompi_typed_pack(to, bytes, x->data, x->count, t, 0);
	swap_bytes(to, to, bytes, reversed);
	*x->position += bytes;
	return MPI_SUCCESS;
}

static int unpack_external(const struct gompi_external *x) {
	enum { CHUNK_BYTES = 1024 };
	int reversed;
	int64_t bytes;
	char chunk[CHUNK_BYTES];
	const struct gompi_type *t = valid_type(x, &reversed, &bytes);
	if (t == NULL)
		return gompi_go_callbacks.external_in_go(x, false);
	const char *from = (const char *)x->packed + *x->position;
	for (int64_t done = 0, n; done < bytes; done += n) {
		n = bytes - done < CHUNK_BYTES ? bytes - done : CHUNK_BYTES;
		swap_bytes(chunk, from + done, n, reversed);
		gompi_typed_unpack((void *)(uintptr_t)x->data, x->count, t, done, chunk, n);
	}
	*x->position += bytes;
	return MPI_SUCCESS;
}

int gompi_pack_external(const char datarep[], const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf,
			MPI_Aint outsize, MPI_Aint *position) {
	return pack_external(&(struct gompi_external){"MPI_Pack_external", datarep, inbuf, outbuf, incount, outsize,
						      datatype, position});
}
GOMPI_ENTRY(MPI_Pack_external, gompi_pack_external);

int gompi_pack_external_c(const char datarep[], const void *inbuf, MPI_Count incount, MPI_Datatype datatype,
			  void *outbuf, MPI_Count outsize, MPI_Count *position) {
	return pack_external(&(struct gompi_external){"MPI_Pack_external_c", datarep, inbuf, outbuf, incount, outsize,
						      datatype, position});
}
GOMPI_ENTRY(MPI_Pack_external_c, gompi_pack_external_c);

int gompi_unpack_external(const char datarep[], const void *inbuf, MPI_Aint insize, MPI_Aint *position, void *outbuf,
			  int outcount, MPI_Datatype datatype) {
	return unpack_external(&(struct gompi_external){"MPI_Unpack_external", datarep, outbuf, inbuf, outcount, insize,
							datatype, position});
}
GOMPI_ENTRY(MPI_Unpack_external, gompi_unpack_external);

int gompi_unpack_external_c(const char datarep[], const void *inbuf, MPI_Count insize, MPI_Count *position,
			    void *outbuf, MPI_Count outcount, MPI_Datatype datatype) {
	return unpack_external(&(struct gompi_external){"MPI_Unpack_external_c", datarep, outbuf, inbuf, outcount,
							insize, datatype, position});
}
GOMPI_ENTRY(MPI_Unpack_external_c, gompi_unpack_external_c);

static int external_size(const char *call, const char *datarep, int64_t count, MPI_Datatype datatype, MPI_Aint *size) {
	int reversed;
	int64_t bytes, lo, hi;
	const struct gompi_type *t = reversible_type(datarep, count, datatype, &reversed, &bytes);
	if (t != NULL && size != NULL && gompi_type_bounds(t, count, &lo, &hi)) {
		*size = bytes;
		return MPI_SUCCESS;
	}
	return gompi_go_callbacks.external_size_in_go(call, datarep, count, (uintptr_t)datatype, size);
}

int gompi_pack_external_size(const char datarep[], int incount, MPI_Datatype datatype, MPI_Aint *size) {
	return external_size("MPI_Pack_external_size", datarep, incount, datatype, size);
}
GOMPI_ENTRY(MPI_Pack_external_size, gompi_pack_external_size);

int gompi_pack_external_size_c(const char datarep[], MPI_Count incount, MPI_Datatype datatype, MPI_Count *size) {
	return external_size("MPI_Pack_external_size_c", datarep, incount, datatype, size);
}
GOMPI_ENTRY(MPI_Pack_external_size_c, gompi_pack_external_size_c);
