// Recipes of datatypes: the arguments of a constructor, as the application passes them or as a type stores them.
#ifndef GOMPI_RECIPE_H
#define GOMPI_RECIPE_H

#include "base/error_status.h"
#include "datatype/datatype.h"

enum { GOMPI_RECIPE_LISTS = 4 };

struct gompi_recipe {
	const char *call; // name of the constructor
	int combiner;     // an MPI_COMBINER_ constant
	bool is_large;    // the constructor has MPI_Count arguments (name ends in _c)
	bool is_stored;   // a type stores this recipe, and holds references to the old types
	int order;        // MPI_ORDER_C or MPI_ORDER_FORTRAN, for a subarray or distributed array
	int64_t n;        // number of copies, blocks or dimensions
	// vector: blocklength and stride; indexed block: blocklength; resized: lb and extent; darray: size and rank
	int64_t a, b;
	// Indexed and struct types: lengths and displacements of the blocks. Subarrays: sizes, subsizes and starts.
	// Distributed arrays: sizes, distributions, distribution arguments and process grid. NULL if the constructor
	// does not have the list.
	const void *list[GOMPI_RECIPE_LISTS];
	bool is_64bit[GOMPI_RECIPE_LISTS]; // list of 64-bit integers instead of int
	int64_t type_count;                // number of datatypes
	// Handles from the application. A stored recipe has the address of the struct gompi_type instead, unless the
	// type is predefined.
	const MPI_Datatype *types;
};

static inline int64_t gompi_recipe_at(const struct gompi_recipe *r, int list, int64_t i) {
	return r->is_64bit[list] ? ((const int64_t *)r->list[list])[i] : ((const int *)r->list[list])[i];
}

// Returns type i; NULL if its handle is invalid.
static inline const struct gompi_type *gompi_recipe_type(const struct gompi_recipe *r, int64_t i) {
	uintptr_t type = (uintptr_t)r->types[i];
	return r->is_stored && type >= GOMPI_TYPE_FIRST + GOMPI_TYPE_PREDEFINED ? (const struct gompi_type *)type
										: gompi_type_get_any(r->types[i]);
}

// Returns true if r->a is the length of all blocks, and false if list 0 has the lengths.
static inline bool gompi_recipe_has_same_lengths(const struct gompi_recipe *r) {
	return r->combiner == MPI_COMBINER_INDEXED_BLOCK || r->combiner == MPI_COMBINER_HINDEXED_BLOCK;
}

// Returns the type of component i of a type that is not predefined, and stores in *n how many copies of this type the
// component has. The components are in typemap order.
static inline const struct gompi_type *gompi_type_component(const struct gompi_type *t, int64_t i, int64_t *n) {
	const struct gompi_recipe *r = gompi_type_meta(t)->recipe;
	const struct gompi_type *old = gompi_recipe_type(r, i);
	if (r->combiner == MPI_COMBINER_STRUCT)
		*n = old->elements != 0 ? gompi_recipe_at(r, 0, i) : 0;
	else
		*n = old->elements != 0 ? t->elements / old->elements : 0;
	return old;
}

// Returns the number of bytes that gompi_recipe_store needs.
static inline size_t gompi_recipe_bytes(const struct gompi_recipe *r) {
	int64_t lists = 0;
	for (int i = 0; i < GOMPI_RECIPE_LISTS; i++)
		lists += r->list[i] != NULL;
	return sizeof *r + (size_t)r->type_count * sizeof *r->types + (size_t)(lists * r->n) * sizeof(int64_t);
}

#pragma GCC visibility push(hidden)

// Stores a copy of r in the memory of t, after the program of t, which has `words` 8-byte words. Acquires references to
// the old types that r contains.
void gompi_recipe_store(const struct gompi_recipe *r, struct gompi_type *t, int64_t words);
// Constructs a type and stores its handle. Returns MPI_SUCCESS, or fills in the error status and returns its class.
int gompi_recipe_new(const struct gompi_recipe *r, uintptr_t *handle, struct gompi_error_status *v);
// Checks the arguments. Returns MPI_SUCCESS, or fills in the error status and returns its class.
__attribute__((cold)) int gompi_recipe_check(const struct gompi_recipe *r, struct gompi_error_status *v);
// Executes the call of a constructor and returns its result.
int gompi_type_construct(const struct gompi_recipe *r, MPI_Datatype *newtype);

#pragma GCC visibility pop
#endif
