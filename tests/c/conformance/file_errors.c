/* Proves: errors call the error handlers of files, wrong arguments return the right error classes, and a refused
 * collective call fails at all ranks. MPI-5.0 9.3.3, 14.7.
 *
 * np: 1 3
 * timeout: 60
 * ref: none (MPICH 4.0 hangs where one rank of a collective call has a wrong argument)
 */
#include "../files.h"

static int called;
static MPI_File called_on;

static void handler(MPI_File *f, int *code, ...) {
	(void)code;
	called++;
	called_on = *f;
}

static void handlers(void) {
	MPI_Errhandler h, found;
	MPI_File f = MPI_FILE_NULL;
	int data = 0;
	CHECK_OK(MPI_File_get_errhandler(MPI_FILE_NULL, &found));
	CHECK(found == MPI_ERRORS_RETURN, "the default error handler is not MPI_ERRORS_RETURN");
	CHECK_OK(MPI_File_create_errhandler(handler, &h));
	CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, h));
	CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "/no/such/directory/f", MPI_MODE_RDONLY, MPI_INFO_NULL, &f),
		    MPI_ERR_NO_SUCH_FILE);
	CHECK(called == 1 && called_on == MPI_FILE_NULL, "the handler of MPI_FILE_NULL was called %d times", called);
	f = file_create("errors");
	/* the file has inherited the handler of MPI_FILE_NULL */
	CHECK_CLASS(MPI_File_read_at(f, -1, &data, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
	CHECK(called == 2 && called_on == f, "the handler of the file was called %d times", called - 1);
	CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
	CHECK_OK(MPI_File_call_errhandler(f, MPI_ERR_IO));
	CHECK(called == 3, "MPI_File_call_errhandler did not call the handler");
	CHECK_OK(MPI_File_set_errhandler(f, MPI_ERRORS_RETURN));
	CHECK_CLASS(MPI_File_read_at(f, -1, &data, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
	CHECK(called == 3, "the former handler was called");
	CHECK_OK(MPI_Errhandler_free(&h));
	CHECK_OK(MPI_File_close(&f));
}

static void arguments(void) {
	MPI_File f = file_create("arguments"), closed = f, null = MPI_FILE_NULL;
	MPI_Datatype t;
	MPI_Request q;
	MPI_Offset at;
	int data[4] = {0};
	CHECK_CLASS(MPI_File_write_at(f, 0, data, -1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_File_write_at(f, 0, data, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_File_write_at(f, 0, NULL, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_File_write_at(f, -5, data, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
	MPI_Type_contiguous(2, MPI_INT, &t); /* not committed */
	CHECK_CLASS(MPI_File_write_at(f, 0, data, 1, t, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_File_set_view(f, 0, MPI_INT, t, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
	MPI_Type_free(&t);
	CHECK_CLASS(MPI_File_set_view(f, -7, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_File_set_view(f, 0, MPI_INT, MPI_BYTE, "native", MPI_INFO_NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "unknown", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP);
	MPI_Type_vector(2, 1, -3, MPI_INT, &t); /* decreasing displacements */
	MPI_Type_commit(&t);
	CHECK_CLASS(MPI_File_set_view(f, 0, MPI_INT, t, "native", MPI_INFO_NULL), MPI_ERR_ARG);
	MPI_Type_free(&t);
	MPI_Type_create_hvector(2, 2, 4, MPI_INT, &t); /* overlapping blocks */
	MPI_Type_commit(&t);
	CHECK_CLASS(MPI_File_set_view(f, 0, MPI_INT, t, "native", MPI_INFO_NULL), MPI_ERR_ARG);
	MPI_Type_free(&t);
	CHECK_OK(MPI_File_set_view(f, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
	CHECK_CLASS(MPI_File_write_at(f, 0, data, 3, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_IO); /* 3 ints: 1.5 etypes */
	CHECK_CLASS(MPI_File_set_size(f, -1), MPI_ERR_ARG);
	/* a wrong argument at one rank fails the call at all ranks */
	CHECK_CLASS(MPI_File_write_all(f, data, check_rank == 0 ? -1 : 2, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_File_set_size(f, check_rank == check_size - 1 ? -1 : 100), MPI_ERR_ARG);
	if (check_size > 1)
		CHECK_CLASS(MPI_File_set_size(f, 100 + check_rank), MPI_ERR_NOT_SAME);
	/* only one split collective may be active on a file */
	CHECK_OK(MPI_File_write_all_begin(f, data, 2, MPI_INT));
	CHECK_CLASS(MPI_File_write_all_begin(f, data, 2, MPI_INT), MPI_ERR_OTHER);
	CHECK_CLASS(MPI_File_read_all_end(f, data, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
	CHECK_OK(MPI_File_write_all_end(f, data, MPI_STATUS_IGNORE));
	CHECK_CLASS(MPI_File_write_all_end(f, data, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
	CHECK_CLASS(MPI_File_iread_at(f, 0, data, -2, MPI_INT, &q), MPI_ERR_COUNT);
	/* the request of a collective access cannot be cancelled */
	CHECK_OK(MPI_File_iwrite_all(f, data, 2, MPI_INT, &q));
	CHECK_CLASS(MPI_Cancel(&q), MPI_ERR_REQUEST);
	CHECK_OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
	CHECK_OK(MPI_File_close(&f));
	CHECK_CLASS(MPI_File_get_position(closed, &at), MPI_ERR_FILE);
	CHECK_CLASS(MPI_File_close(&closed), MPI_ERR_FILE);
	CHECK_CLASS(MPI_File_close(&null), MPI_ERR_FILE);
	CHECK_CLASS(MPI_File_sync(MPI_FILE_NULL), MPI_ERR_FILE);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	handlers();
	arguments();
	return check_end();
}
