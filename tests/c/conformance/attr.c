/* Proves: attributes of communicators, windows and datatypes can be set, replaced, read and deleted. Duplication copies
 *   them as the copy functions decide. Freeing an object deletes its attributes. MPI_Finalize deletes the attributes of
 *   MPI_COMM_SELF in reverse order of setting. A freed keyval stays valid while attributes use it. Predefined
 *   attributes have the right values. MPI-5.0 7.7 9.1 11.2.4
 * np: 1 2
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"

static int copies, deletes, last_deleted;
static const int no_number = -12345;

/* Copies an attribute: the copy is the sum of the value and *extra_state. Does not copy the attribute if *extra_state
 * is no_number. */
static int comm_copy(MPI_Comm c, int keyval, void *extra, void *in, void *out, int *flag) {
	int size;
	(void)keyval;
	MPI_Comm_size(c, &size); /* a callback may call MPI */
	copies++;
	*(intptr_t *)out = (intptr_t)in + *(int *)extra;
	*flag = *(int *)extra != no_number;
	return size == 0;
}

static int comm_delete(MPI_Comm c, int keyval, void *value, void *extra) {
	(void)c, (void)keyval, (void)extra;
	deletes++;
	last_deleted = (int)(intptr_t)value;
	return MPI_SUCCESS;
}

static int type_copy(MPI_Datatype t, int keyval, void *extra, void *in, void *out, int *flag) {
	(void)t, (void)keyval, (void)extra;
	*(intptr_t *)out = 2 * (intptr_t)in;
	*flag = 1;
	return MPI_SUCCESS;
}

static int type_delete(MPI_Datatype t, int keyval, void *value, void *extra) {
	(void)t, (void)keyval, (void)extra;
	deletes++;
	last_deleted = (int)(intptr_t)value;
	return MPI_SUCCESS;
}

static int win_delete(MPI_Win w, int keyval, void *value, void *extra) {
	(void)w, (void)keyval, (void)extra;
	deletes++;
	last_deleted = (int)(intptr_t)value;
	return MPI_SUCCESS;
}

static int finalized_order[3], finalized;

static int at_finalize(MPI_Comm c, int keyval, void *value, void *extra) {
	int flag = 1;
	(void)keyval, (void)extra;
	MPI_Finalized(&flag);
	if (flag || c != MPI_COMM_SELF)
		printf("FAIL: MPI_Finalize deletes the attributes of MPI_COMM_SELF too late\n");
	finalized_order[finalized++] = (int)(intptr_t)value;
	return MPI_SUCCESS;
}

#define GET(get, object, keyval, want)                                                             \
	do {                                                                                       \
		void *value_ = (void *)-1;                                                         \
		int flag_ = -1;                                                                    \
		CHECK_OK(get(object, keyval, &value_, &flag_));                                    \
		CHECK(flag_ == ((want) != no_number) && (!flag_ || (intptr_t)value_ == (want)),    \
		      "flag %d, value %ld, not %ld", flag_, (long)(intptr_t)value_, (long)(want)); \
	} while (0)

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int plus = 1, never = no_number, key, key_null, key_dup, key_never, k;
	MPI_Comm dup, again;
	MPI_Comm_create_keyval(comm_copy, comm_delete, &key, &plus);
	MPI_Comm_create_keyval(comm_copy, comm_delete, &key_never, &never);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key_null, NULL);
	MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key_dup, NULL);
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	GET(MPI_Comm_get_attr, dup, key, no_number);
	CHECK_OK(MPI_Comm_set_attr(dup, key, (void *)10));
	CHECK_OK(MPI_Comm_set_attr(dup, key, (void *)20));
	CHECK(deletes == 1 && last_deleted == 10, "replacing deleted %d values, last %d", deletes, last_deleted);
	MPI_Comm_set_attr(dup, key_null, (void *)30);
	MPI_Comm_set_attr(dup, key_dup, (void *)40);
	MPI_Comm_set_attr(dup, key_never, (void *)50);
	MPI_Comm_dup(dup, &again);
	CHECK(copies == 2, "%d copies", copies);
	GET(MPI_Comm_get_attr, again, key, 21);
	GET(MPI_Comm_get_attr, again, key_null, no_number);
	GET(MPI_Comm_get_attr, again, key_dup, 40);
	GET(MPI_Comm_get_attr, again, key_never, no_number);
	GET(MPI_Comm_get_attr, dup, key, 20);
	deletes = 0;
	CHECK_OK(MPI_Comm_delete_attr(dup, key_never));
	CHECK(deletes == 1 && last_deleted == 50, "deleted %d, last %d", deletes, last_deleted);
	GET(MPI_Comm_get_attr, dup, key_never, no_number);
	k = key;
	CHECK_OK(MPI_Comm_free_keyval(&key));
	CHECK(key == MPI_KEYVAL_INVALID && k != MPI_KEYVAL_INVALID, "the freed keyval is %d", key);
	MPI_Comm_free(&again);
	CHECK(deletes == 2 && last_deleted == 21, "freeing deleted %d, last %d", deletes, last_deleted);
	MPI_Comm_free(&dup);
	CHECK(deletes == 3 && last_deleted == 20, "freeing deleted %d, last %d", deletes, last_deleted);
	MPI_Comm_free_keyval(&key_null);
	MPI_Comm_free_keyval(&key_dup);
	MPI_Comm_free_keyval(&key_never);

	/* Attributes of datatypes. Predefined datatypes may have them, too. */
	MPI_Datatype t, copy;
	MPI_Type_create_keyval(type_copy, type_delete, &key, NULL);
	MPI_Type_vector(2, 1, 2, MPI_INT, &t);
	CHECK_OK(MPI_Type_set_attr(t, key, (void *)7));
	MPI_Type_dup(t, &copy);
	GET(MPI_Type_get_attr, copy, key, 14);
	deletes = 0;
	MPI_Type_free(&copy);
	CHECK(deletes == 1 && last_deleted == 14, "freeing a type deleted %d, last %d", deletes, last_deleted);
	CHECK_OK(MPI_Type_delete_attr(t, key));
	CHECK(deletes == 2 && last_deleted == 7, "deleted %d, last %d", deletes, last_deleted);
	MPI_Type_free(&t);
	CHECK_OK(MPI_Type_set_attr(MPI_INT, key, (void *)3));
	GET(MPI_Type_get_attr, MPI_INT, key, 3);
	CHECK_OK(MPI_Type_delete_attr(MPI_INT, key));
	MPI_Type_free_keyval(&key);

	/* Attributes of windows. */
	MPI_Win win;
	int memory[4];
	MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, win_delete, &key, NULL);
	MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	CHECK_OK(MPI_Win_set_attr(win, key, (void *)9));
	GET(MPI_Win_get_attr, win, key, 9);
	MPI_Win_free_keyval(&key);
	deletes = 0;
	MPI_Win_free(&win);
	CHECK(deletes == 1 && last_deleted == 9, "freeing a window deleted %d, last %d", deletes, last_deleted);

	/* Predefined attributes. */
	int *value, flag;
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
	CHECK(flag && *value >= 32767, "MPI_TAG_UB");
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag);
	CHECK(!flag || *value == 0 || *value == 1, "MPI_WTIME_IS_GLOBAL");
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
	CHECK(flag && *value >= MPI_ERR_LASTCODE, "MPI_LASTUSEDCODE");
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag);
	CHECK(!flag || *value >= check_size, "MPI_UNIVERSE_SIZE");
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag);
	CHECK(!flag || *value >= 0, "MPI_APPNUM");

	int keys[3];
	for (int i = 0; i < 3; i++) {
		MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &keys[i], NULL);
		MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], (void *)(intptr_t)(i + 1));
	}
	int rc = check_end();
	if (finalized != 3 || finalized_order[0] != 3 || finalized_order[1] != 2 || finalized_order[2] != 1) {
		printf("FAIL: MPI_Finalize deleted %d attributes: %d %d %d\n", finalized, finalized_order[0],
		       finalized_order[1], finalized_order[2]);
		return 1;
	}
	return rc;
}
