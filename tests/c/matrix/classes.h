/* The datatype classes of the matrix. Each class has one datatype, its extent, and the offset of every element from the
 * buffer's address, in the order of the type map. Extent and offsets are written by hand instead of queried from MPI,
 * so that they can reveal errors of MPI.
 */
#ifndef MATRIX_CLASSES_H
#define MATRIX_CLASSES_H

#include "../types.h"

/* Layout of a buffer, and of the part of a window that one origin accesses: BEFORE bytes before the address passed to
 * MPI, then copies of a type, then BEHIND bytes. A large operation moves MANY bytes of data, which exceed one message
 * of the library. At most five sixths of a type are gaps, so 6 * MANY bytes suffice. */
enum { BEFORE = 96, BEHIND = 64, MANY = 1280, AREA = BEFORE + 6 * MANY + BEHIND, ELEMENTS = 24 };

struct class {
	const char *name;
	const struct type *leaf; /* the predefined type of all elements */
	size_t data;             /* bytes of a leaf that carry its value: 12 of the 16 bytes of MPI_DOUBLE_INT */
	MPI_Datatype type;
	MPI_Aint extent;
	int few; /* number of copies of the type in a small operation */
	int n;   /* number of elements in one copy */
	MPI_Aint at[ELEMENTS];
	int derived; /* true if the type is not predefined; it must be freed */
	int several; /* true if its elements have different predefined types; leaf is then MPI_BYTE */
};

enum { CLASSES_MOST = 20 };
static struct class classes[CLASSES_MOST];
static int classes_number;

static inline const struct type *class_leaf(MPI_Datatype handle) {
	for (int i = 0; i < types_count(); i++)
		if (types[i].handle == handle)
			return types + i;
	MPI_Abort(MPI_COMM_WORLD, 9);
	return NULL;
}

static inline struct class *class_new(const char *name, MPI_Datatype leaf, MPI_Datatype type, MPI_Aint extent,
				      int few) {
	int size;
	struct class *c = classes + classes_number++;
	MPI_Type_size(leaf, &size);
	*c = (struct class){.name = name,
			    .leaf = class_leaf(leaf),
			    .data = (size_t)size,
			    .type = type,
			    .extent = extent,
			    .few = few};
	c->derived = type != leaf;
	if (c->derived)
		MPI_Type_commit(&c->type);
	return c;
}

/* Appends n adjacent elements, the first of which has offset `at`. */
static inline void class_block(struct class *c, MPI_Aint at, int n) {
	for (int i = 0; i < n; i++)
		c->at[c->n++] = at + i * (MPI_Aint)c->leaf->size;
}

static inline void class_predefined(const char *name, MPI_Datatype type, int few) {
	struct class *c = class_new(name, type, type, (MPI_Aint)class_leaf(type)->size, few);
	class_block(c, 0, 1);
}

static inline void classes_make(void) {
	MPI_Datatype t, old;
	struct class *c;

	class_predefined("predefined", MPI_INT32_T, 5);

	MPI_Type_contiguous(3, MPI_INT16_T, &t);
	c = class_new("contiguous", MPI_INT16_T, t, 6, 2);
	class_block(c, 0, 3);

	MPI_Type_vector(3, 2, 3, MPI_DOUBLE, &t);
	c = class_new("vector", MPI_DOUBLE, t, 64, 2);
	for (int b = 0; b < 3; b++)
		class_block(c, 24 * b, 2);

	MPI_Type_create_hvector(3, 2, 20, MPI_FLOAT, &t);
	c = class_new("hvector", MPI_FLOAT, t, 48, 2);
	for (int b = 0; b < 3; b++)
		class_block(c, 20 * b, 2);

	MPI_Type_indexed(4, (int[]){2, 0, 1, 3}, (int[]){4, 7, 0, 8}, MPI_INT64_T, &t); /* not in address order */
	c = class_new("indexed", MPI_INT64_T, t, 88, 1);
	class_block(c, 32, 2);
	class_block(c, 0, 1);
	class_block(c, 64, 3);

	MPI_Type_create_hindexed(2, (int[]){1, 2}, (MPI_Aint[]){-12, 8}, MPI_INT32_T, &t);
	c = class_new("hindexed", MPI_INT32_T, t, 28, 2);
	class_block(c, -12, 1);
	class_block(c, 8, 2);

	MPI_Type_create_hindexed(1, (int[]){3}, (MPI_Aint[]){-8}, MPI_INT32_T,
				 &t); /* contiguous, but the data does not begin at the buffer's address */
	c = class_new("hindexed_shift", MPI_INT32_T, t, 12, 2);
	class_block(c, -8, 3);

	MPI_Type_create_indexed_block(4, 2, (int[]){9, 0, 5, 2}, MPI_UINT16_T, &t);
	c = class_new("indexed_block", MPI_UINT16_T, t, 22, 2);
	for (int b = 0; b < 4; b++)
		class_block(c, 2 * (int[]){9, 0, 5, 2}[b], 2);

	MPI_Type_create_struct(2, (int[]){2, 1}, (MPI_Aint[]){0, 20}, (MPI_Datatype[]){MPI_INT32_T, MPI_INT32_T}, &t);
	c = class_new("struct", MPI_INT32_T, t, 24, 2);
	class_block(c, 0, 2);
	class_block(c, 20, 1);

	MPI_Type_create_struct(3, (int[]){1, 1, 3}, (MPI_Aint[]){0, 8, 16},
			       (MPI_Datatype[]){MPI_INT32_T, MPI_DOUBLE, MPI_SIGNED_CHAR}, &t);
	c = class_new("struct_mixed", MPI_BYTE, t, 24, 2); /* 19 bytes, with padding */
	c->several = 1;
	class_block(c, 0, 4);
	class_block(c, 8, 11);

	MPI_Type_create_subarray(2, (int[]){3, 4}, (int[]){2, 2}, (int[]){1, 1}, MPI_ORDER_C, MPI_FLOAT, &t);
	c = class_new("subarray", MPI_FLOAT, t, 48, 2);
	class_block(c, 20, 2);
	class_block(c, 36, 2);

	/* 4 x 6 elements on 2 x 2 processes: rows in blocks, columns cyclic in pairs. Process 1 has columns 2 and 3
	 * of rows 0 and 1. */
	MPI_Type_create_darray(4, 1, 2, (int[]){4, 6}, (int[]){MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
			       (int[]){MPI_DISTRIBUTE_DFLT_DARG, 2}, (int[]){2, 2}, MPI_ORDER_C, MPI_INT32_T, &t);
	c = class_new("darray", MPI_INT32_T, t, 96, 2);
	class_block(c, 8, 2);
	class_block(c, 32, 2);

	MPI_Type_vector(2, 1, 2, MPI_INT16_T, &old);
	MPI_Type_create_resized(old, -8, 24, &t);
	MPI_Type_free(&old);
	c = class_new("resized_neg_lb", MPI_INT16_T, t, 24, 3);
	class_block(c, 0, 1);
	class_block(c, 4, 1);

	class_predefined("pair", MPI_DOUBLE_INT, 3);
	class_predefined("complex", MPI_C_DOUBLE_COMPLEX, 3);
	class_predefined("long_double", MPI_LONG_DOUBLE, 3);
}

static inline void classes_free(void) {
	for (int i = 0; i < classes_number; i++)
		if (classes[i].derived)
			MPI_Type_free(&classes[i].type);
}

#endif
