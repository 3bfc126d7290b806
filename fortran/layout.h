/* The positions of an array's elements in memory, and the typemap of a datatype. */
#ifndef GOMPI_LAYOUT_H
#define GOMPI_LAYOUT_H

#include "section.h"

/* An array descriptor in reduced form. Dimensions of extent 1 are dropped. A dimension that continues the previous one
 * with the same stride is merged with it. If the first elements of the array are contiguous, they together count as one
 * element of `elem` bytes. The rank is at least 1. */
struct gompi_layout {
	char *base; /* address of the first element in array element order */
	size_t elem;
	size_t unit;     /* size in bytes of an element of the program's array; elem is a multiple of unit */
	MPI_Count total; /* number of elements of elem bytes */
	int rank;
	struct {
		MPI_Count n;
		MPI_Aint stride; /* distance of consecutive elements in bytes; may be negative */
	} dim[CFI_MAX_RANK];
};

/* Computes the layout of an array for which simple() in section.h returns false. */
void gompi_layout_of(struct gompi_layout *l, const CFI_cdesc_t *d);

/* Returns the distance in bytes of element i, in array element order, from the first element. */
MPI_Aint gompi_layout_at(const struct gompi_layout *l, MPI_Count i);

/* gompi_layout_gather copies all elements into a contiguous buffer. gompi_layout_scatter copies elements back from this
 * buffer, but only those in which `from` differs from `before`: the program may use the unchanged elements
 * concurrently. */
void gompi_layout_gather(char *to, const struct gompi_layout *l);
void gompi_layout_scatter(const struct gompi_layout *l, const char *from, const char *before);

/* n consecutive elements of the predefined datatype `basic`, in a datatype's typemap. */
struct gompi_run {
	MPI_Aint at; /* displacement in bytes */
	MPI_Count n;
	MPI_Datatype basic;
};

/* Calls the function `use` for each run of the typemap of `count` elements of a datatype, in typemap order. If `use`
 * returns an error class, stops and returns this class. */
int gompi_typemap(MPI_Datatype type, MPI_Count count, int (*use)(void *arg, const struct gompi_run *run), void *arg);

#endif
