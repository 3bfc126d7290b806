/* Proves: info objects keep keys in order, replace and delete values, report lengths, and truncate values to the given
 *   buffer. Duplicates, MPI_INFO_ENV, limits and refused arguments work. Hints of communicators and windows are
 *   returned with the values in force. A hint belongs only to the object that it was given for. MPI-5.0 10 7.4.4 12.2.7
 * np: 1 2
 * ref: none (classes and MPI_INFO_ENV of MPICH 4.0 differ)
 * timeout: 30
 */
#include "../check.h"

static void expect(MPI_Info info, const char *key, const char *want) {
	char value[MPI_MAX_INFO_VAL];
	int len = MPI_MAX_INFO_VAL, flag = -1;
	CHECK_OK(MPI_Info_get_string(info, key, &len, value, &flag));
	CHECK(flag == (want != NULL) && (!want || (strcmp(value, want) == 0 && len == (int)strlen(want) + 1)),
	      "%s is %s, length %d, flag %d", key, flag == 1 ? value : "not set", len, flag);
}

static void made(MPI_Comm comm, const char *want) {
	MPI_Info used;
	CHECK_OK(MPI_Comm_get_info(comm, &used));
	expect(used, "mpi_assert_no_any_tag", want);
	MPI_Info_free(&used);
	MPI_Comm_free(&comm);
}

/* Checks that communicators created with `info` have its hint, and that communicators derived from `with` do not
 * inherit the hint of `with`. */
static void made_with(MPI_Info info, MPI_Comm with) {
	MPI_Comm comm;
	MPI_Request request;
	int zero = 0, one = 1;
	CHECK_OK(MPI_Comm_dup(with, &comm));
	made(comm, "false");
	CHECK_OK(MPI_Comm_idup(with, &comm, &request));
	CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	made(comm, "false");
	CHECK_OK(MPI_Comm_split(with, 0, 0, &comm));
	made(comm, "false");
	CHECK_OK(MPI_Comm_idup_with_info(with, info, &comm, &request));
	CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	made(comm, "true");
	CHECK_OK(MPI_Comm_split_type(with, MPI_COMM_TYPE_SHARED, 0, info, &comm));
	made(comm, "true");
	CHECK_OK(MPI_Comm_split_type(with, MPI_UNDEFINED, 0, info, &comm));
	CHECK(comm == MPI_COMM_NULL, "a communicator for MPI_UNDEFINED");
	CHECK_OK(MPI_Dist_graph_create_adjacent(with, 1, &zero, MPI_UNWEIGHTED, 1, &zero, MPI_UNWEIGHTED, info, 0,
						&comm));
	made(comm, "true");
	CHECK_OK(MPI_Dist_graph_create(with, 1, &zero, &one, &zero, MPI_UNWEIGHTED, info, 0, &comm));
	made(comm, "true");
}

int main(int argc, char **argv) {
	char key[MPI_MAX_INFO_KEY + 8], value[MPI_MAX_INFO_VAL + 8];
	int n, flag, len;
	MPI_Info info, dup, env;
	MPI_Info_create(&info); /* works before MPI_Init too */
	MPI_Info_set(info, "before", "yes");
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	expect(info, "before", "yes");
	CHECK_OK(MPI_Info_set(info, "colour", "blue"));
	CHECK_OK(MPI_Info_set(info, "size", "12"));
	CHECK_OK(MPI_Info_set(info, "before", "changed"));
	CHECK_OK(MPI_Info_get_nkeys(info, &n));
	CHECK(n == 3, "%d keys", n);
	CHECK_OK(MPI_Info_get_nthkey(info, 2, key));
	CHECK(strcmp(key, "size") == 0, "key 2 is %s", key);
	CHECK_OK(MPI_Info_get_valuelen(info, "colour", &len, &flag));
	CHECK(len == 4 && flag, "length %d", len);
	CHECK_OK(MPI_Info_get_valuelen(info, "Colour", &len, &flag));
	CHECK(!flag, "keys are the same in capitals");
	memset(value, '#', sizeof value);
	len = 3;
	CHECK_OK(MPI_Info_get_string(info, "colour", &len, value, &flag));
	CHECK(flag && len == 5 && strcmp(value, "bl") == 0 && value[3] == '#', "cut to %s, %d", value, len);
	len = 0;
	CHECK_OK(MPI_Info_get_string(info, "colour", &len, NULL, &flag));
	CHECK(flag && len == 5, "length %d", len);
	CHECK_OK(MPI_Info_get(info, "colour", 2, value, &flag));
	CHECK(flag && strcmp(value, "bl") == 0, "cut to %s", value);
	CHECK_OK(MPI_Info_dup(info, &dup));
	CHECK_OK(MPI_Info_delete(info, "colour"));
	CHECK_CLASS(MPI_Info_delete(info, "colour"), MPI_ERR_INFO_NOKEY);
	expect(info, "colour", NULL);
	expect(dup, "colour", "blue");
	CHECK_OK(MPI_Info_free(&dup));
	CHECK(dup == MPI_INFO_NULL, "MPI_Info_free leaves %p", (void *)dup);
	CHECK_CLASS(MPI_Info_free(&dup), MPI_ERR_INFO);
	memset(key, 'k', sizeof key);
	memset(value, 'v', sizeof value);
	key[MPI_MAX_INFO_KEY] = value[MPI_MAX_INFO_VAL] = 0;
	CHECK_CLASS(MPI_Info_set(info, key, "x"), MPI_ERR_INFO_KEY);
	CHECK_CLASS(MPI_Info_set(info, "x", value), MPI_ERR_INFO_VALUE);
	CHECK_CLASS(MPI_Info_set(info, "", "x"), MPI_ERR_INFO_KEY);
	CHECK_CLASS(MPI_Info_set(MPI_INFO_NULL, "x", "x"), MPI_ERR_INFO);
	CHECK_CLASS(MPI_Info_get_nthkey(info, 2, key), MPI_ERR_ARG);
	key[MPI_MAX_INFO_KEY - 1] = value[MPI_MAX_INFO_VAL - 1] = 0;
	CHECK_OK(MPI_Info_set(info, key, value));
	expect(info, key, value);

	CHECK_OK(MPI_Info_get_nkeys(MPI_INFO_ENV, &n));
	len = sizeof value;
	CHECK_OK(MPI_Info_get_string(MPI_INFO_ENV, "command", &len, value, &flag));
	CHECK(flag && strcmp(value, argv[0]) == 0, "MPI_INFO_ENV has the command %s", value);
	CHECK_CLASS(MPI_Info_set(MPI_INFO_ENV, "x", "y"), MPI_ERR_INFO);
	char *words[] = {"prog", "one", "two"};
	CHECK_CLASS(MPI_Info_create_env(-1, words, &env), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Info_create_env(3, NULL, &env), MPI_ERR_ARG);
	CHECK_OK(MPI_Info_create_env(3, words, &env));
	expect(env, "command", "prog");
	expect(env, "argv", "one two");
	MPI_Info_free(&env);

	MPI_Comm comm;
	CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
	CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_SELF, info, &comm));
	CHECK_OK(MPI_Comm_get_info(comm, &env));
	expect(env, "mpi_assert_no_any_tag", "true");
	expect(env, "mpi_assert_exact_length", "false");
	expect(env, "size", NULL);
	MPI_Info_free(&env);
	made_with(info, comm);
	CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "perhaps"));
	CHECK_OK(MPI_Comm_set_info(comm, info)); /* the new value is invalid, so the old one stays in force */
	CHECK_OK(MPI_Comm_get_info(comm, &env));
	expect(env, "mpi_assert_no_any_tag", "true");
	MPI_Info_free(&env);
	MPI_Comm_free(&comm);

	MPI_Win win;
	void *base;
	MPI_Info_free(&info);
	MPI_Info_create(&info);
	MPI_Info_set(info, "no_locks", "true");
	MPI_Info_set(info, "accumulate_ordering", "waw, raw");
	CHECK_OK(MPI_Win_allocate(64, 1, info, MPI_COMM_WORLD, &base, &win));
	CHECK_OK(MPI_Win_get_info(win, &env));
	expect(env, "no_locks", "true");
	expect(env, "same_size", "false");
	MPI_Info_free(&env);
	MPI_Win_free(&win);
	MPI_Info_free(&info);
	return check_end();
}
