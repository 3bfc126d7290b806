// Asking info objects (MPI-5.0 10). They belong to nothing, so errors are raised on MPI_COMM_SELF; they may be used
// before MPI_Init. Nothing blocks or communicates; Go is asked about an object the first time and after each change.
#include "info/info.h"

#include <stdlib.h>
#include <string.h>

#include "base/up.h"
#include "base/verdict.h"
#include "info/z_calls.h"

struct pair {
	const char *key, *value;
	int key_length, value_length;
};

struct infos {
	int n;
	struct pair pair[];
	// and the texts
};

struct gompi_known gompi_infos = {
	.table = {&gompi_table_nothing}, .ask = &gompi_up.tell_info, .end = free, .changes = true};

bool gompi_info_put(uintptr_t handle, int n, const char *pairs, size_t bytes) {
	struct infos *x = malloc(sizeof *x + (size_t)n * sizeof x->pair[0] + bytes);
	if (x == NULL)
		return false;
	char *text = memcpy(&x->pair[n], pairs, bytes);
	x->n = n;
	for (int i = 0; i < n; i++) {
		struct pair *p = &x->pair[i];
		p->key = text;
		p->key_length = (int)strlen(text);
		p->value = text + p->key_length + 1;
		p->value_length = (int)strlen(p->value);
		text += p->key_length + 1 + p->value_length + 1;
	}
	return gompi_known_keep(&gompi_infos, handle, x);
}

// What is known of an object, to be used until end_reading; NULL: there is no such object.
static const struct infos *read_info(MPI_Info info) { return gompi_known_read(&gompi_infos, (uintptr_t)info); }
static void end_reading(void) { gompi_known_done(&gompi_infos); }

static int refuse_info(const char *call, const struct gompi_verdict *v) {
	return gompi_refuse(v->class, call, v->text, GOMPI_ON_NONE, 0);
}

static int not_an_info(MPI_Info info, const char *call) {
	struct gompi_verdict v;
	if (info == MPI_INFO_NULL)
		gompi_error(&v, MPI_ERR_INFO, "MPI_INFO_NULL is not an info object");
	else
		gompi_error(&v, MPI_ERR_INFO, "%#llx is not an info object, or one that was freed",
			    (unsigned long long)(uintptr_t)info);
	return refuse_info(call, &v);
}

// Finds out whether key can be one, and how long it is. The verdict's class.
static int check_key(struct gompi_verdict *v, const char *key, int *length) {
	size_t n = key == NULL ? 0 : strlen(key);
	*length = (int)n;
	if (n == 0)
		return gompi_error(v, MPI_ERR_INFO_KEY, "the info key is empty");
	if (n >= MPI_MAX_INFO_KEY)
		return gompi_error(v, MPI_ERR_INFO_KEY, "the info key has %zu characters, at most %d are possible", n,
				   MPI_MAX_INFO_KEY - 1);
	return MPI_SUCCESS;
}

static const struct pair *find_key(const struct infos *x, const char *key, int length) {
	for (int i = 0; i < x->n; i++)
		if (x->pair[i].key_length == length && memcmp(x->pair[i].key, key, (size_t)length) == 0)
			return &x->pair[i];
	return NULL;
}

// Copies a value to room bytes, at least 1, cut if it is longer.
static void copy_value(char *to, int room, const struct pair *p) {
	int n = p->value_length < room ? p->value_length : room - 1;
	memcpy(to, p->value, (size_t)n);
	to[n] = 0;
}

int gompi_info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag) {
	static const char call[] = "MPI_Info_get";
	struct gompi_verdict v;
	int length, wrong;
	const struct infos *x = read_info(info);
	if (x == NULL)
		return not_an_info(info, call);
	if (value == NULL || flag == NULL)
		wrong = gompi_error(&v, MPI_ERR_ARG, "the address of a result is NULL");
	else if ((wrong = check_key(&v, key, &length)) == MPI_SUCCESS && valuelen < 0)
		wrong = gompi_error(&v, MPI_ERR_ARG, "valuelen is %d, it must not be negative", valuelen);
	if (wrong == MPI_SUCCESS) {
		const struct pair *p = find_key(x, key, length);
		if (p != NULL) {
			int room = valuelen < p->value_length ? valuelen : p->value_length;
			copy_value(value, room + 1, p);
		}
		*flag = p != NULL;
	}
	end_reading();
	return wrong == MPI_SUCCESS ? wrong : refuse_info(call, &v);
}

int gompi_info_get_string(MPI_Info info, const char *key, int *buflen, char *value, int *flag) {
	static const char call[] = "MPI_Info_get_string";
	struct gompi_verdict v;
	int length, wrong;
	const struct infos *x = read_info(info);
	if (x == NULL)
		return not_an_info(info, call);
	if (buflen == NULL || flag == NULL)
		wrong = gompi_error(&v, MPI_ERR_ARG, "the address of a result is NULL");
	else if ((wrong = check_key(&v, key, &length)) != MPI_SUCCESS)
		;
	else if (*buflen < 0)
		wrong = gompi_error(&v, MPI_ERR_ARG, "buflen is %d, it must not be negative", *buflen);
	else if (*buflen > 0 && value == NULL)
		wrong = gompi_error(&v, MPI_ERR_ARG, "value is a null pointer, though buflen is %d", *buflen);
	if (wrong == MPI_SUCCESS) {
		const struct pair *p = find_key(x, key, length);
		if (p != NULL) {
			if (*buflen > 0)
				copy_value(value, *buflen, p);
			*buflen = p->value_length + 1;
		}
		*flag = p != NULL;
	}
	end_reading();
	return wrong == MPI_SUCCESS ? wrong : refuse_info(call, &v);
}

int gompi_info_get_valuelen(MPI_Info info, const char *key, int *valuelen, int *flag) {
	static const char call[] = "MPI_Info_get_valuelen";
	struct gompi_verdict v;
	int length, wrong;
	const struct infos *x = read_info(info);
	if (x == NULL)
		return not_an_info(info, call);
	if (valuelen == NULL || flag == NULL)
		wrong = gompi_error(&v, MPI_ERR_ARG, "the address of a result is NULL");
	else
		wrong = check_key(&v, key, &length);
	if (wrong == MPI_SUCCESS) {
		const struct pair *p = find_key(x, key, length);
		if (p != NULL)
			*valuelen = p->value_length;
		*flag = p != NULL;
	}
	end_reading();
	return wrong == MPI_SUCCESS ? wrong : refuse_info(call, &v);
}

int gompi_info_get_nkeys(MPI_Info info, int *nkeys) {
	static const char call[] = "MPI_Info_get_nkeys";
	const struct infos *x = read_info(info);
	if (x == NULL)
		return not_an_info(info, call);
	int n = x->n;
	end_reading();
	if (nkeys == NULL)
		return gompi_no_place(call, GOMPI_ON_NONE, 0);
	*nkeys = n;
	return MPI_SUCCESS;
}

int gompi_info_get_nthkey(MPI_Info info, int n, char *key) {
	static const char call[] = "MPI_Info_get_nthkey";
	struct gompi_verdict v = {.class = MPI_SUCCESS};
	const struct infos *x = read_info(info);
	if (x == NULL)
		return not_an_info(info, call);
	if (key == NULL)
		gompi_error(&v, MPI_ERR_ARG, "the address of a result is NULL");
	else if (n < 0 || n >= x->n)
		gompi_error(&v, MPI_ERR_ARG, "key %d of an info object that has %d", n, x->n);
	else
		memcpy(key, x->pair[n].key, (size_t)x->pair[n].key_length + 1);
	end_reading();
	return v.class == MPI_SUCCESS ? MPI_SUCCESS : refuse_info(call, &v);
}
