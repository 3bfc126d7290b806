// Attributes of objects that Go duplicates or frees: the application's functions are called out of Go.
#ifndef GOMPI_ATTR_H
#define GOMPI_ATTR_H

#include "attribute/attribute.h"

#pragma GCC visibility push(hidden)

// Copies the attributes of a communicator for one that there is not yet, and stores their table. The verdict's class.
int gompi_attr_copy(struct gompi_verdict *v, struct gompi_attributes *from, uintptr_t object,
		    struct gompi_attributes **copy);
// Deletes those of an object. The verdict's class.
int gompi_attr_delete_all(struct gompi_verdict *v, struct gompi_attributes *t, uintptr_t object);

// What a window has; NULL: nothing.
struct gompi_attributes *gompi_attr_of_win(uintptr_t handle);

#pragma GCC visibility pop
#endif
