/* The position of an array's elements in memory. */
#ifndef GOMPI_LAYOUT_H
#define GOMPI_LAYOUT_H

#include "section.h"

/* An array descriptor in reduced form. Dimensions of extent 1 are dropped, and adjacent dimensions that continue with
 * the same stride are merged. The rank is at least 1, and each elem bytes are contiguous. */
struct gompi_layout {
	char *base; /* address of the first element in array element order */
	size_t elem;
	size_t unit;     /* size in bytes of an element of the program's array; elem is a multiple of it */
	MPI_Count total; /* number of elems */
	int rank;
	struct {
		MPI_Count n;
		MPI_Aint stride; /* in bytes, may be negative */
	} dim[CFI_MAX_RANK];
};

/* Reads the descriptor of an array that is not simple (see simple in section.h). */
void gompi_layout_of(struct gompi_layout *l, const CFI_cdesc_t *d);

/* Returns the distance in bytes of element i, in array element order, from the first element. */
MPI_Aint gompi_layout_at(const struct gompi_layout *l, MPI_Count i);

/* Copies elements. gompi_layout_gather copies all elements into a contiguous buffer. gompi_layout_scatter copies back
 * the elements that differ from before. It writes nothing else, because the program may use the other elements at the
 * same time. */
void gompi_layout_gather(char *to, const struct gompi_layout *l);
void gompi_layout_scatter(const struct gompi_layout *l, const char *from, const char *before);

/* A run of consecutive basic elements in a datatype's typemap. */
struct gompi_run {
	MPI_Aint at; /* in bytes */
	MPI_Count n;
	MPI_Datatype basic;
};

/* Calls use for each run of the typemap of count elements of a datatype, in typemap order. Stops at the first error
 * class that use returns, and returns it. */
int gompi_typemap(MPI_Datatype type, MPI_Count count, int (*use)(void *arg, const struct gompi_run *run), void *arg);

#endif
