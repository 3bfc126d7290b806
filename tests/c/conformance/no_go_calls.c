/* Proves: calls that programs make in loops run in C. They do not enter Go code, because the entry costs more than most
 *   of these calls. The table CALLS lists them. GOMPIRMA_SHOW_GO makes the library write a line to standard error for
 *   each call into Go; this program redirects standard error to a file and reads it.
 * np: 1 2
 * env: GOMPIRMA_SHOW_GO=1
 * ref: none (about gompirma alone)
 * timeout: 30
 */
#define _GNU_SOURCE
#include "../check.h"

#include <unistd.h>

static int n, m, k, l, flag, comm_key, type_key, win_key;
static const int zero[1] = {0}, one[1] = {1};
static int from[4] = {1, 2, 3, 4}, to[4], result[4], compare;
static double x;
static MPI_Aint lb, extent, address;
static MPI_Count large, larger, c1, c2;
static void *value;
static MPI_Status status;
static MPI_Message message;
static MPI_Request request, second;
static MPI_Datatype vector, fresh, mixed, made, again;
static const int lengths[] = {1, 1};
static const MPI_Aint at[] = {0, 8};
static const MPI_Datatype parts[] = {MPI_INT, MPI_DOUBLE};
static MPI_Comm copy, grid, graph, around, parent;
static MPI_Group world, other, formed;
static int range[1][3] = {{0, 0, 1}};
static MPI_Win win;
static MPI_Request rq[2];
static MPI_Info info, info2;
static MPI_Op op, user;
static int many[8], more[8];
static char text[MPI_MAX_INFO_KEY + 1], name[MPI_MAX_OBJECT_NAME], error[MPI_MAX_ERROR_STRING],
	host[MPI_MAX_PROCESSOR_NAME];
static MPI_Errhandler handler;

static void handle(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }

static void sum_of(void *in, void *inout, int *len, MPI_Datatype *type) {
	(void)len, (void)type;
	*(int *)inout += *(int *)in;
}

/* The calls to check, one per line. Each call runs once before it is checked, since a first call may initialize state
 * of the library. */
#define CALLS(X)                                                                                             \
	/* environment */                                                                                    \
	X(MPI_Initialized(&flag))                                                                            \
	X(MPI_Finalized(&flag))                                                                              \
	X(MPI_Query_thread(&n))                                                                              \
	X(MPI_Is_thread_main(&flag))                                                                         \
	X(MPI_Get_version(&n, &m))                                                                           \
	X(MPI_Abi_get_version(&n, &m))                                                                       \
	X(MPI_Get_address(&n, &address))                                                                     \
	X(address = MPI_Aint_add(address, 8))                                                                \
	X(address = MPI_Aint_diff(address, 8))                                                               \
	X(x = MPI_Wtime())                                                                                   \
	X(x = MPI_Wtick())                                                                                   \
	X(MPI_Get_processor_name(host, &n))                                                                  \
	X(MPI_Comm_get_parent(&parent))                                                                      \
	X(MPI_Error_class(MPI_ERR_ARG, &n))                                                                  \
	X(MPI_Error_string(MPI_ERR_ARG, error, &n))                                                          \
	X(MPI_Add_error_class(&n); MPI_Add_error_code(n, &m); MPI_Add_error_string(m, "added");              \
	  MPI_Error_class(m, &k); MPI_Error_string(m, error, &l); MPI_Remove_error_string(m);                \
	  MPI_Remove_error_code(m); MPI_Remove_error_class(n))                                               \
	X(MPI_Comm_create_errhandler(handle, &handler); MPI_Errhandler_free(&handler))                       \
	X(MPI_Comm_get_errhandler(copy, &handler); MPI_Errhandler_free(&handler))                            \
	X(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN))                                                  \
	X(MPI_Comm_call_errhandler(copy, MPI_ERR_OTHER))                                                     \
	X(MPI_Win_get_errhandler(win, &handler); MPI_Errhandler_free(&handler))                              \
	X(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN))                                                    \
	X(MPI_Win_call_errhandler(win, MPI_ERR_OTHER))                                                       \
	X(n = MPI_Comm_rank(copy, NULL))                                                                     \
	X(MPI_Op_commutative(MPI_SUM, &flag))                                                                \
	X(MPI_Op_create(sum_of, 1, &op); MPI_Op_commutative(op, &flag); MPI_Op_free(&op))                    \
	X(MPI_Reduce_local(from, to, 4, MPI_INT, MPI_MAX))                                                   \
	X(MPI_Reduce_local(from, to, 4, MPI_INT, user))                                                      \
	X(MPI_Reduce_local(many, more, 2, vector, user))                                                     \
	/* datatypes, predefined, committed and not */                                                       \
	X(MPI_Type_size(MPI_INT, &n))                                                                        \
	X(MPI_Type_size(vector, &n))                                                                         \
	X(MPI_Type_size(fresh, &n))                                                                          \
	X(MPI_Type_size_c(vector, &large))                                                                   \
	X(MPI_Type_size_x(vector, &large))                                                                   \
	X(MPI_Type_get_extent(MPI_DOUBLE, &lb, &extent))                                                     \
	X(MPI_Type_get_extent(fresh, &lb, &extent))                                                          \
	X(MPI_Type_get_extent_c(vector, &large, &larger))                                                    \
	X(MPI_Type_get_extent_x(vector, &large, &larger))                                                    \
	X(MPI_Type_get_true_extent(vector, &lb, &extent))                                                    \
	X(MPI_Type_get_true_extent_c(vector, &large, &larger))                                               \
	X(MPI_Type_get_true_extent_x(vector, &large, &larger))                                               \
	X(MPI_Type_get_envelope(MPI_INT, &n, &m, &k, &l))                                                    \
	X(MPI_Type_get_envelope(vector, &n, &m, &k, &l))                                                     \
	X(MPI_Type_get_envelope_c(vector, &large, &larger, &c1, &c2, &l))                                    \
	X(MPI_Pack_size(2, vector, MPI_COMM_WORLD, &n))                                                      \
	X(MPI_Type_vector(2, 1, 2, vector, &made); MPI_Type_commit(&made); MPI_Type_free(&made))             \
	X(MPI_Type_indexed(2, from, to, MPI_INT, &made); MPI_Type_free(&made))                               \
	X(MPI_Type_create_struct(2, lengths, at, parts, &made); MPI_Type_free(&made))                        \
	X(MPI_Type_create_resized(mixed, 0, 40, &made); MPI_Type_dup(made, &again); MPI_Type_free(&made);    \
	  MPI_Type_free(&again))                                                                             \
	X(MPI_Type_get_contents(vector, 3, 0, 1, result, NULL, &made))                                       \
	X(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &made))                                                 \
	X(MPI_Type_create_f90_real(6, 37, &made))                                                            \
	X(n = 0; MPI_Pack(from, 1, vector, text, 100, &n, MPI_COMM_WORLD))                                   \
	X(n = 0; MPI_Unpack(text, 100, &n, result, 1, vector, MPI_COMM_WORLD))                               \
	X(lb = 0; MPI_Pack_external("external32", from, 1, vector, text, 100, &lb))                          \
	X(lb = 0; MPI_Unpack_external("external32", text, 100, &lb, result, 1, vector))                      \
	/* statuses */                                                                                       \
	X(MPI_Get_count(&status, MPI_INT, &n))                                                               \
	X(MPI_Get_count(&status, vector, &n))                                                                \
	X(MPI_Get_count_c(&status, mixed, &large))                                                           \
	X(MPI_Get_elements(&status, MPI_INT, &n))                                                            \
	X(MPI_Get_elements(&status, vector, &n))                                                             \
	X(MPI_Get_elements_c(&status, fresh, &large))                                                        \
	X(MPI_Get_elements_x(&status, vector, &large))                                                       \
	X(MPI_Status_set_elements(&status, vector, 4))                                                       \
	X(MPI_Status_set_elements_c(&status, MPI_INT, 4))                                                    \
	X(MPI_Status_set_elements_x(&status, MPI_INT, 4))                                                    \
	X(MPI_Status_set_cancelled(&status, 0))                                                              \
	X(MPI_Test_cancelled(&status, &flag))                                                                \
	X(MPI_Status_get_source(&status, &n))                                                                \
	/* requests, and messages to this rank */                                                            \
	X(MPI_Send_init(from, 4, MPI_INT, check_rank, 0, copy, &rq[0]); MPI_Request_free(&rq[0]))            \
	X(MPI_Recv_init(to, 4, MPI_INT, check_rank, 0, copy, &rq[0]); MPI_Request_free(&rq[0]))              \
	X(MPI_Irecv(to, 4, MPI_INT, check_rank, 0, copy, &rq[0]); MPI_Cancel(&rq[0]);                        \
	  MPI_Waitall(1, rq, MPI_STATUSES_IGNORE))                                                           \
	X(MPI_Psend_init(from, 2, 2, MPI_INT, check_rank, 0, copy, MPI_INFO_NULL, &rq[0]);                   \
	  MPI_Precv_init(to, 2, 2, MPI_INT, check_rank, 0, copy, info, &rq[1]); MPI_Startall(2, rq);         \
	  MPI_Pready(0, rq[0]); MPI_Pready_list(1, from, rq[0]); MPI_Parrived(rq[1], 0, &flag);              \
	  MPI_Waitall(2, rq, MPI_STATUSES_IGNORE); MPI_Start(&rq[1]); MPI_Start(&rq[0]);                     \
	  MPI_Pready_range(0, 1, rq[0]); MPI_Waitall(2, rq, MPI_STATUSES_IGNORE); MPI_Request_free(&rq[0]);  \
	  MPI_Request_free(&rq[1]))                                                                          \
	/* communicators and groups */                                                                       \
	X(MPI_Comm_rank(MPI_COMM_WORLD, &n))                                                                 \
	X(MPI_Comm_size(copy, &n))                                                                           \
	X(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag))                                      \
	X(MPI_Comm_get_attr(copy, MPI_WTIME_IS_GLOBAL, &value, &flag))                                       \
	X(MPI_Comm_get_attr(copy, MPI_APPNUM, &value, &flag))                                                \
	X(MPI_Comm_get_attr(copy, MPI_UNIVERSE_SIZE, &value, &flag))                                         \
	X(MPI_Comm_get_attr(copy, MPI_LASTUSEDCODE, &value, &flag))                                          \
	X(MPI_Comm_set_attr(copy, comm_key, &n); MPI_Comm_delete_attr(copy, comm_key))                       \
	X(MPI_Comm_set_attr(MPI_COMM_SELF, comm_key, &n))                                                    \
	X(MPI_Comm_get_attr(MPI_COMM_SELF, comm_key, &value, &flag))                                         \
	X(MPI_Comm_get_attr(copy, comm_key, &value, &flag))                                                  \
	X(MPI_Type_set_attr(vector, type_key, &n); MPI_Type_delete_attr(vector, type_key))                   \
	X(MPI_Type_get_attr(vector, type_key, &value, &flag))                                                \
	X(MPI_Comm_create_keyval(NULL, NULL, &n, NULL); MPI_Comm_free_keyval(&n))                            \
	X(MPI_Comm_set_name(copy, "copy"))                                                                   \
	X(MPI_Comm_get_name(copy, name, &n))                                                                 \
	X(MPI_Comm_get_name(MPI_COMM_WORLD, name, &n))                                                       \
	X(MPI_Type_set_name(vector, "vector"))                                                               \
	X(MPI_Type_get_name(vector, name, &n))                                                               \
	X(MPI_Type_get_name(MPI_INT, name, &n))                                                              \
	X(MPI_Topo_test(copy, &n))                                                                           \
	X(to[0] = to[1] = to[2] = 0; MPI_Dims_create(60, 3, to))                                             \
	X(MPI_Cartdim_get(grid, &n))                                                                         \
	X(MPI_Cart_get(grid, 4, from, to, result))                                                           \
	X(MPI_Cart_rank(grid, zero, &n))                                                                     \
	X(MPI_Cart_coords(grid, 0, 1, to))                                                                   \
	X(MPI_Cart_shift(grid, 0, 2, &n, &m))                                                                \
	X(MPI_Cart_map(MPI_COMM_WORLD, 1, one, zero, &n))                                                    \
	X(MPI_Graphdims_get(graph, &n, &m))                                                                  \
	X(MPI_Graph_get(graph, 4, 4, from, to))                                                              \
	X(MPI_Graph_neighbors_count(graph, 0, &n))                                                           \
	X(MPI_Graph_neighbors(graph, 0, 4, to))                                                              \
	X(MPI_Graph_map(MPI_COMM_WORLD, 1, one, zero, &n))                                                   \
	X(MPI_Dist_graph_neighbors_count(around, &n, &m, &k))                                                \
	X(MPI_Dist_graph_neighbors(around, 1, &n, &m, 1, &k, &l))                                            \
	X(MPI_Comm_compare(MPI_COMM_WORLD, copy, &n))                                                        \
	X(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, &n))                                               \
	X(MPI_Comm_test_inter(copy, &flag))                                                                  \
	X(MPI_Group_size(world, &n))                                                                         \
	X(MPI_Group_rank(other, &n))                                                                         \
	X(MPI_Group_rank(MPI_GROUP_EMPTY, &n))                                                               \
	X(MPI_Group_compare(world, other, &n))                                                               \
	X(MPI_Group_translate_ranks(other, 1, zero, world, to))                                              \
	X(MPI_Comm_group(copy, &formed); MPI_Group_free(&formed))                                            \
	X(MPI_Win_get_group(win, &formed); MPI_Group_free(&formed))                                          \
	X(MPI_Group_incl(world, 1, zero, &formed); MPI_Group_free(&formed))                                  \
	X(MPI_Group_excl(world, 1, zero, &formed); MPI_Group_free(&formed))                                  \
	X(MPI_Group_range_incl(world, 1, range, &formed); MPI_Group_free(&formed))                           \
	X(MPI_Group_range_excl(world, 1, range, &formed); MPI_Group_free(&formed))                           \
	X(MPI_Group_union(world, other, &formed); MPI_Group_free(&formed))                                   \
	X(MPI_Group_intersection(world, other, &formed); MPI_Group_free(&formed))                            \
	X(MPI_Group_difference(world, other, &formed); MPI_Group_free(&formed))                              \
	/* info objects */                                                                                   \
	X(MPI_Info_create(&info2); MPI_Info_set(info2, "key", "value"); MPI_Info_free(&info2))               \
	X(MPI_Info_dup(info, &info2); MPI_Info_delete(info2, "no_locks"); MPI_Info_free(&info2))             \
	X(MPI_Info_create_env(0, NULL, &info2); MPI_Info_free(&info2))                                       \
	X(MPI_Info_get(info, "no_locks", 20, text, &flag))                                                   \
	X(MPI_Info_get(MPI_INFO_ENV, "command", 20, text, &flag))                                            \
	X(n = 20; MPI_Info_get_string(info, "no_locks", &n, text, &flag))                                    \
	X(MPI_Info_get_valuelen(info, "none", &n, &flag))                                                    \
	X(MPI_Info_get_nkeys(info, &n))                                                                      \
	X(MPI_Info_get_nthkey(info, 0, text))                                                                \
	/* memory */                                                                                         \
	X(MPI_Alloc_mem(100, MPI_INFO_NULL, &value); MPI_Free_mem(value))                                    \
	X(MPI_Alloc_mem(100000, MPI_INFO_NULL, &value); MPI_Free_mem(value))                                 \
	/* matched probes */                                                                                 \
	X(MPI_Improbe(MPI_ANY_SOURCE, 77, copy, &flag, &message, &status))                                   \
	X(MPI_Isend(from, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &request);                                        \
	  MPI_Mprobe(0, 5, MPI_COMM_SELF, &message, &status); MPI_Mrecv(to, 1, MPI_INT, &message, &status);  \
	  MPI_Wait(&request, &status))                                                                       \
	X(MPI_Isend(from, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &request);                                        \
	  MPI_Mprobe(0, 5, MPI_COMM_SELF, &message, &status); MPI_Imrecv(to, 1, MPI_INT, &message, &second); \
	  MPI_Wait(&second, &status); MPI_Wait(&request, &status))                                           \
	/* windows */                                                                                        \
	X(MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag))                                                \
	X(MPI_Win_set_attr(win, win_key, &n); MPI_Win_delete_attr(win, win_key))                             \
	X(MPI_Win_get_attr(win, win_key, &value, &flag))                                                     \
	X(MPI_Win_set_name(win, "win"))                                                                      \
	X(MPI_Win_get_name(win, name, &n))                                                                   \
	X(MPI_Win_shared_query(win, check_rank, &extent, &n, &value))                                        \
	X(MPI_Win_fence(0, win))                                                                             \
	X(MPI_Put(from, 4, MPI_INT, check_rank, 0, 4, MPI_INT, win))                                         \
	X(MPI_Get(to, 4, MPI_INT, check_rank, 0, 4, MPI_INT, win))                                           \
	X(MPI_Accumulate(from, 4, MPI_INT, check_rank, 0, 4, MPI_INT, MPI_SUM, win))                         \
	X(MPI_Fetch_and_op(from, to, MPI_INT, check_rank, 0, MPI_SUM, win))                                  \
	X(MPI_Compare_and_swap(from, &compare, to, MPI_INT, check_rank, 0, win))                             \
	X(MPI_Get_accumulate(from, 4, MPI_INT, result, 4, MPI_INT, check_rank, 0, 4, MPI_INT, MPI_MAX, win)) \
	X(MPI_Win_fence(MPI_MODE_NOSUCCEED, win))                                                            \
	X(MPI_Win_lock_all(0, win); MPI_Put(from, 1, vector, check_rank, 0, 1, vector, win);                 \
	  MPI_Win_flush(check_rank, win); MPI_Win_sync(win); MPI_Win_unlock_all(win))                        \
	X(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win); MPI_Win_flush_local(check_rank, win);        \
	  MPI_Win_unlock(check_rank, win))

static FILE *shown; /* for reading the file to which standard error is redirected */

/* Returns true if the library has reported, since the previous call of entered(), that this thread called into Go. */
static int entered(void) {
	char line[256], mine[64];
	int found = 0;
	snprintf(mine, sizeof mine, "gompirma: thread %d calls Go", (int)gettid());
	clearerr(shown);
	while (fgets(line, sizeof line, shown) != NULL)
		found |= strncmp(line, mine, strlen(mine)) == 0;
	return found;
}

static void make(void) {
	MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
	MPI_Type_commit(&vector);
	MPI_Type_vector(3, 1, 2, MPI_INT, &fresh);
	MPI_Type_create_struct(2, lengths, at, parts, &mixed);
	MPI_Type_commit(&mixed);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Cart_create(MPI_COMM_SELF, 1, one, one, 0, &grid);
	MPI_Graph_create(MPI_COMM_SELF, 1, one, zero, 0, &graph);
	MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, zero, one, 1, zero, one, MPI_INFO_NULL, 0, &around);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_key, NULL);
	MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL);
	MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &win_key, NULL);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Comm_group(MPI_COMM_SELF, &other);
	MPI_Op_create(sum_of, 1, &user);
	MPI_Info_create(&info);
	MPI_Info_set(info, "no_locks", "true");
	MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &value, &win);
}

static void drop(void) {
	MPI_Comm_free(&grid);
	MPI_Comm_free(&graph);
	MPI_Comm_free(&around);
	MPI_Comm_free_keyval(&comm_key);
	MPI_Type_free_keyval(&type_key);
	MPI_Win_free_keyval(&win_key);
	MPI_Op_free(&user);
	MPI_Info_free(&info);
	MPI_Win_free(&win);
	MPI_Group_free(&world);
	MPI_Group_free(&other);
	MPI_Comm_free(&copy);
	MPI_Type_free(&mixed);
	MPI_Type_free(&fresh);
	MPI_Type_free(&vector);
}

int main(int argc, char **argv) {
	char path[] = "/tmp/no_go.XXXXXX";
	check_begin(&argc, &argv);
	make();
	int fd = mkstemp(path), old = dup2(2, 100);
	shown = fopen(path, "r"); /* a second open file, so that reads do not move the position of the writes */
	unlink(path);
	const char *wrong[100];
	int wrongs = 0;
	dup2(fd, 2);
	MPI_Comm probe;
	MPI_Comm_dup(MPI_COMM_SELF, &probe); /* this call enters Go, which entered() must detect */
	MPI_Comm_free(&probe);
	int works = entered();
#define TRY(...)                                        \
	{                                               \
		__VA_ARGS__;                            \
		entered();                              \
		__VA_ARGS__;                            \
		if (entered() && wrongs < 100)          \
			wrong[wrongs++] = #__VA_ARGS__; \
	}
	CALLS(TRY)
	dup2(old, 2);
	CHECK(works, "GOMPIRMA_SHOW_GO shows nothing");
	for (int i = 0; i < wrongs; i++)
		CHECK(0, "%s calls Go", wrong[i]);
	drop();
	return check_end();
}
