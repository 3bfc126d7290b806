// The table of an object: its attributes (MPI-5.0 7.7), in the order in which they were first set, and its name. The
// table is created when the first attribute or the name is set.
//
// Lookups acquire no lock, which would take longer than the lookup itself. Changes of a table hold gompi_keyvals_lock.
// The application's callbacks run without the lock, since they may call MPI.
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

// A full list is replaced by a larger one and stays allocated and unchanged, for threads that still read it.
struct gompi_attribute_list {
	struct gompi_attribute_list *previous; // the previous list, of half the size
	uint32_t capacity;
	struct gompi_attribute entry[];
};

struct gompi_attributes {
	gompi_a32 move_seq;                        // sequence lock: odd while entries move
	gompi_a32 entry_count;                     // number of entries; stored with release after the last entry
	struct gompi_attribute_list *_Atomic list; // stored with release after its entries
	struct gompi_name *name;                   // NULL if never set (name.h)
	struct gompi_attributes *next;             // next in the free list
};

// Returns true if an object has an attribute, and stores its value. t may be NULL.
static inline bool gompi_attribute_find(struct gompi_attributes *t, int keyval, void **value) {
	if (t == NULL)
		return false;
	for (;; sched_yield()) {
		uint32_t moves = gompi_load_acquire(&t->move_seq), i = 0; // pairs with the release in remove_at
		uint32_t n = gompi_load_acquire(&t->entry_count);         // pairs with the release in append
		struct gompi_attribute_list *l = gompi_load_acquire(&t->list);
		while (i < n && gompi_load(&l->entry[i].keyval) != keyval)
			i++;
		void *found = i < n ? gompi_load(&l->entry[i].value) : NULL;
		// pairs with the release stores in remove_at: if a load above saw a moved entry, the load of move_seq
		// below sees the odd value or a later one
		gompi_load_fence();
		if (moves % 2 == 0 && gompi_load(&t->move_seq) == moves) {
			if (i < n)
				*value = found;
			return i < n;
		}
	}
}

// Gets an attribute that is not predefined. Returns MPI_SUCCESS or the error class in *v.
static inline int gompi_attribute_get(struct gompi_error_status *v, enum gompi_keyval_kind kind,
				      struct gompi_attributes *t, int keyval, void *value, int *flag) {
	bool found = gompi_attribute_find(t, keyval, value);
	if (__builtin_expect(!found && !gompi_keyval_exists(kind, keyval), 0))
		return gompi_keyval_error(v, kind, keyval);
	*flag = found;
	return MPI_SUCCESS;
}

// Returns the attribute table at *at. Creates the table if *at is NULL. Returns NULL if out of memory.
struct gompi_attributes *gompi_attributes_make(struct gompi_attributes *_Atomic *at);
static inline struct gompi_attributes *gompi_attributes_ensure(struct gompi_attributes *_Atomic *at) {
	struct gompi_attributes *t = gompi_load_acquire(at); // pairs with the release in gompi_attributes_make
	return __builtin_expect(t != NULL, 1) ? t : gompi_attributes_make(at);
}

// Sets an attribute. If the attribute already has a value, calls the delete function first. Returns MPI_SUCCESS or the
// error class in *v: MPI_ERR_KEYVAL, MPI_ERR_NO_MEM, or the error of the delete function. After an error, the attribute
// is unchanged. If t is NULL, its allocation has failed, and the result is MPI_ERR_NO_MEM unless the keyval is invalid.
int gompi_attribute_set(struct gompi_error_status *v, enum gompi_keyval_kind kind, struct gompi_attributes *t,
			uintptr_t object, int keyval, void *value);
// Calls the delete function of an attribute and then removes it. Returns MPI_ERR_KEYVAL if the attribute is not set or
// the keyval does not exist, or the error of the delete function. After an error, the attribute is unchanged. t may be
// NULL.
int gompi_attribute_delete(struct gompi_error_status *v, enum gompi_keyval_kind kind, struct gompi_attributes *t,
			   uintptr_t object, int keyval);
// Creates the table for the duplicate of an object. Calls the copy functions in the order in which the attributes were
// first set. Stores NULL if the new table is empty, or after an error. Stops at an error of a copy function and at
// MPI_ERR_NO_MEM. After an error, calls the delete functions of the attributes copied so far with the new object.
// `from` may be NULL.
int gompi_attributes_copy(struct gompi_error_status *v, enum gompi_keyval_kind kind, struct gompi_attributes *from,
			  uintptr_t object, uintptr_t new_object, struct gompi_attributes **to);
// Deletes the attributes of an object that is being freed, in reverse order of setting. Stops if a delete function
// fails: the attribute of this delete function and all attributes set earlier remain. t may be NULL.
int gompi_attributes_delete(struct gompi_error_status *v, struct gompi_attributes *t, uintptr_t object);
// Frees the table of an object that no longer exists, without calling delete functions for remaining attributes. t may
// be NULL.
void gompi_attributes_free(struct gompi_attributes *t);

#pragma GCC visibility pop
#endif
