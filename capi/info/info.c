// The calls on info objects. Info objects belong to no communicator, so errors are raised on MPI_COMM_SELF. The calls
// may be used before MPI_Init and by several threads concurrently. Nothing blocks or communicates.
#include "info/info.h"

#include <stdlib.h>
#include <string.h>

#include "base/objects.h"
#include "info/env.h"
#include "info/z_calls.h"

// A pair in an object's text: the two lengths, the key, a 0, the value, a 0.
struct pair {
	uint16_t key_length, value_length;
	char key[];
};
_Static_assert(MPI_MAX_INFO_KEY <= UINT16_MAX && MPI_MAX_INFO_VAL <= UINT16_MAX, "lengths");
_Static_assert(_Alignof(struct pair) == 2, "pairs begin at even places");

struct gompi_info {
	struct gompi_info *next; // next in the free list
	gompi_ai32 n;            // number of pairs; changed under the lock, also read without it
	bool failed;             // out of memory while appending a pair to a new object
	uint32_t used, room;     // of the text, in bytes
	char *text;              // the pairs, in the order in which the keys were first set
};

// KEPT_TEXT: largest text, in bytes, that an object in the free list keeps. FIRST_TEXT: initial size.
enum { KEPT_TEXT = 512, FIRST_TEXT = 64 };

static struct gompi_objects infos = GOMPI_OBJECTS(GOMPI_KIND_INFO, struct gompi_info);
static struct gompi_info *env; // MPI_INFO_ENV; NULL until first used. Changed under the lock of infos

static uint32_t pair_bytes(int key_length, int value_length) {
	return (uint32_t)(sizeof(struct pair) + (size_t)key_length + 1 + (size_t)value_length + 1 + 1) & ~1U;
}

static int pairs_of(const struct gompi_info *x) { return gompi_load(&((struct gompi_info *)x)->n); }
static void add_pairs(struct gompi_info *x, int n) { gompi_store(&x->n, pairs_of(x) + n); }

static struct pair *first_pair(const struct gompi_info *x) { return (struct pair *)x->text; }
static struct pair *next_pair(struct pair *p) {
	return (struct pair *)((char *)p + pair_bytes(p->key_length, p->value_length));
}
static char *value_of(struct pair *p) { return p->key + p->key_length + 1; }

static struct pair *find_key(const struct gompi_info *x, const char *key, int length) {
	struct pair *p = first_pair(x);
	for (int i = 0; i < pairs_of(x); i++, p = next_pair(p))
		if (p->key_length == length && memcmp(p->key, key, (size_t)length) == 0)
			return p;
	return NULL;
}

static void remove_pair(struct gompi_info *x, struct pair *p) {
	uint32_t bytes = pair_bytes(p->key_length, p->value_length), after = (uint32_t)((char *)p - x->text) + bytes;
	memmove(p, (char *)p + bytes, x->used - after);
	x->used -= bytes;
	add_pairs(x, -1);
}

// Grows the text so that it has space for `bytes` more bytes. Returns false if out of memory.
static bool make_room(struct gompi_info *x, uint32_t bytes) {
	if (x->room - x->used >= bytes)
		return true;
	uint32_t room = x->room == 0 ? FIRST_TEXT : x->room;
	while (room - x->used < bytes)
		room *= 2;
	char *text = realloc(x->text, room);
	if (text != NULL)
		x->text = text, x->room = room;
	return text != NULL;
}

static bool set_pair(struct gompi_info *x, const char *key, int key_length, const char *value, int value_length) {
	struct pair *p = find_key(x, key, key_length);
	uint32_t bytes = pair_bytes(key_length, value_length), at = x->used, was = 0;
	if (p != NULL) {
		at = (uint32_t)((char *)p - x->text);
		was = pair_bytes(p->key_length, p->value_length);
	}
	if (bytes > was && !make_room(x, bytes - was))
		return false;
	p = (struct pair *)(x->text + at);
	if (bytes != was)
		memmove((char *)p + bytes, (char *)p + was, x->used - at - was);
	x->used += bytes - was;
	add_pairs(x, was == 0);
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
	if (x == NULL || x->failed || !make_room(x, bytes)) {
		if (x != NULL)
			x->failed = true;
		return NULL;
	}
	struct pair *p = (struct pair *)(x->text + x->used);
	*p = (struct pair){.key_length = (uint16_t)key_length, .value_length = (uint16_t)value_length};
	x->used += bytes;
	add_pairs(x, 1);
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
	if (x == NULL || from == NULL || x->failed || !make_room(x, from->used)) {
		if (x != NULL)
			x->failed = true;
		return;
	}
	if (from->used > 0)
		memcpy(x->text + x->used, from->text, from->used);
	x->used += from->used;
	add_pairs(x, pairs_of(from));
}

static void end_info(struct gompi_info *x) {
	if (x->room > KEPT_TEXT || !gompi_objects_keeps(&infos)) {
		free(x->text);
		x->text = NULL;
		x->room = 0;
	}
	gompi_objects_give(&infos, x);
}

static struct gompi_info *new_info(void) {
	struct gompi_info *x = gompi_objects_take(&infos);
	if (x != NULL)
		gompi_store(&x->n, 0), x->used = 0, x->failed = false;
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

static __attribute__((cold)) struct gompi_info *find_place(void) {
	struct gompi_env_place at;
	struct gompi_info *x = new_info();
	char wdir[MPI_MAX_INFO_VAL];
	gompi_env_look(&at);
	const char *of[][2] = {{"maxprocs", at.maxprocs}, {"host", at.host}, {"arch", at.arch}, {"wdir", wdir}};
	gompi_env_join(wdir, at.wdir != NULL, &at.wdir);
	free(at.wdir);
	for (int i = 0; i < 4; i++)
		if (of[i][1][0] != 0)
			gompi_info_add(x, of[i][0], of[i][1]);
	return x;
}

// Adds the pairs of MPI_INFO_ENV that describe where this process runs. They are determined once.
static void add_place(struct gompi_info *x) {
	static struct gompi_info *place; // guarded by the lock
	if (__builtin_expect(place == NULL, 0))
		place = find_place();
	append_all(x, place);
}

static __attribute__((cold)) void fill_env(void) {
	gompi_biased_take(&infos.lock);
	if (env == NULL) {
		struct gompi_info *x = new_info();
		int argc;
		char **argv = gompi_env_arguments(&argc);
		add_arguments(x, argc, argv);
		add_place(x);
		if (argv != NULL)
			free(argv[0]);
		free(argv);
		gompi_store_release((struct gompi_info * _Atomic *)&env, x); // lock_info loads it relaxed and then
									     // acquires the lock
	}
	gompi_biased_give(&infos.lock);
}

// Returns the object with a handle, or NULL. Called under the lock.
static struct gompi_info *info_of(MPI_Info info) {
	return info == MPI_INFO_ENV ? env : gompi_table_get(&infos.handles.table, (uintptr_t)info);
}

static inline void lock_info(MPI_Info info) {
	if (__builtin_expect(info == MPI_INFO_ENV && gompi_load((struct gompi_info * _Atomic *)&env) == NULL, 0))
		fill_env();
	gompi_biased_take(&infos.lock);
}

static void unlock_info(void) { gompi_biased_give(&infos.lock); }

static __attribute__((cold)) int no_info(struct gompi_verdict *v, MPI_Info info) {
	if (info == MPI_INFO_NULL)
		return gompi_error(v, MPI_ERR_INFO, "the info object is MPI_INFO_NULL");
	return gompi_error(v, MPI_ERR_INFO, "%#llx is not an info object, or has been freed",
			   (unsigned long long)(uintptr_t)info);
}

static __attribute__((cold)) int no_more_infos(struct gompi_verdict *v) {
	return gompi_error(v, MPI_ERR_NO_MEM, "cannot create an info object: %d are in use, or out of memory",
			   gompi_objects_used(&infos));
}

// Returns the value that a call must return; raises the error if class is not MPI_SUCCESS.
static inline int end_info_call(const char *call, int class, const struct gompi_verdict *v) {
	if (__builtin_expect(class == MPI_SUCCESS, 1))
		return MPI_SUCCESS;
	return gompi_refuse(class, call, v->text, GOMPI_ON_NONE, 0);
}

// Checks a key and stores its length. Returns MPI_SUCCESS or the error class in *v.
static inline int check_key(struct gompi_verdict *v, const char *key, int *length) {
	size_t n = key == NULL ? 0 : strlen(key);
	*length = (int)n;
	if (n == 0)
		return gompi_error(v, MPI_ERR_INFO_KEY, "the info key is empty");
	if (n >= MPI_MAX_INFO_KEY)
		return gompi_error(v, MPI_ERR_INFO_KEY, "the info key has %zu characters; the maximum is %d", n,
				   MPI_MAX_INFO_KEY - 1);
	return MPI_SUCCESS;
}

static int no_place(struct gompi_verdict *v) { return gompi_error(v, MPI_ERR_ARG, "a result pointer is NULL"); }

static int only_read(struct gompi_verdict *v) { return gompi_error(v, MPI_ERR_INFO, "MPI_INFO_ENV is read-only"); }

struct gompi_info *gompi_info_begin(void) {
	gompi_biased_take(&infos.lock);
	return new_info();
}

// Stores a handle of an object. Returns MPI_SUCCESS or the error class in *v.
static inline int add_info(struct gompi_info *x, MPI_Info *info, struct gompi_verdict *v) {
	uintptr_t handle = x == NULL || x->failed ? 0 : gompi_handles_add(&infos.handles, x);
	if (__builtin_expect(handle == 0, 0)) {
		if (x != NULL)
			end_info(x);
		return no_more_infos(v);
	}
	*info = (MPI_Info)handle;
	return MPI_SUCCESS;
}

int gompi_info_finish(struct gompi_info *x, MPI_Info *info, struct gompi_verdict *v) {
	int class = add_info(x, info, v);
	gompi_biased_give(&infos.lock);
	return class;
}

void gompi_info_take(void) { gompi_biased_take(&infos.lock); }
void gompi_info_give(void) { gompi_biased_give(&infos.lock); }

bool gompi_info_is(MPI_Info info) {
	return info == MPI_INFO_ENV || gompi_table_get(&infos.handles.table, (uintptr_t)info) != NULL;
}

int gompi_info_make(int n, const char *pairs, MPI_Info *info, struct gompi_verdict *v) {
	struct gompi_info *x = gompi_info_begin();
	for (int i = 0; i < n; i++) {
		const char *value = pairs + strlen(pairs) + 1;
		gompi_info_add(x, pairs, value);
		pairs = value + strlen(value) + 1;
	}
	return gompi_info_finish(x, info, v);
}

int gompi_info_each(MPI_Info info, struct gompi_verdict *v,
		    int (*one)(void *to, const char *key, size_t key_length, const char *value, size_t length,
			       struct gompi_verdict *v),
		    void *to) {
	int class = MPI_SUCCESS;
	if (info == MPI_INFO_NULL)
		return class;
	lock_info(info);
	const struct gompi_info *x = info_of(info);
	if (x == NULL)
		class = no_info(v, info);
	struct pair *p = x != NULL ? first_pair(x) : NULL;
	for (int i = 0; class == MPI_SUCCESS && i < pairs_of(x); i++, p = next_pair(p))
		class = one(to, p->key, p->key_length, value_of(p), p->value_length, v);
	unlock_info();
	return class;
}

// The key that gompi_info_value looks for, and the address for its value.
struct wanted {
	const char *key;
	char *value;
};

static int take_wanted(void *to, const char *key, size_t key_length, const char *value, size_t length,
		       struct gompi_verdict *v) {
	struct wanted *w = to;
	if (strcmp(key, w->key) == 0)
		memcpy(w->value, value, length + 1);
	return MPI_SUCCESS;
}

int gompi_info_value(MPI_Info info, const char *key, char *value, struct gompi_verdict *v) {
	value[0] = 0;
	return gompi_info_each(info, v, take_wanted, &(struct wanted){key, value});
}

int gompi_info_create(MPI_Info *info) {
	struct gompi_verdict v;
	return end_info_call("MPI_Info_create",
			     info == NULL ? no_place(&v) : gompi_info_finish(gompi_info_begin(), info, &v), &v);
}
GOMPI_ENTRY(MPI_Info_create, gompi_info_create);

int gompi_info_create_env(int argc, char *argv[], MPI_Info *info) {
	struct gompi_verdict v;
	int class;
	if (argc < 0 || (argc > 0 && argv == NULL)) {
		class = gompi_error(&v, MPI_ERR_ARG, "argc is %d, and argv is at address %p", argc, (void *)argv);
	} else if (info == NULL) {
		class = no_place(&v);
	} else {
		struct gompi_info *x = gompi_info_begin();
		add_arguments(x, argc, argv);
		add_place(x);
		class = gompi_info_finish(x, info, &v);
	}
	return end_info_call("MPI_Info_create_env", class, &v);
}
GOMPI_ENTRY(MPI_Info_create_env, gompi_info_create_env);

int gompi_info_dup(MPI_Info info, MPI_Info *newinfo) {
	struct gompi_verdict v;
	int class = MPI_SUCCESS;
	lock_info(info);
	const struct gompi_info *x = info_of(info);
	if (x == NULL) {
		class = no_info(&v, info);
	} else if (newinfo == NULL) {
		class = no_place(&v);
	} else {
		struct gompi_info *copy = new_info();
		append_all(copy, x);
		class = add_info(copy, newinfo, &v);
	}
	unlock_info();
	return end_info_call("MPI_Info_dup", class, &v);
}
GOMPI_ENTRY(MPI_Info_dup, gompi_info_dup);

int gompi_info_free(MPI_Info *info) {
	struct gompi_verdict v;
	int class = MPI_SUCCESS;
	if (info == NULL)
		return end_info_call("MPI_Info_free", no_place(&v), &v);
	if (*info == MPI_INFO_ENV)
		return end_info_call("MPI_Info_free", only_read(&v), &v);
	gompi_biased_take(&infos.lock);
	struct gompi_info *x = info_of(*info);
	if (x == NULL) {
		class = no_info(&v, *info);
	} else {
		gompi_handles_remove(&infos.handles, (uintptr_t)*info);
		end_info(x);
		*info = MPI_INFO_NULL;
	}
	gompi_biased_give(&infos.lock);
	return end_info_call("MPI_Info_free", class, &v);
}
GOMPI_ENTRY(MPI_Info_free, gompi_info_free);

int gompi_info_set(MPI_Info info, const char *key, const char *value) {
	struct gompi_verdict v;
	int class, length = 0;
	lock_info(info);
	struct gompi_info *x = info_of(info);
	if (x == NULL)
		class = no_info(&v, info);
	else if (value == NULL)
		class = gompi_error(&v, MPI_ERR_INFO_VALUE, "the value is NULL");
	else if (info == MPI_INFO_ENV)
		class = only_read(&v);
	else if ((class = check_key(&v, key, &length)) == MPI_SUCCESS) {
		size_t n = strlen(value);
		if (n >= MPI_MAX_INFO_VAL)
			class = gompi_error(&v, MPI_ERR_INFO_VALUE,
					    "the value of info key %s has %zu characters; the maximum is %d", key, n,
					    MPI_MAX_INFO_VAL - 1);
		else if (!set_pair(x, key, length, value, (int)n))
			class = gompi_error(&v, MPI_ERR_NO_MEM, "out of memory for the value of info key %s", key);
	}
	unlock_info();
	return end_info_call("MPI_Info_set", class, &v);
}
GOMPI_ENTRY(MPI_Info_set, gompi_info_set);

int gompi_info_delete(MPI_Info info, const char *key) {
	struct gompi_verdict v;
	int class, length = 0;
	lock_info(info);
	struct gompi_info *x = info_of(info);
	if (x == NULL)
		class = no_info(&v, info);
	else if (info == MPI_INFO_ENV)
		class = only_read(&v);
	else if ((class = check_key(&v, key, &length)) == MPI_SUCCESS) {
		struct pair *p = find_key(x, key, length);
		if (p == NULL)
			class = gompi_error(&v, MPI_ERR_INFO_NOKEY, "the info object has no key %s", key);
		else
			remove_pair(x, p);
	}
	unlock_info();
	return end_info_call("MPI_Info_delete", class, &v);
}
GOMPI_ENTRY(MPI_Info_delete, gompi_info_delete);

// Copies a value to room >= 1 bytes, truncated if necessary.
static void copy_value(char *to, int room, struct pair *p) {
	int n = p->value_length < room ? p->value_length : room - 1;
	memcpy(to, value_of(p), (size_t)n);
	to[n] = 0;
}

int gompi_info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag) {
	struct gompi_verdict v;
	int class, length = 0;
	lock_info(info);
	const struct gompi_info *x = info_of(info);
	if (x == NULL)
		class = no_info(&v, info);
	else if (value == NULL || flag == NULL)
		class = no_place(&v);
	else if ((class = check_key(&v, key, &length)) == MPI_SUCCESS && valuelen < 0)
		class = gompi_error(&v, MPI_ERR_ARG, "valuelen is %d; it must not be negative", valuelen);
	if (class == MPI_SUCCESS) {
		struct pair *p = find_key(x, key, length);
		if (p != NULL) {
			int room = valuelen < p->value_length ? valuelen : p->value_length;
			copy_value(value, room + 1, p);
		}
		*flag = p != NULL;
	}
	unlock_info();
	return end_info_call("MPI_Info_get", class, &v);
}
GOMPI_ENTRY(MPI_Info_get, gompi_info_get);

int gompi_info_get_string(MPI_Info info, const char *key, int *buflen, char *value, int *flag) {
	struct gompi_verdict v;
	int class, length = 0;
	lock_info(info);
	const struct gompi_info *x = info_of(info);
	if (x == NULL)
		class = no_info(&v, info);
	else if (buflen == NULL || flag == NULL)
		class = no_place(&v);
	else if ((class = check_key(&v, key, &length)) != MPI_SUCCESS)
		;
	else if (*buflen < 0)
		class = gompi_error(&v, MPI_ERR_ARG, "buflen is %d; it must not be negative", *buflen);
	else if (*buflen > 0 && value == NULL)
		class = gompi_error(&v, MPI_ERR_ARG, "value is NULL, but buflen is %d", *buflen);
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
	return end_info_call("MPI_Info_get_string", class, &v);
}
GOMPI_ENTRY(MPI_Info_get_string, gompi_info_get_string);

int gompi_info_get_valuelen(MPI_Info info, const char *key, int *valuelen, int *flag) {
	struct gompi_verdict v;
	int class, length = 0;
	lock_info(info);
	const struct gompi_info *x = info_of(info);
	if (x == NULL)
		class = no_info(&v, info);
	else if (valuelen == NULL || flag == NULL)
		class = no_place(&v);
	else
		class = check_key(&v, key, &length);
	if (class == MPI_SUCCESS) {
		const struct pair *p = find_key(x, key, length);
		if (p != NULL)
			*valuelen = p->value_length;
		*flag = p != NULL;
	}
	unlock_info();
	return end_info_call("MPI_Info_get_valuelen", class, &v);
}
GOMPI_ENTRY(MPI_Info_get_valuelen, gompi_info_get_valuelen);

// Executes MPI_Info_get_nkeys for MPI_INFO_ENV, and raises its errors.
static __attribute__((cold, noinline)) int other_nkeys(MPI_Info info, int *nkeys) {
	struct gompi_verdict v;
	int class = MPI_SUCCESS;
	lock_info(info);
	const struct gompi_info *x = info_of(info);
	if (x == NULL)
		class = no_info(&v, info);
	else if (nkeys == NULL)
		class = no_place(&v);
	else
		*nkeys = pairs_of(x);
	unlock_info();
	return end_info_call("MPI_Info_get_nkeys", class, &v);
}

int gompi_info_get_nkeys(MPI_Info info, int *nkeys) {
	const struct gompi_info *x = gompi_table_get(&infos.handles.table, (uintptr_t)info);
	if (__builtin_expect(x == NULL || nkeys == NULL, 0))
		return other_nkeys(info, nkeys);
	*nkeys = pairs_of(x);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Info_get_nkeys, gompi_info_get_nkeys);

int gompi_info_get_nthkey(MPI_Info info, int n, char *key) {
	struct gompi_verdict v;
	int class = MPI_SUCCESS;
	lock_info(info);
	const struct gompi_info *x = info_of(info);
	if (x == NULL) {
		class = no_info(&v, info);
	} else if (key == NULL) {
		class = no_place(&v);
	} else if (n < 0 || n >= pairs_of(x)) {
		class = gompi_error(&v, MPI_ERR_ARG, "n is %d, but the info object has only %d keys, numbered from 0",
				    n, pairs_of(x));
	} else {
		struct pair *p = first_pair(x);
		while (n-- > 0)
			p = next_pair(p);
		memcpy(key, p->key, (size_t)p->key_length + 1);
	}
	unlock_info();
	return end_info_call("MPI_Info_get_nthkey", class, &v);
}
GOMPI_ENTRY(MPI_Info_get_nthkey, gompi_info_get_nthkey);
