/* Cells for attributes that Fortran sets, and callbacks for keyvals that Fortran creates. */
#ifndef GOMPI_ATTRIBUTE_H
#define GOMPI_ATTRIBUTE_H

#include "callback.h"

/* Returns a new cell that holds `value`, or NULL if out of memory. The address of the cell is the attribute in C. */
void *gompi_attribute_cell(MPI_Aint value);

/* Frees a cell. Ignores NULL and every other address that is not a cell. */
void gompi_attribute_free(void *pointer);

/* Returns the value in the cell, or the pointer itself if it is not the address of a cell. */
MPI_Aint gompi_attribute_value(void *pointer);

/* The procedures of a keyval and their extra state. This struct is never freed, because attributes may outlive the
 * keyval. */
struct gompi_keyval {
	gompi_procedure *copy, *delete;
	MPI_Aint extra;
	bool old; /* made by MPI_Keyval_create: the procedures take INTEGERs of default size */
};

struct gompi_keyval *gompi_keyval_new(gompi_procedure *copy, gompi_procedure *delete, MPI_Aint extra, bool old);

/* Calls the Fortran procedure of a keyval. C calls these functions as callbacks. The argument `state`, C's extra state,
 * is the keyval's struct gompi_keyval. */
int gompi_comm_copy(MPI_Comm comm, int keyval, void *state, void *in, void *out, int *flag);
int gompi_comm_delete(MPI_Comm comm, int keyval, void *value, void *state);
int gompi_type_copy(MPI_Datatype type, int keyval, void *state, void *in, void *out, int *flag);
int gompi_type_delete(MPI_Datatype type, int keyval, void *value, void *state);
int gompi_win_copy(MPI_Win win, int keyval, void *state, void *in, void *out, int *flag);
int gompi_win_delete(MPI_Win win, int keyval, void *value, void *state);

#endif
