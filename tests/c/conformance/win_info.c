/* Proves: MPI_Win_get_info returns every key that the library honours, with the value in force, on each flavor of
 *   window. Without info the values are the defaults. accumulate_ordering is returned in the order of the standard and
 *   without blanks. Unknown keys are ignored and not returned. MPI_Win_set_info changes all keys except those that
 *   determine the kind of memory. The caller owns the returned object. If members pass different values, the value in
 *   force is correct for all members. An invalid value changes nothing. same_size and same_disp_unit are returned only
 *   if they are true. MPI-5.0 12.2.7, 12.2.1 to 12.2.4
 * np: 1 2 4
 * nodes: 2
 * ref: none (which keys a library honours, and which it lets change, is its own choice)
 * timeout: 60
 */
#include "../windows.h"

enum { CREATE, ALLOCATE, SHARED, DYNAMIC, FLAVORS };
static int one_node;
static const char *const flavor_name[] = {"create", "allocate", "allocate_shared", "create_dynamic"};
static char memory[256];

static MPI_Win make(int flavor, MPI_Info info) {
	MPI_Win win = MPI_WIN_NULL;
	void *base;
	switch (flavor) {
	case CREATE:
		CHECK_OK(MPI_Win_create(memory, sizeof memory, 8, info, MPI_COMM_WORLD, &win));
		break;
	case ALLOCATE:
		CHECK_OK(MPI_Win_allocate(256, 8, info, MPI_COMM_WORLD, &base, &win));
		break;
	case SHARED:
		CHECK_OK(MPI_Win_allocate_shared(256, 8, info, MPI_COMM_WORLD, &base, &win));
		break;
	default:
		CHECK_OK(MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win));
	}
	return win;
}

/* Checks the value of a key in the info of win. If want is NULL, the key must be absent. */
static void has(MPI_Win win, const char *what, const char *key, const char *want) {
	MPI_Info info;
	char value[MPI_MAX_INFO_VAL + 1] = "";
	int flag, len = sizeof value;
	CHECK_OK(MPI_Win_get_info(win, &info));
	CHECK_OK(MPI_Info_get_string(info, key, &len, value, &flag));
	if (want == NULL)
		CHECK(!flag, "%s: %s = \"%s\" is there", what, key, value);
	else
		CHECK(flag && strcmp(value, want) == 0, "%s: %s = \"%s\", not \"%s\"", what, key,
		      flag ? value : "(not there)", want);
	CHECK_OK(MPI_Info_free(&info));
}

static const struct {
	const char *key, *value;
} defaults[] = {
	{"no_locks", "false"},
	{"accumulate_ordering", "rar,raw,war,waw"},
	{"accumulate_ops", "same_op_no_op"},
	{"mpi_accumulate_granularity", "0"},
	{"same_size", "false"},
	{"same_disp_unit", "false"},
	{"alloc_shared_noncontig", "false"},
	{"mpi_minimum_memory_alignment", "64"},
	{"gompirma_huge_pages", "false"},
	{"gompirma_share_in_place", "false"},
	{"mpi_memory_alloc_kinds", "mpi,system"},
	{"mpi_assert_memory_alloc_kinds", NULL},
};
enum { KEYS = sizeof defaults / sizeof *defaults };

static const struct {
	const char *key, *value, *in_force, *after_set;
} given[] = {
	/* after_set: the value after MPI_Win_set_info has requested the default */
	{"no_locks", "true", "true", "false"},
	{"accumulate_ordering", " waw, rar ", "rar,waw", "rar,raw,war,waw"},
	{"accumulate_ordering", "none", "none", "rar,raw,war,waw"},
	{"accumulate_ordering", "war,waw,rar,raw", "rar,raw,war,waw", "rar,raw,war,waw"},
	{"accumulate_ops", "same_op", "same_op", "same_op_no_op"},
	{"mpi_accumulate_granularity", "4096", "4096", "0"},
	{"same_size", "true", "true", "false"},
	{"same_disp_unit", "true", "true", "false"},
	{"alloc_shared_noncontig", "true", "true", "false"},
	{"mpi_minimum_memory_alignment", "8192", "8192", "8192"},
	{"mpi_minimum_memory_alignment", "8", "64", "64"},
	{"mpi_assert_memory_alloc_kinds", "system, mpi:alloc_mem", "system,mpi:alloc_mem", "system,mpi:alloc_mem"},
};

static const struct {
	const char *key, *last, *others, *in_force;
} different[] = {
	/* others: value that the other members pass, or NULL if they pass no info */
	{"no_locks", "true", NULL, "false"},
	{"accumulate_ordering", "none", NULL, "rar,raw,war,waw"},
	{"accumulate_ordering", "waw", "rar", "rar,waw"},
	{"accumulate_ops", "same_op", "same_op_no_op", "same_op_no_op"},
	{"mpi_accumulate_granularity", "1", "1048576", "1"},
	{"mpi_accumulate_granularity", "8", NULL, "8"},
	{"alloc_shared_noncontig", "true", NULL, "false"},
	{"same_size", "true", NULL, "false"},
	{"same_disp_unit", "true", "false", "false"},
};

/* Checks that if members pass different values, all members get the same value in force, and it is correct for all. */
static void members_differ(void) {
	for (int flavor = 0; flavor < FLAVORS && check_size > 1; flavor++)
		if (flavor != SHARED || one_node)
			for (unsigned d = 0; d < sizeof different / sizeof *different; d++) {
				const char *mine =
					check_rank == check_size - 1 ? different[d].last : different[d].others;
				MPI_Info info = MPI_INFO_NULL;
				if (mine) {
					MPI_Info_create(&info);
					MPI_Info_set(info, different[d].key, mine);
				}
				MPI_Win win = make(flavor, info);
				has(win, "members differ", different[d].key, different[d].in_force);
				CHECK_OK(MPI_Win_free(&win));
				if (mine)
					MPI_Info_free(&info);
			}
}

static const struct {
	const char *key, *good, *bad;
} no_values[] = {
	{"no_locks", "true", "1"},
	{"accumulate_ordering", "rar", "strict"},
	{"accumulate_ops", "same_op", "same_op_no_op,"},
	{"mpi_accumulate_granularity", "8", "8k"},
	{"mpi_minimum_memory_alignment", "256", "48"},
	{"mpi_assert_memory_alloc_kinds", "system", "system,,mpi"},
	{"alloc_shared_noncontig", "true", ""},
};

/* Checks that an invalid value changes neither the default nor the value in force. */
static void refused_values(void) {
	for (unsigned v = 0; v < sizeof no_values / sizeof *no_values; v++)
		for (int before = 0; before < 2; before++) {
			MPI_Info info;
			MPI_Info_create(&info);
			MPI_Info_set(info, no_values[v].key, before ? no_values[v].good : no_values[v].bad);
			MPI_Win win = make(ALLOCATE, info);
			MPI_Info_set(info, no_values[v].key, no_values[v].bad);
			CHECK_OK(MPI_Win_set_info(win, info));
			const char *want = before ? no_values[v].good : NULL;
			for (int k = 0; !before && k < KEYS; k++)
				if (strcmp(defaults[k].key, no_values[v].key) == 0)
					want = defaults[k].value;
			has(win, "no value", no_values[v].key, want);
			CHECK_OK(MPI_Win_free(&win));
			MPI_Info_free(&info);
		}
}

/* Checks that MPI_Win_get_info does not return a false promise about sizes and units, made at creation or later. */
static void untrue(void) {
	MPI_Info info;
	MPI_Win win;
	void *base;
	int last = check_rank == check_size - 1;
	MPI_Info_create(&info);
	MPI_Info_set(info, "same_size", "true");
	MPI_Info_set(info, "same_disp_unit", "true");
	for (int what = 0; what < 3; what++) {
		CHECK_OK(MPI_Win_allocate(last && what == 1 ? 64 : 128, last && what == 2 ? 4 : 8, info, MPI_COMM_WORLD,
					  &base, &win));
		has(win, "promised", "same_size", what == 1 && check_size > 1 ? "false" : "true");
		has(win, "promised", "same_disp_unit", what == 2 && check_size > 1 ? "false" : "true");
		CHECK_OK(MPI_Win_free(&win));
		CHECK_OK(MPI_Win_allocate(last && what == 1 ? 64 : 128, last && what == 2 ? 4 : 8, MPI_INFO_NULL,
					  MPI_COMM_WORLD, &base, &win));
		CHECK_OK(MPI_Win_set_info(win, info));
		has(win, "promised later", "same_size", what == 1 && check_size > 1 ? "false" : "true");
		has(win, "promised later", "same_disp_unit", what == 2 && check_size > 1 ? "false" : "true");
		CHECK_OK(MPI_Win_free(&win));
	}
	MPI_Info_free(&info);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	one_node = windows_one_node(MPI_COMM_WORLD);
	members_differ();
	refused_values();
	untrue();
	for (int flavor = 0; flavor < FLAVORS; flavor++) {
		if (flavor == SHARED && !one_node)
			continue;
		MPI_Win win = make(flavor, MPI_INFO_NULL);
		for (int k = 0; k < KEYS; k++)
			has(win, flavor_name[flavor], defaults[k].key, defaults[k].value);
		CHECK_OK(MPI_Win_free(&win));
		for (unsigned g = 0; g < sizeof given / sizeof *given; g++) {
			MPI_Info info;
			MPI_Info_create(&info);
			MPI_Info_set(info, given[g].key, given[g].value);
			MPI_Info_set(info, "a_key_that_nobody_knows", "true");
			MPI_Info_set(info, "mpi_memory_alloc_kinds", "cuda"); /* ignored: the key is for queries only */
			win = make(flavor, info);
			MPI_Info_free(&info);
			for (int k = 0; k < KEYS; k++)
				if (strcmp(defaults[k].key, given[g].key) != 0 &&
				    (strcmp(defaults[k].key, "mpi_memory_alloc_kinds") != 0 ||
				     strcmp(given[g].key, "mpi_assert_memory_alloc_kinds") != 0))
					has(win, flavor_name[flavor], defaults[k].key, defaults[k].value);
			has(win, flavor_name[flavor], given[g].key, given[g].in_force);
			has(win, flavor_name[flavor], "a_key_that_nobody_knows", NULL);
			CHECK_OK(MPI_Win_set_info(win, MPI_INFO_NULL)); /* MPI_INFO_NULL changes nothing */
			has(win, "after no keys", given[g].key, given[g].in_force);
			MPI_Info_create(&info);
			for (int k = 0; k < KEYS; k++)
				if (defaults[k].value)
					MPI_Info_set(info, defaults[k].key, defaults[k].value);
			CHECK_OK(MPI_Win_set_info(win, info));
			MPI_Info_free(&info);
			has(win, "after set_info", given[g].key, given[g].after_set);
			CHECK_OK(MPI_Win_free(&win));
		}
	}
	/* The assertion restricts the reported memory kinds to those asserted. */
	MPI_Info info;
	MPI_Info_create(&info);
	MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", "mpi:win_allocate,cuda:device");
	MPI_Win win = make(ALLOCATE, MPI_INFO_NULL);
	CHECK_OK(MPI_Win_set_info(win, info));
	has(win, "asserted", "mpi_memory_alloc_kinds", "mpi:win_allocate");
	has(win, "asserted", "mpi_assert_memory_alloc_kinds", "mpi:win_allocate,cuda:device");
	CHECK_OK(MPI_Win_free(&win));
	MPI_Comm comm;
	MPI_Info used;
	char value[100] = "";
	int flag, len = sizeof value;
	CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
	CHECK_OK(MPI_Comm_get_info(comm, &used));
	CHECK_OK(MPI_Info_get_string(used, "mpi_assert_memory_alloc_kinds", &len, value, &flag));
	CHECK(flag && strcmp(value, "mpi:win_allocate,cuda:device") == 0, "the communicator's assertion is \"%s\"",
	      value);
	CHECK_OK(MPI_Info_free(&used));
	CHECK_OK(MPI_Comm_free(&comm));
	MPI_Info_free(&info);
	return check_end();
}
