#include "attribute/keyval.h"

#include <stdlib.h>

#include "attribute/z_calls.h"

// 2^27 numbers of each kind, which come again late (base/table.h), behind the kinds of core/handle: a keyval is no
// handle.
enum {
	KIND_BITS = 27,
	FIRST_KIND = 13, // 12 is that of messages' requests
	SPARE_KEYVALS = 64,
};

#define OF_KIND(kind)                                                                         \
	{                                                                                     \
		.table = {&gompi_table_nothing}, .above = (FIRST_KIND + (kind)) << KIND_BITS, \
		.numbers = (1 << KIND_BITS) - 1                                               \
	}

struct gompi_handles gompi_keyvals[GOMPI_KEYVAL_KINDS] = {OF_KIND(GOMPI_KEYVAL_COMM), OF_KIND(GOMPI_KEYVAL_WIN),
							  OF_KIND(GOMPI_KEYVAL_TYPE)};
struct gompi_brief gompi_keyvals_lock;
static struct gompi_keyval *spare_keyvals;
static int spares;

static const char *const kind_names[] = {"communicators", "windows", "datatypes"};

int gompi_no_keyval(struct gompi_verdict *v, enum gompi_keyval_kind kind, int number) {
	if (number == MPI_KEYVAL_INVALID)
		return gompi_error(v, MPI_ERR_KEYVAL, "MPI_KEYVAL_INVALID is no keyval");
	if (number > 0 && number < GOMPI_KEYVAL_FIRST)
		return gompi_error(v, MPI_ERR_KEYVAL, "keyval %d is predefined, or none of %s", number,
				   kind_names[kind]);
	for (enum gompi_keyval_kind other = 0; other < GOMPI_KEYVAL_KINDS; other++)
		if (other != kind && gompi_keyval_lives(other, number))
			return gompi_error(v, MPI_ERR_KEYVAL, "keyval %d is for %s, not for %s", number,
					   kind_names[other], kind_names[kind]);
	return gompi_error(v, MPI_ERR_KEYVAL, "keyval %d was freed or never made", number);
}

struct gompi_keyval *gompi_keyval_find_locked(enum gompi_keyval_kind kind, int number) {
	return gompi_table_get(&gompi_keyvals[kind].table, (uintptr_t)(uint32_t)number);
}

static void end_keyval_locked(struct gompi_keyval *k) {
	struct gompi_handles *of = &gompi_keyvals[(k->number >> KIND_BITS) - FIRST_KIND];
	gompi_handles_remove(of, (uintptr_t)k->number);
	if (spares < SPARE_KEYVALS) {
		k->next = spare_keyvals;
		spare_keyvals = k;
		spares++;
	} else {
		free(k);
	}
	gompi_handles_settle(of);
}

void gompi_keyval_leave_locked(struct gompi_keyval *k) {
	if (--k->uses == 0 && k->freed)
		end_keyval_locked(k);
}

static struct gompi_keyval *take_keyval_locked(void) {
	struct gompi_keyval *k = spare_keyvals;
	if (k == NULL)
		return malloc(sizeof *k);
	spare_keyvals = k->next;
	spares--;
	return k;
}

static int make_keyval(const char *call, enum gompi_keyval_kind kind, uintptr_t copy, uintptr_t delete, void *extra,
		       int *keyval) {
	if (keyval == NULL)
		return gompi_no_place(call, GOMPI_ON_NONE, 0);
	gompi_brief_take(&gompi_keyvals_lock);
	struct gompi_keyval *k = take_keyval_locked();
	uintptr_t number = k == NULL ? 0 : gompi_handles_add(&gompi_keyvals[kind], k);
	if (number != 0)
		*k = (struct gompi_keyval){.number = (int)number, .copy = copy, .delete = delete, .extra = extra};
	gompi_brief_give(&gompi_keyvals_lock);
	if (number == 0) {
		free(k);
		return gompi_refuse(MPI_ERR_NO_MEM, call, "no memory for another keyval", GOMPI_ON_NONE, 0);
	}
	*keyval = (int)number;
	return MPI_SUCCESS;
}

// Freeing a keyval again changes nothing while attributes have it: MPI says that it is then that it goes, and delete
// functions free the keyval of each attribute they are called for.
static int free_keyval(const char *call, enum gompi_keyval_kind kind, int *keyval) {
	struct gompi_verdict v;
	if (keyval == NULL)
		return gompi_no_place(call, GOMPI_ON_NONE, 0);
	gompi_brief_take(&gompi_keyvals_lock);
	struct gompi_keyval *k = gompi_keyval_find_locked(kind, *keyval);
	bool found = k != NULL;
	if (found) {
		k->freed = true;
		if (k->uses == 0)
			end_keyval_locked(k);
	}
	gompi_brief_give(&gompi_keyvals_lock);
	if (!found) {
		gompi_no_keyval(&v, kind, *keyval);
		return gompi_refuse(v.class, call, v.text, GOMPI_ON_NONE, 0);
	}
	*keyval = MPI_KEYVAL_INVALID;
	return MPI_SUCCESS;
}

int gompi_comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
			     MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval, void *extra_state) {
	return make_keyval("MPI_Comm_create_keyval", GOMPI_KEYVAL_COMM, (uintptr_t)comm_copy_attr_fn,
			   (uintptr_t)comm_delete_attr_fn, extra_state, comm_keyval);
}

int gompi_keyval_create(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval, void *extra_state) {
	return make_keyval("MPI_Keyval_create", GOMPI_KEYVAL_COMM, (uintptr_t)copy_fn, (uintptr_t)delete_fn,
			   extra_state, keyval);
}

int gompi_win_create_keyval(MPI_Win_copy_attr_function *win_copy_attr_fn,
			    MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval, void *extra_state) {
	return make_keyval("MPI_Win_create_keyval", GOMPI_KEYVAL_WIN, (uintptr_t)win_copy_attr_fn,
			   (uintptr_t)win_delete_attr_fn, extra_state, win_keyval);
}

int gompi_type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn,
			     MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval, void *extra_state) {
	return make_keyval("MPI_Type_create_keyval", GOMPI_KEYVAL_TYPE, (uintptr_t)type_copy_attr_fn,
			   (uintptr_t)type_delete_attr_fn, extra_state, type_keyval);
}

int gompi_comm_free_keyval(int *comm_keyval) {
	return free_keyval("MPI_Comm_free_keyval", GOMPI_KEYVAL_COMM, comm_keyval);
}

int gompi_keyval_free(int *keyval) { return free_keyval("MPI_Keyval_free", GOMPI_KEYVAL_COMM, keyval); }

int gompi_win_free_keyval(int *win_keyval) { return free_keyval("MPI_Win_free_keyval", GOMPI_KEYVAL_WIN, win_keyval); }

int gompi_type_free_keyval(int *type_keyval) {
	return free_keyval("MPI_Type_free_keyval", GOMPI_KEYVAL_TYPE, type_keyval);
}
