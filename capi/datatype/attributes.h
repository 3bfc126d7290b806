// The attributes and names of datatypes (MPI-5.0 7.7.4 and 7.8), which few types have: they are found by the type's
// handle.
#ifndef GOMPI_TYPE_ATTRIBUTES_H
#define GOMPI_TYPE_ATTRIBUTES_H

#include "attribute/attribute.h"
#include "datatype/datatype.h"

#pragma GCC visibility push(hidden)

// Of types that are made, and of predefined ones, whose handles may end with the same bits.
extern struct gompi_table gompi_type_attributes[2];

static inline struct gompi_table *gompi_type_attributes_table(uintptr_t handle) {
	return &gompi_type_attributes[handle - GOMPI_TYPE_FIRST < GOMPI_TYPE_PREDEFINED];
}

// gompi_type_attributes_of returns what a type has; NULL: nothing.
static inline struct gompi_attributes *gompi_type_attributes_of(uintptr_t handle) {
	return gompi_table_get(gompi_type_attributes_table(handle), handle);
}

// gompi_type_attributes_open returns the same, which it makes if there is none; NULL: there is no memory.
struct gompi_attributes *gompi_type_attributes_make(uintptr_t handle);
static inline struct gompi_attributes *gompi_type_attributes_open(uintptr_t handle) {
	struct gompi_attributes *t = gompi_type_attributes_of(handle);
	return __builtin_expect(t != NULL, 1) ? t : gompi_type_attributes_make(handle);
}

// gompi_type_name stores the name of a type, of less than MPI_MAX_OBJECT_NAME bytes, and returns its length, 0: it has
// none.
int gompi_type_name(uintptr_t handle, char *name);
// gompi_type_predefined_name says how a predefined type is called that the application has not given another name.
void gompi_type_predefined_name(uintptr_t handle, const char *name, int length);

// gompi_type_attributes_copy copies the attributes of a type to one that is made as its duplicate, which has none.
// The verdict's class; after an error of a copy function the duplicate has none.
int gompi_type_attributes_copy(struct gompi_verdict *v, uintptr_t from, uintptr_t to);
// gompi_type_attributes_delete deletes the attributes of a type that is freed. The verdict's class: an error of a
// delete function ends it; that attribute and those set before it are still there.
int gompi_type_attributes_delete(struct gompi_verdict *v, uintptr_t handle);

#pragma GCC visibility pop
#endif
