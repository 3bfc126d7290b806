/* Proves: MPI_Get_hw_resource_info works before MPI_Init and after MPI_Finalize. Each of its keys is a resource type by
 *   which MPI_Comm_split_type divides the processes, and its value is "true" or "false". MPI-5.0 9.1.2
 * np: 1 2
 * ref: none (new in MPI 4.1)
 * timeout: 20
 */
#include "../check.h"

/* Returns the number of keys of the info object. */
static int read_info(int split) {
	MPI_Info info = MPI_INFO_NULL;
	int n = 0;
	CHECK(MPI_Get_hw_resource_info(&info) == MPI_SUCCESS && info != MPI_INFO_NULL, "no info object");
	CHECK(MPI_Info_get_nkeys(info, &n) == MPI_SUCCESS && n > 0, "%d keys", n);
	for (int i = 0; i < n; i++) {
		char key[MPI_MAX_INFO_KEY], value[8] = "";
		int flag = 0, length = sizeof value;
		CHECK(MPI_Info_get_nthkey(info, i, key) == MPI_SUCCESS, "key %d", i);
		CHECK(MPI_Info_get_string(info, key, &length, value, &flag) == MPI_SUCCESS && flag, "key %s", key);
		CHECK(strcmp(value, "true") == 0 || strcmp(value, "false") == 0, "%s is %s", key, value);
		if (!split)
			continue;
		MPI_Info resource;
		MPI_Comm part = MPI_COMM_NULL;
		MPI_Info_create(&resource);
		MPI_Info_set(resource, "mpi_hw_resource_type", key);
		CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, resource, &part));
		CHECK((part != MPI_COMM_NULL) == (strcmp(value, "true") == 0), "split by %s, which is %s", key, value);
		if (part != MPI_COMM_NULL)
			MPI_Comm_free(&part);
		MPI_Info_free(&resource);
	}
	MPI_Info_free(&info);
	return n;
}

int main(int argc, char **argv) {
	int before = read_info(0);
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	CHECK(read_info(1) == before, "MPI_Init changes the keys");
	CHECK_CLASS(MPI_Get_hw_resource_info(NULL), MPI_ERR_ARG);
	int status = check_end();
	int after = read_info(0);
	return status != 0 || after != before || check_errors != 0;
}
