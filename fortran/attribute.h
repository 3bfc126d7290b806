/* Attributes that Fortran sets, and the callbacks of its keys. */
#ifndef GOMPI_ATTRIBUTE_H
#define GOMPI_ATTRIBUTE_H

#include "callback.h"

/* gompi_attribute_cell returns a place with a value, whose address is the attribute in C; NULL if there is no memory.
 */
void *gompi_attribute_cell(MPI_Aint value);

/* gompi_attribute_free gives the place back; of other addresses, and NULL, it knows nothing. */
void gompi_attribute_free(void *pointer);

/* gompi_attribute_value returns the value in the place, or the pointer itself if it is none. */
MPI_Aint gompi_attribute_value(void *pointer);

/* The procedures of an attribute key and their state. It outlives the key, whose attributes may outlive it too: it is
 * never freed. */
struct gompi_keyval {
	gompi_procedure *copy, *delete;
	MPI_Aint extra;
	bool old; /* its integers are INTEGERs of default size: MPI_Keyval_create */
};

struct gompi_keyval *gompi_keyval_new(gompi_procedure *copy, gompi_procedure *delete, MPI_Aint extra, bool old);

/* What C calls, with a struct gompi_keyval as extra state. */
int gompi_comm_copy(MPI_Comm comm, int keyval, void *state, void *in, void *out, int *flag);
int gompi_comm_delete(MPI_Comm comm, int keyval, void *value, void *state);
int gompi_type_copy(MPI_Datatype type, int keyval, void *state, void *in, void *out, int *flag);
int gompi_type_delete(MPI_Datatype type, int keyval, void *value, void *state);
int gompi_win_copy(MPI_Win win, int keyval, void *state, void *in, void *out, int *flag);
int gompi_win_delete(MPI_Win win, int keyval, void *value, void *state);

#endif
