/* Proves: a call that should create a communicator and fails stores MPI_COMM_NULL. Programs check this handle after an
 *   error. Covers grids, graphs, distributed graphs, duplicates and splits. MPI-5.0 8.5, 7.4
 * np: 1 2
 * args: topologies others
 * ref: none (MPICH stores MPI_COMM_NULL for a grid that is too large; the standard leaves it open)
 * timeout: 30
 */
#include "../check.h"

/* Checks that the call fails and replaces the previous handle in c by MPI_COMM_NULL. */
#define NULL_AFTER(call)                                                                            \
	do {                                                                                        \
		c = MPI_COMM_SELF;                                                                  \
		CHECK((call) != MPI_SUCCESS, "%s succeeds", #call);                                 \
		CHECK(c == MPI_COMM_NULL, "%s failed, and its handle is not MPI_COMM_NULL", #call); \
	} while (0)

static void topologies(MPI_Comm world) {
	MPI_Comm c;
	int dims[2] = {check_size, 2}, periods[2] = {0, 0}, negative[2] = {-1, 1}, one = 1, wrong = check_size + 3,
	    ends[1] = {1};
	NULL_AFTER(MPI_Cart_create(world, 2, dims, periods, 0, &c));
	NULL_AFTER(MPI_Cart_create(world, 2, negative, periods, 0, &c));
	NULL_AFTER(MPI_Cart_create(world, -1, dims, periods, 0, &c));
	NULL_AFTER(MPI_Cart_sub(world, &one, &c));
	NULL_AFTER(MPI_Graph_create(world, 1, ends, &wrong, 0, &c));
	NULL_AFTER(MPI_Graph_create(world, -1, ends, &wrong, 0, &c));
	NULL_AFTER(MPI_Dist_graph_create_adjacent(world, 1, &wrong, &one, 1, &wrong, &one, MPI_INFO_NULL, 0, &c));
	NULL_AFTER(MPI_Dist_graph_create(world, 1, &wrong, &one, &wrong, &one, MPI_INFO_NULL, 0, &c));
}

static int refuse(MPI_Comm old, int key, void *extra, void *in, void *out, int *flag) {
	(void)old, (void)key, (void)extra, (void)in, (void)out, (void)flag;
	return MPI_ERR_OTHER;
}

static void others(MPI_Comm world) {
	MPI_Comm c;
	int key;
	NULL_AFTER(MPI_Comm_split(world, -5, 0, &c));
	NULL_AFTER(MPI_Comm_split_type(world, 12345, 0, MPI_INFO_NULL, &c));
	NULL_AFTER(MPI_Comm_dup_with_info(world, (MPI_Info)MPI_COMM_WORLD, &c));
	NULL_AFTER(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, (MPI_Info)MPI_COMM_WORLD, &c));
	NULL_AFTER(MPI_Comm_create(world, MPI_GROUP_NULL, &c));
	NULL_AFTER(MPI_Comm_create_group(world, MPI_GROUP_NULL, 0, &c));
	NULL_AFTER(MPI_Intercomm_merge(world, 0, &c));
	MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &key, NULL);
	MPI_Comm_set_attr(world, key, NULL);
	NULL_AFTER(MPI_Comm_dup(world, &c));
	MPI_Comm_delete_attr(world, key);
	MPI_Comm_free_keyval(&key);
}

int main(int argc, char **argv) {
	MPI_Comm world;
	check_begin(&argc, &argv);
	MPI_Comm_dup(MPI_COMM_WORLD, &world);
	MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
	if (strcmp(check_arg, "topologies") == 0)
		topologies(world);
	if (strcmp(check_arg, "others") == 0)
		others(world);
	CHECK_OK(MPI_Comm_free(&world));
	return check_end();
}
