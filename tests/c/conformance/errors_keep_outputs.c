/* Proves: a call with a missing result address or a negative length returns an error before it stores any result.
 *   MPI-5.0 2.8, 5.1.2, 5.1.13, 8.5.5, 9.3, 10
 * np: 1 2
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"

static void handler(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }
static void win_handler(MPI_Win *win, int *code, ...) { (void)win, (void)code; }
static void file_handler(MPI_File *file, int *code, ...) { (void)file, (void)code; }

static void check_info(void) {
	MPI_Info info;
	char value[8] = "before";
	int flag = 77, length = -1;
	MPI_Info_create(&info);
	CHECK_OK(MPI_Info_set(info, "key", "1"));
	CHECK_CLASS(MPI_Info_get(info, "key", 7, NULL, &flag), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Info_get(info, "no such key", 7, NULL, &flag), MPI_ERR_ARG);
	CHECK(MPI_Info_get(info, "no such key", -1, value, &flag) != MPI_SUCCESS, "a negative valuelen");
	CHECK(MPI_Info_get_string(info, "no such key", &length, value, &flag) != MPI_SUCCESS, "a negative buflen");
	CHECK(flag == 77 && strcmp(value, "before") == 0, "results were stored: %d, %s", flag, value);
	MPI_Info_free(&info);
}

static void check_types(void) {
	MPI_Datatype vector, block = MPI_BYTE;
	int integers[3] = {7, 7, 7};
	MPI_Datatype types[1] = {MPI_BYTE};
	MPI_Type_vector(2, 3, 4, MPI_INT, &vector);
	CHECK(MPI_Type_get_contents(vector, 3, 0, 1, NULL, NULL, types) != MPI_SUCCESS, "no array of integers");
	CHECK(types[0] == MPI_BYTE, "a type was stored");
	CHECK(MPI_Type_get_contents(vector, 3, 0, 1, integers, NULL, NULL) != MPI_SUCCESS, "no array of types");
	CHECK(integers[0] == 7, "integers were stored");
	CHECK(MPI_Type_create_indexed_block(0, -1, NULL, MPI_INT, &block) != MPI_SUCCESS, "a negative blocklength");
	CHECK(MPI_Type_create_hindexed_block(0, -1, NULL, MPI_INT, &block) != MPI_SUCCESS, "a negative blocklength");
	CHECK(block == MPI_BYTE, "a type was stored");
	MPI_Type_free(&vector);
}

static void check_graph(void) {
	MPI_Comm graph;
	int me = check_rank, sources[1] = {-7}, one = 1, weights[1] = {-7};
	CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &me, &one, 1, &me, &one, MPI_INFO_NULL, 0, &graph));
	MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Dist_graph_neighbors(graph, 1, sources, weights, 1, NULL, weights), MPI_ERR_ARG);
	CHECK(sources[0] == -7 && weights[0] == -7, "neighbors were stored: %d, weight %d", sources[0], weights[0]);
	MPI_Comm_free(&graph);
}

int main(int argc, char **argv) {
	check_begin_return_errors(&argc, &argv);
	CHECK_CLASS(MPI_Comm_create_errhandler(handler, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Win_create_errhandler(win_handler, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_File_create_errhandler(file_handler, NULL), MPI_ERR_ARG);
	MPI_Win win;
	MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Win_set_name(win, NULL), MPI_ERR_ARG);
	MPI_Win_free(&win);
	check_info();
	check_types();
	check_graph();
	return check_end();
}
