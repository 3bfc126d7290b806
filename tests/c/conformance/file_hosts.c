/* Proves: MPI_File_open for writing fails at all ranks if the nodes have opened different files of one name, as with a
 * directory that each host has. Nothing is created then. With MPI_MODE_RDONLY each node may have its own copy. The
 * program defines fstat, and changes the inode number at the ranks of all nodes but the first. MPI-5.0 14.2.1.
 *
 * np: 2 3
 * nodes: 2
 * timeout: 60
 * ref: none (MPICH 4.0 does not check this)
 */
#define _GNU_SOURCE
#include "../files.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static int is_other_host; /* this rank sees other files than rank 0 */

int fstat(int fd, struct stat *s) {
	int rc = (int)syscall(SYS_newfstatat, fd, "", s, AT_EMPTY_PATH);
	s->st_ino += (ino_t)is_other_host;
	return rc;
}

static const char *name;

static int try_open(int amode) {
	MPI_File f = MPI_FILE_NULL;
	int rc = MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &f), class;
	MPI_Error_class(rc, &class);
	CHECK((rc == MPI_SUCCESS) == (f != MPI_FILE_NULL), "amode %#x: class %d", amode, class);
	if (rc == MPI_SUCCESS)
		CHECK_OK(MPI_File_close(&f));
	return class;
}

int main(int argc, char **argv) {
	MPI_Comm node;
	int first;
	check_begin(&argc, &argv);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	first = check_rank;
	MPI_Bcast(&first, 1, MPI_INT, 0, node);
	MPI_Comm_free(&node);
	int nodes = first != 0; /* 1 if there are several nodes */
	MPI_Allreduce(MPI_IN_PLACE, &nodes, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	const int refused = nodes ? MPI_ERR_NOT_SAME : MPI_SUCCESS;
	name = file_name("hosts");

	is_other_host = first != 0;
	CHECK(try_open(MPI_MODE_CREATE | MPI_MODE_RDWR) == refused, "a new file");
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK((access(name, F_OK) != 0) == nodes, "a file that MPI_File_open created after an error exists");
	MPI_Barrier(MPI_COMM_WORLD);

	is_other_host = 0;
	CHECK(try_open(MPI_MODE_CREATE | MPI_MODE_WRONLY) == MPI_SUCCESS, "the same file");
	is_other_host = first != 0;
	CHECK(try_open(MPI_MODE_WRONLY) == refused, "an existing file");
	CHECK(try_open(MPI_MODE_RDONLY) == MPI_SUCCESS, "copies");
	is_other_host = 0;
	CHECK(try_open(MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE) == MPI_SUCCESS, "the same file again");
	return check_end();
}
