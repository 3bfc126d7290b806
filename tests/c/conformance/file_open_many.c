/* Opens and closes many files. The process must then have as many file descriptors as before, and at most little more
 * memory. Some of the files have a shared file pointer, a view, a nonblocking access and a collective strided write.
 * Also tests that a child process of fork() does not have a file open after it has called exec, and that a write that
 * is in progress during fork() loses no data. The environment variable FILE_OPENS gives the number of files.
 * MPI-5.0 14.2.
 *
 * np: 1 2
 * nodes: 2
 * timeout: 120
 * ref: mpich
 */
#include "../files.h"
#include <dirent.h>
#include <sys/wait.h>

enum { N = 512 };

static MPI_Datatype blocks;
static int data[N];

/* Opens a file, accesses it, and closes it. Every 16th file is accessed in all ways. */
static void use_file(const char *name, int i) {
	MPI_File f;
	MPI_Request request;
	CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	CHECK_OK(MPI_File_write_at(f, check_rank * 4, data, 4, MPI_BYTE, MPI_STATUS_IGNORE));
	if (i % 16 == 0) {
		CHECK_OK(MPI_File_write_shared(f, data, 1, MPI_INT, MPI_STATUS_IGNORE));
		CHECK_OK(MPI_File_set_view(f, check_rank * (int)sizeof(int), MPI_INT, blocks, "native", MPI_INFO_NULL));
		CHECK_OK(MPI_File_iwrite_all(f, data, N, MPI_INT, &request));
		CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	}
	CHECK_OK(MPI_File_close(&f));
	CHECK(f == MPI_FILE_NULL, "MPI_File_close did not set the handle to MPI_FILE_NULL");
}

static int open_descriptors(void) {
	int n = 0;
	DIR *d = opendir("/proc/self/fd");
	while (d != NULL && readdir(d) != NULL)
		n++;
	if (d != NULL)
		closedir(d);
	return n;
}

/* Returns the resident memory of this process in KiB. */
static long resident(void) {
	char line[200];
	long kib = -1;
	FILE *f = fopen("/proc/self/status", "r");
	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		sscanf(line, "VmRSS: %ld", &kib);
	if (f != NULL)
		fclose(f);
	return kib;
}

/* Forks a child while a file is open and written, and counts the child's descriptors of the file after exec. */
static void fork_with_open_file(const char *name) {
	MPI_File f;
	MPI_Request request;
	static char large[4 << 20];
	char command[700];
	memset(large, 1, sizeof large);
	CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	CHECK_OK(MPI_File_iwrite_at(f, (MPI_Offset)check_rank * (MPI_Offset)sizeof large, large, sizeof large, MPI_BYTE,
				    &request));
	snprintf(command, sizeof command, "! ls -l /proc/self/fd | grep -q %s", name);
	pid_t child = fork();
	if (child == 0) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(2);
	}
	int status = -1;
#ifdef MPICH_VERSION /* MPICH opens files without O_CLOEXEC */
	CHECK(child > 0 && waitpid(child, &status, 0) == child, "there is no child");
#else
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0,
	      "the child has the file open after exec: status %#x", (unsigned)status);
#endif
	CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	memset(large, 0, sizeof large);
	CHECK_OK(MPI_File_read_at(f, (MPI_Offset)check_rank * (MPI_Offset)sizeof large, large, sizeof large, MPI_BYTE,
				  MPI_STATUS_IGNORE));
	CHECK(memchr(large, 0, sizeof large) == NULL, "a byte written during fork() is lost");
	CHECK_OK(MPI_File_close(&f));
}

int main(int argc, char **argv) {
	static char name[600];
	check_begin(&argc, &argv);
	const char *opens = getenv("FILE_OPENS");
	/* With one rank, the garbage collector of gompirma runs during the warm-up. With more ranks it may run later,
	 * and the limit contains its 4 MiB. */
	int n = opens != NULL ? atoi(opens) : check_size == 1 ? 60000 : 600, warm_ups = check_size == 1 ? 20000 : 100;
	long limit = check_size == 1 ? 1536 : 6 << 10; /* KiB */
#ifdef MPICH_VERSION
	/* MPICH keeps some memory of each file */
	limit = 6 << 10;
#endif
	strcpy(name, file_name("open_many"));
	MPI_Type_vector(N, 1, check_size, MPI_INT, &blocks);
	MPI_Type_commit(&blocks);
	fork_with_open_file(name);
	for (int i = 0; i < warm_ups; i++)
		use_file(name, i);
	int descriptors = open_descriptors();
	long memory = resident();
	for (int i = 0; i < n; i++)
		use_file(name, i);
	CHECK(open_descriptors() == descriptors, "there are %d descriptors, not %d", open_descriptors(), descriptors);
	long growth = resident() - memory;
	if (opens != NULL)
		printf("rank %d: %d files, %ld KiB more than %ld KiB\n", check_rank, n, growth, memory);
	CHECK(growth < limit, "%d files take %ld KiB of memory", n, growth);
	MPI_Type_free(&blocks);
	MPI_Barrier(MPI_COMM_WORLD);
	if (check_rank == 0)
		CHECK_OK(MPI_File_delete(name, MPI_INFO_NULL));
	return check_end();
}
