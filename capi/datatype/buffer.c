#include "datatype/buffer.h"
#include "datatype/label.h"

int gompi_buffer_check(struct gompi_buffer *b, const void *at, int64_t count, MPI_Datatype type, bool no_data,
		       struct gompi_error_status *v) {
	*b = (struct gompi_buffer){0};
	if (count == 0 && type == MPI_DATATYPE_NULL) // programs that have nothing to send pass MPI_DATATYPE_NULL
		return MPI_SUCCESS;
	const struct gompi_type *t = gompi_type_get(type);
	if (t == NULL)
		return gompi_type_unusable(v, "the datatype", type);
	if (count < 0)
		return gompi_set_error(v, MPI_ERR_COUNT, "count is %lld; it must not be negative", (long long)count);
	if (no_data || count == 0 || t->size == 0)
		return MPI_SUCCESS;
	int64_t bytes, lo, hi;
	char label[GOMPI_LABEL];
	bool sized = gompi_type_bytes(t, count, &bytes), bounded = gompi_type_bounds(t, count, &lo, &hi);
	if (!sized || !bounded)
		return gompi_set_error(
			v, sized && count <= INT32_MAX ? MPI_ERR_COUNT : MPI_ERR_VALUE_TOO_LARGE,
			"%lld elements of datatype %s exceed the range of 64-bit sizes and displacements",
			(long long)count, gompi_type_label(type, label));
	if (gompi_invalid_address(at, lo))
		return gompi_bad_buffer(v, "the buffer", at, bytes, lo);
	uint64_t first = (uintptr_t)at + (uint64_t)lo, length = (uint64_t)hi - (uint64_t)lo;
	if (length > INT64_MAX || first + length < first)
		return gompi_set_error(
			v, MPI_ERR_BUFFER,
			"the buffer at %p has data from offset %+lld to %+lld, which exceeds the address space", at,
			(long long)lo, (long long)hi);
	b->at = (char *)(uintptr_t)at;
	b->size = bytes;
	if (t->flags & GOMPI_TYPE_CONTIGUOUS) {
		b->at += t->origin;
	} else {
		b->count = count;
		b->type = t;
	}
	return MPI_SUCCESS;
}

void gompi_buffer_pack_typed(const struct gompi_buffer *b, char *to, int64_t from, int64_t n) {
	gompi_typed_pack(to, n, b->at, b->count, b->type, b->skip_bytes + from);
}

void gompi_buffer_unpack_typed(const struct gompi_buffer *b, int64_t to, const char *from, int64_t n) {
	gompi_typed_unpack(b->at, b->count, b->type, b->skip_bytes + to, from, n);
}

int gompi_buffer_runs(const struct gompi_buffer *b, int64_t from, struct iovec *out, int max) {
	int64_t left = b->size - from;
	if (left <= 0 || max == 0)
		return 0;
	if (b->type == NULL) {
		out[0] = (struct iovec){b->at + from, (size_t)left};
		return 1;
	}
	struct gompi_cursor c;
	gompi_cursor_init(&c, b->type, b->count, GOMPI_BYTES);
	if (b->skip_bytes + from > 0)
		gompi_cursor_seek(&c, b->skip_bytes + from);
	int n = 0;
	for (int64_t offset, bytes; n < max && left > 0 && (bytes = gompi_cursor_next(&c, left, &offset)) > 0; n++) {
		out[n] = (struct iovec){b->at + offset, (size_t)bytes};
		left -= bytes;
	}
	return n;
}

void gompi_buffer_copy_typed(const struct gompi_buffer *to, const struct gompi_buffer *from, int64_t n) {
	if (n == 0)
		return;
	if (from->type == NULL) {
		gompi_buffer_unpack(to, 0, from->at, n);
	} else if (to->type == NULL) {
		gompi_buffer_pack(from, to->at, 0, n);
	} else if (to->skip_bytes == 0 && from->skip_bytes == 0 &&
		   (to->count * to->type->size == n || from->count * from->type->size == n)) {
		gompi_typed_copy(to->at, to->count, to->type, from->at, from->count, from->type);
	} else {
		char bounce[8 << 10];
		for (int64_t at = 0, chunk; at < n; at += chunk) {
			chunk = n - at < (int64_t)sizeof bounce ? n - at : (int64_t)sizeof bounce;
			gompi_buffer_pack(from, bounce, at, chunk);
			gompi_buffer_unpack(to, at, bounce, chunk);
		}
	}
}

void gompi_buffer_retain(const struct gompi_buffer *b) {
	if (b->type != NULL && !b->type_held_by_owner)
		gompi_type_retain(b->type);
}

void gompi_buffer_release(const struct gompi_buffer *b) {
	if (b->type != NULL && !b->type_held_by_owner)
		gompi_type_release(b->type);
}
