// Packing in the canonical representation (MPI-5.0 5.3). This file handles types whose canonical form only reverses the
// bytes of each number, if the arguments are valid. Go handles all other types and all errors (pack.go). Nothing blocks
// or communicates.
#include "base/call.h"
#include "datatype/buffer.h"
#include "datatype/facts.h"
#include "z_entry.h"

// The arguments of a call that packs or unpacks data.
struct external {
	const char *call, *datarep;
	const void *data, *packed;
	int64_t count, size;
	MPI_Datatype datatype;
	MPI_Aint *position;
};

// Lets Go execute the call. The casts are valid because MPI_Aint and MPI_Count are the same type.
static int in_go(const struct external *x, bool packs) {
	const char *outer = gompi_enter(x->call);
	int rc = gompi_external_in_go((uintptr_t)x->call, (uintptr_t)x->datarep, (uintptr_t)x->data, x->count,
				      (uintptr_t)x->datatype, (uintptr_t)x->packed, x->size, (uintptr_t)x->position,
				      packs);
	gompi_leave(outer);
	return rc < 0 ? gompi_raise(rc) : rc;
}

// Returns the committed type, and stores the size of its numbers and the total size in bytes. Returns NULL if Go must
// handle the call: the type is not committed, or its canonical form needs more than byte reversal.
static inline const struct gompi_type *in_reverse(const char *datarep, int64_t count, MPI_Datatype datatype,
						  int *reversed, int64_t *bytes) {
	const struct gompi_type *t = gompi_type_get(datatype);
	if (datarep == NULL || strcmp(datarep, "external32") != 0 || t == NULL || !gompi_type_bytes(t, count, bytes))
		return NULL;
	*reversed = gompi_facts_of(t)->reversed;
	return *reversed != 0 ? t : NULL;
}

// Copies n bytes and reverses the bytes of each number of the given size. to may equal from.
static inline __attribute__((always_inline)) void reverse_all(char *to, const char *from, int64_t n, int size) {
	for (int64_t i = 0; i < n; i += size) {
		uint64_t word = 0;
		memcpy(&word, from + i, (size_t)size);
		word = __builtin_bswap64(word) >> (64 - 8 * size);
		memcpy(to + i, &word, (size_t)size);
	}
}

static void reverse(char *to, const char *from, int64_t n, int size) {
	switch (size) {
	case 1:
		if (to != from)
			memcpy(to, from, (size_t)n);
		break;
	case 2:
		reverse_all(to, from, n, 2);
		break;
	case 4:
		reverse_all(to, from, n, 4);
		break;
	case 8:
		reverse_all(to, from, n, 8);
		break;
	default: // 16
		for (int64_t i = 0; i < n; i += 16) {
			char halves[16];
			reverse_all(halves + 8, from + i, 8, 8);
			reverse_all(halves, from + i + 8, 8, 8);
			memcpy(to + i, halves, 16);
		}
	}
}

// Returns the type if the arguments are valid and there are bytes to convert. Otherwise returns NULL, and Go handles
// the call.
static inline const struct gompi_type *usable(const struct external *x, int *reversed, int64_t *bytes) {
	int64_t lo, hi;
	const struct gompi_type *t = in_reverse(x->datarep, x->count, x->datatype, reversed, bytes);
	return t != NULL && x->position != NULL && *bytes > 0 && *x->position >= 0 && *x->position <= x->size &&
			       *bytes <= x->size - *x->position && gompi_type_bounds(t, x->count, &lo, &hi) &&
			       !gompi_invalid_address(x->packed, *x->position) && !gompi_invalid_address(x->data, lo)
		       ? t
		       : NULL;
}

static int pack_external(const struct external *x) {
	int reversed;
	int64_t bytes;
	const struct gompi_type *t = usable(x, &reversed, &bytes);
	if (t == NULL)
		return in_go(x, true);
	char *to = (char *)(uintptr_t)x->packed + *x->position;
	gompi_typed_pack(to, bytes, x->data, x->count, t, 0);
	reverse(to, to, bytes, reversed);
	*x->position += bytes;
	return MPI_SUCCESS;
}

static int unpack_external(const struct external *x) {
	enum { PIECE = 1024 };
	int reversed;
	int64_t bytes;
	char piece[PIECE];
	const struct gompi_type *t = usable(x, &reversed, &bytes);
	if (t == NULL)
		return in_go(x, false);
	const char *from = (const char *)x->packed + *x->position;
	for (int64_t done = 0, n; done < bytes; done += n) {
		n = bytes - done < PIECE ? bytes - done : PIECE;
		reverse(piece, from + done, n, reversed);
		gompi_typed_unpack((void *)(uintptr_t)x->data, x->count, t, done, piece, n);
	}
	*x->position += bytes;
	return MPI_SUCCESS;
}

int gompi_pack_external(const char datarep[], const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf,
			MPI_Aint outsize, MPI_Aint *position) {
	return pack_external(
		&(struct external){"MPI_Pack_external", datarep, inbuf, outbuf, incount, outsize, datatype, position});
}
GOMPI_ENTRY(MPI_Pack_external, gompi_pack_external);

int gompi_pack_external_c(const char datarep[], const void *inbuf, MPI_Count incount, MPI_Datatype datatype,
			  void *outbuf, MPI_Count outsize, MPI_Count *position) {
	return pack_external(&(struct external){"MPI_Pack_external_c", datarep, inbuf, outbuf, incount, outsize,
						datatype, position});
}
GOMPI_ENTRY(MPI_Pack_external_c, gompi_pack_external_c);

int gompi_unpack_external(const char datarep[], const void *inbuf, MPI_Aint insize, MPI_Aint *position, void *outbuf,
			  int outcount, MPI_Datatype datatype) {
	return unpack_external(&(struct external){"MPI_Unpack_external", datarep, outbuf, inbuf, outcount, insize,
						  datatype, position});
}
GOMPI_ENTRY(MPI_Unpack_external, gompi_unpack_external);

int gompi_unpack_external_c(const char datarep[], const void *inbuf, MPI_Count insize, MPI_Count *position,
			    void *outbuf, MPI_Count outcount, MPI_Datatype datatype) {
	return unpack_external(&(struct external){"MPI_Unpack_external_c", datarep, outbuf, inbuf, outcount, insize,
						  datatype, position});
}
GOMPI_ENTRY(MPI_Unpack_external_c, gompi_unpack_external_c);

static int external_size(const char *call, const char *datarep, int64_t count, MPI_Datatype datatype, MPI_Aint *size) {
	int reversed;
	int64_t bytes, lo, hi;
	const struct gompi_type *t = in_reverse(datarep, count, datatype, &reversed, &bytes);
	if (t != NULL && size != NULL && gompi_type_bounds(t, count, &lo, &hi)) {
		*size = bytes;
		return MPI_SUCCESS;
	}
	const char *outer = gompi_enter(call);
	int rc = gompi_external_size_in_go((uintptr_t)call, (uintptr_t)datarep, count, (uintptr_t)datatype,
					   (uintptr_t)size);
	gompi_leave(outer);
	return rc < 0 ? gompi_raise(rc) : rc;
}

int gompi_pack_external_size(const char datarep[], int incount, MPI_Datatype datatype, MPI_Aint *size) {
	return external_size("MPI_Pack_external_size", datarep, incount, datatype, size);
}
GOMPI_ENTRY(MPI_Pack_external_size, gompi_pack_external_size);

int gompi_pack_external_size_c(const char datarep[], MPI_Count incount, MPI_Datatype datatype, MPI_Count *size) {
	return external_size("MPI_Pack_external_size_c", datarep, incount, datatype, size);
}
GOMPI_ENTRY(MPI_Pack_external_size_c, gompi_pack_external_size_c);
