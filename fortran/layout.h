/* Where the elements of an array lie. */
#ifndef GOMPI_LAYOUT_H
#define GOMPI_LAYOUT_H

#include "section.h"

/* A descriptor without dimensions that say nothing: none has extent 1, and two that go on with the same stride are one.
 * So rank is at least 1, and elem bytes at a time lie side by side. */
struct gompi_layout {
	char *base; /* the first element in array element order */
	size_t elem;
	size_t unit;     /* the size of what the program calls an element; elem is a multiple */
	MPI_Count total; /* number of elems */
	int rank;
	struct {
		MPI_Count n;
		MPI_Aint stride; /* in bytes, may be negative */
	} dim[CFI_MAX_RANK];
};

/* gompi_layout_of reads the descriptor of an array that is not simple. */
void gompi_layout_of(struct gompi_layout *l, const CFI_cdesc_t *d);

/* gompi_layout_at returns the distance in bytes of element i, in array element order, from the first. */
MPI_Aint gompi_layout_at(const struct gompi_layout *l, MPI_Count i);

/* gompi_layout_gather copies all elements to side by side; gompi_layout_scatter copies back those that differ from
 * before, and writes nothing else: the program may use the others meanwhile. */
void gompi_layout_gather(char *to, const struct gompi_layout *l);
void gompi_layout_scatter(const struct gompi_layout *l, const char *from, const char *before);

/* A run of basic elements in a datatype's typemap. */
struct gompi_run {
	MPI_Aint at; /* in bytes */
	MPI_Count n;
	MPI_Datatype basic;
};

/* gompi_typemap calls use for each run of the typemap of count elements of a datatype, in its order, until use gives an
 * error class, and returns that. */
int gompi_typemap(MPI_Datatype type, MPI_Count count, int (*use)(void *arg, const struct gompi_run *run), void *arg);

#endif
