// Copies and deletes attributes for Go, which duplicates and frees the objects. The callbacks of the application run
// outside of Go (cross.h).
#ifndef GOMPI_ATTR_H
#define GOMPI_ATTR_H

#include "attribute/attribute.h"

#pragma GCC visibility push(hidden)

// Copies the attributes of a communicator for a duplicate that does not exist yet, and stores the new table in *copy.
// Returns MPI_SUCCESS or the error class in *v.
int gompi_attr_copy(struct gompi_error_status *v, struct gompi_attributes *from, uintptr_t object,
		    struct gompi_attributes **copy);
// Deletes the attributes of an object. Returns MPI_SUCCESS or the error class in *v.
int gompi_attr_delete_all(struct gompi_error_status *v, struct gompi_attributes *t, uintptr_t object);

// Returns the attribute table of a window, or NULL if it has none.
struct gompi_attributes *gompi_attr_of_win(uintptr_t handle);

#pragma GCC visibility pop
#endif
