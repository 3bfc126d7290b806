/* Proves: an info object returns the value that was set last, however often it was queried before. Covers values,
 *   lengths, the number of keys and their order. Covers changes, deletions, duplicates, new objects, and queries by
 *   other threads. MPI-5.0 10
 * np: 1
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

#include <pthread.h>

enum { THREADS = 3, ASKS = 20000, CHANGES = 4000 };

static void tells(MPI_Info info, const char *key, const char *want) {
	char value[64] = "before";
	int flag = -1, length = -1;
	CHECK_OK(MPI_Info_get(info, key, sizeof value - 1, value, &flag));
	if (want == NULL) {
		CHECK(flag == 0 && strcmp(value, "before") == 0, "%s is there: %d, %s", key, flag, value);
		CHECK_OK(MPI_Info_get_valuelen(info, key, &length, &flag));
		CHECK(flag == 0 && length == -1, "%s has length %d", key, length);
		return;
	}
	CHECK(flag == 1 && strcmp(value, want) == 0, "%s is %s, not %s (%d)", key, value, want, flag);
	CHECK_OK(MPI_Info_get_valuelen(info, key, &length, &flag));
	CHECK(flag == 1 && length == (int)strlen(want), "%s has length %d", key, length);
}

static void keys(MPI_Info info, int n, const char *const want[]) {
	int have = -1;
	char key[MPI_MAX_INFO_KEY + 1];
	CHECK_OK(MPI_Info_get_nkeys(info, &have));
	CHECK(have == n, "%d keys, not %d", have, n);
	for (int i = 0; i < n; i++) {
		CHECK_OK(MPI_Info_get_nthkey(info, i, key));
		CHECK(strcmp(key, want[i]) == 0, "key %d is %s, not %s", i, key, want[i]);
	}
	CHECK(MPI_Info_get_nthkey(info, n, key) != MPI_SUCCESS, "there is a key %d", n);
}

static void changes(void) {
	MPI_Info info, copy;
	MPI_Info_create(&info);
	keys(info, 0, NULL);
	tells(info, "first", NULL);
	for (int round = 0; round < 3; round++) {
		MPI_Info_set(info, "first", "one");
		tells(info, "first", "one");
		keys(info, 1, (const char *const[]){"first"});
		MPI_Info_set(info, "second", "a longer value than before");
		keys(info, 2, (const char *const[]){"first", "second"});
		MPI_Info_set(info, "first", "another");
		tells(info, "first", "another");
		tells(info, "firs", NULL);
		tells(info, "first2", NULL);
		CHECK_OK(MPI_Info_dup(info, &copy));
		MPI_Info_delete(info, "first");
		tells(info, "first", NULL);
		tells(info, "second", "a longer value than before");
		tells(copy, "first", "another");
		keys(copy, 2, (const char *const[]){"first", "second"});
		MPI_Info_free(&copy);
		MPI_Info_delete(info, "second");
		keys(info, 0, NULL);
	}
	MPI_Info old = info;
	MPI_Info_free(&info);
	MPI_Info_create(&info);
	CHECK(info != MPI_INFO_NULL && old != MPI_INFO_NULL, "no object");
	tells(info, "first", NULL);
	MPI_Info_free(&info);
}

/* The object that all threads query. Each value in it repeats one letter. */
static MPI_Info shared;

static void *ask(void *arg) {
	char value[64];
	int flag;
	(void)arg;
	for (int i = 0; i < ASKS; i++) {
		MPI_Info_get(shared, "letters", sizeof value - 1, value, &flag);
		if (!flag || strlen(value) < 10 || strspn(value, (char[]){value[0], 0}) != strlen(value)) {
			CHECK(0, "a thread got %s", value);
			break;
		}
	}
	return NULL;
}

static void threads(void) {
	pthread_t t[THREADS];
	char value[32];
	MPI_Info_create(&shared);
	MPI_Info_set(shared, "letters", "aaaaaaaaaa");
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, ask, NULL);
	for (int i = 0; i < CHANGES; i++) {
		memset(value, 'a' + i % 26, sizeof value);
		value[10 + i % 20] = 0;
		MPI_Info_set(shared, "letters", value);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	MPI_Info_free(&shared);
}

int main(int argc, char **argv) {
	check_begin_threads(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	changes();
	threads();
	return check_end();
}
