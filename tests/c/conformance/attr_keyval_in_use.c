/* Proves: a keyval that is freed while attributes use it stays valid until the last attribute is deleted. Until then a
 *   program can read and delete these attributes by the old keyval, and can free the keyval again. Some programs rely
 *   on this: their delete function frees the keyval at each call. Duplicates of the object still receive the attribute.
 *   Covers communicators, datatypes and windows. MPI-5.0 7.7.2, 7.7.3, 7.7.4
 * np: 1 2
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"

static int deleted, freed;

static int comm_gone(MPI_Comm comm, int keyval, void *value, void *extra) {
	(void)comm, (void)value, (void)extra;
	deleted++;
	freed += MPI_Comm_free_keyval(&keyval) == MPI_SUCCESS && keyval == MPI_KEYVAL_INVALID;
	return MPI_SUCCESS;
}

static int type_gone(MPI_Datatype type, int keyval, void *value, void *extra) {
	(void)type, (void)value, (void)extra;
	deleted++;
	freed += MPI_Type_free_keyval(&keyval) == MPI_SUCCESS && keyval == MPI_KEYVAL_INVALID;
	return MPI_SUCCESS;
}

static int win_gone(MPI_Win win, int keyval, void *value, void *extra) {
	(void)win, (void)value, (void)extra;
	deleted++;
	freed += MPI_Win_free_keyval(&keyval) == MPI_SUCCESS && keyval == MPI_KEYVAL_INVALID;
	return MPI_SUCCESS;
}

static void went(int n, const char *what) {
	CHECK(deleted == n && freed == n, "%s: %d attributes went, and %d of them could free the keyval, not %d", what,
	      deleted, freed, n);
}

static void begin(void) { deleted = freed = 0; }

static void communicators(void) {
	MPI_Comm a, b, copy;
	int key, number, flag, value = 5, *seen;
	begin();
	MPI_Comm_dup(MPI_COMM_WORLD, &a);
	MPI_Comm_dup(MPI_COMM_WORLD, &b);
	CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, comm_gone, &key, NULL));
	number = key;
	CHECK_OK(MPI_Comm_set_attr(a, key, &value));
	CHECK_OK(MPI_Comm_set_attr(b, key, &value));
	CHECK_OK(MPI_Comm_free_keyval(&key));
	CHECK(key == MPI_KEYVAL_INVALID, "the keyval is %d", key);
	MPI_Comm_dup(b, &copy);
	CHECK_OK(MPI_Comm_get_attr(copy, number, &seen, &flag));
	CHECK(flag && seen == &value, "the duplicate has no attribute");
	CHECK_OK(MPI_Comm_delete_attr(b, number));
	went(1, "deleted");
	CHECK_OK(MPI_Comm_free(&a));
	went(2, "freed");
	CHECK_OK(MPI_Comm_free(&b));
	went(2, "freed without an attribute");
	key = number;
	CHECK_OK(MPI_Comm_free_keyval(&key));
	CHECK_OK(MPI_Comm_free(&copy));
	went(3, "the duplicate freed");
}

static void datatypes(void) {
	MPI_Datatype t[3];
	int key, number, flag, value = 5, *seen;
	begin();
	for (int i = 0; i < 3; i++)
		MPI_Type_contiguous(2, MPI_INT, &t[i]);
	CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, type_gone, &key, NULL));
	number = key;
	for (int i = 0; i < 3; i++)
		CHECK_OK(MPI_Type_set_attr(t[i], key, &value));
	CHECK_OK(MPI_Type_free(&t[0]));
	went(1, "freed");
	CHECK_OK(MPI_Type_free_keyval(&key));
	CHECK_OK(MPI_Type_get_attr(t[1], number, &seen, &flag));
	CHECK(flag && seen == &value, "the attribute is not there");
	CHECK_OK(MPI_Type_delete_attr(t[1], number));
	CHECK_OK(MPI_Type_free(&t[1]));
	CHECK_OK(MPI_Type_free(&t[2]));
	went(3, "all freed");
}

static void windows(void) {
	MPI_Win w[3];
	int key, number, flag, value = 5, *seen, *mem;
	begin();
	CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, win_gone, &key, NULL));
	number = key;
	for (int i = 0; i < 3; i++) {
		MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &w[i]);
		CHECK_OK(MPI_Win_set_attr(w[i], key, &value));
	}
	CHECK_OK(MPI_Win_free(&w[0]));
	went(1, "freed");
	for (int i = 0; i < 2; i++) {
		key = number;
		CHECK_OK(MPI_Win_free_keyval(&key));
	}
	CHECK_OK(MPI_Win_get_attr(w[1], number, &seen, &flag));
	CHECK(flag && seen == &value, "the attribute is not there");
	CHECK_OK(MPI_Win_delete_attr(w[1], number));
	went(2, "deleted");
	CHECK_OK(MPI_Win_free(&w[2]));
	CHECK_OK(MPI_Win_free(&w[1]));
	went(3, "all freed");
}

int main(int argc, char **argv) {
	check_begin_return_errors(&argc, &argv);
	communicators();
	datatypes();
	windows();
	return check_end();
}
