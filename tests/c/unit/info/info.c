/* Proves: info objects (info/) return the same results as a plain list of keys and values after any changes, deletions
 * and duplications. Keys keep the order in which they were first set, and values may have any length.
 * MPI_Info_create_env truncates values that are too long, and leaks no memory.
 *
 * sanitizer: address (one thread)
 */
#include "../unit.h"

#include "info/info.h"
#include "info/z_calls.h"

enum { ROUNDS = 60000, KEYS = 12, OBJECTS = 4, LENGTH = 300 };

struct list {
	int n, key[KEYS];
	char value[KEYS][LENGTH + 1];
};

static uint64_t state = 3;

static int below(int n) { return (int)(check_random(&state) % (uint64_t)n); }

static void key_text(char *to, int key) {
	snprintf(to, 64, "%.*s%d", 5 * (key % 7), "key of some length, or of none at all", key);
}

static void check(MPI_Info info, const struct list *l) {
	int n = -1, flag = -1;
	CHECK(gompi_info_get_nkeys(info, &n) == MPI_SUCCESS && n == l->n, "%d keys, not %d", n, l->n);
	for (int i = 0; i < l->n && i < n; i++) {
		char key[MPI_MAX_INFO_KEY], want[64], value[LENGTH + 1];
		int length = sizeof value;
		key_text(want, l->key[i]);
		CHECK(gompi_info_get_nthkey(info, i, key) == MPI_SUCCESS && strcmp(key, want) == 0, "key %d is %s", i,
		      key);
		CHECK(gompi_info_get_string(info, want, &length, value, &flag) == MPI_SUCCESS && flag &&
			      strcmp(value, l->value[i]) == 0 && length == (int)strlen(value) + 1,
		      "%s is %s", want, value);
	}
	CHECK(gompi_info_get_valuelen(info, "none", &n, &flag) == MPI_SUCCESS && !flag, "a key that there is not");
}

static int find(const struct list *l, int key) {
	int i = 0;
	while (i < l->n && l->key[i] != key)
		i++;
	return i;
}

static void set(MPI_Info info, struct list *l, int key) {
	char text[64];
	int i = find(l, key), length = below(4) ? below(20) : below(LENGTH + 1);
	if (i == l->n)
		l->key[l->n++] = key;
	memset(l->value[i], 'a' + below(26), (size_t)length);
	l->value[i][length] = 0;
	key_text(text, key);
	CHECK(gompi_info_set(info, text, l->value[i]) == MPI_SUCCESS, "not set");
}

static void remove_key(MPI_Info info, struct list *l, int key) {
	char text[64];
	int i = find(l, key), there = i < l->n;
	key_text(text, key);
	CHECK(gompi_info_delete(info, text) == (there ? MPI_SUCCESS : MPI_ERR_INFO_NOKEY), "deleted");
	for (l->n -= there; i < l->n; i++) {
		l->key[i] = l->key[i + 1];
		memcpy(l->value[i], l->value[i + 1], sizeof l->value[i]);
	}
}

static void random_changes(void) {
	static struct list list[OBJECTS];
	MPI_Info info[OBJECTS], freed;
	for (int i = 0; i < OBJECTS; i++)
		CHECK(gompi_info_create(&info[i]) == MPI_SUCCESS, "not made");
	for (int round = 0; round < ROUNDS; round++) {
		int i = below(OBJECTS), from = (i + 1) % OBJECTS;
		switch (below(20)) {
		case 0:
			freed = info[i];
			CHECK(gompi_info_free(&info[i]) == MPI_SUCCESS && info[i] == MPI_INFO_NULL, "not freed");
			CHECK(gompi_info_set(freed, "key", "value") == MPI_ERR_INFO && !gompi_info_exists(freed),
			      "freed");
			CHECK(gompi_info_dup(info[from], &info[i]) == MPI_SUCCESS, "no duplicate");
			list[i] = list[from];
			break;
		case 1:
		case 2:
		case 3:
		case 4:
		case 5:
		case 6:
			remove_key(info[i], &list[i], below(KEYS));
			break;
		default:
			set(info[i], &list[i], below(KEYS));
		}
		check(info[i], &list[i]);
	}
	for (int i = 0; i < OBJECTS; i++)
		CHECK(gompi_info_free(&info[i]) == MPI_SUCCESS, "not freed");
}

static void from_arguments(void) {
	char longest[2000], value[2000], *argv[] = {"program", "-x", longest};
	MPI_Info info = MPI_INFO_NULL;
	int n = sizeof value, flag = 0;
	memset(longest, '1', sizeof longest - 1);
	longest[sizeof longest - 1] = 0;
	setenv("PMI_SIZE", "4", 1);
	CHECK(gompi_info_create_env(3, argv, &info) == MPI_SUCCESS, "not made");
	CHECK(gompi_info_get_string(info, "argv", &n, value, &flag) == MPI_SUCCESS && flag, "no arguments");
	CHECK(n == MPI_MAX_INFO_VAL && memcmp(value, "-x 11", 5) == 0, "%d characters: %s", n, value);
	n = sizeof value;
	CHECK(gompi_info_get_string(info, "maxprocs", &n, value, &flag) == MPI_SUCCESS && flag, "no number");
	CHECK(strcmp(value, "4") == 0, "%s processes", value);
	CHECK(gompi_info_free(&info) == MPI_SUCCESS, "not freed");
	CHECK(gompi_info_create_env(0, NULL, &info) == MPI_SUCCESS && gompi_info_free(&info) == MPI_SUCCESS, "none");
	CHECK(gompi_info_create_env(-1, NULL, &info) == MPI_ERR_ARG, "-1 arguments");
	info = MPI_INFO_ENV;
	CHECK(gompi_info_get(info, "wdir", 1000, value, &flag) == MPI_SUCCESS && flag && value[0] == '/', "where: %s",
	      value);
	CHECK(gompi_info_set(info, "a", "b") == MPI_ERR_INFO && gompi_info_delete(info, "wdir") == MPI_ERR_INFO &&
		      gompi_info_free(&info) == MPI_ERR_INFO,
	      "MPI_INFO_ENV has changed");
}

int main(void) {
	unit_node(1);
	random_changes();
	from_arguments();
	return unit_end();
}
