// Conversions between the number of bytes in a status and counts of datatypes or basic elements (MPI-5.0 3.2.5, 5.1.11
// and 13.3). The types need not be committed. No function blocks or communicates.
#include "datatype/type_props.h"

#include "base/error_status.h"
#include "base/status.h"
#include "datatype/checked.h"
#include "datatype/label.h"
#include "datatype/predefined.h"
#include "datatype/recipe.h"
#include "datatype/z_calls.h"

static const char no_status[] = "status is NULL or MPI_STATUS_IGNORE";

// Returns `bytes` / `size`, or MPI_UNDEFINED if the division has a remainder. Divides 32-bit integers if possible,
// because most processors divide these in half the time of 64-bit integers.
static inline int64_t divide_exactly(int64_t bytes, int64_t size) {
	bool small = ((uint64_t)bytes | (uint64_t)size) >> 32 == 0;
	int64_t n = small ? (int64_t)((uint32_t)bytes / (uint32_t)size) : bytes / size;
	return n * size == bytes ? n : MPI_UNDEFINED;
}

// Returns how many copies of a type are in data of `bytes` >= 0 bytes, or MPI_UNDEFINED if the data ends inside a copy.
static inline int64_t copies(MPI_Datatype datatype, const struct gompi_type_props *f, int64_t bytes) {
	(void)datatype;
	if (f->size == 0)
		return bytes == 0 ? 0 : MPI_UNDEFINED;
	return divide_exactly(bytes, f->size);
}

// Returns the bytes of the value of a pair type.
static int64_t pair_value_bytes(const struct gompi_type *t) {
	uintptr_t value = 0, index;
	gompi_pair_parts((uintptr_t)t->elem, &value, &index);
	return gompi_type_get_any((MPI_Datatype)value)->size;
}

// Returns how many basic elements are in the first `bytes` bytes of data of consecutive copies of a type. A pair type
// counts as two. Returns MPI_UNDEFINED if the data ends inside an element.
static int64_t elements_in(const struct gompi_type *t, int64_t bytes) {
	int64_t n = bytes / t->size * gompi_type_props_of(t)->basic_count;
	for (bytes %= t->size; bytes > 0;) {
		if (gompi_type_is_basic(t))
			return gompi_type_props_of(t)->basic_count == 2 && bytes == pair_value_bytes(t) ? n + 1
													: MPI_UNDEFINED;
		for (int64_t i = 0, copies;; i++) {
			const struct gompi_type *old = gompi_type_component(t, i, &copies);
			int64_t basic_count = gompi_type_props_of(old)->basic_count;
			if (bytes >= copies * old->size) {
				n += copies * basic_count;
				bytes -= copies * old->size;
				continue;
			}
			n += bytes / old->size * basic_count;
			bytes %= old->size;
			t = old;
			break;
		}
	}
	return n;
}

// Computes the number of bytes of the first n > 0 basic elements of consecutive copies of a type that has elements.
// Returns false if the number overflows.
static bool bytes_of_first(const struct gompi_type *t, int64_t n, int64_t *bytes) {
	int64_t basic_count = gompi_type_props_of(t)->basic_count;
	bool overflow = false;
	*bytes = gompi_checked_mul(n / basic_count, t->size, &overflow);
	for (n %= basic_count; n > 0;) {
		if (gompi_type_is_basic(t)) { // a pair type; n is 1
			*bytes = gompi_checked_add(*bytes, pair_value_bytes(t), &overflow);
			break;
		}
		for (int64_t i = 0, copies;; i++) {
			const struct gompi_type *old = gompi_type_component(t, i, &copies);
			basic_count = gompi_type_props_of(old)->basic_count;
			int64_t whole = n >= copies * basic_count ? copies : n / basic_count;
			*bytes = gompi_checked_add(*bytes, whole * old->size, &overflow);
			n -= whole * basic_count;
			if (whole == copies)
				continue;
			t = old;
			break;
		}
	}
	return !overflow;
}

// Returns how many basic elements of a type are in data of `bytes` >= 0 bytes, or MPI_UNDEFINED if the data ends inside
// an element.
static inline int64_t elements(MPI_Datatype datatype, const struct gompi_type_props *f, int64_t bytes) {
	if (f->size == 0)
		return bytes == 0 ? 0 : MPI_UNDEFINED;
	if (f->basic_bytes != 0)
		return divide_exactly(bytes, f->basic_bytes);
	return elements_in(gompi_type_get_any(datatype), bytes);
}

// Calls the function f with the number of bytes in a status, and stores the result in *count. *count is an MPI_Count if
// `wide` is true, else an int. Stores MPI_UNDEFINED if the result does not fit into an int.
static inline int get_status_count(const char *call, const MPI_Status *status, MPI_Datatype datatype, void *count,
				   bool wide, int64_t (*f)(MPI_Datatype, const struct gompi_type_props *, int64_t)) {
	const struct gompi_type_props *props = gompi_type_props_get(datatype);
	if (props == NULL)
		return gompi_not_a_datatype(datatype, call);
	if (count == NULL)
		return gompi_null_argument_error(call, "count", GOMPI_ON_NONE, 0);
	if (status == NULL)
		return gompi_return_error(MPI_ERR_ARG, call, no_status, GOMPI_ON_NONE, 0);
	int64_t bytes = gompi_status_bytes(status);
	int64_t n = bytes < 0 ? MPI_UNDEFINED : f(datatype, props, bytes);
	if (wide)
		*(MPI_Count *)count = n;
	else
		*(int *)count = gompi_as_int(n);
	return MPI_SUCCESS;
}

int gompi_get_count(const MPI_Status *status, MPI_Datatype datatype, int *count) {
	return get_status_count("MPI_Get_count", status, datatype, count, false, copies);
}
GOMPI_ENTRY(MPI_Get_count, gompi_get_count);

int gompi_get_count_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count) {
	return get_status_count("MPI_Get_count", status, datatype, count, true, copies);
}
GOMPI_ENTRY(MPI_Get_count_c, gompi_get_count_c);

int gompi_get_elements(const MPI_Status *status, MPI_Datatype datatype, int *count) {
	return get_status_count("MPI_Get_elements", status, datatype, count, false, elements);
}
GOMPI_ENTRY(MPI_Get_elements, gompi_get_elements);

int gompi_get_elements_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count) {
	return get_status_count("MPI_Get_elements", status, datatype, count, true, elements);
}
GOMPI_ENTRY(MPI_Get_elements_c, gompi_get_elements_c);

int gompi_get_elements_x(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count) {
	return get_status_count("MPI_Get_elements_x", status, datatype, count, true, elements);
}
GOMPI_ENTRY(MPI_Get_elements_x, gompi_get_elements_x);

// Computes the number of bytes of n basic elements of a type. Returns false if n is negative, the type has no elements
// for n > 0, or the number overflows.
static inline bool bytes_of_elements(MPI_Datatype datatype, const struct gompi_type_props *f, int64_t n,
				     int64_t *bytes) {
	*bytes = 0;
	if (n < 0 || f->basic_count == 0)
		return n == 0;
	if (f->basic_bytes != 0)
		return !__builtin_mul_overflow(n, f->basic_bytes, bytes);
	return bytes_of_first(gompi_type_get_any(datatype), n, bytes);
}

static __attribute__((cold)) int raise_elements(const char *call, MPI_Datatype datatype, int64_t n) {
	struct gompi_error_status v;
	char label[GOMPI_LABEL];
	gompi_set_error(&v, MPI_ERR_COUNT,
			"count is %lld; a status cannot store this number of elements of datatype %s", (long long)n,
			gompi_type_label(datatype, label));
	return gompi_return_error(v.class, call, v.text, GOMPI_ON_NONE, 0);
}

// Handles every case of set_elements, including errors. It is not inlined, so that the fast path needs no stack frame.
static __attribute__((noinline)) int set_elements_slow(const char *call, MPI_Status *status, MPI_Datatype datatype,
						       int64_t n) {
	const struct gompi_type_props *f = gompi_type_props_get(datatype);
	if (__builtin_expect(f == NULL, 0))
		return gompi_not_a_datatype(datatype, call);
	if (__builtin_expect(status == NULL, 0))
		return gompi_return_error(MPI_ERR_ARG, call, no_status, GOMPI_ON_NONE, 0);
	int64_t bytes;
	if (__builtin_expect(!bytes_of_elements(datatype, f, n, &bytes), 0))
		return raise_elements(call, datatype, n);
	gompi_status_set_bytes(status, bytes);
	return MPI_SUCCESS;
}

static inline int set_elements(const char *call, MPI_Status *status, MPI_Datatype datatype, int64_t n) {
	const struct gompi_type_props *f = gompi_type_props_get(datatype);
	int64_t bytes;
	if (__builtin_expect(f == NULL || status == NULL || n < 0 || f->basic_count == 0 || f->basic_bytes == 0 ||
				     __builtin_mul_overflow(n, f->basic_bytes, &bytes),
			     0))
		return set_elements_slow(call, status, datatype, n);
	gompi_status_set_bytes(status, bytes);
	return MPI_SUCCESS;
}

int gompi_status_set_elements(MPI_Status *status, MPI_Datatype datatype, int count) {
	return set_elements("MPI_Status_set_elements", status, datatype, count);
}
GOMPI_ENTRY(MPI_Status_set_elements, gompi_status_set_elements);

int gompi_status_set_elements_c(MPI_Status *status, MPI_Datatype datatype, MPI_Count count) {
	return set_elements("MPI_Status_set_elements", status, datatype, count);
}
GOMPI_ENTRY(MPI_Status_set_elements_c, gompi_status_set_elements_c);

int gompi_status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count) {
	return set_elements("MPI_Status_set_elements_x", status, datatype, count);
}
GOMPI_ENTRY(MPI_Status_set_elements_x, gompi_status_set_elements_x);
