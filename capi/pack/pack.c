// Packs and unpacks data (MPI-5.0 5.2). The packed form is the bytes of the data in sequence. No function calls Go,
// blocks or communicates.
#include <limits.h>

#include "base/error_status.h"
#include "comm/comm.h"
#include "datatype/buffer.h"
#include "datatype/label.h"
#include "pack/z_calls.h"

// Returns the committed type of a call, and stores the size in bytes and the lowest offset of count copies of it.
// Returns NULL with the error in *v if an argument is invalid.
static const struct gompi_type *checked_type(struct gompi_error_status *v, int64_t count, MPI_Datatype datatype,
					     MPI_Comm comm, int64_t *bytes, int64_t *lowest) {
	int64_t hi;
	const struct gompi_type *t = gompi_type_get(datatype);
	if (!gompi_comm_get(comm))
		gompi_comm_invalid(v, comm);
	else if (!t)
		gompi_type_unusable(v, "the datatype", datatype);
	else if (count < 0)
		gompi_set_error(v, MPI_ERR_COUNT, "count is %lld; it must not be negative", (long long)count);
	else if (!gompi_type_bytes(t, count, bytes) || !gompi_type_bounds(t, count, lowest, &hi))
		gompi_set_error(v, MPI_ERR_COUNT,
				"%lld elements of %lld bytes with extent %lld exceed the range of 64-bit sizes",
				(long long)count, (long long)t->size, (long long)t->extent);
	else
		return t;
	return NULL;
}

// The arguments of a call: a packed buffer of buffer_bytes bytes, and the data to pack or unpack.
struct packed {
	const void *buffer;
	int64_t buffer_bytes, *position;
	const struct gompi_type *type; // datatype of the data
	int64_t data_bytes;
};

// Checks the arguments of a call and stores the data's type and size in *p. Returns MPI_SUCCESS or the error class in
// *v.
static int check_packed(struct packed *p, struct gompi_error_status *v, const void *data, int64_t count,
			MPI_Datatype datatype, MPI_Comm comm) {
	int64_t lowest, at = *p->position;
	if (!(p->type = checked_type(v, count, datatype, comm, &p->data_bytes, &lowest)))
		return v->class;
	if (p->buffer_bytes < 0)
		return gompi_set_error(v, MPI_ERR_ARG, "the size of the packed buffer is %lld; it must not be negative",
				       (long long)p->buffer_bytes);
	if (at < 0 || at > p->buffer_bytes)
		return gompi_set_error(v, MPI_ERR_ARG, "position is %lld, but the packed buffer has %lld bytes",
				       (long long)at, (long long)p->buffer_bytes);
	if (p->data_bytes > p->buffer_bytes - at)
		return gompi_set_error(v, MPI_ERR_TRUNCATE,
				       "%lld bytes from position %lld exceed the packed buffer of %lld bytes",
				       (long long)p->data_bytes, (long long)at, (long long)p->buffer_bytes);
	if (p->data_bytes && gompi_invalid_address(p->buffer, at))
		return gompi_set_error(v, MPI_ERR_BUFFER, "the packed buffer %p is not valid memory for %lld bytes",
				       p->buffer, (long long)p->data_bytes);
	if (p->data_bytes && gompi_invalid_address(data, lowest))
		return gompi_bad_buffer(v, "the buffer", data, p->data_bytes, lowest);
	return MPI_SUCCESS;
}

static int pack_error(const struct gompi_error_status *v, const char *call, MPI_Comm comm) {
	return gompi_return_error(v->class, call, v->text, gompi_comm_get(comm) ? GOMPI_ON_COMM : GOMPI_ON_NONE,
				  (uintptr_t)comm);
}

static int pack(const char *call, const void *inbuf, int64_t count, MPI_Datatype datatype, void *outbuf, int64_t size,
		int64_t *position, MPI_Comm comm) {
	struct gompi_error_status v;
	struct packed p = {outbuf, size, position, NULL, 0};
	if (check_packed(&p, &v, inbuf, count, datatype, comm))
		return pack_error(&v, call, comm);
	gompi_typed_pack((char *)outbuf + *position, p.data_bytes, inbuf, count, p.type, 0);
	*position += p.data_bytes;
	return MPI_SUCCESS;
}

static int unpack(const char *call, const void *inbuf, int64_t size, int64_t *position, void *outbuf, int64_t count,
		  MPI_Datatype datatype, MPI_Comm comm) {
	struct gompi_error_status v;
	struct packed p = {inbuf, size, position, NULL, 0};
	if (check_packed(&p, &v, outbuf, count, datatype, comm))
		return pack_error(&v, call, comm);
	gompi_typed_unpack(outbuf, count, p.type, 0, (const char *)inbuf + *position, p.data_bytes);
	*position += p.data_bytes;
	return MPI_SUCCESS;
}

// Returns true in the most frequent case, that contiguous data of a predefined type fits the packed buffer. Stores the
// size of the data in bytes in *n. Returns false in every other case, including errors; the caller then calls pack or
// unpack.
static inline bool is_simple_pack(const void *data, int64_t count, MPI_Datatype datatype, const void *packed,
				  int64_t size, int64_t at, MPI_Comm comm, int64_t *n) {
	struct gompi_buffer b;
	if (!gompi_buffer_simple(&b, data, count, datatype) || gompi_comm_get(comm) == NULL)
		return false;
	*n = b.size;
	return at >= 0 && at <= size && b.size <= size - at && !gompi_invalid_address(packed, 0);
}

static int null_position_error(const char *call, MPI_Comm comm) {
	return pack_error(&(struct gompi_error_status){MPI_ERR_ARG, "position is NULL"}, call, comm);
}

static int null_size_error(const char *call, MPI_Comm comm) {
	return pack_error(&(struct gompi_error_status){MPI_ERR_ARG, "size is NULL"}, call, comm);
}

int gompi_pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf, MPI_Count outsize,
		 MPI_Count *position, MPI_Comm comm) {
	int64_t n;
	if (!position)
		return null_position_error("MPI_Pack_c", comm);
	if (is_simple_pack(inbuf, incount, datatype, outbuf, outsize, *position, comm, &n)) {
		gompi_copy_between((char *)outbuf + *position, inbuf, (uint64_t)n);
		*position += n;
		return MPI_SUCCESS;
	}
	return pack("MPI_Pack_c", inbuf, incount, datatype, outbuf, outsize, position, comm);
}
GOMPI_ENTRY(MPI_Pack_c, gompi_pack_c);

int gompi_pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize, int *position,
	       MPI_Comm comm) {
	int64_t n;
	if (!position)
		return null_position_error("MPI_Pack", comm);
	int64_t at = *position;
	if (is_simple_pack(inbuf, incount, datatype, outbuf, outsize, at, comm, &n)) {
		gompi_copy_between((char *)outbuf + at, inbuf, (uint64_t)n);
		*position = (int)(at + n);
		return MPI_SUCCESS;
	}
	int rc = pack("MPI_Pack", inbuf, incount, datatype, outbuf, outsize, &at, comm);
	*position = (int)at; // the position fits an int, since it is at most outsize
	return rc;
}
GOMPI_ENTRY(MPI_Pack, gompi_pack);

int gompi_unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount,
		   MPI_Datatype datatype, MPI_Comm comm) {
	int64_t n;
	if (!position)
		return null_position_error("MPI_Unpack_c", comm);
	if (is_simple_pack(outbuf, outcount, datatype, inbuf, insize, *position, comm, &n)) {
		gompi_copy_between(outbuf, (const char *)inbuf + *position, (uint64_t)n);
		*position += n;
		return MPI_SUCCESS;
	}
	return unpack("MPI_Unpack_c", inbuf, insize, position, outbuf, outcount, datatype, comm);
}
GOMPI_ENTRY(MPI_Unpack_c, gompi_unpack_c);

int gompi_unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount, MPI_Datatype datatype,
		 MPI_Comm comm) {
	int64_t n;
	if (!position)
		return null_position_error("MPI_Unpack", comm);
	int64_t at = *position;
	if (is_simple_pack(outbuf, outcount, datatype, inbuf, insize, at, comm, &n)) {
		gompi_copy_between(outbuf, (const char *)inbuf + at, (uint64_t)n);
		*position = (int)(at + n);
		return MPI_SUCCESS;
	}
	int rc = unpack("MPI_Unpack", inbuf, insize, &at, outbuf, outcount, datatype, comm);
	*position = (int)at;
	return rc;
}
GOMPI_ENTRY(MPI_Unpack, gompi_unpack);

// Returns the size in bytes of count copies of a datatype. After an error, returns a negative number and stores in *rc
// the value that the call must return.
static int64_t pack_size(const char *call, int64_t count, MPI_Datatype datatype, MPI_Comm comm, int *rc) {
	struct gompi_error_status v;
	int64_t n, lowest;
	*rc = MPI_SUCCESS;
	if (checked_type(&v, count, datatype, comm, &n, &lowest))
		return n;
	*rc = pack_error(&v, call, comm);
	return -1;
}

int gompi_pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size) {
	int rc;
	if (!size)
		return null_size_error("MPI_Pack_size_c", comm);
	int64_t n = pack_size("MPI_Pack_size_c", incount, datatype, comm, &rc);
	if (n >= 0)
		*size = n;
	return rc;
}
GOMPI_ENTRY(MPI_Pack_size_c, gompi_pack_size_c);

int gompi_pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size) {
	int rc;
	if (!size)
		return null_size_error("MPI_Pack_size", comm);
	int64_t n = pack_size("MPI_Pack_size", incount, datatype, comm, &rc);
	if (n >= 0)
		*size = n > INT_MAX ? MPI_UNDEFINED : (int)n;
	return rc;
}
GOMPI_ENTRY(MPI_Pack_size, gompi_pack_size);
