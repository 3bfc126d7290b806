/* Times the rows of the census, which cover all MPI functions, as loop.h describes. The Go package bench/census
 * generates the rows from rows.txt.
 *
 *     census --calls [ROW...]  with GOMPIRMA_SHOW_GO=1: counts the calls from C into Go instead of measuring the
 *                              time. Prints a line for each row: name and number. Without ROW, runs all rows for
 *                              the current number of processes. */
#include "loop.h"

enum { MEBIBYTE = 1 << 20 };

/* Operands of the calls; rows.txt refers to them by name. */
static int n, flag, number, other, added, added_class, added_code;
static MPI_Count n_c;
static MPI_Aint n_a;
static volatile int kept_int;
static volatile double kept_double;
static volatile MPI_Aint kept_aint;
static void *value, *a, *b, *c;
static char text[MPI_MAX_LIBRARY_VERSION_STRING + MPI_MAX_ERROR_STRING];
static int ints[8];
static MPI_Count ints_c[8];
static MPI_Aint ints_a[8];
#define UNUSED __attribute__((unused))
#define ARRAY(name, ...)                                        \
	static const int name[] = __VA_ARGS__;                  \
	UNUSED static const MPI_Count name##_c[] = __VA_ARGS__; \
	UNUSED static const MPI_Aint name##_a[] = __VA_ARGS__;
ARRAY(ones, {1, 1, 1, 1})
ARRAY(steps, {0, 1, 2, 3})
ARRAY(sides, {0, 8, 16, 24})
ARRAY(sizes, {8, 8, 8})
static const int zeros[] = {0, 0}, edges[] = {1, 0}, grid[] = {2, 2};
static const int blocks[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK};
static const int defaults[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
static int upto[] = {1, 2}, dims[] = {1, 1}, ranges[1][3] = {{0, 0, 1}};
static int comm_keyval, called_keyval, type_keyval, win_keyval;
static MPI_Status status, statuses[2], received;
static MPI_Request requests[2], pending[2];
#define request requests[0]
static MPI_Message message;
static MPI_Comm comm, intercomm, ring, cart, graph, dist_graph, newcomm;
static MPI_Group group, world, others, newgroup;
static MPI_Datatype vector, resized, types[4], newtypes[1], newtype;
static MPI_Op newop;
static MPI_Win win, dynamic, shared, newwin;
static MPI_Info info, newinfo;
static MPI_Errhandler errhandler, win_errhandler, file_errhandler, newerrhandler;
static MPI_File file, newfile;
static MPI_Offset place;
static char file_name[400], other_name[404];

static inline void at_begin(void) { n = 0, n_c = 0, n_a = 0; }

static void comm_error(MPI_Comm *on, int *code, ...) { (void)on, (void)code; }
static void win_error(MPI_Win *on, int *code, ...) { (void)on, (void)code; }
static void file_error(MPI_File *on, int *code, ...) { (void)on, (void)code; }
static int query(void *state, MPI_Status *to) {
	(void)state;
	MPI_Status_set_elements(to, MPI_DOUBLE, 1);
	MPI_Status_set_cancelled(to, 0);
	return MPI_SUCCESS;
}
static int freed(void *state) { return (void)state, MPI_SUCCESS; }
static int cancelled(void *state, int done) { return (void)state, (void)done, MPI_SUCCESS; }
static int copied(MPI_Comm from, int key, void *state, void *in, void *out, int *copy) {
	return (void)from, (void)key, (void)state, *(void **)out = in, *copy = 1, MPI_SUCCESS;
}
static int deleted(MPI_Comm from, int key, void *in, void *state) {
	return (void)from, (void)key, (void)in, (void)state, MPI_SUCCESS;
}
static void reduce(void *in, void *inout, int *count, MPI_Datatype *type) {
	(void)in, (void)inout, (void)count, (void)type;
}
static inline void reduce_c(void *in, void *inout, MPI_Count *count, MPI_Datatype *type) {
	(void)in, (void)inout, (void)count, (void)type;
}

#include "census_rows.h"

#define ROW(name, open, body, close, how, ranks, loops) {name, open, body, how, 0, loops},
static const struct measurement measurements[] = {ROWS};
#undef ROW
#define ROW(name, open, body, close, how, ranks, loops) {close, ranks},
static const struct {
	void (*close)(void);
	int ranks;
} ends[] = {ROWS};

static void close_current(void) {
	if (ends[current - measurements].close != NULL)
		ends[current - measurements].close();
}

static void begin(void) {
	double three[3] = {0};
	other = size - 1 - rank;
	a = memory(8 * MEBIBYTE), b = memory(8 * MEBIBYTE), c = memory(2 * MEBIBYTE);
	memset(a, 0, 8 * MEBIBYTE), memset(b, 0, 8 * MEBIBYTE);
	for (int i = 0; i < 4; i++)
		types[i] = MPI_DOUBLE;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Sendrecv(three, 3, MPI_DOUBLE, 0, 4, b, 3, MPI_DOUBLE, 0, 4, MPI_COMM_SELF, &received);
	for (int i = 0; i < 2; i++)
		MPI_Irecv((char *)c + MEBIBYTE + 8 * i, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 99, comm, &pending[i]);
	MPI_Comm_group(comm, &group);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(group, 1, &other, &others);
	dims[0] = size;
	MPI_Cart_create(comm, 1, dims, ones, 0, &ring);
	MPI_Cart_create(comm, 2, dims, zeros, 0, &cart);
	MPI_Dist_graph_create_adjacent(comm, 1, &other, MPI_UNWEIGHTED, 1, &other, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
				       &dist_graph);
	if (size == 2) { /* Open MPI cannot create a dynamic window with one process */
		MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &dynamic);
		MPI_Graph_create(comm, 2, upto, edges, 0, &graph);
		MPI_Intercomm_create(MPI_COMM_SELF, 0, comm, other, 5, &intercomm);
	}
	MPI_Type_vector(4, 1, 2, MPI_DOUBLE, &vector);
	MPI_Type_commit(&vector);
	MPI_Type_create_resized(MPI_DOUBLE, 0, 16, &resized);
	MPI_Type_commit(&resized);
	MPI_Info_create(&info);
	MPI_Info_set(info, "census", "value");
	MPI_Win_allocate(PAGE, 8, MPI_INFO_NULL, comm, &value, &win);
	memset(value, 0, PAGE);
	MPI_Win_allocate_shared(PAGE, 8, MPI_INFO_NULL, comm, &value, &shared);
	MPI_Comm_create_errhandler(comm_error, &errhandler);
	MPI_Win_create_errhandler(win_error, &win_errhandler);
	MPI_File_create_errhandler(file_error, &file_errhandler);
	MPI_File_set_errhandler(MPI_FILE_NULL,
				MPI_ERRORS_ARE_FATAL); /* so that an unexpected error of a file call ends the program,
				                        * as with communicators and windows */
	const char *directory = getenv("TMPDIR");
	snprintf(file_name, sizeof file_name, "%s/census.%ld", directory != NULL ? directory : "/tmp", (long)getpid());
	MPI_Bcast(file_name, sizeof file_name, MPI_CHAR, 0, comm);
	snprintf(other_name, sizeof other_name, "%s.too", file_name);
	MPI_File_open(comm, file_name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
	if (rank == 0)
		MPI_File_write_at(file, 0, a, MEBIBYTE, MPI_BYTE, MPI_STATUS_IGNORE);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_keyval, NULL);
	MPI_Comm_create_keyval(copied, deleted, &called_keyval, NULL);
	MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_keyval, NULL);
	MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &win_keyval, NULL);
	MPI_Comm_set_attr(comm, comm_keyval, a);
	MPI_Type_set_attr(vector, type_keyval, a);
	MPI_Win_set_attr(win, win_keyval, a);
	MPI_Comm_set_name(comm, "census");
	MPI_Type_set_name(vector, "census");
	MPI_Win_set_name(win, "census");
	MPI_Add_error_class(&added_class);
	MPI_Add_error_code(added_class, &added_code);
	MPI_Add_error_string(added_code, "census");
	MPI_Barrier(comm);
}

static void finish(void) {
	for (int i = 0; i < 2; i++) {
		MPI_Cancel(&pending[i]);
		MPI_Wait(&pending[i], MPI_STATUS_IGNORE);
	}
	MPI_File_close(&file);
	MPI_Win_free(&win);
	MPI_Win_free(&shared);
	if (size == 2)
		MPI_Win_free(&dynamic);
}

static const struct program census = {
	"census", measurements, sizeof measurements / sizeof *measurements, close_current, NULL, NULL, 0};

/* Returns the number of lines that have been written to the file since the previous call. */
static long lines(FILE *f) {
	long found = 0;
	clearerr(f);
	for (int c; (c = getc(f)) != EOF;)
		found += c == '\n';
	return found;
}

/* Prints the number of calls from C into Go in a loop of each row. A first iteration before the loop, which may do
 * one-time work, is not counted. */
static void calls(int names, char **name) {
	enum { LOOPS = 8 };
	char path[] = "/tmp/census.XXXXXX";
	int fd = mkstemp(path), old = dup(2);
	FILE *shown = fopen(path, "r");
	unlink(path);
	for (int i = 0; i < census.count; i++) {
		const struct measurement *m = &measurements[i];
		int asked = names == 0 && ends[i].ranks == size;
		for (int k = 0; k < names; k++)
			asked = asked || strcmp(name[k], m->name) == 0;
		if (!asked)
			continue;
		current = m;
		if (m->open != NULL)
			m->open();
		if (rank == 0 || !(m->how & ORIGIN)) {
			m->body(1);
			dup2(fd, 2);
			lines(shown);
			m->body(LOOPS);
			if (rank == 0)
				printf("%s %.2f\n", m->name, (double)lines(shown) / LOOPS), fflush(stdout);
			dup2(old, 2);
		}
		MPI_Barrier(MPI_COMM_WORLD);
		close_current();
	}
	fclose(shown);
}

int main(int argc, char **argv) {
	loop_seconds = 0.002, budget = 0.5; /* short, because there are many rows */
	if (argc < 2 || strcmp(argv[1], "--calls") != 0)
		return measure(&census, argc, argv, begin, finish);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	begin();
	calls(argc - 2, argv + 2);
	finish();
	MPI_Finalize();
	return 0;
}
