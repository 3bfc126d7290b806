/* Proves: a call whose result argument is a null address returns MPI_ERR_ARG and does nothing. Covers calls about
 *   communicators, groups, datatypes, windows, error handlers, info objects and the environment. The names of null
 *   handles are the names of their constants. MPI-5.0 2.7, 7.8
 * np: 1 2
 * ref: none (under MPICH 4.0 the job ends in some of these calls)
 * timeout: 30
 */
#include "../check.h"

static void communicators(void) {
	MPI_Comm c;
	MPI_Group g;
	int ranks[1] = {0}, ranges[1][3] = {{0, 0, 1}};
	MPI_Comm_dup(MPI_COMM_WORLD, &c);
	MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
	MPI_Comm_group(c, &g);
	CHECK_CLASS(MPI_Comm_size(c, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_rank(c, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_dup(c, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_split(c, 0, 0, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_create(c, g, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_create_group(c, g, 3, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_group(c, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_get_info(c, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_get_errhandler(c, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_compare(c, c, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_free(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Group_size(g, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Group_union(g, g, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Group_range_incl(g, 1, ranges, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Group_translate_ranks(g, 1, ranks, g, NULL), MPI_ERR_ARG);
	MPI_Group_free(&g);
	MPI_Barrier(c); /* the communicator still works */
	MPI_Comm_free(&c);
}

static void windows(void) {
	int memory[4], len, unit;
	char name[MPI_MAX_OBJECT_NAME];
	MPI_Aint size;
	MPI_Win w;
	void *base;
	CHECK_CLASS(MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
	MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
	MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Win_get_group(w, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Win_get_info(w, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Win_get_name(w, NULL, &len), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Win_get_name(w, name, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Win_get_errhandler(w, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Win_get_attr(w, MPI_WIN_BASE, NULL, &len), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Win_test(w, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Win_free(NULL), MPI_ERR_ARG);
	MPI_Win_free(&w);
	MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_SELF, &base, &w);
	MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Win_shared_query(w, 0, NULL, &unit, &base), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Win_shared_query(w, 0, &size, NULL, &base), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Win_shared_query(w, 0, &size, &unit, NULL), MPI_ERR_ARG);
	MPI_Win_free(&w);
}

static void others(void) {
	int n, flag;
	char text[MPI_MAX_LIBRARY_VERSION_STRING];
	MPI_Aint a;
	MPI_Info info;
	MPI_Status status = {0};
	CHECK_CLASS(MPI_Type_size(MPI_INT, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_get_extent(MPI_INT, &a, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_contiguous(2, MPI_INT, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_commit(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Get_count(&status, MPI_INT, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Get_address(&n, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Alloc_mem(64, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Get_version(&n, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Get_library_version(text, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Get_processor_name(NULL, &n), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Initialized(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Query_thread(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Error_class(MPI_ERR_ARG, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Error_string(MPI_ERR_ARG, NULL, &n), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Add_error_class(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Add_error_code(MPI_ERR_ARG, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Errhandler_free(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Info_create(NULL), MPI_ERR_ARG);
	MPI_Info_create(&info);
	CHECK_CLASS(MPI_Info_get_nkeys(info, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Info_get_valuelen(info, "key", NULL, &flag), MPI_ERR_ARG);
	MPI_Info_free(&info);
	CHECK_CLASS(MPI_Reduce_local(&n, &n, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER); /* refused: equal buffers */
}

static void names(void) {
	char name[MPI_MAX_OBJECT_NAME];
	int len = -1;
	CHECK_OK(MPI_Comm_get_name(MPI_COMM_NULL, name, &len));
	CHECK(strcmp(name, "MPI_COMM_NULL") == 0 && len == 13, "name '%s' of length %d", name, len);
	CHECK_OK(MPI_Win_get_name(MPI_WIN_NULL, name, &len));
	CHECK(strcmp(name, "MPI_WIN_NULL") == 0 && len == 12, "name '%s' of length %d", name, len);
	CHECK_OK(MPI_Type_get_name(MPI_DATATYPE_NULL, name, &len));
	CHECK(strcmp(name, "MPI_DATATYPE_NULL") == 0 && len == 17, "name '%s' of length %d", name, len);
}

int main(int argc, char **argv) {
	check_begin_return_errors(&argc, &argv);
	communicators();
	windows();
	others();
	names();
	return check_end();
}
