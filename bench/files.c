/* Times accesses to one file, as loop.h describes. All ranks access the file concurrently. It is in the directory
 * TMPDIR, and its pages are in memory, because a part of the warm-up writes it. BYTES is the size of a contiguous
 * access, or the size of each block of a strided one. The unit is one call of one rank.
 *
 *     write, read                  explicit offset; each rank has a region of its own
 *     write_all, read_all          the same collectively
 *     iwrite, iread                nonblocking, and its completion
 *     write_split                  split collective
 *     write_blocks, read_blocks    1 MiB per rank in blocks; the blocks of the ranks alternate in the file
 *     write_grid, read_grid        collective; each rank has a part of a 3D grid, in pieces of BYTES
 *     write_shared, write_ordered  the shared file pointer
 *     open                         opens and closes an existing file
 *     overlap                      hidden percentage of a nonblocking write's time */
#include "loop.h"

static char name[512];
static MPI_File file = MPI_FILE_NULL;
static MPI_Datatype filetype = MPI_DATATYPE_NULL;
static char *data;
static long length; /* bytes of an access */

/* Ends the program if a call has failed. */
static void must(int rc) {
	if (rc != MPI_SUCCESS) {
		char text[MPI_MAX_ERROR_STRING];
		int n;
		MPI_Error_string(rc, text, &n);
		fprintf(stderr, "files: %s\n", text);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

static void open_file(void) {
	length = bytes;
	data = pages(length);
	must(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
	must(MPI_File_write_at(file, rank * length, data, length, MPI_BYTE, MPI_STATUS_IGNORE));
	MPI_Barrier(MPI_COMM_WORLD);
}

static void close_file(void) {
	must(MPI_File_close(&file));
	if (filetype != MPI_DATATYPE_NULL)
		MPI_Type_free(&filetype);
	free(data);
}

/* Opens the file with a view, and writes what the view shows. */
static void open_view(void) {
	open_file();
	free(data);
	MPI_Type_commit(&filetype);
	int size_of_view;
	MPI_Type_size(filetype, &size_of_view);
	length = size_of_view;
	data = pages(length);
	must(MPI_File_set_view(file, 0, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
	must(MPI_File_write_at_all(file, 0, data, length, MPI_BYTE, MPI_STATUS_IGNORE));
}

static void open_blocks(void) {
	enum { REGION = 1 << 20 };
	int blocks = REGION / bytes, sizes[] = {blocks, size, (int)bytes}, parts[] = {blocks, 1, (int)bytes},
	    starts[] = {0, rank, 0};
	MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_BYTE, &filetype);
	open_view();
}

/* Distributes a grid of three dimensions over the ranks, in the last two dimensions. With 2 ranks, each rank has
 * 64 x 64 pieces of BYTES. */
static void open_grid(void) {
	enum { SIDE = 64 };
	int n[2] = {0, 0};
	MPI_Dims_create(size, 2, n);
	int sizes[] = {SIDE, SIDE, n[0] * (int)bytes}, parts[] = {SIDE, SIDE / n[1], (int)bytes},
	    starts[] = {0, rank / n[0] * (SIDE / n[1]), rank % n[0] * (int)bytes};
	MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_BYTE, &filetype);
	open_view();
}

/* Defines the body of a measurement: it calls `function` n times with the explicit file offset `offset`. */
#define AT_OFFSET(name, function, offset)                                                        \
	static void name(long n) {                                                               \
		for (long i = 0; i < n; i++)                                                     \
			must(function(file, offset, data, length, MPI_BYTE, MPI_STATUS_IGNORE)); \
	}
AT_OFFSET(write_at, MPI_File_write_at, rank *length)
AT_OFFSET(read_at, MPI_File_read_at, rank *length)
AT_OFFSET(write_at_all, MPI_File_write_at_all, rank *length)
AT_OFFSET(read_at_all, MPI_File_read_at_all, rank *length)
AT_OFFSET(write_view, MPI_File_write_at, 0)
AT_OFFSET(read_view, MPI_File_read_at, 0)
AT_OFFSET(write_view_all, MPI_File_write_at_all, 0)
AT_OFFSET(read_view_all, MPI_File_read_at_all, 0)

/* Defines a body that starts and completes a nonblocking access n times. */
#define NONBLOCKING(name, function)                                                           \
	static void name(long n) {                                                            \
		for (long i = 0; i < n; i++) {                                                \
			MPI_Request request;                                                  \
			must(function(file, rank *length, data, length, MPI_BYTE, &request)); \
			must(MPI_Wait(&request, MPI_STATUS_IGNORE));                          \
		}                                                                             \
	}
NONBLOCKING(iwrite_at, MPI_File_iwrite_at)
NONBLOCKING(iread_at, MPI_File_iread_at)
static void write_split(long n) {
	for (long i = 0; i < n; i++) {
		must(MPI_File_write_at_all_begin(file, rank * length, data, length, MPI_BYTE));
		must(MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE));
	}
}

/* Keeps the file small: the shared pointer begins at 0 in each loop. */
static void rewind_shared(const struct measurement *m) {
	if (strstr(m->name, "shared") != NULL || strstr(m->name, "ordered") != NULL)
		must(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
}
static void write_shared(long n) {
	for (long i = 0; i < n; i++)
		must(MPI_File_write_shared(file, data, length, MPI_BYTE, MPI_STATUS_IGNORE));
}
static void write_ordered(long n) {
	for (long i = 0; i < n; i++)
		must(MPI_File_write_ordered(file, data, length, MPI_BYTE, MPI_STATUS_IGNORE));
}

static void open_close(long n) {
	for (long i = 0; i < n; i++) {
		MPI_File f;
		must(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &f));
		must(MPI_File_close(&f));
	}
}

/* Measures a nonblocking write alone, and then a write during which the rank computes for as long as the first one
 * took. */
static void overlap(long n) {
	double alone = 0, both = 0;
	for (long i = 0; i < n; i++) {
		MPI_Request request;
		double t = now(), once;
		must(MPI_File_iwrite_at(file, rank * length, data, length, MPI_BYTE, &request));
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		once = now() - t;
		alone += once;
		t = now();
		must(MPI_File_iwrite_at(file, rank * length, data, length, MPI_BYTE, &request));
		compute(now() + once);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		both += now() - t;
	}
	double hidden = 100 * (2 * alone - both) / alone;
	inside = hidden > 0 ? hidden : 0;
}

static const struct measurement measurements[] = {
	{"write", open_file, write_at, 0, 0, 0},
	{"read", open_file, read_at, 0, 0, 0},
	{"write_all", open_file, write_at_all, 0, 0, 0},
	{"read_all", open_file, read_at_all, 0, 0, 0},
	{"iwrite", open_file, iwrite_at, 0, 0, 0},
	{"iread", open_file, iread_at, 0, 0, 0},
	{"write_split", open_file, write_split, 0, 0, 0},
	{"write_blocks", open_blocks, write_view, 0, 0, 0},
	{"read_blocks", open_blocks, read_view, 0, 0, 0},
	{"write_grid", open_grid, write_view_all, 0, 0, 0},
	{"read_grid", open_grid, read_view_all, 0, 0, 0},
	{"write_shared", open_file, write_shared, 0, 0, 0},
	{"write_ordered", open_file, write_ordered, 0, 0, 0},
	{"open", open_file, open_close, 0, 0, 0},
	{"overlap", open_file, overlap, APART | PERCENT | BRIEF, 0, 1000},
};

static void choose_name(void) {
	if (rank == 0) {
		const char *directory = getenv("TMPDIR");
		snprintf(name, sizeof name, "%s/gompirma-bench-%ld", directory != NULL ? directory : "/tmp",
			 (long)getpid());
	}
	MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void delete_file(void) {
	if (rank == 0)
		MPI_File_delete(name, MPI_INFO_NULL);
}

int main(int argc, char **argv) {
	static const struct program files = {
		"files", measurements, sizeof measurements / sizeof *measurements, close_file, rewind_shared, NULL, 0};
	return measure(&files, argc, argv, choose_name, delete_file);
}
