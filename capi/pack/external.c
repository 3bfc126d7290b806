// Packs and unpacks data in the canonical representation external32 (MPI-5.0 5.3 and 14.5.2). Types whose canonical
// form only reverses the bytes of each number are converted as a whole, all others element by element (convert.h). No
// function blocks or communicates.
#include <string.h>

#include "datatype/buffer.h"
#include "datatype/label.h"
#include "datatype/type_props.h"
#include "pack/convert.h"
#include "pack/z_calls.h"

// The arguments of a call.
struct external {
	const char *call, *datarep;
	const void *data, *packed;
	int64_t count, packed_bytes;
	MPI_Datatype datatype;
	MPI_Aint *position;
};

// Returns the committed type, and stores the size of its numbers and the total size in bytes. Returns NULL if the
// canonical form needs more than byte reversal, the type is not committed, datarep is not "external32", or the size
// overflows 64 bits.
static inline const struct gompi_type *reversible_type(const char *datarep, int64_t count, MPI_Datatype datatype,
						       int *swap_unit, int64_t *bytes) {
	const struct gompi_type *t = gompi_type_get(datatype);
	if (datarep == NULL || strcmp(datarep, "external32") != 0 || t == NULL || !gompi_type_bytes(t, count, bytes))
		return NULL;
	*swap_unit = gompi_type_props_of(t)->swap_unit_bytes;
	return *swap_unit != 0 ? t : NULL;
}

// Returns the type if the arguments are valid, there are bytes to convert, and the canonical form only reverses the
// bytes of each number. Otherwise returns NULL.
static inline const struct gompi_type *valid_type(const struct external *x, int *reversed, int64_t *bytes) {
	int64_t lo, hi;
	const struct gompi_type *t = reversible_type(x->datarep, x->count, x->datatype, reversed, bytes);
	return t != NULL && x->position != NULL && *bytes > 0 && *x->position >= 0 && *x->position <= x->packed_bytes &&
			       *bytes <= x->packed_bytes - *x->position && gompi_type_bounds(t, x->count, &lo, &hi) &&
			       !gompi_invalid_address(x->packed, *x->position) && !gompi_invalid_address(x->data, lo)
		       ? t
		       : NULL;
}

// Checks the arguments of MPI_Pack_external_size. Stores the type and the packed size in bytes.
static int check_type_size(struct gompi_error_status *v, const char *datarep, int64_t count, MPI_Datatype datatype,
			   const struct gompi_type **type, int64_t *bytes) {
	int64_t lo, hi;
	char label[GOMPI_LABEL];
	if (datarep == NULL || strcmp(datarep, "external32") != 0)
		return gompi_set_error(v, MPI_ERR_ARG, "datarep is \"%.128s\"; only \"external32\" is supported",
				       datarep != NULL ? datarep : "");
	const struct gompi_type *t = *type = gompi_type_get(datatype);
	if (t == NULL)
		return gompi_type_unusable(v, "datatype", datatype);
	if (count < 0)
		return gompi_set_error(v, MPI_ERR_COUNT, "count is %lld; it must not be negative", (long long)count);
	// the canonical form is not longer than the data
	if (!gompi_type_bytes(t, count, bytes) || !gompi_type_bounds(t, count, &lo, &hi))
		return gompi_set_error(v, MPI_ERR_COUNT,
				       "%lld elements of datatype %s exceed the range of 64-bit sizes",
				       (long long)count, gompi_type_label(datatype, label));
	*bytes = count * gompi_type_props_of(t)->external_bytes;
	return MPI_SUCCESS;
}

// Checks the arguments of a call that packs or unpacks. Stores the type and the packed size in bytes.
static int check_arguments(struct gompi_error_status *v, const struct external *x, const struct gompi_type **type,
			   int64_t *bytes) {
	int64_t lo, hi;
	if (x->position == NULL)
		return gompi_set_error(v, MPI_ERR_ARG, "position is NULL");
	int class = check_type_size(v, x->datarep, x->count, x->datatype, type, bytes);
	if (class != MPI_SUCCESS)
		return class;
	const int64_t at = *x->position;
	if (at < 0 || at > x->packed_bytes)
		return gompi_set_error(v, MPI_ERR_ARG, "position is %lld, but the packed buffer has %lld bytes",
				       (long long)at, (long long)x->packed_bytes);
	if (*bytes > x->packed_bytes - at)
		return gompi_set_error(v, MPI_ERR_TRUNCATE,
				       "%lld bytes from position %lld exceed the packed buffer of %lld bytes",
				       (long long)*bytes, (long long)at, (long long)x->packed_bytes);
	if (*bytes == 0)
		return MPI_SUCCESS;
	if (gompi_invalid_address(x->packed, at))
		return gompi_set_error(v, MPI_ERR_BUFFER, "the packed buffer %p is not valid memory for %lld bytes",
				       x->packed, (long long)*bytes);
	gompi_type_bounds(*type, x->count, &lo, &hi);
	if (gompi_invalid_address(x->data, lo))
		return gompi_bad_buffer(v, "the data buffer", x->data, x->count * (*type)->size, lo);
	return MPI_SUCCESS;
}

// Executes a call for any type, and reports errors.
static __attribute__((noinline)) int external_slow(const struct external *x, bool is_pack) {
	struct gompi_error_status v;
	const struct gompi_type *t;
	int64_t bytes, native_bytes;
	int class = check_arguments(&v, x, &t, &bytes);
	if (class == MPI_SUCCESS && bytes > 0)
		class = gompi_external_convert(&v, t, x->count, (void *)(uintptr_t)x->data,
					       (char *)(uintptr_t)x->packed + *x->position, bytes, is_pack,
					       &native_bytes);
	if (class != MPI_SUCCESS)
		return gompi_return_error(class, x->call, v.text, GOMPI_ON_NONE, 0);
	*x->position += bytes;
	return MPI_SUCCESS;
}

static int pack_external(const struct external *x) {
	int reversed;
	int64_t bytes;
	const struct gompi_type *t = valid_type(x, &reversed, &bytes);
	if (t == NULL)
		return external_slow(x, true);
	char *to = (char *)(uintptr_t)x->packed + *x->position;
	gompi_typed_pack(to, bytes, x->data, x->count, t, 0);
	gompi_swap_bytes(to, to, bytes, reversed);
	*x->position += bytes;
	return MPI_SUCCESS;
}

static int unpack_external(const struct external *x) {
	enum { CHUNK_BYTES = 1024 };
	int reversed;
	int64_t bytes;
	char chunk[CHUNK_BYTES];
	const struct gompi_type *t = valid_type(x, &reversed, &bytes);
	if (t == NULL)
		return external_slow(x, false);
	const char *from = (const char *)x->packed + *x->position;
	for (int64_t done = 0, n; done < bytes; done += n) {
		n = bytes - done < CHUNK_BYTES ? bytes - done : CHUNK_BYTES;
		gompi_swap_bytes(chunk, from + done, n, reversed);
		gompi_typed_unpack((void *)(uintptr_t)x->data, x->count, t, done, chunk, n);
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

// Executes MPI_Pack_external_size for any type, and reports errors.
static __attribute__((noinline)) int external_size_slow(const char *call, const char *datarep, int64_t count,
							MPI_Datatype datatype, MPI_Aint *size) {
	struct gompi_error_status v;
	const struct gompi_type *t;
	int64_t bytes;
	if (size == NULL)
		return gompi_null_argument_error(call, "size", GOMPI_ON_NONE, 0);
	int class = check_type_size(&v, datarep, count, datatype, &t, &bytes);
	if (class != MPI_SUCCESS)
		return gompi_return_error(class, call, v.text, GOMPI_ON_NONE, 0);
	*size = bytes;
	return MPI_SUCCESS;
}

static int external_size(const char *call, const char *datarep, int64_t count, MPI_Datatype datatype, MPI_Aint *size) {
	int reversed;
	int64_t bytes, lo, hi;
	const struct gompi_type *t = reversible_type(datarep, count, datatype, &reversed, &bytes);
	if (t != NULL && size != NULL && gompi_type_bounds(t, count, &lo, &hi)) {
		*size = bytes;
		return MPI_SUCCESS;
	}
	return external_size_slow(call, datarep, count, datatype, size);
}

int gompi_pack_external_size(const char datarep[], int incount, MPI_Datatype datatype, MPI_Aint *size) {
	return external_size("MPI_Pack_external_size", datarep, incount, datatype, size);
}
GOMPI_ENTRY(MPI_Pack_external_size, gompi_pack_external_size);

int gompi_pack_external_size_c(const char datarep[], MPI_Count incount, MPI_Datatype datatype, MPI_Count *size) {
	return external_size("MPI_Pack_external_size_c", datarep, incount, datatype, size);
}
GOMPI_ENTRY(MPI_Pack_external_size_c, gompi_pack_external_size_c);
