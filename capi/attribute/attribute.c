// All handle types are pointers, so the callbacks of communicators, windows and datatypes can be called through the
// same function types.
#include "attribute/attribute.h"

#include <stdlib.h>

#include "base/in_go.h"

typedef int copy_function(void *, int, void *, void *, void *, int *);
typedef int delete_function(void *, int, void *, void *);

enum { INITIAL_CAPACITY = 4 };

// Free list of tables. A freed table keeps the memory of its entries, because a concurrent lookup may still read it.
static struct gompi_free_list free_tables = {sizeof(struct gompi_attributes), offsetof(struct gompi_attributes, next),
					     NULL};

struct gompi_attributes *gompi_attributes_make(struct gompi_attributes *_Atomic *at) {
	gompi_biased_lock(&gompi_keyvals_lock);
	struct gompi_attributes *t = gompi_load(at);
	if (t == NULL && (t = gompi_free_list_alloc(&free_tables)) != NULL)
		gompi_store_release(at, t); // pairs with the acquire in gompi_attributes_ensure
	gompi_biased_unlock(&gompi_keyvals_lock);
	return t;
}

static inline struct gompi_attribute *entry_at(struct gompi_attributes *t, uint32_t i) {
	return &gompi_load(&t->list)->entry[i];
}

// Returns the index of an attribute, or the number of entries if the attribute is not set. The callers of this and all
// following static functions hold gompi_keyvals_lock.
static inline uint32_t index_of_keyval(struct gompi_attributes *t, int keyval) {
	uint32_t i = 0, n = t == NULL ? 0 : gompi_load(&t->entry_count);
	while (i < n && gompi_load(&entry_at(t, i)->keyval) != keyval)
		i++;
	return i;
}

static inline bool is_set_at(struct gompi_attributes *t, uint32_t i) {
	return t != NULL && i < gompi_load(&t->entry_count);
}

// Replaces the list of entries by a list of twice the size, and returns the new list. Returns NULL if out of memory.
static __attribute__((cold)) struct gompi_attribute_list *grow_list(struct gompi_attributes *t) {
	struct gompi_attribute_list *l = gompi_load(&t->list);
	uint32_t n = gompi_load(&t->entry_count), capacity = l == NULL ? INITIAL_CAPACITY : 2 * l->capacity;
	struct gompi_attribute_list *larger = malloc(sizeof *larger + capacity * sizeof larger->entry[0]);
	if (larger == NULL)
		return NULL;
	*larger = (struct gompi_attribute_list){.previous = l, .capacity = capacity};
	for (uint32_t i = 0; i < n; i++) {
		gompi_store(&larger->entry[i].keyval, gompi_load(&l->entry[i].keyval));
		gompi_store(&larger->entry[i].value, gompi_load(&l->entry[i].value));
		larger->entry[i].key = l->entry[i].key;
	}
	gompi_store_release(&t->list, larger); // pairs with the acquire in gompi_attribute_find
	return larger;
}

// Appends an attribute. Returns false if out of memory.
static inline bool append(struct gompi_attributes *t, struct gompi_keyval *k, void *value) {
	struct gompi_attribute_list *l = gompi_load(&t->list);
	uint32_t n = gompi_load(&t->entry_count);
	if ((l == NULL || n == l->capacity) && (l = grow_list(t)) == NULL)
		return false;
	gompi_store_release(&l->entry[n].keyval, k->number);
	gompi_store_release(&l->entry[n].value, value);
	l->entry[n].key = k;
	gompi_store_release(&t->entry_count, n + 1); // pairs with the acquire in gompi_attribute_find
	k->ref_count++;
	return true;
}

static bool set_value_locked(struct gompi_attributes *t, struct gompi_keyval *k, void *value) {
	uint32_t i = index_of_keyval(t, k->number);
	if (!is_set_at(t, i))
		return append(t, k, value);
	gompi_store_release(&entry_at(t, i)->value, value);
	return true;
}

static inline void remove_at(struct gompi_attributes *t, uint32_t i) {
	struct gompi_keyval *k = entry_at(t, i)->key;
	uint32_t n = gompi_load(&t->entry_count), moves = gompi_load(&t->move_seq);
	gompi_store(&t->move_seq,
		    // before the release stores below: a reader that sees a moved entry also sees the odd value and
		    // retries
		    moves + 1);
	for (; i + 1 < n; i++) {
		struct gompi_attribute *to = entry_at(t, i), *from = entry_at(t, i + 1);
		gompi_store_release(&to->keyval, gompi_load(&from->keyval));
		gompi_store_release(&to->value, gompi_load(&from->value));
		to->key = from->key;
	}
	gompi_store_release(&t->entry_count, n - 1);
	gompi_store_release(&t->move_seq, moves + 2); // pairs with the acquire in gompi_attribute_find
	gompi_keyval_release_locked(k);
}

// Calls the delete function of the attribute at an index. Afterwards removes the attribute if remove_after is true,
// unless the callback has already removed it. Releases the lock during the callback. Returns MPI_SUCCESS or the error
// class in *v.
static int delete_locked(struct gompi_error_status *v, struct gompi_attributes *t, uint32_t i, uintptr_t object,
			 bool remove_after) {
	const struct gompi_keyval *current = entry_at(t, i)->key;
	if (current->delete != (uintptr_t)MPI_COMM_NULL_DELETE_FN) {
		const struct gompi_keyval k = *current;
		void *value = gompi_load(&entry_at(t, i)->value);
		gompi_biased_unlock(&gompi_keyvals_lock);
		bool was_in_go = gompi_leave_go();
		int code = ((delete_function *)k.delete)((void *)object, k.number, value, k.extra_state);
		gompi_return_to_go(was_in_go);
		gompi_biased_lock(&gompi_keyvals_lock);
		if (code != MPI_SUCCESS)
			return gompi_set_error(v, code, "the delete callback of keyval %d returned error %d", k.number,
					       code);
		i = index_of_keyval(t, k.number);
	}
	if (remove_after && is_set_at(t, i))
		remove_at(t, i);
	return MPI_SUCCESS;
}

// Executes gompi_attribute_set in the cases that its fast path does not handle: a delete function must be called first,
// or an error must be reported. Returns MPI_SUCCESS or the error class in *v.
static int set_locked(struct gompi_error_status *v, enum gompi_keyval_kind kind, struct gompi_attributes *t,
		      uintptr_t object, int keyval, void *value) {
	uint32_t i = index_of_keyval(t, keyval);
	struct gompi_keyval *k = gompi_keyval_find_locked(kind, keyval);
	int rc = MPI_SUCCESS;
	if (k == NULL)
		return gompi_keyval_error(v, kind, keyval);
	if (k->is_freed)
		return gompi_set_error(v, MPI_ERR_KEYVAL, "keyval %d has been freed", keyval);
	if (is_set_at(t, i))
		rc = delete_locked(v, t, i, object, false);
	if (rc != MPI_SUCCESS)
		return rc;
	if ((k = gompi_keyval_find_locked(kind, keyval)) == NULL) // the delete function has removed the keyval
		return gompi_keyval_error(v, kind, keyval);
	if (t == NULL || !set_value_locked(t, k, value))
		return gompi_set_error(v, MPI_ERR_NO_MEM, "out of memory for the attribute of keyval %d", keyval);
	return MPI_SUCCESS;
}

int gompi_attribute_set(struct gompi_error_status *v, enum gompi_keyval_kind kind, struct gompi_attributes *t,
			uintptr_t object, int keyval, void *value) {
	int rc = MPI_SUCCESS;
	gompi_biased_lock(&gompi_keyvals_lock);
	uint32_t i = index_of_keyval(t, keyval);
	bool is_set = is_set_at(t, i);
	struct gompi_keyval *k = is_set ? entry_at(t, i)->key : gompi_keyval_find_locked(kind, keyval);
	bool is_usable = k != NULL && !k->is_freed && t != NULL;
	if (is_usable && is_set && k->delete == (uintptr_t)MPI_COMM_NULL_DELETE_FN)
		gompi_store_release(&entry_at(t, i)->value, value);
	else if (!is_usable || is_set || !append(t, k, value))
		rc = set_locked(v, kind, t, object, keyval, value);
	gompi_biased_unlock(&gompi_keyvals_lock);
	return rc;
}

int gompi_attribute_delete(struct gompi_error_status *v, enum gompi_keyval_kind kind, struct gompi_attributes *t,
			   uintptr_t object, int keyval) {
	int rc = MPI_SUCCESS;
	gompi_biased_lock(&gompi_keyvals_lock);
	uint32_t i = index_of_keyval(t, keyval);
	if (!is_set_at(t, i))
		rc = gompi_keyval_exists(kind, keyval)
			     ? gompi_set_error(v, MPI_ERR_KEYVAL, "no attribute is set for keyval %d", keyval)
			     : gompi_keyval_error(v, kind, keyval);
	else if (entry_at(t, i)->key->delete == (uintptr_t)MPI_COMM_NULL_DELETE_FN)
		remove_at(t, i);
	else
		rc = delete_locked(v, t, i, object, true);
	gompi_biased_unlock(&gompi_keyvals_lock);
	return rc;
}

// An attribute to copy.
struct old_attribute {
	int keyval;
	void *value;
};

// Copies an attribute. Releases the lock during the copy function. Returns MPI_SUCCESS or the error class in *v.
static int copy_locked(struct gompi_error_status *v, enum gompi_keyval_kind kind, struct old_attribute old,
		       uintptr_t object, struct gompi_attributes *to) {
	struct gompi_keyval *k = gompi_keyval_find_locked(kind, old.keyval);
	void *value = old.value;
	int copied = k != NULL && k->copy != (uintptr_t)MPI_COMM_NULL_COPY_FN;
	if (copied && k->copy != (uintptr_t)MPI_COMM_DUP_FN) {
		const struct gompi_keyval current = *k;
		copied = 0;
		value = NULL;
		gompi_biased_unlock(&gompi_keyvals_lock);
		bool was_in_go = gompi_leave_go();
		int code = ((copy_function *)current.copy)((void *)object, old.keyval, current.extra_state, old.value,
							   &value, &copied);
		gompi_return_to_go(was_in_go);
		gompi_biased_lock(&gompi_keyvals_lock);
		if (code != MPI_SUCCESS)
			return gompi_set_error(v, code, "the copy callback of keyval %d returned error %d", old.keyval,
					       code);
		k = gompi_keyval_find_locked(kind, old.keyval);
	}
	if (copied && k != NULL && !set_value_locked(to, k, value))
		return gompi_set_error(v, MPI_ERR_NO_MEM, "out of memory for the attribute of keyval %d", old.keyval);
	return MPI_SUCCESS;
}

int gompi_attributes_copy(struct gompi_error_status *v, enum gompi_keyval_kind kind, struct gompi_attributes *from,
			  uintptr_t object, uintptr_t new_object, struct gompi_attributes **to) {
	*to = NULL;
	if (from == NULL || gompi_load(&from->entry_count) == 0)
		return MPI_SUCCESS;
	gompi_biased_lock(&gompi_keyvals_lock);
	uint32_t n = gompi_load(&from->entry_count);
	struct old_attribute *old = malloc((n + 1) * sizeof *old); // a snapshot, since the callbacks may change the
								   // table
	struct gompi_attributes *t = gompi_free_list_alloc(&free_tables);
	int rc = MPI_SUCCESS;
	if (old == NULL || t == NULL)
		rc = gompi_set_error(v, MPI_ERR_NO_MEM, "out of memory: cannot copy the attributes (number: %u)", n);
	for (uint32_t i = 0; i < n && rc == MPI_SUCCESS; i++)
		old[i] = (struct old_attribute){gompi_load(&entry_at(from, i)->keyval),
						gompi_load(&entry_at(from, i)->value)};
	for (uint32_t i = 0; i < n && rc == MPI_SUCCESS; i++)
		rc = copy_locked(v, kind, old[i], object, t);
	gompi_biased_unlock(&gompi_keyvals_lock);
	free(old);
	if (rc == MPI_SUCCESS && gompi_load(&t->entry_count) > 0) {
		*to = t;
		return rc;
	}
	struct gompi_error_status second; // ignored, because the MPI function reports only its first error
	if (rc != MPI_SUCCESS)
		gompi_attributes_delete(&second, t, new_object);
	gompi_attributes_free(t);
	return rc;
}

int gompi_attributes_delete(struct gompi_error_status *v, struct gompi_attributes *t, uintptr_t object) {
	int rc = MPI_SUCCESS;
	if (t == NULL)
		return rc;
	gompi_biased_lock(&gompi_keyvals_lock);
	for (uint32_t n; rc == MPI_SUCCESS && (n = gompi_load(&t->entry_count)) > 0;)
		rc = delete_locked(v, t, n - 1, object, true);
	gompi_biased_unlock(&gompi_keyvals_lock);
	return rc;
}

void gompi_attributes_free(struct gompi_attributes *t) {
	if (t == NULL)
		return;
	gompi_biased_lock(&gompi_keyvals_lock);
	for (uint32_t n; (n = gompi_load(&t->entry_count)) > 0;)
		remove_at(t, n - 1);
	struct gompi_name *name = t->name;
	t->name = NULL;
	gompi_biased_unlock(&gompi_keyvals_lock);
	free(name);
	gompi_free_list_put(&free_tables, t);
}
