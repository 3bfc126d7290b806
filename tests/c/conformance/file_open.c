/* Proves: MPI_File_open with legal and illegal access modes, MPI_File_close and MPI_File_delete return the right
 * results, error classes and handles. They create and delete the right files. MPI-5.0 14.2.1 to 14.2.3, 14.2.7.
 *
 * np: 1 3
 * nodes: 2
 * timeout: 60
 * ref: mpich
 */
#include "../files.h"
#include <sys/stat.h>

static char name[512];

static int exists(void) {
	struct stat s;
	MPI_Barrier(MPI_COMM_WORLD);
	int found = stat(name, &s) == 0;
	MPI_Barrier(MPI_COMM_WORLD);
	return found;
}

static int try_open(int amode, MPI_File *f) {
	*f = MPI_FILE_NULL;
	return MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, f);
}

static void refused(int amode, int class) {
	MPI_File f;
	int rc = try_open(amode, &f);
	CHECK(check_class(rc) == class, "amode %#x gave class %d (%s), not %d", amode, check_class(rc),
	      check_string(rc), class);
	CHECK(f == MPI_FILE_NULL, "amode %#x: a handle in spite of the error", amode);
}

static void delete (void) {
	MPI_Barrier(MPI_COMM_WORLD);
	if (check_rank == 0)
		CHECK_OK(MPI_File_delete(name, MPI_INFO_NULL));
	MPI_Barrier(MPI_COMM_WORLD);
}

static void modes(void) {
	MPI_File f;
	MPI_Offset size = -1, at = -1;
	int amode = -1, data = 7;
	refused(MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_ERR_AMODE);
	refused(MPI_MODE_RDONLY | MPI_MODE_EXCL, MPI_ERR_AMODE);
	refused(MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL, MPI_ERR_AMODE);
	refused(MPI_MODE_RDWR | MPI_MODE_WRONLY, MPI_ERR_AMODE);
	refused(MPI_MODE_CREATE, MPI_ERR_AMODE);
	refused(MPI_MODE_RDONLY, MPI_ERR_NO_SUCH_FILE);
	refused(MPI_MODE_RDWR, MPI_ERR_NO_SUCH_FILE);
	CHECK(!exists(), "a refused MPI_File_open left a file");

	CHECK_OK(try_open(MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL, &f));
	CHECK_OK(MPI_File_get_amode(f, &amode));
	CHECK(amode == (MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL), "amode is %#x", amode);
	CHECK_OK(MPI_File_get_size(f, &size));
	CHECK(size == 0, "a new file has %lld bytes", (long long)size);
	MPI_Barrier(MPI_COMM_WORLD);
	if (check_rank == 0)
		CHECK_OK(MPI_File_write_at(f, 0, &data, 1, MPI_INT, MPI_STATUS_IGNORE));
	CHECK_CLASS(MPI_File_read_at(f, 0, &data, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
	CHECK_OK(MPI_File_close(&f));
	CHECK(f == MPI_FILE_NULL, "MPI_File_close left the handle");
	CHECK(exists(), "the file does not exist after MPI_File_close");
	refused(MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_ERR_FILE_EXISTS);
	CHECK(exists(), "MPI_MODE_EXCL removed an existing file");

	CHECK_OK(try_open(MPI_MODE_RDONLY, &f));
	CHECK_CLASS(MPI_File_write_at(f, 0, &data, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
	CHECK_OK(MPI_File_read_at(f, 0, &data, 1, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(data == 7, "the file has %d, not 7", data);
	CHECK_OK(MPI_File_close(&f));

	CHECK_OK(try_open(MPI_MODE_RDWR | MPI_MODE_APPEND, &f));
	CHECK_OK(MPI_File_get_position(f, &at));
	CHECK(at == (MPI_Offset)sizeof(int), "append: the individual pointer is at %lld", (long long)at);
	CHECK_OK(MPI_File_get_position_shared(f, &at));
	CHECK(at == (MPI_Offset)sizeof(int), "append: the shared pointer is at %lld", (long long)at);
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK_OK(MPI_File_close(&f));

	CHECK_OK(try_open(MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, &f));
	CHECK(exists(), "the file was deleted before MPI_File_close");
	CHECK_OK(MPI_File_close(&f));
	CHECK(!exists(), "MPI_MODE_DELETE_ON_CLOSE left the file");

	CHECK_OK(try_open(MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL, &f));
	data = check_rank;
	CHECK_OK(MPI_File_write_ordered(f, &data, 1, MPI_INT, MPI_STATUS_IGNORE));
	CHECK_CLASS(MPI_File_write_at(f, 0, &data, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION);
	CHECK_CLASS(MPI_File_write(f, &data, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION);
	CHECK_CLASS(MPI_File_seek(f, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
	CHECK_OK(MPI_File_close(&f));
	delete ();
	CHECK_CLASS(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Checks that all ranks get an error if rank 0 passes another access mode than the other ranks, and that no file is
 * left. */
static void one_fails(void) {
	MPI_File f = MPI_FILE_NULL;
	int rc = MPI_File_open(MPI_COMM_WORLD, name, check_rank == 0 ? MPI_MODE_RDWR | MPI_MODE_CREATE : MPI_MODE_RDWR,
			       MPI_INFO_NULL, &f);
	if (check_size > 1) {
		CHECK(check_class(rc) == MPI_ERR_NOT_SAME || check_class(rc) == MPI_ERR_AMODE,
		      "different modes gave class %d (%s)", check_class(rc), check_string(rc));
		CHECK(!exists(), "MPI_File_open with different modes left a file");
	} else {
		CHECK_OK(MPI_File_close(&f));
		delete ();
	}
}

/* Opens a file on MPI_COMM_SELF at each rank, while the other ranks have other files open. */
static void alone(void) {
	MPI_File f;
	MPI_Group files, own;
	int result = -1;
	char mine[600];
	snprintf(mine, sizeof mine, "%s.%d", name, check_rank);
	CHECK_OK(MPI_File_open(MPI_COMM_SELF, mine, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
			       MPI_INFO_NULL, &f));
	CHECK_OK(MPI_File_write(f, &check_rank, 1, MPI_INT, MPI_STATUS_IGNORE));
	CHECK_OK(MPI_File_get_group(f, &files));
	MPI_Comm_group(MPI_COMM_SELF, &own);
	MPI_Group_compare(files, own, &result);
	CHECK(result == MPI_IDENT, "the group of the file is another");
	MPI_Group_free(&files);
	MPI_Group_free(&own);
	CHECK_OK(MPI_File_close(&f));
}

/* Opens and deletes a file by a name with the file system prefix "ufs:". */
static void prefix(void) {
	MPI_File f = MPI_FILE_NULL;
	char with[600];
	snprintf(with, sizeof with, "ufs:%s", name);
	CHECK_OK(MPI_File_open(MPI_COMM_WORLD, with, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f));
	CHECK(exists(), "the prefix became a part of the name");
	CHECK_OK(MPI_File_close(&f));
	MPI_Barrier(MPI_COMM_WORLD);
	if (check_rank == 0)
		CHECK_OK(MPI_File_delete(with, MPI_INFO_NULL));
	CHECK(!exists(), "MPI_File_delete did not accept the prefix");
}

/* Deletes the file at each rank before the ranks open a new file. The last rank calls MPI_File_delete late, and must
 * not delete the new file. */
static void late_delete(void) {
	MPI_File f;
	MPI_Barrier(MPI_COMM_WORLD);
	if (check_rank == check_size - 1)
		usleep(100 * 1000);
	MPI_File_delete(name, MPI_INFO_NULL);
	CHECK_OK(try_open(MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE, &f));
	CHECK(exists(), "a rank that began MPI_File_open late deleted the new file");
	CHECK_OK(MPI_File_close(&f));
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	strcpy(name, file_name("open"));
	modes();
	one_fails();
	alone();
	prefix();
	late_delete();
	for (int i = 0; i < 200; i++) {
		MPI_File f;
		CHECK_OK(try_open(MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, &f));
		CHECK_OK(MPI_File_close(&f));
	}
	return check_end();
}
