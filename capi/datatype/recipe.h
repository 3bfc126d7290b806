// How a datatype is constructed: the arguments of a constructor, as the application passes them or as a type keeps
// them.
#ifndef GOMPI_RECIPE_H
#define GOMPI_RECIPE_H

#include "datatype/datatype.h"

enum { GOMPI_RECIPE_LISTS = 4 };

struct gompi_recipe {
	const char *call; // of the constructor
	int combiner;     // MPI_COMBINER_
	bool large;       // the form with MPI_Count
	bool kept;        // by a type: it holds those that it was constructed from
	int order;        // of a subarray or distributed array
	int64_t n;        // copies, blocks or dimensions
	int64_t a, b;     // blocklength and stride; blocklength; lower bound and extent; size and rank
	// Lengths of blocks and displacements; sizes, subsizes and starts; sizes, distributions, their arguments and
	// the grid of processes. NULL: there is none.
	const void *list[GOMPI_RECIPE_LISTS];
	bool wide[GOMPI_RECIPE_LISTS]; // of 64 bits each, not of int
	int64_t types_number;          // datatypes
	// Handles as the application has them; of those that are kept the addresses, if they are not predefined.
	const MPI_Datatype *types;
};

static inline int64_t gompi_recipe_at(const struct gompi_recipe *r, int list, int64_t i) {
	return r->wide[list] ? ((const int64_t *)r->list[list])[i] : ((const int *)r->list[list])[i];
}

// gompi_recipe_type returns one of the types; NULL: there is none with that handle.
static inline const struct gompi_type *gompi_recipe_type(const struct gompi_recipe *r, int64_t i) {
	uintptr_t type = (uintptr_t)r->types[i];
	return r->kept && type >= GOMPI_TYPE_FIRST + GOMPI_TYPE_PREDEFINED ? (const struct gompi_type *)type
									   : gompi_type_live(r->types[i]);
}

// gompi_recipe_bytes returns the memory that gompi_recipe_keep needs.
static inline size_t gompi_recipe_bytes(const struct gompi_recipe *r) {
	int64_t lists = 0;
	for (int i = 0; i < GOMPI_RECIPE_LISTS; i++)
		lists += r->list[i] != NULL;
	return sizeof *r + (size_t)r->types_number * sizeof *r->types + (size_t)(lists * r->n) * sizeof(int64_t);
}

#pragma GCC visibility push(hidden)

// gompi_recipe_keep makes a copy in a type's memory, behind its program. The types that it is constructed from are
// held.
void gompi_recipe_keep(const struct gompi_recipe *r, struct gompi_type *t, int64_t words);
// gompi_recipe_make returns the type that a recipe makes, without a handle; NULL: that is Go's to do, or to refuse.
struct gompi_type *gompi_recipe_make(const struct gompi_recipe *r);
// gompi_type_construct constructs a type and stores its handle. Returns what the constructor shall return.
int gompi_type_construct(const struct gompi_recipe *r, MPI_Datatype *newtype);

#pragma GCC visibility pop
#endif
