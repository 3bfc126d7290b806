/* Proves: MPI_COMM_TYPE_RESOURCE_GUIDED divides a communicator by the process sets that mpi_pset_name names. Processes
 *   that name different sets get different communicators, and an unknown set gives MPI_COMM_NULL.
 *   MPI_COMM_TYPE_HW_UNGUIDED gives strict subsets and names their resource, or gives MPI_COMM_NULL. MPI-5.0 7.4.2
 * np: 1 2 5
 * ref: none (new in MPI 4.1)
 * timeout: 60
 */
#include "../check.h"

/* Returns the size of the communicator that the call creates, 0 for MPI_COMM_NULL. Checks the order by key. */
static int split(int type, const char *key, const char *value) {
	MPI_Info info;
	MPI_Comm part = MPI_COMM_WORLD;
	int size = 0, rank, lowest = check_rank;
	MPI_Info_create(&info);
	if (key != NULL)
		MPI_Info_set(info, key, value);
	CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, type, -check_rank, info, &part));
	char resource[MPI_MAX_INFO_VAL] = "";
	int flag, length = sizeof resource;
	MPI_Info_get_string(info, "mpi_hw_resource_type", &length, resource, &flag);
	if (type == MPI_COMM_TYPE_HW_UNGUIDED)
		CHECK(flag == (part != MPI_COMM_NULL), "resource %s", resource);
	MPI_Info_free(&info);
	if (part == MPI_COMM_NULL)
		return 0;
	MPI_Comm_size(part, &size);
	MPI_Comm_rank(part, &rank);
	MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, part);
	CHECK((rank == size - 1) == (lowest == check_rank), "rank %d of %d; lowest %d", rank, size, lowest);
	MPI_Comm_free(&part);
	return size;
}

static int split_by_set(const char *set) { return split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", set); }

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int n = split_by_set("mpi://WORLD");
	CHECK(n == check_size, "WORLD: %d", n);
	n = split_by_set("mpi://SELF");
	CHECK(n == 1, "SELF: %d", n);
	n = split_by_set(check_rank == 0 ? "mpi://SELF" : "mpi://world");
	CHECK(n == (check_rank == 0 ? 1 : check_size - 1), "two sets: %d", n);
	n = split_by_set("no such set");
	CHECK(n == 0, "unknown set: %d", n);
	n = split(MPI_COMM_TYPE_RESOURCE_GUIDED, NULL, NULL);
	CHECK(n == 0, "no key: %d", n);
	n = split(MPI_COMM_TYPE_HW_GUIDED, "mpi_pset_name", "mpi://WORLD");
	CHECK(n == 0, "MPI_COMM_TYPE_HW_GUIDED by set: %d", n);
	int node = split(MPI_COMM_TYPE_SHARED, NULL, NULL);
	n = split_by_set("mpix://SHARED");
	CHECK(n == node, "SHARED: %d, node %d", n, node);
	n = split(MPI_COMM_TYPE_HW_UNGUIDED, NULL, NULL);
	CHECK(n == (node < check_size ? node : 0), "MPI_COMM_TYPE_HW_UNGUIDED: %d, node %d", n, node);
	return check_end();
}
