// The properties of a datatype, committed or not, for the inquiry functions.
#ifndef GOMPI_TYPE_PROPS_H
#define GOMPI_TYPE_PROPS_H

#include "datatype/datatype.h"

#pragma GCC visibility push(hidden)

// Properties of the predefined types, by handle.
extern _Alignas(64) struct gompi_type_props_slot {
	struct gompi_type_props props;
	// pads the slot to a power of two, so that its index is computed by a shift
	char power_of_two[128 - sizeof(struct gompi_type_props)];
} gompi_type_props_slots[GOMPI_TYPE_PREDEFINED];

// Returns the properties of a type that gompi_type_get_any returned.
static inline const struct gompi_type_props *gompi_type_props_of(const struct gompi_type *t) {
	size_t slot = ((uintptr_t)t - (uintptr_t)gompi_type_slots) / sizeof gompi_type_slots[0];
	return gompi_type_is_freeable(t) ? &gompi_type_meta(t)->props : &gompi_type_props_slots[slot].props;
}

// Returns the properties of a live type, or NULL.
static inline const struct gompi_type_props *gompi_type_props_get(MPI_Datatype datatype) {
	uintptr_t h = (uintptr_t)datatype;
	if (__builtin_expect(h - GOMPI_TYPE_FIRST < GOMPI_TYPE_PREDEFINED, 1)) {
		const struct gompi_type_props *f = &gompi_type_props_slots[h - GOMPI_TYPE_FIRST].props;
		return f->combiner != 0 ? f : NULL;
	}
	const struct gompi_type *t = gompi_table_get(&gompi_types.table, h);
	return t != NULL ? &gompi_type_meta(t)->props : NULL;
}

// Returns true if the type is predefined, with or without a name. Such a type is never freed.
static inline bool gompi_type_is_library_owned(const struct gompi_type_props *f) {
	return f->combiner == MPI_COMBINER_NAMED || f->combiner == MPI_COMBINER_F90_INTEGER ||
	       f->combiner == MPI_COMBINER_F90_REAL || f->combiner == MPI_COMBINER_F90_COMPLEX ||
	       f->combiner == MPI_COMBINER_VALUE_INDEX;
}

// Returns true if a type is predefined, with or without a name.
static inline bool gompi_type_is_basic(const struct gompi_type *t) {
	return !gompi_type_is_freeable(t) || gompi_type_is_library_owned(&gompi_type_meta(t)->props);
}

// Returns n as an int, or MPI_UNDEFINED if it does not fit into an int.
static inline int gompi_as_int(int64_t n) { return n == (int)n ? (int)n : MPI_UNDEFINED; }

// Raises MPI_ERR_TYPE for a handle that is not the handle of a live datatype. Returns the result of the MPI call.
__attribute__((cold)) int gompi_not_a_datatype(MPI_Datatype datatype, const char *call);

#pragma GCC visibility pop
#endif
