// Implements the calls on info objects. Info objects belong to no communicator, so errors are raised on MPI_COMM_SELF.
// Any thread may call these functions, also before MPI_Init. They do not block or communicate.
#include "info/info.h"

#include <stdlib.h>
#include <string.h>

#include "base/object_pool.h"
#include "info/env.h"
#include "info/z_calls.h"

// A pair in an object's text: the two lengths, the key, a 0, the value, a 0, and padding to an even number of bytes.
struct pair {
	uint16_t key_length, value_length;
	char key[];
};
_Static_assert(MPI_MAX_INFO_KEY <= UINT16_MAX && MPI_MAX_INFO_VAL <= UINT16_MAX, "lengths");
_Static_assert(_Alignof(struct pair) == 2, "pairs begin at even places");

struct gompi_info {
	struct gompi_info *next;            // next in the free list
	gompi_ai32 pair_count;              // changed under the lock, also read without it
	bool out_of_memory;                 // an allocation has failed while a pair was appended to a new object
	uint32_t text_bytes, text_capacity; // text_bytes: used; text_capacity: allocated
	char *text;                         // the pairs, in the order in which the keys were first set
};

// CACHED_TEXT_BYTES: maximum capacity of a text that an object in the free list keeps. INITIAL_TEXT_BYTES: initial
// capacity of a text.
enum { CACHED_TEXT_BYTES = 512, INITIAL_TEXT_BYTES = 64 };

static struct gompi_object_pool infos = GOMPI_OBJECT_POOL(GOMPI_KIND_INFO, struct gompi_info);
static struct gompi_info *env; // MPI_INFO_ENV; NULL before its first use; changed under the lock of infos

static uint32_t pair_bytes(int key_length, int value_length) {
	return (uint32_t)(sizeof(struct pair) + (size_t)key_length + 1 + (size_t)value_length + 1 + 1) & ~1U;
}

static int get_pair_count(const struct gompi_info *x) { return gompi_load(&((struct gompi_info *)x)->pair_count); }
static void add_pair_count(struct gompi_info *x, int n) { gompi_store(&x->pair_count, get_pair_count(x) + n); }

static struct pair *first_pair(const struct gompi_info *x) { return (struct pair *)x->text; }
static struct pair *next_pair(struct pair *p) {
	return (struct pair *)((char *)p + pair_bytes(p->key_length, p->value_length));
}
static char *value_of(struct pair *p) { return p->key + p->key_length + 1; }

static struct pair *find_key(const struct gompi_info *x, const char *key, int length) {
	struct pair *p = first_pair(x);
	for (int i = 0; i < get_pair_count(x); i++, p = next_pair(p))
		if (p->key_length == length && memcmp(p->key, key, (size_t)length) == 0)
			return p;
	return NULL;
}

static void remove_pair(struct gompi_info *x, struct pair *p) {
	uint32_t bytes = pair_bytes(p->key_length, p->value_length), after = (uint32_t)((char *)p - x->text) + bytes;
	memmove(p, (char *)p + bytes, x->text_bytes - after);
	x->text_bytes -= bytes;
	add_pair_count(x, -1);
}

// Grows the text so that it has space for this many more bytes. Returns false if out of memory.
static bool reserve_text_space(struct gompi_info *x, uint32_t bytes) {
	if (x->text_capacity - x->text_bytes >= bytes)
		return true;
	uint32_t capacity = x->text_capacity == 0 ? INITIAL_TEXT_BYTES : x->text_capacity;
	while (capacity - x->text_bytes < bytes)
		capacity *= 2;
	char *text = realloc(x->text, capacity);
	if (text != NULL)
		x->text = text, x->text_capacity = capacity;
	return text != NULL;
}

static bool set_pair(struct gompi_info *x, const char *key, int key_length, const char *value, int value_length) {
	struct pair *p = find_key(x, key, key_length);
	uint32_t bytes = pair_bytes(key_length, value_length), at = x->text_bytes, old_bytes = 0;
	if (p != NULL) {
		at = (uint32_t)((char *)p - x->text);
		old_bytes = pair_bytes(p->key_length, p->value_length);
	}
	if (bytes > old_bytes && !reserve_text_space(x, bytes - old_bytes))
		return false;
	p = (struct pair *)(x->text + at);
	if (bytes != old_bytes)
		memmove((char *)p + bytes, (char *)p + old_bytes, x->text_bytes - at - old_bytes);
	x->text_bytes += bytes - old_bytes;
	add_pair_count(x, old_bytes == 0);
	p->key_length = (uint16_t)key_length;
	p->value_length = (uint16_t)value_length;
	memcpy(p->key, key, (size_t)key_length);
	p->key[key_length] = 0;
	memcpy(value_of(p), value, (size_t)value_length);
	value_of(p)[value_length] = 0;
	return true;
}

// Reserves space for a pair at the end. Returns NULL if x is NULL or out of memory.
static struct pair *append_pair(struct gompi_info *x, size_t key_length, size_t value_length) {
	uint32_t bytes = pair_bytes((int)key_length, (int)value_length);
	if (x == NULL || x->out_of_memory || !reserve_text_space(x, bytes)) {
		if (x != NULL)
			x->out_of_memory = true;
		return NULL;
	}
	struct pair *p = (struct pair *)(x->text + x->text_bytes);
	*p = (struct pair){.key_length = (uint16_t)key_length, .value_length = (uint16_t)value_length};
	x->text_bytes += bytes;
	add_pair_count(x, 1);
	return p;
}

void gompi_info_append(struct gompi_info *x, const char *key, size_t key_length, const char *value, size_t length) {
	struct pair *p = append_pair(x, key_length, length);
	if (p == NULL)
		return;
	memcpy(p->key, key, key_length);
	p->key[key_length] = 0;
	memcpy(value_of(p), value, length);
	value_of(p)[length] = 0;
}

static void append_all(struct gompi_info *x, const struct gompi_info *from) {
	if (x == NULL || from == NULL || x->out_of_memory || !reserve_text_space(x, from->text_bytes)) {
		if (x != NULL)
			x->out_of_memory = true;
		return;
	}
	if (from->text_bytes > 0)
		memcpy(x->text + x->text_bytes, from->text, from->text_bytes);
	x->text_bytes += from->text_bytes;
	add_pair_count(x, get_pair_count(from));
}

static void release_info(struct gompi_info *x) {
	if (x->text_capacity > CACHED_TEXT_BYTES || !gompi_pool_can_cache(&infos)) {
		free(x->text);
		x->text = NULL;
		x->text_capacity = 0;
	}
	gompi_pool_free(&infos, x);
}

static struct gompi_info *new_info(void) {
	struct gompi_info *x = gompi_pool_alloc(&infos);
	if (x != NULL)
		gompi_store(&x->pair_count, 0), x->text_bytes = 0, x->out_of_memory = false;
	return x;
}

static void add_arguments(struct gompi_info *x, int argc, char *const argv[]) {
	char joined[MPI_MAX_INFO_VAL];
	for (int i = 0; i < 2 && argc > 0; i++) { // the first argument, then all others
		size_t length = gompi_env_join(joined, i == 0 ? 1 : argc - 1, argv + i);
		if (length > 0)
			gompi_info_add(x, i == 0 ? "command" : "argv", joined);
	}
}

static __attribute__((cold)) struct gompi_info *read_env_info(void) {
	struct gompi_env_values values;
	struct gompi_info *x = new_info();
	char wdir[MPI_MAX_INFO_VAL];
	gompi_env_read(&values);
	const char *handler = getenv("GOMPIRMA_INITIAL_ERRHANDLER");
	const char *pairs[][2] = {{"maxprocs", values.maxprocs},
				  {"host", values.host},
				  {"arch", values.arch},
				  {"wdir", wdir},
				  {"mpi_initial_errhandler", handler != NULL ? handler : "mpi_errors_are_fatal"}};
	gompi_env_join(wdir, values.wdir != NULL, &values.wdir);
	free(values.wdir);
	for (int i = 0; i < 5; i++)
		if (pairs[i][1][0] != 0)
			gompi_info_add(x, pairs[i][0], pairs[i][1]);
	return x;
}

// Adds the pairs of MPI_INFO_ENV that describe where this process runs. Reads them at the first call. The caller holds
// the lock.
static void append_env_info(struct gompi_info *x) {
	static struct gompi_info *place; // guarded by the lock
	if (__builtin_expect(place == NULL, 0))
		place = read_env_info();
	append_all(x, place);
}

static __attribute__((cold)) void fill_env(void) {
	gompi_biased_lock(&infos.lock);
	if (env == NULL) {
		struct gompi_info *x = new_info();
		int argc;
		char **argv = gompi_env_arguments(&argc);
		add_arguments(x, argc, argv);
		append_env_info(x);
		if (argv != NULL)
			free(argv[0]);
		free(argv);
		gompi_store_release((struct gompi_info * _Atomic *)&env, x); // lock_info loads it relaxed and then
									     // acquires the lock
	}
	gompi_biased_unlock(&infos.lock);
}

// Returns the object with a handle, or NULL. The caller holds the lock.
static struct gompi_info *info_of(MPI_Info info) {
	return info == MPI_INFO_ENV ? env : gompi_table_get(&infos.handles.table, (uintptr_t)info);
}

static inline void lock_info(MPI_Info info) {
	if (__builtin_expect(info == MPI_INFO_ENV && gompi_load((struct gompi_info * _Atomic *)&env) == NULL, 0))
		fill_env();
	gompi_biased_lock(&infos.lock);
}

static void unlock_info(void) { gompi_biased_unlock(&infos.lock); }

static __attribute__((cold)) int invalid_info_error(struct gompi_error_status *v, MPI_Info info) {
	if (info == MPI_INFO_NULL)
		return gompi_set_error(v, MPI_ERR_INFO, "the info object is MPI_INFO_NULL");
	return gompi_set_error(v, MPI_ERR_INFO, "%#llx is not an info object, or has been freed",
			       (unsigned long long)(uintptr_t)info);
}

static __attribute__((cold)) int no_info_memory_error(struct gompi_error_status *v) {
	return gompi_set_error(v, MPI_ERR_NO_MEM,
			       "cannot create an info object: out of memory, or too many info objects exist (%d)",
			       gompi_pool_used_count(&infos));
}

// Returns the value that a call must return; raises the error if `class` is not MPI_SUCCESS.
static inline int return_from_call(const char *call, int class, const struct gompi_error_status *v) {
	if (__builtin_expect(class == MPI_SUCCESS, 1))
		return MPI_SUCCESS;
	return gompi_return_error(class, call, v->text, GOMPI_ON_NONE, 0);
}

// Checks a key and stores its length. Returns MPI_SUCCESS or the error class in *v.
static inline int check_key(struct gompi_error_status *v, const char *key, int *length) {
	size_t n = key == NULL ? 0 : strlen(key);
	*length = (int)n;
	if (n == 0)
		return gompi_set_error(v, MPI_ERR_INFO_KEY, "the info key is empty");
	if (n >= MPI_MAX_INFO_KEY)
		return gompi_set_error(v, MPI_ERR_INFO_KEY, "the info key has %zu characters; the maximum is %d", n,
				       MPI_MAX_INFO_KEY - 1);
	return MPI_SUCCESS;
}

static int null_argument_error(struct gompi_error_status *v, const char *argument) {
	return gompi_set_error(v, MPI_ERR_ARG, "%s is NULL", argument);
}

static int read_only_error(struct gompi_error_status *v) {
	return gompi_set_error(v, MPI_ERR_INFO, "MPI_INFO_ENV is read-only");
}

struct gompi_info *gompi_info_begin(void) {
	gompi_biased_lock(&infos.lock);
	return new_info();
}

// Assigns a handle to a new object, and stores it in *info. After an error, releases the object. Returns MPI_SUCCESS or
// the error class in *v.
static inline int add_info(struct gompi_info *x, MPI_Info *info, struct gompi_error_status *v) {
	uintptr_t handle = x == NULL || x->out_of_memory ? 0 : gompi_handles_add(&infos.handles, x);
	if (__builtin_expect(handle == 0, 0)) {
		if (x != NULL)
			release_info(x);
		return no_info_memory_error(v);
	}
	*info = (MPI_Info)handle;
	return MPI_SUCCESS;
}

int gompi_info_finish(struct gompi_info *x, MPI_Info *info, struct gompi_error_status *v) {
	int class = add_info(x, info, v);
	gompi_biased_unlock(&infos.lock);
	return class;
}

void gompi_info_lock(void) { gompi_biased_lock(&infos.lock); }
void gompi_info_unlock(void) { gompi_biased_unlock(&infos.lock); }

bool gompi_info_exists(MPI_Info info) {
	return info == MPI_INFO_ENV || gompi_table_get(&infos.handles.table, (uintptr_t)info) != NULL;
}

int gompi_info_make(int n, const char *pairs, MPI_Info *info, struct gompi_error_status *v) {
	struct gompi_info *x = gompi_info_begin();
	for (int i = 0; i < n; i++) {
		const char *value = pairs + strlen(pairs) + 1;
		gompi_info_add(x, pairs, value);
		pairs = value + strlen(value) + 1;
	}
	return gompi_info_finish(x, info, v);
}

int gompi_info_for_each(MPI_Info info, struct gompi_error_status *v,
			int (*callback)(void *to, const char *key, size_t key_length, const char *value, size_t length,
					struct gompi_error_status *v),
			void *to) {
	int class = MPI_SUCCESS;
	if (info == MPI_INFO_NULL)
		return class;
	lock_info(info);
	const struct gompi_info *x = info_of(info);
	if (x == NULL)
		class = invalid_info_error(v, info);
	struct pair *p = x != NULL ? first_pair(x) : NULL;
	for (int i = 0; class == MPI_SUCCESS && i < get_pair_count(x); i++, p = next_pair(p))
		class = callback(to, p->key, p->key_length, value_of(p), p->value_length, v);
	unlock_info();
	return class;
}

// The key that gompi_info_value searches for, and the address where it stores the value.
struct value_query {
	const char *key;
	char *value;
};

static int copy_if_wanted(void *to, const char *key, size_t key_length, const char *value, size_t length,
			  struct gompi_error_status *v) {
	struct value_query *w = to;
	if (strcmp(key, w->key) == 0)
		memcpy(w->value, value, length + 1);
	return MPI_SUCCESS;
}

int gompi_info_value(MPI_Info info, const char *key, char *value, struct gompi_error_status *v) {
	value[0] = 0;
	return gompi_info_for_each(info, v, copy_if_wanted, &(struct value_query){key, value});
}

int gompi_info_create(MPI_Info *info) {
	struct gompi_error_status v;
	return return_from_call(
		"MPI_Info_create",
		info == NULL ? null_argument_error(&v, "info") : gompi_info_finish(gompi_info_begin(), info, &v), &v);
}
GOMPI_ENTRY(MPI_Info_create, gompi_info_create);

int gompi_info_create_env(int argc, char *argv[], MPI_Info *info) {
	struct gompi_error_status v;
	int class;
	if (argc < 0 || (argc > 0 && argv == NULL)) {
		class = gompi_set_error(
			&v, MPI_ERR_ARG,
			"argc is %d and argv is at address %p; argc must not be negative, and argv must "
			"not be NULL if argc > 0",
			argc, (void *)argv);
	} else if (info == NULL) {
		class = null_argument_error(&v, "info");
	} else {
		struct gompi_info *x = gompi_info_begin();
		add_arguments(x, argc, argv);
		append_env_info(x);
		class = gompi_info_finish(x, info, &v);
	}
	return return_from_call("MPI_Info_create_env", class, &v);
}
GOMPI_ENTRY(MPI_Info_create_env, gompi_info_create_env);

// Lists the values of the info key mpi_hw_resource_type that MPI_Comm_split_type knows (core/comm/create.go). A process
// is always restricted to the shared memory of its node.
int gompi_get_hw_resource_info(MPI_Info *hw_info) {
	struct gompi_error_status v;
	int class;
	if (hw_info == NULL) {
		class = null_argument_error(&v, "hw_info");
	} else {
		struct gompi_info *x = gompi_info_begin();
		gompi_info_add(x, "mpi_shared_memory", "true");
		class = gompi_info_finish(x, hw_info, &v);
	}
	return return_from_call("MPI_Get_hw_resource_info", class, &v);
}
GOMPI_ENTRY(MPI_Get_hw_resource_info, gompi_get_hw_resource_info);

int gompi_info_dup(MPI_Info info, MPI_Info *newinfo) {
	struct gompi_error_status v;
	int class = MPI_SUCCESS;
	lock_info(info);
	const struct gompi_info *x = info_of(info);
	if (x == NULL) {
		class = invalid_info_error(&v, info);
	} else if (newinfo == NULL) {
		class = null_argument_error(&v, "newinfo");
	} else {
		struct gompi_info *copy = new_info();
		append_all(copy, x);
		class = add_info(copy, newinfo, &v);
	}
	unlock_info();
	return return_from_call("MPI_Info_dup", class, &v);
}
GOMPI_ENTRY(MPI_Info_dup, gompi_info_dup);

int gompi_info_free(MPI_Info *info) {
	struct gompi_error_status v;
	int class = MPI_SUCCESS;
	if (info == NULL)
		return return_from_call("MPI_Info_free", null_argument_error(&v, "info"), &v);
	if (*info == MPI_INFO_ENV)
		return return_from_call("MPI_Info_free", read_only_error(&v), &v);
	gompi_biased_lock(&infos.lock);
	struct gompi_info *x = info_of(*info);
	if (x == NULL) {
		class = invalid_info_error(&v, *info);
	} else {
		gompi_handles_remove(&infos.handles, (uintptr_t)*info);
		release_info(x);
		*info = MPI_INFO_NULL;
	}
	gompi_biased_unlock(&infos.lock);
	return return_from_call("MPI_Info_free", class, &v);
}
GOMPI_ENTRY(MPI_Info_free, gompi_info_free);

int gompi_info_set(MPI_Info info, const char *key, const char *value) {
	struct gompi_error_status v;
	int class, length = 0;
	lock_info(info);
	struct gompi_info *x = info_of(info);
	if (x == NULL)
		class = invalid_info_error(&v, info);
	else if (value == NULL)
		class = gompi_set_error(&v, MPI_ERR_INFO_VALUE, "the value is NULL");
	else if (info == MPI_INFO_ENV)
		class = read_only_error(&v);
	else if ((class = check_key(&v, key, &length)) == MPI_SUCCESS) {
		size_t n = strlen(value);
		if (n >= MPI_MAX_INFO_VAL)
			class = gompi_set_error(&v, MPI_ERR_INFO_VALUE,
						"the value of info key %s has %zu characters; the maximum is %d", key,
						n, MPI_MAX_INFO_VAL - 1);
		else if (!set_pair(x, key, length, value, (int)n))
			class = gompi_set_error(&v, MPI_ERR_NO_MEM, "out of memory for the value of info key %s", key);
	}
	unlock_info();
	return return_from_call("MPI_Info_set", class, &v);
}
GOMPI_ENTRY(MPI_Info_set, gompi_info_set);

int gompi_info_delete(MPI_Info info, const char *key) {
	struct gompi_error_status v;
	int class, length = 0;
	lock_info(info);
	struct gompi_info *x = info_of(info);
	if (x == NULL)
		class = invalid_info_error(&v, info);
	else if (info == MPI_INFO_ENV)
		class = read_only_error(&v);
	else if ((class = check_key(&v, key, &length)) == MPI_SUCCESS) {
		struct pair *p = find_key(x, key, length);
		if (p == NULL)
			class = gompi_set_error(&v, MPI_ERR_INFO_NOKEY, "the info object has no key %s", key);
		else
			remove_pair(x, p);
	}
	unlock_info();
	return return_from_call("MPI_Info_delete", class, &v);
}
GOMPI_ENTRY(MPI_Info_delete, gompi_info_delete);

// Copies a value, truncated if necessary, and a terminating 0 to a buffer of capacity >= 1 bytes.
static void copy_value(char *to, int capacity, struct pair *p) {
	int n = p->value_length < capacity ? p->value_length : capacity - 1;
	memcpy(to, value_of(p), (size_t)n);
	to[n] = 0;
}

int gompi_info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag) {
	struct gompi_error_status v;
	int class, length = 0;
	lock_info(info);
	const struct gompi_info *x = info_of(info);
	if (x == NULL)
		class = invalid_info_error(&v, info);
	else if (value == NULL || flag == NULL)
		class = null_argument_error(&v, "value or flag");
	else if ((class = check_key(&v, key, &length)) == MPI_SUCCESS && valuelen < 0)
		class = gompi_set_error(&v, MPI_ERR_ARG, "valuelen is %d; it must not be negative", valuelen);
	if (class == MPI_SUCCESS) {
		struct pair *p = find_key(x, key, length);
		if (p != NULL) {
			int copied = valuelen < p->value_length ? valuelen : p->value_length;
			copy_value(value, copied + 1, p);
		}
		*flag = p != NULL;
	}
	unlock_info();
	return return_from_call("MPI_Info_get", class, &v);
}
GOMPI_ENTRY(MPI_Info_get, gompi_info_get);

int gompi_info_get_string(MPI_Info info, const char *key, int *buflen, char *value, int *flag) {
	struct gompi_error_status v;
	int class, length = 0;
	lock_info(info);
	const struct gompi_info *x = info_of(info);
	if (x == NULL)
		class = invalid_info_error(&v, info);
	else if (buflen == NULL || flag == NULL)
		class = null_argument_error(&v, "buflen or flag");
	else if ((class = check_key(&v, key, &length)) != MPI_SUCCESS)
		;
	else if (*buflen < 0)
		class = gompi_set_error(&v, MPI_ERR_ARG, "buflen is %d; it must not be negative", *buflen);
	else if (*buflen > 0 && value == NULL)
		class = gompi_set_error(&v, MPI_ERR_ARG, "value is NULL, but buflen is %d", *buflen);
	if (class == MPI_SUCCESS) {
		struct pair *p = find_key(x, key, length);
		if (p != NULL) {
			if (*buflen > 0)
				copy_value(value, *buflen, p);
			*buflen = p->value_length + 1;
		}
		*flag = p != NULL;
	}
	unlock_info();
	return return_from_call("MPI_Info_get_string", class, &v);
}
GOMPI_ENTRY(MPI_Info_get_string, gompi_info_get_string);

int gompi_info_get_valuelen(MPI_Info info, const char *key, int *valuelen, int *flag) {
	struct gompi_error_status v;
	int class, length = 0;
	lock_info(info);
	const struct gompi_info *x = info_of(info);
	if (x == NULL)
		class = invalid_info_error(&v, info);
	else if (valuelen == NULL || flag == NULL)
		class = null_argument_error(&v, "valuelen or flag");
	else
		class = check_key(&v, key, &length);
	if (class == MPI_SUCCESS) {
		const struct pair *p = find_key(x, key, length);
		if (p != NULL)
			*valuelen = p->value_length;
		*flag = p != NULL;
	}
	unlock_info();
	return return_from_call("MPI_Info_get_valuelen", class, &v);
}
GOMPI_ENTRY(MPI_Info_get_valuelen, gompi_info_get_valuelen);

// Executes MPI_Info_get_nkeys in the cases that its fast path does not handle: for MPI_INFO_ENV, and for invalid
// arguments.
static __attribute__((cold, noinline)) int nkeys_slow(MPI_Info info, int *nkeys) {
	struct gompi_error_status v;
	int class = MPI_SUCCESS;
	lock_info(info);
	const struct gompi_info *x = info_of(info);
	if (x == NULL)
		class = invalid_info_error(&v, info);
	else if (nkeys == NULL)
		class = null_argument_error(&v, "nkeys");
	else
		*nkeys = get_pair_count(x);
	unlock_info();
	return return_from_call("MPI_Info_get_nkeys", class, &v);
}

int gompi_info_get_nkeys(MPI_Info info, int *nkeys) {
	const struct gompi_info *x = gompi_table_get(&infos.handles.table, (uintptr_t)info);
	if (__builtin_expect(x == NULL || nkeys == NULL, 0))
		return nkeys_slow(info, nkeys);
	*nkeys = get_pair_count(x);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Info_get_nkeys, gompi_info_get_nkeys);

int gompi_info_get_nthkey(MPI_Info info, int n, char *key) {
	struct gompi_error_status v;
	int class = MPI_SUCCESS;
	lock_info(info);
	const struct gompi_info *x = info_of(info);
	if (x == NULL) {
		class = invalid_info_error(&v, info);
	} else if (key == NULL) {
		class = null_argument_error(&v, "key");
	} else if (n < 0 || n >= get_pair_count(x)) {
		class = gompi_set_error(&v, MPI_ERR_ARG, "n is %d, but the info object has %d key%s, numbered from 0",
					n, get_pair_count(x), get_pair_count(x) == 1 ? "" : "s");
	} else {
		struct pair *p = first_pair(x);
		while (n-- > 0)
			p = next_pair(p);
		memcpy(key, p->key, (size_t)p->key_length + 1);
	}
	unlock_info();
	return return_from_call("MPI_Info_get_nthkey", class, &v);
}
GOMPI_ENTRY(MPI_Info_get_nthkey, gompi_info_get_nthkey);
