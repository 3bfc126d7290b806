/* Conversion of buffers that Fortran passes as descriptors (TS 29113). A datatype describes a section whose elements
 * are not contiguous. */
#ifndef GOMPI_SECTION_H
#define GOMPI_SECTION_H

#include <ISO_Fortran_binding.h>

#include "gompi_f.h"

/* Returns true if the elements are contiguous, so that the address alone describes the buffer. Returns true also for
 * scalars, empty arrays and arrays of assumed size, whose last extent is -1. */
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
gaps: /* an array with gaps may still be empty because of a later dimension */
	for (int i = 0; i < d->rank; i++)
		if (d->dim[i].extent == 0)
			return true;
	return false;
}

/* A buffer in the form that C needs. */
struct gompi_section {
	void *addr;
	MPI_Count count;
	MPI_Datatype type;
	/* True if section_close must free `type`, which is then a datatype made for this call. A pending operation
	 * holds its own reference to the datatype. False if `type` belongs to the program or to the cache. */
	bool made;
};

/* Describes the first count elements of a datatype in the array. The datatype applies to the array's elements in
 * array element order, as if they were contiguous. Error classes: MPI_ERR_COUNT if the section has fewer elements,
 * MPI_ERR_TYPE if a basic element would be split. */
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

/* Describes a section for partitioned communication. Returns MPI_ERR_BUFFER unless all partitions have the same
 * layout. */
int gompi_section_partitions(struct gompi_section *s, const CFI_cdesc_t *d, int partitions, MPI_Count count,
			     MPI_Datatype type);

/* Copies a section into a contiguous buffer. If MPI writes the buffer, `comes_out` is true, and the changed elements
 * are copied back to the section when the operation is complete. */
int gompi_scratch_make(struct gompi_scratch *s, const CFI_cdesc_t *d, bool comes_out);

static inline int scratch_open(struct gompi_scratch *s, const CFI_cdesc_t *d, bool comes_out) {
	if (!simple(d))
		return gompi_scratch_make(s, d, comes_out);
	s->addr = buffer_in(d->base_addr);
	return MPI_SUCCESS;
}

/* Checks a buffer that MPI uses as raw memory, such as window memory. Returns MPI_SUCCESS if it is contiguous, else
 * MPI_ERR_BUFFER. */
static inline int whole(const CFI_cdesc_t *d) { return simple(d) ? MPI_SUCCESS : MPI_ERR_BUFFER; }

/* Checks the buffer of a call that uses one element of a datatype. The buffer may be a section, but the datatype must
 * fit into one element of the section. Returns MPI_ERR_TYPE if it does not fit. */
int gompi_single(const CFI_cdesc_t *d, MPI_Datatype type);
static inline int single(const CFI_cdesc_t *d, MPI_Datatype type) {
	return simple(d) ? MPI_SUCCESS : gompi_single(d, type);
}

#endif
