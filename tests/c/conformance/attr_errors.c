/* Proves: calls refuse a keyval that is freed, belongs to another kind of object, is predefined, or has no attribute on
 *   the object. If a delete function fails, the attribute stays. If a copy function fails, no duplicate is created.
 *   MPI-5.0 7.7
 * np: 1
 * ref: none (MPICH 4.0 lets the deprecated functions and mixed kinds through)
 * timeout: 30
 */
#include "../check.h"

static int fail = 1;

static int copy_fails(MPI_Comm c, int keyval, void *extra, void *in, void *out, int *flag) {
	(void)c, (void)keyval, (void)extra, (void)in, (void)out;
	*flag = 0;
	return MPI_ERR_OTHER;
}

static int delete_fails(MPI_Comm c, int keyval, void *value, void *extra) {
	(void)c, (void)keyval, (void)value, (void)extra;
	return fail ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm dup, again = MPI_COMM_SELF;
	int key, type_key, old, flag;
	void *value;
	MPI_Comm_create_keyval(copy_fails, delete_fails, &key, NULL);
	MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL);
	MPI_Comm_dup(MPI_COMM_SELF, &dup);
	CHECK_CLASS(MPI_Comm_set_attr(dup, MPI_KEYVAL_INVALID, NULL), MPI_ERR_KEYVAL);
	CHECK_CLASS(MPI_Comm_set_attr(dup, MPI_TAG_UB, NULL), MPI_ERR_KEYVAL);
	CHECK_CLASS(MPI_Comm_set_attr(dup, type_key, NULL), MPI_ERR_KEYVAL);
	CHECK_CLASS(MPI_Comm_get_attr(dup, 123456, &value, &flag), MPI_ERR_KEYVAL);
	CHECK_CLASS(MPI_Comm_delete_attr(dup, key), MPI_ERR_KEYVAL);
	CHECK_CLASS(MPI_Comm_free_keyval(&type_key), MPI_ERR_KEYVAL);
	CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_NULL, key, NULL), MPI_ERR_COMM);
	CHECK_OK(MPI_Comm_set_attr(dup, key, &fail));
	CHECK_CLASS(MPI_Comm_set_attr(dup, key, NULL), MPI_ERR_OTHER);
	CHECK_CLASS(MPI_Comm_delete_attr(dup, key), MPI_ERR_OTHER);
	CHECK_CLASS(MPI_Comm_dup(dup, &again), MPI_ERR_OTHER);
	CHECK(again == MPI_COMM_NULL, "the handle of the duplicate that failed is not MPI_COMM_NULL");
	CHECK_CLASS(MPI_Comm_free(&dup), MPI_ERR_OTHER);
	CHECK(dup != MPI_COMM_NULL, "the communicator is gone");
	CHECK_OK(MPI_Comm_get_attr(dup, key, &value, &flag));
	CHECK(flag && value == &fail, "the attribute is gone");
	fail = 0;
	old = key;
	CHECK_OK(MPI_Comm_free_keyval(&key));
	CHECK_CLASS(MPI_Comm_set_attr(dup, old, NULL), MPI_ERR_KEYVAL);
	CHECK_OK(MPI_Comm_free(&dup));
	CHECK_OK(MPI_Type_free_keyval(&type_key));
	return check_end();
}
