/* Proves: window creation succeeds even if values of MPI's own info keys are invalid, untrue, or different at the
 *   members, in every creating call. MPI_Win_set_info accepts such values too. The window behaves like any other. MPI
 *   calls such values undefined or erroneous. But programs pass same_size with sizes that differ, and
 *   accumulate_ordering = "", and these programs work with other libraries. MPI-5.0 10, 12.2.1, 12.2.7
 * np: 1 2 4
 * args: values untrue members communicator
 * ref: mpich
 * ref-wrong: values (MPICH aborts for an accumulate_ordering that it does not know, and refuses empty values)
 * timeout: 60
 */
#include "../windows.h"

enum { CREATE, ALLOCATE, SHARED, DYNAMIC, FLAVORS };
static const char *const flavor_name[] = {"create", "allocate", "allocate_shared", "create_dynamic"};
static char memory[4096] __attribute__((aligned(64)));

static MPI_Info one(const char *key, const char *value) {
	MPI_Info info;
	MPI_Info_create(&info);
	CHECK_OK(MPI_Info_set(info, key, value));
	return info;
}

/* Creates a window of size bytes with info and frees info. Puts, accumulates and reads in the window, up to its last
 * integer. */
static void use(int flavor, MPI_Aint size, int unit, MPI_Info info, const char *what) {
	MPI_Win win;
	void *base = memory;
	int right = (check_rank + 1) % check_size, rc, value = 0, forty = 40, two = 2;
	MPI_Aint sizes[check_size], bases[check_size];
	int units[check_size];
	switch (flavor) {
	case CREATE:
		rc = MPI_Win_create(memory, size, unit, info, MPI_COMM_WORLD, &win);
		break;
	case ALLOCATE:
		rc = MPI_Win_allocate(size, unit, info, MPI_COMM_WORLD, &base, &win);
		break;
	case SHARED:
		rc = MPI_Win_allocate_shared(size, unit, info, MPI_COMM_WORLD, &base, &win);
		break;
	default:
		rc = MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win);
		unit = 1;
	}
	CHECK(rc == MPI_SUCCESS, "%s, %s: class %d (%s)", flavor_name[flavor], what, check_class(rc), check_string(rc));
	if (rc != MPI_SUCCESS)
		return;
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	if (flavor == DYNAMIC)
		CHECK_OK(MPI_Win_attach(win, memory, size));
	CHECK_OK(MPI_Win_set_info(win, info));
	MPI_Info_free(&info);
	bases[check_rank] = 0;
	if (flavor == DYNAMIC)
		MPI_Get_address(memory, &bases[check_rank]);
	MPI_Allgather(&size, 1, MPI_AINT, sizes, 1, MPI_AINT, MPI_COMM_WORLD);
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_AINT, bases, 1, MPI_AINT, MPI_COMM_WORLD);
	MPI_Allgather(&unit, 1, MPI_INT, units, 1, MPI_INT, MPI_COMM_WORLD);
	MPI_Aint last =
		bases[right] + (sizes[right] - 8) / units[right]; /* sizes are multiples of 8 and of the units */
	CHECK_OK(MPI_Win_fence(0, win));
	CHECK_OK(MPI_Put(&forty, 1, MPI_INT, right, last, 1, MPI_INT, win));
	CHECK_OK(MPI_Win_fence(0, win));
	CHECK_OK(MPI_Accumulate(&two, 1, MPI_INT, right, last, 1, MPI_INT, MPI_SUM, win));
	CHECK_OK(MPI_Win_fence(0, win));
	CHECK_OK(MPI_Get(&value, 1, MPI_INT, right, last, 1, MPI_INT, win));
	CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
	CHECK(value == 42, "%s, %s: %d at the end of rank %d's memory", flavor_name[flavor], what, value, right);
	CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win));
	CHECK_OK(MPI_Win_unlock(right, win));
	if (flavor == DYNAMIC) {
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Win_detach(win, memory);
	}
	MPI_Win_free(&win);
}

static const struct {
	const char *key, *value;
} bad[] = {
	{"no_locks", "yes"},
	{"no_locks", "1"},
	{"no_locks", ""},
	{"same_size", "TRUE"},
	{"same_disp_unit", "1"},
	{"alloc_shared_noncontig", "maybe"},
	{"accumulate_ops", "sum"},
	{"accumulate_ops", "same_op_no_op,"},
	{"accumulate_ordering", ""},
	{"accumulate_ordering", "rar,wow"},
	{"accumulate_ordering", "rar,none"},
	{"mpi_accumulate_granularity", "-1"},
	{"mpi_accumulate_granularity", "8k"},
	{"mpi_accumulate_granularity", "99999999999999999999"},
	{"mpi_minimum_memory_alignment", "48"},
	{"mpi_minimum_memory_alignment", "0"},
	{"mpi_minimum_memory_alignment", "8k"},
	{"mpi_assert_memory_alloc_kinds", "system,,mpi"},
};

static const char *const assertions[] = {"mpi_assert_no_any_tag", "mpi_assert_exact_length",
					 "mpi_assert_memory_alloc_kinds"};

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	int last = check_rank == check_size - 1;
	int one_node = windows_one_node(MPI_COMM_WORLD);
	for (int flavor = 0; flavor < FLAVORS; flavor++) {
		if (flavor == SHARED && !one_node)
			continue;
		if (strcmp(check_arg, "values") == 0) {
			for (unsigned b = 0; b < sizeof bad / sizeof *bad; b++) {
				use(flavor, 64, 1, one(bad[b].key, bad[b].value), bad[b].key);
				use(flavor, 64, 1, last ? one(bad[b].key, bad[b].value) : one("unknown", "x"),
				    bad[b].key); /* only the last rank passes the value */
			}
		} else if (strcmp(check_arg, "untrue") == 0) {
			use(flavor, 64 + 128 * check_rank, 4, one("same_size", "true"), "sizes that differ");
			use(flavor, 64, last ? 8 : 1, one("same_disp_unit", "true"), "units that differ");
		} else if (strcmp(check_arg, "members") == 0) {
			for (int turn = 0; turn < 2; turn++) {
				use(flavor, 64 + 64 * check_rank, 1, one("same_size", last == turn ? "true" : "false"),
				    "same_size");
				use(flavor, 64, 4, one("same_disp_unit", last == turn ? "true" : "false"),
				    "same_disp_unit");
			}
		}
	}
	for (unsigned a = 0; strcmp(check_arg, "communicator") == 0 && a < sizeof assertions / sizeof *assertions;
	     a++) {
		MPI_Comm comm;
		MPI_Info info = one(assertions[a], ":perhaps");
		CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
		CHECK_OK(MPI_Comm_set_info(comm, info));
		MPI_Info_free(&info);
		CHECK_OK(MPI_Barrier(comm));
		MPI_Comm_free(&comm);
	}
	return check_end();
}
