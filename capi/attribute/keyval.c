#include "attribute/keyval.h"

#include "attribute/z_calls.h"

#define OF_KIND(kind) GOMPI_OBJECT_POOL(GOMPI_KIND_KEYVAL + (kind), struct gompi_keyval)

struct gompi_object_pool gompi_keyvals[GOMPI_KEYVAL_KINDS] = {OF_KIND(GOMPI_KEYVAL_COMM), OF_KIND(GOMPI_KEYVAL_WIN),
							      OF_KIND(GOMPI_KEYVAL_TYPE)};
struct gompi_biased_mutex gompi_keyvals_lock;

static const char *const kind_names[] = {"communicators", "windows", "datatypes"};
static const char *const create_functions[] = {"MPI_Comm_create_keyval", "MPI_Win_create_keyval",
					       "MPI_Type_create_keyval"};

int gompi_keyval_error(struct gompi_error_status *v, enum gompi_keyval_kind kind, int number) {
	if (number == MPI_KEYVAL_INVALID)
		return gompi_set_error(v, MPI_ERR_KEYVAL, "the keyval is MPI_KEYVAL_INVALID");
	if (number > 0 && number < GOMPI_KEYVAL_FIRST)
		return gompi_set_error(
			v, MPI_ERR_KEYVAL,
			"keyval %d is reserved for predefined attributes, which are read-only; create a keyval with %s",
			number, create_functions[kind]);
	for (enum gompi_keyval_kind other = 0; other < GOMPI_KEYVAL_KINDS; other++)
		if (other != kind && gompi_keyval_exists(other, number))
			return gompi_set_error(v, MPI_ERR_KEYVAL, "keyval %d was created for %s, not for %s", number,
					       kind_names[other], kind_names[kind]);
	return gompi_set_error(v, MPI_ERR_KEYVAL, "keyval %d has been freed, or was never created", number);
}

struct gompi_keyval *gompi_keyval_find_locked(enum gompi_keyval_kind kind, int number) {
	return gompi_table_get(&gompi_keyvals[kind].handles.table, (uintptr_t)(uint32_t)number);
}

static inline void free_keyval_locked(struct gompi_object_pool *of, struct gompi_table_entry *e,
				      struct gompi_keyval *k) {
	gompi_handles_remove_entry(&of->handles, e, (uintptr_t)k->number);
	gompi_pool_free(of, k);
}

void gompi_keyval_release_locked(struct gompi_keyval *k) {
	struct gompi_object_pool *of = &gompi_keyvals[(k->number >> GOMPI_KIND_BITS) - GOMPI_KIND_KEYVAL];
	if (--k->ref_count == 0 && k->is_freed)
		free_keyval_locked(of, gompi_table_find(&of->handles.table, (uintptr_t)k->number), k);
}

// Creates a keyval. This function and free_keyval are inline, so that the arguments of each caller are constants.
static inline int make_keyval(const char *call, struct gompi_object_pool *of, uintptr_t copy, uintptr_t delete,
			      void *extra, int *keyval) {
	if (keyval == NULL)
		return gompi_null_argument_error(call, "keyval", GOMPI_ON_NONE, 0);
	gompi_biased_lock(&gompi_keyvals_lock);
	struct gompi_keyval *k = gompi_pool_alloc(of);
	uintptr_t number = k == NULL ? 0 : gompi_handles_add(&of->handles, k);
	if (__builtin_expect(number == 0, 0)) {
		if (k != NULL)
			gompi_pool_free(of, k);
		gompi_biased_unlock(&gompi_keyvals_lock);
		return gompi_return_error(MPI_ERR_NO_MEM, call, "out of memory for a keyval", GOMPI_ON_NONE, 0);
	}
	*k = (struct gompi_keyval){.number = (int)number, .copy = copy, .delete = delete, .extra_state = extra};
	gompi_biased_unlock(&gompi_keyvals_lock);
	*keyval = (int)number;
	return MPI_SUCCESS;
}

__attribute__((cold)) static int raise_keyval(const char *call, enum gompi_keyval_kind kind, int number) {
	struct gompi_error_status v;
	gompi_keyval_error(&v, kind, number);
	return gompi_return_error(v.class, call, v.text, GOMPI_ON_NONE, 0);
}

// Frees a keyval. While attributes still use a freed keyval, freeing it again is not an error and has no effect: MPI
// defines that a keyval exists until its last attribute is deleted. So a delete function may free the keyval at each of
// its calls.
static inline int free_keyval(const char *call, enum gompi_keyval_kind kind, int *keyval) {
	if (keyval == NULL)
		return gompi_null_argument_error(call, "keyval", GOMPI_ON_NONE, 0);
	gompi_biased_lock(&gompi_keyvals_lock);
	struct gompi_object_pool *of = &gompi_keyvals[kind];
	struct gompi_table_entry *e = gompi_table_find(&of->handles.table, (uintptr_t)(uint32_t)*keyval);
	if (__builtin_expect(e == NULL, 0)) {
		gompi_biased_unlock(&gompi_keyvals_lock);
		return raise_keyval(call, kind, *keyval);
	}
	struct gompi_keyval *k = gompi_table_object(e);
	k->is_freed = true;
	if (__builtin_expect(k->ref_count == 0, 1))
		free_keyval_locked(of, e, k);
	gompi_biased_unlock(&gompi_keyvals_lock);
	*keyval = MPI_KEYVAL_INVALID;
	return MPI_SUCCESS;
}

int gompi_comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
			     MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval, void *extra_state) {
	return make_keyval("MPI_Comm_create_keyval", &gompi_keyvals[GOMPI_KEYVAL_COMM], (uintptr_t)comm_copy_attr_fn,
			   (uintptr_t)comm_delete_attr_fn, extra_state, comm_keyval);
}
GOMPI_ENTRY(MPI_Comm_create_keyval, gompi_comm_create_keyval);

int gompi_keyval_create(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval, void *extra_state) {
	return make_keyval("MPI_Keyval_create", &gompi_keyvals[GOMPI_KEYVAL_COMM], (uintptr_t)copy_fn,
			   (uintptr_t)delete_fn, extra_state, keyval);
}
GOMPI_ENTRY(MPI_Keyval_create, gompi_keyval_create);

int gompi_win_create_keyval(MPI_Win_copy_attr_function *win_copy_attr_fn,
			    MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval, void *extra_state) {
	return make_keyval("MPI_Win_create_keyval", &gompi_keyvals[GOMPI_KEYVAL_WIN], (uintptr_t)win_copy_attr_fn,
			   (uintptr_t)win_delete_attr_fn, extra_state, win_keyval);
}
GOMPI_ENTRY(MPI_Win_create_keyval, gompi_win_create_keyval);

int gompi_type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn,
			     MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval, void *extra_state) {
	return make_keyval("MPI_Type_create_keyval", &gompi_keyvals[GOMPI_KEYVAL_TYPE], (uintptr_t)type_copy_attr_fn,
			   (uintptr_t)type_delete_attr_fn, extra_state, type_keyval);
}
GOMPI_ENTRY(MPI_Type_create_keyval, gompi_type_create_keyval);

int gompi_comm_free_keyval(int *comm_keyval) {
	return free_keyval("MPI_Comm_free_keyval", GOMPI_KEYVAL_COMM, comm_keyval);
}
GOMPI_ENTRY(MPI_Comm_free_keyval, gompi_comm_free_keyval);

int gompi_keyval_free(int *keyval) { return free_keyval("MPI_Keyval_free", GOMPI_KEYVAL_COMM, keyval); }
GOMPI_ENTRY(MPI_Keyval_free, gompi_keyval_free);

int gompi_win_free_keyval(int *win_keyval) { return free_keyval("MPI_Win_free_keyval", GOMPI_KEYVAL_WIN, win_keyval); }
GOMPI_ENTRY(MPI_Win_free_keyval, gompi_win_free_keyval);

int gompi_type_free_keyval(int *type_keyval) {
	return free_keyval("MPI_Type_free_keyval", GOMPI_KEYVAL_TYPE, type_keyval);
}
GOMPI_ENTRY(MPI_Type_free_keyval, gompi_type_free_keyval);
