/* Descriptors of Fortran's buffers (TS 29113): a section whose elements do not lie side by side is described by a
 * datatype. */
#ifndef GOMPI_SECTION_H
#define GOMPI_SECTION_H

#include <ISO_Fortran_binding.h>

#include "gompi_f.h"

/* simple tells whether the elements lie side by side, so that the address says it all: also scalars, empty arrays and
 * arrays of assumed size, whose last extent is -1. */
static inline bool simple(const CFI_cdesc_t *d) {
	ptrdiff_t next = (ptrdiff_t)d->elem_len;
	for (int i = 0; i < d->rank; i++) {
		if (d->dim[i].extent <= 0)
			return true;
		if (d->dim[i].extent != 1 && d->dim[i].sm != next)
			goto gaps;
		next *= d->dim[i].extent;
	}
	return true;
gaps: /* an empty dimension may come later */
	for (int i = 0; i < d->rank; i++)
		if (d->dim[i].extent == 0)
			return true;
	return false;
}

/* A buffer as C has it. */
struct gompi_section {
	void *addr;
	MPI_Count count;
	MPI_Datatype type;
	bool made; /* type is freed after the call; what is under way keeps it. Else it is the program's, or kept for
		      the next call. */
};

/* gompi_section_make describes the first count elements of datatype of the array's elements, taken in array element
 * order as if they lay side by side. Error classes: MPI_ERR_COUNT if the section has fewer, MPI_ERR_TYPE if a basic
 * element would be torn apart. */
int gompi_section_make(struct gompi_section *s, const CFI_cdesc_t *d, MPI_Count count, MPI_Datatype type);

static inline int section_open(struct gompi_section *s, const CFI_cdesc_t *d, MPI_Count count, MPI_Datatype type) {
	if (!simple(d))
		return gompi_section_make(s, d, count, type);
	s->addr = buffer_in(d->base_addr);
	s->count = count;
	s->type = type;
	return MPI_SUCCESS;
}

static inline void section_close(struct gompi_section *s) {
	if (s->made)
		PMPI_Type_free(&s->type);
}

/* gompi_section_partitions does it for partitioned communication: each of the partitions must look alike.
 * MPI_ERR_BUFFER if they do not. */
int gompi_section_partitions(struct gompi_section *s, const CFI_cdesc_t *d, int partitions, MPI_Count count,
			     MPI_Datatype type);

/* gompi_scratch_make copies a section; with comes_out it goes back when the call is done. */
int gompi_scratch_make(struct gompi_scratch *s, const CFI_cdesc_t *d, bool comes_out);

static inline int scratch_open(struct gompi_scratch *s, const CFI_cdesc_t *d, bool comes_out) {
	if (!simple(d))
		return gompi_scratch_make(s, d, comes_out);
	s->addr = buffer_in(d->base_addr);
	return MPI_SUCCESS;
}

/* whole is for buffers that are memory and not elements: a window, a buffer for messages. */
static inline int whole(const CFI_cdesc_t *d) { return simple(d) ? MPI_SUCCESS : MPI_ERR_BUFFER; }

/* single is for calls of one element of a datatype: it may be a section, but must lie in one element of it. */
int gompi_single(const CFI_cdesc_t *d, MPI_Datatype type);
static inline int single(const CFI_cdesc_t *d, MPI_Datatype type) {
	return simple(d) ? MPI_SUCCESS : gompi_single(d, type);
}

#endif
