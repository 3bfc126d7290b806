// All handle types are pointers, so the callbacks of communicators, windows and datatypes can be called through the
// same function types.
#include "attribute/attribute.h"

#include <stdlib.h>

typedef int copy_function(void *, int, void *, void *, void *, int *);
typedef int delete_function(void *, int, void *, void *);

enum { FIRST_ROOM = 4 };

// Free list of tables. A freed table keeps the memory of its entries, because a concurrent lookup may still read it.
static struct gompi_spares spare_tables = {sizeof(struct gompi_attributes), offsetof(struct gompi_attributes, next),
					   NULL};

struct gompi_attributes *gompi_attributes_make(struct gompi_attributes *_Atomic *at) {
	gompi_biased_take(&gompi_keyvals_lock);
	struct gompi_attributes *t = gompi_load(at);
	if (t == NULL && (t = gompi_spares_take(&spare_tables)) != NULL)
		gompi_store_release(at, t); // pairs with the acquire in gompi_attributes_open
	gompi_biased_give(&gompi_keyvals_lock);
	return t;
}

static inline struct gompi_attribute *entry_at(struct gompi_attributes *t, uint32_t i) {
	return &gompi_load(&t->list)->entry[i];
}

// Returns the index of an attribute, or the number of entries if it is not set. The caller holds the lock, as for the
// following functions.
static inline uint32_t place_of_keyval(struct gompi_attributes *t, int keyval) {
	uint32_t i = 0, n = t == NULL ? 0 : gompi_load(&t->n);
	while (i < n && gompi_load(&entry_at(t, i)->keyval) != keyval)
		i++;
	return i;
}

static inline bool has_place(struct gompi_attributes *t, uint32_t i) { return t != NULL && i < gompi_load(&t->n); }

// Replaces the list of entries by one of twice the size and returns it. Returns NULL if out of memory.
static __attribute__((cold)) struct gompi_attribute_list *grow_list(struct gompi_attributes *t) {
	struct gompi_attribute_list *l = gompi_load(&t->list);
	uint32_t n = gompi_load(&t->n), room = l == NULL ? FIRST_ROOM : 2 * l->room;
	struct gompi_attribute_list *more = malloc(sizeof *more + room * sizeof more->entry[0]);
	if (more == NULL)
		return NULL;
	*more = (struct gompi_attribute_list){.before = l, .room = room};
	for (uint32_t i = 0; i < n; i++) {
		gompi_store(&more->entry[i].keyval, gompi_load(&l->entry[i].keyval));
		gompi_store(&more->entry[i].value, gompi_load(&l->entry[i].value));
		more->entry[i].key = l->entry[i].key;
	}
	gompi_store_release(&t->list, more); // pairs with the acquire in gompi_attribute_find
	return more;
}

// Appends an attribute. Returns false if out of memory.
static inline bool append(struct gompi_attributes *t, struct gompi_keyval *k, void *value) {
	struct gompi_attribute_list *l = gompi_load(&t->list);
	uint32_t n = gompi_load(&t->n);
	if ((l == NULL || n == l->room) && (l = grow_list(t)) == NULL)
		return false;
	gompi_store_release(&l->entry[n].keyval, k->number);
	gompi_store_release(&l->entry[n].value, value);
	l->entry[n].key = k;
	gompi_store_release(&t->n, n + 1); // pairs with the acquire in gompi_attribute_find
	k->uses++;
	return true;
}

static bool put_locked(struct gompi_attributes *t, struct gompi_keyval *k, void *value) {
	uint32_t i = place_of_keyval(t, k->number);
	if (!has_place(t, i))
		return append(t, k, value);
	gompi_store_release(&entry_at(t, i)->value, value);
	return true;
}

static inline void take_out(struct gompi_attributes *t, uint32_t i) {
	struct gompi_keyval *k = entry_at(t, i)->key;
	uint32_t n = gompi_load(&t->n), moves = gompi_load(&t->moves);
	gompi_store(&t->moves, moves + 1); // before the releases below: a reader that sees a moved entry also sees the
					   // odd value and retries
	for (; i + 1 < n; i++) {
		struct gompi_attribute *to = entry_at(t, i), *from = entry_at(t, i + 1);
		gompi_store_release(&to->keyval, gompi_load(&from->keyval));
		gompi_store_release(&to->value, gompi_load(&from->value));
		to->key = from->key;
	}
	gompi_store_release(&t->n, n - 1);
	gompi_store_release(&t->moves, moves + 2); // pairs with the acquire in gompi_attribute_find
	gompi_keyval_leave_locked(k);
}

// Calls the delete function of the attribute at an index. If goes, then removes the attribute, unless the callback has
// removed it. Releases the lock during the callback. Returns MPI_SUCCESS or the error class in *v.
static int delete_locked(struct gompi_verdict *v, struct gompi_attributes *t, uint32_t i, uintptr_t object, bool goes) {
	const struct gompi_keyval *now = entry_at(t, i)->key;
	if (now->delete != (uintptr_t)MPI_COMM_NULL_DELETE_FN) {
		const struct gompi_keyval k = *now;
		void *value = gompi_load(&entry_at(t, i)->value);
		gompi_biased_give(&gompi_keyvals_lock);
		int code = ((delete_function *)k.delete)((void *)object, k.number, value, k.extra);
		gompi_biased_take(&gompi_keyvals_lock);
		if (code != MPI_SUCCESS)
			return gompi_error(v, code, "the delete callback of keyval %d returned error %d", k.number,
					   code);
		i = place_of_keyval(t, k.number);
	}
	if (goes && has_place(t, i))
		take_out(t, i);
	return MPI_SUCCESS;
}

// Completes gompi_attribute_set if there is a delete function to call first, or an error. Called under the lock.
// Returns MPI_SUCCESS or the error class in *v.
static int set_locked(struct gompi_verdict *v, enum gompi_keyval_kind kind, struct gompi_attributes *t,
		      uintptr_t object, int keyval, void *value) {
	uint32_t i = place_of_keyval(t, keyval);
	struct gompi_keyval *k = gompi_keyval_find_locked(kind, keyval);
	int rc = MPI_SUCCESS;
	if (k == NULL)
		return gompi_no_keyval(v, kind, keyval);
	if (k->freed)
		return gompi_error(v, MPI_ERR_KEYVAL, "keyval %d has been freed", keyval);
	if (has_place(t, i))
		rc = delete_locked(v, t, i, object, false);
	if (rc != MPI_SUCCESS)
		return rc;
	if ((k = gompi_keyval_find_locked(kind, keyval)) == NULL) // the delete function has removed the keyval
		return gompi_no_keyval(v, kind, keyval);
	if (t == NULL || !put_locked(t, k, value))
		return gompi_error(v, MPI_ERR_NO_MEM, "out of memory for the attribute of keyval %d", keyval);
	return MPI_SUCCESS;
}

int gompi_attribute_set(struct gompi_verdict *v, enum gompi_keyval_kind kind, struct gompi_attributes *t,
			uintptr_t object, int keyval, void *value) {
	int rc = MPI_SUCCESS;
	gompi_biased_take(&gompi_keyvals_lock);
	uint32_t i = place_of_keyval(t, keyval);
	bool there = has_place(t, i);
	struct gompi_keyval *k = there ? entry_at(t, i)->key : gompi_keyval_find_locked(kind, keyval);
	bool plain = k != NULL && !k->freed && t != NULL;
	if (plain && there && k->delete == (uintptr_t)MPI_COMM_NULL_DELETE_FN)
		gompi_store_release(&entry_at(t, i)->value, value);
	else if (!plain || there || !append(t, k, value))
		rc = set_locked(v, kind, t, object, keyval, value);
	gompi_biased_give(&gompi_keyvals_lock);
	return rc;
}

int gompi_attribute_delete(struct gompi_verdict *v, enum gompi_keyval_kind kind, struct gompi_attributes *t,
			   uintptr_t object, int keyval) {
	int rc = MPI_SUCCESS;
	gompi_biased_take(&gompi_keyvals_lock);
	uint32_t i = place_of_keyval(t, keyval);
	if (!has_place(t, i))
		rc = gompi_keyval_lives(kind, keyval)
			     ? gompi_error(v, MPI_ERR_KEYVAL, "no attribute is set for keyval %d", keyval)
			     : gompi_no_keyval(v, kind, keyval);
	else if (entry_at(t, i)->key->delete == (uintptr_t)MPI_COMM_NULL_DELETE_FN)
		take_out(t, i);
	else
		rc = delete_locked(v, t, i, object, true);
	gompi_biased_give(&gompi_keyvals_lock);
	return rc;
}

// An attribute to copy.
struct old_attribute {
	int keyval;
	void *value;
};

// Copies an attribute. Releases the lock during the copy function. Returns MPI_SUCCESS or the error class in *v.
static int copy_locked(struct gompi_verdict *v, enum gompi_keyval_kind kind, struct old_attribute old, uintptr_t object,
		       struct gompi_attributes *to) {
	struct gompi_keyval *k = gompi_keyval_find_locked(kind, old.keyval);
	void *value = old.value;
	int keep = k != NULL && k->copy != (uintptr_t)MPI_COMM_NULL_COPY_FN;
	if (keep && k->copy != (uintptr_t)MPI_COMM_DUP_FN) {
		const struct gompi_keyval now = *k;
		keep = 0;
		value = NULL;
		gompi_biased_give(&gompi_keyvals_lock);
		int code = ((copy_function *)now.copy)((void *)object, old.keyval, now.extra, old.value, &value, &keep);
		gompi_biased_take(&gompi_keyvals_lock);
		if (code != MPI_SUCCESS)
			return gompi_error(v, code, "the copy callback of keyval %d returned error %d", old.keyval,
					   code);
		k = gompi_keyval_find_locked(kind, old.keyval);
	}
	if (keep && k != NULL && !put_locked(to, k, value))
		return gompi_error(v, MPI_ERR_NO_MEM, "out of memory for the attribute of keyval %d", old.keyval);
	return MPI_SUCCESS;
}

int gompi_attributes_copy(struct gompi_verdict *v, enum gompi_keyval_kind kind, struct gompi_attributes *from,
			  uintptr_t object, uintptr_t new_object, struct gompi_attributes **to) {
	*to = NULL;
	if (from == NULL || gompi_load(&from->n) == 0)
		return MPI_SUCCESS;
	gompi_biased_take(&gompi_keyvals_lock);
	uint32_t n = gompi_load(&from->n);
	struct old_attribute *old = malloc((n + 1) * sizeof *old); // a snapshot, since the callbacks may change the
								   // table
	struct gompi_attributes *t = gompi_spares_take(&spare_tables);
	int rc = MPI_SUCCESS;
	if (old == NULL || t == NULL)
		rc = gompi_error(v, MPI_ERR_NO_MEM, "out of memory for %u attributes", n);
	for (uint32_t i = 0; i < n && rc == MPI_SUCCESS; i++)
		old[i] = (struct old_attribute){gompi_load(&entry_at(from, i)->keyval),
						gompi_load(&entry_at(from, i)->value)};
	for (uint32_t i = 0; i < n && rc == MPI_SUCCESS; i++)
		rc = copy_locked(v, kind, old[i], object, t);
	gompi_biased_give(&gompi_keyvals_lock);
	free(old);
	if (rc == MPI_SUCCESS && gompi_load(&t->n) > 0) {
		*to = t;
		return rc;
	}
	struct gompi_verdict second; // not reported
	if (rc != MPI_SUCCESS)
		gompi_attributes_delete(&second, t, new_object);
	gompi_attributes_close(t);
	return rc;
}

int gompi_attributes_delete(struct gompi_verdict *v, struct gompi_attributes *t, uintptr_t object) {
	int rc = MPI_SUCCESS;
	if (t == NULL)
		return rc;
	gompi_biased_take(&gompi_keyvals_lock);
	for (uint32_t n; rc == MPI_SUCCESS && (n = gompi_load(&t->n)) > 0;)
		rc = delete_locked(v, t, n - 1, object, true);
	gompi_biased_give(&gompi_keyvals_lock);
	return rc;
}

void gompi_attributes_close(struct gompi_attributes *t) {
	if (t == NULL)
		return;
	gompi_biased_take(&gompi_keyvals_lock);
	for (uint32_t n; (n = gompi_load(&t->n)) > 0;)
		take_out(t, n - 1);
	struct gompi_name *name = t->name;
	t->name = NULL;
	gompi_biased_give(&gompi_keyvals_lock);
	free(name);
	gompi_spares_give(&spare_tables, t);
}
