// Attributes and names of datatypes (MPI-5.0 7.7.4 and 7.8). Few types have attributes or a name. So these are not in
// the type itself, but in tables indexed by the type's handle.
#ifndef GOMPI_TYPE_ATTRIBUTES_H
#define GOMPI_TYPE_ATTRIBUTES_H

#include "attribute/attribute.h"
#include "datatype/datatype.h"

#pragma GCC visibility push(hidden)

// Element 0 is the table of the constructed types, element 1 the table of the predefined types. A constructed and a
// predefined type need separate tables, because their handles may end with the same bits.
extern struct gompi_table gompi_type_attributes[2];

static inline struct gompi_table *gompi_type_attributes_table(uintptr_t handle) {
	return &gompi_type_attributes[handle - GOMPI_TYPE_FIRST < GOMPI_TYPE_PREDEFINED];
}

// Returns the attributes of a type; NULL if it has none.
static inline struct gompi_attributes *gompi_type_attributes_of(uintptr_t handle) {
	return gompi_table_get(gompi_type_attributes_table(handle), handle);
}

// Returns the table of attributes of a type. Creates the table if the type has none yet. Returns NULL if out of memory.
struct gompi_attributes *gompi_type_attributes_make(uintptr_t handle);
static inline struct gompi_attributes *gompi_type_attributes_ensure(uintptr_t handle) {
	struct gompi_attributes *t = gompi_type_attributes_of(handle);
	return __builtin_expect(t != NULL, 1) ? t : gompi_type_attributes_make(handle);
}

// Stores the name of a type in name, which has MPI_MAX_OBJECT_NAME bytes. Returns the length of the name; 0 if the type
// has no name.
int gompi_type_name(uintptr_t handle, char *name);
// Sets the initial name of a predefined type.
void gompi_type_set_default_name(uintptr_t handle, const char *name, int length);

// Copies the attributes of the type `from` to its duplicate `to`, which has no attributes yet. Returns MPI_SUCCESS, or
// the error class in v. If a copy function fails, the duplicate has no attributes.
int gompi_type_attributes_copy(struct gompi_error_status *v, uintptr_t from, uintptr_t to);
// Deletes the attributes of a type that is being freed. Returns MPI_SUCCESS, or the error class in v. Stops if a delete
// function fails: its attribute and all attributes that were set earlier remain.
int gompi_type_attributes_delete(struct gompi_error_status *v, uintptr_t handle);

#pragma GCC visibility pop
#endif
