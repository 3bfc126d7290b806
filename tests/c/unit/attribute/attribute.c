/* Proves for keyvals and attribute tables (attribute/attribute.h): invalid keyvals are rejected. Values are replaced,
 * copied and deleted in the right order, and the right attributes remain if a callback of the application fails. A
 * freed keyval remains valid for objects that have its attribute. A query of an attribute returns a value that was set,
 * even while other threads set it and set and delete other attributes. Datatypes whose handles end in the same bits
 * have separate attributes. */
#include "../unit.h"

#include "attribute/attribute.h"
#include "attribute/z_calls.h"
#include "datatype/attributes.h"
#include "datatype/type_props.h"
#include "datatype/z_calls.h"

enum { OTHER = MPI_ERR_OTHER };
#define COMM GOMPI_KEYVAL_COMM

static struct gompi_error_status v;
static bool delete_succeeds; /* true if the callback delete_fails returns MPI_SUCCESS instead of an error */

/* --- Callbacks of the application. They record each deletion as two digits: the object and the value */

static uint64_t deleted;

static int copy_adds(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag) {
	(void)comm, (void)keyval;
	*(char **)out = (char *)in + (uintptr_t)extra;
	*flag = 1;
	return MPI_SUCCESS;
}

static int copy_refuses(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag) {
	(void)comm, (void)keyval, (void)extra, (void)in, (void)out;
	*flag = 0;
	return MPI_SUCCESS;
}

static int copy_fails(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag) {
	*flag = 1;
	(void)comm, (void)keyval, (void)extra, (void)in, (void)out;
	return OTHER;
}

static int delete_counts(MPI_Comm comm, int keyval, void *value, void *extra) {
	(void)keyval, (void)extra;
	deleted = deleted * 100 + (uintptr_t)comm * 10 + (uintptr_t)value;
	return MPI_SUCCESS;
}

static int delete_fails(MPI_Comm comm, int keyval, void *value, void *extra) {
	delete_counts(comm, keyval, value, extra);
	return delete_succeeds ? MPI_SUCCESS : MPI_ERR_INTERN;
}

static int keyval_of(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete, uintptr_t extra) {
	int k;
	CHECK(gompi_comm_create_keyval(copy, delete, &k, (void *)extra) == MPI_SUCCESS, "no keyval");
	return k;
}

/* --- Tables */

struct object {
	struct gompi_attributes *_Atomic attributes;
	uintptr_t handle;
};

static int set(struct object *o, int keyval, uintptr_t value) {
	return gompi_attribute_set(&v, COMM, gompi_attributes_ensure(&o->attributes), o->handle, keyval, (void *)value);
}

/* Returns the value of an attribute, -1 if it is not set, or the negative error class. */
static long get(struct object *o, int keyval) {
	void *value = NULL;
	int flag = 0, rc = gompi_attribute_get(&v, COMM, gompi_load(&o->attributes), keyval, &value, &flag);
	return rc != MPI_SUCCESS ? -rc : flag ? (long)(intptr_t)value : -1;
}

static int delete_attr(struct object *o, int keyval) {
	return gompi_attribute_delete(&v, COMM, gompi_load(&o->attributes), o->handle, keyval);
}

static int copy_to(struct object *from, struct object *to) {
	struct gompi_attributes *t = NULL;
	int rc = gompi_attributes_copy(&v, COMM, gompi_load(&from->attributes), from->handle, to->handle, &t);
	gompi_store(&to->attributes, t);
	return rc;
}

static int delete_all_attrs(struct object *o) {
	int rc = gompi_attributes_delete(&v, gompi_load(&o->attributes), o->handle);
	if (rc == MPI_SUCCESS) {
		gompi_attributes_free(gompi_load(&o->attributes));
		gompi_store(&o->attributes, NULL);
	}
	return rc;
}

static bool keyval_exists(int keyval) { return gompi_keyval_exists(COMM, keyval); }

static void one_object(void) {
	struct object a = {.handle = 7};
	int k = keyval_of(copy_adds, delete_counts, 1), old = k, win;
	deleted = 0;
	CHECK(get(&a, k) == -1, "an attribute before it is set");
	CHECK(delete_attr(&a, k) == MPI_ERR_KEYVAL && strstr(v.text, "no attribute is set for keyval"), "%s", v.text);
	CHECK(set(&a, k, 2) == MPI_SUCCESS && set(&a, k, 3) == MPI_SUCCESS, "not set");
	CHECK(deleted == 72, "deleted %lu", (unsigned long)deleted);
	CHECK(get(&a, k) == 3, "%ld", get(&a, k));
	CHECK(delete_attr(&a, k) == MPI_SUCCESS && deleted == 7273 && get(&a, k) == -1, "deleted %lu",
	      (unsigned long)deleted);
	CHECK(gompi_comm_free_keyval(&k) == MPI_SUCCESS && k == MPI_KEYVAL_INVALID, "not freed");
	CHECK(gompi_comm_free_keyval(&(int){old}) == MPI_ERR_KEYVAL, "freed twice");
	CHECK(set(&a, old, 1) == MPI_ERR_KEYVAL && strstr(v.text, "has been freed, or was never created"), "%s",
	      v.text);
	gompi_win_create_keyval(NULL, NULL, &win, NULL);
	CHECK(get(&a, win) == -MPI_ERR_KEYVAL && strstr(v.text, "was created for windows, not for communicators"), "%s",
	      v.text);
	CHECK(get(&a, MPI_TAG_UB) == -MPI_ERR_KEYVAL && strstr(v.text, "predefined attributes"), "%s", v.text);
	static const int bad[] = {MPI_KEYVAL_INVALID, -1, 1000, 1 << 30, INT32_MAX, INT32_MIN};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		CHECK(get(&a, bad[i]) == -MPI_ERR_KEYVAL && delete_attr(&a, bad[i]) == MPI_ERR_KEYVAL &&
			      set(&a, bad[i], 1) == MPI_ERR_KEYVAL,
		      "keyval %d", bad[i]);
	gompi_win_free_keyval(&win);
	CHECK(delete_all_attrs(&a) == MPI_SUCCESS, "%s", v.text);
}

static void copies(void) {
	struct object a = {.handle = 1}, b = {.handle = 2};
	int k[] = {keyval_of(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, 0),
		   keyval_of(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, 0), keyval_of(copy_adds, delete_counts, 5),
		   keyval_of(copy_refuses, delete_counts, 0)};
	deleted = 0;
	for (uintptr_t i = 0; i < 4; i++) {
		CHECK(set(&a, k[i], i) == MPI_SUCCESS, "%s", v.text);
		CHECK(gompi_comm_free_keyval(&(int){k[i]}) == MPI_SUCCESS, "an attribute keeps its keyval");
	}
	CHECK(copy_to(&a, &b) == MPI_SUCCESS, "%s", v.text);
	CHECK(get(&b, k[0]) == 0 && get(&b, k[1]) == -1 && get(&b, k[2]) == 7 && get(&b, k[3]) == -1, "copies");
	CHECK(delete_all_attrs(&b) == MPI_SUCCESS && deleted == 27, "deleted %lu", (unsigned long)deleted);
	deleted = 0;
	int bad = keyval_of(copy_fails, delete_counts, 0);
	CHECK(set(&a, bad, 9) == MPI_SUCCESS, "%s", v.text);
	CHECK(copy_to(&a, &b) == OTHER && strstr(v.text, "the copy callback of keyval"), "%s", v.text);
	CHECK(gompi_load(&b.attributes) == NULL && deleted == 27, "deleted %lu", (unsigned long)deleted);
	gompi_comm_free_keyval(&(int){bad});
	CHECK(delete_all_attrs(&a) == MPI_SUCCESS, "%s", v.text);
	CHECK(!keyval_exists(bad) && !keyval_exists(k[0]) && !keyval_exists(k[3]), "a keyval that nothing has");
}

static void freed_in_use(void) {
	struct object a = {.handle = 1}, b = {.handle = 2};
	int k = keyval_of(MPI_COMM_DUP_FN, delete_counts, 0);
	CHECK(set(&a, k, 3) == MPI_SUCCESS, "%s", v.text);
	CHECK(gompi_comm_free_keyval(&(int){k}) == MPI_SUCCESS && gompi_comm_free_keyval(&(int){k}) == MPI_SUCCESS,
	      "in use");
	CHECK(gompi_win_free_keyval(&(int){k}) == MPI_ERR_KEYVAL, "of another kind");
	CHECK(set(&a, k, 4) == MPI_ERR_KEYVAL && get(&a, k) == 3, "set with a keyval that was freed");
	CHECK(copy_to(&a, &b) == MPI_SUCCESS && delete_attr(&a, k) == MPI_SUCCESS && get(&b, k) == 3, "the copy");
	CHECK(keyval_exists(k), "the copy has it");
	gompi_attributes_free(gompi_load(&b.attributes)); /* does not call the delete callback */
	CHECK(!keyval_exists(k), "nothing has it");
	delete_all_attrs(&a);
}

static void delete_order(void) {
	struct object a = {.handle = 3};
	int k[4];
	deleted = 0;
	delete_succeeds = false;
	for (int i = 0; i < 4; i++) {
		k[i] = keyval_of(MPI_COMM_NULL_COPY_FN, i == 1 ? delete_fails : delete_counts, 0);
		CHECK(set(&a, k[i], (uintptr_t)i) == MPI_SUCCESS, "%s", v.text);
	}
	CHECK(delete_all_attrs(&a) == MPI_ERR_INTERN && deleted == 333231, "deleted %lu", (unsigned long)deleted);
	CHECK(get(&a, k[0]) == 0 && get(&a, k[1]) == 1 && get(&a, k[2]) == -1, "what is left");
	CHECK(set(&a, k[1], 5) == MPI_ERR_INTERN && get(&a, k[1]) == 1, "set though the old value was not deleted");
	CHECK(delete_attr(&a, k[1]) == MPI_ERR_INTERN && get(&a, k[1]) == 1, "deleted though its function failed");
	delete_succeeds = true;
	CHECK(delete_all_attrs(&a) == MPI_SUCCESS, "%s", v.text);
	for (int i = 0; i < 4; i++) {
		gompi_comm_free_keyval(&(int){k[i]});
		CHECK(!keyval_exists(k[i]), "a keyval that nothing has");
	}
}

/* --- Many attributes, stored in an array */

static void many_attributes(void) {
	enum { KEYS = 40, STEPS = 20000 };
	struct object a = {.handle = 1};
	int k[KEYS];
	long value[KEYS];
	uint32_t x = 1;
	for (int i = 0; i < KEYS; i++) {
		k[i] = keyval_of(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, 0);
		value[i] = -1;
	}
	for (int step = 0; step < STEPS; step++) {
		int i = (int)((x = x * 1664525 + 1013904223) >> 8) % KEYS;
		if (x >> 31 != 0) {
			CHECK(set(&a, k[i], (uintptr_t)step) == MPI_SUCCESS, "%s", v.text);
			value[i] = step;
		} else {
			CHECK(delete_attr(&a, k[i]) == (value[i] < 0 ? MPI_ERR_KEYVAL : MPI_SUCCESS), "step %d", step);
			value[i] = -1;
		}
		for (int j = 0; j < KEYS; j++)
			CHECK(get(&a, k[j]) == value[j], "step %d: %ld", step, get(&a, k[j]));
	}
	delete_all_attrs(&a);
	for (int i = 0; i < KEYS; i++)
		gompi_comm_free_keyval(&k[i]);
}

/* --- Threads: on one object, writers set and delete the attributes of changing_keyvals. This moves the attributes of
 * stable_keyvals to other entries of the table. Writers also set new values of the stable attributes */

enum { STAY = 5, WRITERS = 2, ASKERS = 3, ROUNDS = 60000 };
static struct object shared = {.handle = 1};
static int changing_keyvals[WRITERS], stable_keyvals[STAY];

static void access_attributes(int thread) {
	struct gompi_error_status mine;
	void *value = NULL;
	int flag = 0;
	for (uintptr_t r = 0; r < ROUNDS; r++) {
		struct gompi_attributes *t = gompi_load_acquire(&shared.attributes);
		int one = stable_keyvals[r % STAY];
		if (thread >= WRITERS) {
			int rc = gompi_attribute_get(&mine, COMM, t, one, &value, &flag);
			CHECK(rc == MPI_SUCCESS && flag && (uintptr_t)value % STAY == r % STAY, "round %d: %d, %d, %p",
			      (int)r, rc, flag, value);
			continue;
		}
		CHECK(gompi_attribute_set(&mine, COMM, t, 1, changing_keyvals[thread], NULL) == MPI_SUCCESS, "%s",
		      mine.text);
		CHECK(gompi_attribute_set(&mine, COMM, t, 1, one, (void *)(r / STAY * STAY + r % STAY)) == MPI_SUCCESS,
		      "%s", mine.text);
		CHECK(gompi_attribute_delete(&mine, COMM, t, 1, changing_keyvals[thread]) == MPI_SUCCESS, "%s",
		      mine.text);
	}
}

static void threads(void) {
	for (int i = 0; i < WRITERS; i++)
		set(&shared, changing_keyvals[i] = keyval_of(NULL, NULL, 0), 1);
	for (uintptr_t i = 0; i < STAY; i++)
		set(&shared, stable_keyvals[i] = keyval_of(NULL, NULL, 0), i);
	unit_threads(WRITERS + ASKERS, access_attributes);
	delete_all_attrs(&shared);
}

/* --- Datatypes */

static void datatypes(void) {
	uintptr_t predefined = (uintptr_t)MPI_INT, made = 0, copy;
	int k, flag;
	void *value = NULL;
	const struct gompi_type_props props = {.combiner = MPI_COMBINER_DUP};
	int64_t program[GOMPI_TYPE_HEAD] = {0};
	CHECK(gompi_type_install(predefined, props, program, GOMPI_TYPE_HEAD), "no memory");
	do { /* creates datatypes until two handles end in the same bits */
		gompi_type_remove(made);
		made = gompi_type_add_program(props, program, GOMPI_TYPE_HEAD);
		CHECK(made != 0, "no memory");
	} while ((made ^ predefined) % 64 != 0);
	copy = made + 1;
	gompi_type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &k, NULL);
	CHECK(gompi_type_attributes_of(made) == NULL, "attributes before there are any");
	gompi_type_set_attr((MPI_Datatype)predefined, k, (void *)1);
	gompi_type_set_attr((MPI_Datatype)made, k, (void *)2);
	CHECK(gompi_type_get_attr((MPI_Datatype)predefined, k, &value, &flag) == MPI_SUCCESS && value == (void *)1,
	      "%p", value);
	CHECK(gompi_type_attributes_copy(&v, made, copy) == MPI_SUCCESS, "%s", v.text);
	CHECK(gompi_type_attributes_delete(&v, made) == MPI_SUCCESS, "%s", v.text);
	CHECK(gompi_type_get_attr((MPI_Datatype)made, k, &value, &flag) == MPI_SUCCESS && !flag, "%d", flag);
	CHECK(gompi_attribute_find(gompi_type_attributes_of(copy), k, &value) && value == (void *)2, "the copy");
	gompi_type_attributes_delete(&v, copy);
	gompi_type_attributes_delete(&v, predefined);
	gompi_type_remove(made);
	gompi_type_free_keyval(&k);
	CHECK(k == MPI_KEYVAL_INVALID, "not freed");
}

int main(void) {
	unit_node(1);
	one_object();
	copies();
	freed_in_use();
	delete_order();
	many_attributes();
	threads();
	datatypes();
	return unit_end();
}
