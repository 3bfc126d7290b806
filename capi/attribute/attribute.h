// What an application attaches to an object: attributes (MPI-5.0 7.7), in the order in which they were set first, and a
// name. An object has a table from the first of them on.
//
// Whoever asks takes no lock. What changes a table has gompi_keyvals_lock; the application's functions are called
// without it, since they may call MPI.
#ifndef GOMPI_ATTRIBUTE_H
#define GOMPI_ATTRIBUTE_H

#include <sched.h>

#include "attribute/keyval.h"

#pragma GCC visibility push(hidden)

struct gompi_attribute {
	_Atomic int keyval;
	void *_Atomic value;
	struct gompi_keyval *key;
};

struct gompi_name {
	int length;
	char text[MPI_MAX_OBJECT_NAME];
};

// Entries that are too few are replaced and stay as they were, for threads that still read them.
struct gompi_attribute_list {
	struct gompi_attribute_list *before; // with half as many
	uint32_t room;
	struct gompi_attribute entry[];
};

struct gompi_attributes {
	gompi_a32 moves;                           // odd while entries move
	gompi_a32 n;                               // the store releases the last entry
	struct gompi_attribute_list *_Atomic list; // the store releases the entries
	struct gompi_name *name;                   // NULL: never given (name.h)
	struct gompi_attributes *next;             // of tables that no object has
};

// Returns true if an object has an attribute, and stores its value. t may be NULL.
static inline bool gompi_attribute_find(struct gompi_attributes *t, int keyval, void **value) {
	if (t == NULL)
		return false;
	for (;; sched_yield()) {
		uint32_t moves = gompi_load_acquire(&t->moves), i = 0; // pairs with the release in take_out
		uint32_t n = gompi_load_acquire(&t->n);                // pairs with the release in append
		struct gompi_attribute_list *l = gompi_load_acquire(&t->list);
		while (i < n && gompi_load(&l->entry[i].keyval) != keyval)
			i++;
		void *found = i < n ? gompi_load(&l->entry[i].value) : NULL;
		gompi_load_fence(); // what has moved was released after moves had become odd
		if (moves % 2 == 0 && gompi_load(&t->moves) == moves) {
			if (i < n)
				*value = found;
			return i < n;
		}
	}
}

// What a get_attr call does behind the predefined attributes. The verdict's class.
static inline int gompi_attribute_get(struct gompi_verdict *v, enum gompi_keyval_kind kind, struct gompi_attributes *t,
				      int keyval, void *value, int *flag) {
	bool found = gompi_attribute_find(t, keyval, value);
	if (__builtin_expect(!found && !gompi_keyval_lives(kind, keyval), 0))
		return gompi_no_keyval(v, kind, keyval);
	*flag = found;
	return MPI_SUCCESS;
}

// Returns the table of an object that keeps it at an address, which it makes if there is none. NULL: there is no
// memory.
struct gompi_attributes *gompi_attributes_make(struct gompi_attributes *_Atomic *at);
static inline struct gompi_attributes *gompi_attributes_open(struct gompi_attributes *_Atomic *at) {
	struct gompi_attributes *t = gompi_load_acquire(at); // pairs with the release in gompi_attributes_make
	return __builtin_expect(t != NULL, 1) ? t : gompi_attributes_make(at);
}

// Gives an object an attribute, after the delete function was called for the value that it had. The verdict's class:
// MPI_ERR_KEYVAL, MPI_ERR_NO_MEM; an error of the delete function: nothing was changed. t may be NULL for lack of
// memory.
int gompi_attribute_set(struct gompi_verdict *v, enum gompi_keyval_kind kind, struct gompi_attributes *t,
			uintptr_t object, int keyval, void *value);
// Removes an attribute, after its delete function was called. MPI_ERR_KEYVAL: it is not set, or there is no such
// keyval. An error of the delete function: nothing was changed. t may be NULL.
int gompi_attribute_delete(struct gompi_verdict *v, enum gompi_keyval_kind kind, struct gompi_attributes *t,
			   uintptr_t object, int keyval);
// Stores a table for the duplicate of an object, with what the copy functions say, which are called in the order in
// which the attributes were set; NULL if there is nothing in it. An error of one ends it, MPI_ERR_NO_MEM too: the
// attributes copied so far are deleted as those of the new object. from may be NULL.
int gompi_attributes_copy(struct gompi_verdict *v, enum gompi_keyval_kind kind, struct gompi_attributes *from,
			  uintptr_t object, uintptr_t new_object, struct gompi_attributes **to);
// Deletes the attributes of an object that is freed, those set last first. An error of a delete function ends it; that
// attribute and those set before it are still there. t may be NULL.
int gompi_attributes_delete(struct gompi_verdict *v, struct gompi_attributes *t, uintptr_t object);
// Ends a table whose object has gone, without calling delete functions for what is left in it. t may be NULL.
void gompi_attributes_close(struct gompi_attributes *t);

#pragma GCC visibility pop
#endif
