/* Proves: file accesses at the limits end with the right data or an error, and never write elsewhere. The limits are
 * offsets beyond the maximum size, views with overlapping blocks or negative extents, and a limit on the size of files.
 * Other cases: a datatype freed early, a changed directory, links, pipes, arguments that are invalid at one rank, and
 * hints beyond their limits. MPI-5.0 14.
 *
 * np: 1 3
 * nodes: 2
 * timeout: 60
 * ref: none (MPICH 4.0 accepts offsets beyond the maximum, and hangs if one rank has invalid arguments)
 */
#include "../files.h"

#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>

static int bytes_at_begin_are(MPI_File f, char value) {
	char found[8] = {0};
	CHECK_OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	CHECK_OK(MPI_File_read_at(f, 0, found, 8, MPI_BYTE, MPI_STATUS_IGNORE));
	for (int i = 0; i < 8; i++)
		if (found[i] != value)
			return 0;
	return 1;
}

/* Checks that accesses beyond the maximum offset change neither the file nor a file pointer. */
static void far_offsets(void) {
	MPI_File f = file_create("far");
	MPI_Datatype wide, gaps;
	MPI_Offset at = -1;
	char start[8];
	double d = 1;
	int i = 1;
	memset(start, 7, sizeof start);
	if (check_rank == 0)
		CHECK_OK(MPI_File_write_at(f, 0, start, 8, MPI_BYTE, MPI_STATUS_IGNORE));
	CHECK_OK(MPI_File_set_view(f, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
	CHECK_OK(MPI_File_seek(f, (MPI_Offset)1 << 61, MPI_SEEK_SET));
	CHECK_CLASS(MPI_File_write(f, &d, 1, MPI_DOUBLE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
	CHECK_OK(MPI_File_get_position(f, &at));
	CHECK(at == (MPI_Offset)1 << 61, "the pointer moved to %lld", (long long)at);
	CHECK_CLASS(MPI_File_get_byte_offset(f, (MPI_Offset)1 << 61, &at), MPI_ERR_ARG);
	CHECK_OK(MPI_File_seek_shared(f, INT64_MAX, MPI_SEEK_SET));
	CHECK_CLASS(MPI_File_write_shared(f, &d, 1, MPI_DOUBLE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
	CHECK_CLASS(MPI_File_write_ordered(f, &d, 1, MPI_DOUBLE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
	MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)1 << 32, &wide);
	MPI_Type_commit(&wide);
	CHECK_OK(MPI_File_set_view(f, 0, MPI_INT, wide, "native", MPI_INFO_NULL));
	CHECK_CLASS(MPI_File_write_at(f, (MPI_Offset)1 << 32, &i, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
	CHECK_CLASS(MPI_File_write_at_all(f, (MPI_Offset)1 << 32, &i, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
	MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
	MPI_Type_commit(&gaps);
	CHECK_OK(MPI_File_set_view(f, 0, MPI_INT, gaps, "native", MPI_INFO_NULL));
	CHECK_CLASS(MPI_File_read_at(f, INT64_MAX / 4 - 1, &i, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
	CHECK_OK(MPI_File_seek(f, INT64_MAX, MPI_SEEK_SET));
	CHECK_CLASS(MPI_File_read(f, &i, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
	CHECK(bytes_at_begin_are(f, 7), "an access beyond the maximum offset changed the begin of the file");
	MPI_Offset size = 0;
	CHECK_OK(MPI_File_get_size(f, &size));
	CHECK(size == 8, "the file has %lld bytes", (long long)size);
	MPI_Type_free(&wide), MPI_Type_free(&gaps);
	CHECK_OK(MPI_File_close(&f));
}

/* Reads through a view whose second block is inside the first one. */
static void overlapping(void) {
	char name[600], data[110], back[110] = {0};
	MPI_File f;
	MPI_Datatype type, backwards;
	for (int i = 0; i < 110; i++)
		data[i] = (char)(i + 1);
	strcpy(name, file_name("overlap"));
	CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f));
	if (check_rank == 0)
		CHECK_OK(MPI_File_write_at(f, 0, data, 110, MPI_BYTE, MPI_STATUS_IGNORE));
	MPI_Type_create_resized(MPI_INT, 0, -8, &backwards);
	MPI_Type_commit(&backwards);
	CHECK_CLASS(MPI_File_set_view(f, 0, MPI_INT, backwards, "native", MPI_INFO_NULL), MPI_ERR_ARG);
	CHECK_OK(MPI_File_close(&f));
	CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f));
	MPI_Type_create_hindexed(2, (int[]){100, 10}, (MPI_Aint[]){0, 10}, MPI_BYTE, &type);
	MPI_Type_commit(&type);
	CHECK_OK(MPI_File_set_view(f, 0, MPI_BYTE, type, "native", MPI_INFO_NULL));
	CHECK_OK(MPI_File_read_at(f, 0, back, 110, MPI_BYTE, MPI_STATUS_IGNORE));
	for (int i = 0; i < 110; i++)
		CHECK(back[i] == data[i < 100 ? i : i - 90], "byte %d is %d", i, back[i]);
	MPI_Type_free(&type), MPI_Type_free(&backwards);
	CHECK_OK(MPI_File_close(&f));
}

/* Reads through a view with a long block and a short block inside it. The library reads ranges of several blocks into a
 * buffer, which is smaller than the long block. */
static void overlapping_long(void) {
	enum { LONG = 16 << 20, SHORT = 10 };
	char *data = malloc(LONG), *back = calloc(1, LONG + SHORT);
	MPI_File f = file_create("overlap_long");
	char name[600];
	MPI_Datatype type;
	strcpy(name, file_name("overlap_long"));
	for (int i = 0; i < LONG; i++)
		data[i] = (char)(i * 7 + i / 256);
	if (check_rank == 0)
		CHECK_OK(MPI_File_write_at(f, 0, data, LONG, MPI_BYTE, MPI_STATUS_IGNORE));
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_File reader;
	CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &reader));
	MPI_Type_create_hindexed(2, (int[]){LONG, SHORT}, (MPI_Aint[]){0, SHORT}, MPI_BYTE, &type);
	MPI_Type_commit(&type);
	CHECK_OK(MPI_File_set_view(reader, 0, MPI_BYTE, type, "native", MPI_INFO_NULL));
	CHECK_OK(MPI_File_read_at(reader, 0, back, LONG + SHORT, MPI_BYTE, MPI_STATUS_IGNORE));
	CHECK(memcmp(back, data, LONG) == 0, "the long block differs");
	CHECK(memcmp(back + LONG, data + SHORT, SHORT) == 0, "the short block differs");
	MPI_Type_free(&type);
	CHECK_OK(MPI_File_close(&reader));
	CHECK_OK(MPI_File_close(&f));
	free(data), free(back);
}

/* Frees the datatype of each nonblocking access at once, while the access is queued. The accesses convert to
 * external32. */
static void freed_types(void) {
	enum { MANY = 100 };
	MPI_File f = file_create("freed");
	MPI_Request requests[MANY];
	static int data[MANY][4], back[MANY][2];
	CHECK_OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
	for (int i = 0; i < MANY; i++) {
		MPI_Datatype t;
		data[i][0] = i, data[i][2] = -i;
		MPI_Type_vector(2, 1, 2, MPI_INT, &t);
		MPI_Type_commit(&t);
		CHECK_OK(MPI_File_iwrite_at(f, 2 * (check_rank * MANY + i), data[i], 1, t, &requests[i]));
		MPI_Type_free(&t);
	}
	CHECK_OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
	CHECK_OK(MPI_File_read_at(f, 2 * check_rank * MANY, back, 2 * MANY, MPI_INT, MPI_STATUS_IGNORE));
	for (int i = 0; i < MANY; i++)
		CHECK(back[i][0] == i && back[i][1] == -i, "element %d: %d %d", i, back[i][0], back[i][1]);
	CHECK_OK(MPI_File_close(&f));
}

/* Calls collective functions with invalid arguments at the last rank. The other ranks get an error instead of waiting
 * for the last rank. */
static void one_is_wrong(void) {
	MPI_File f = file_create("wrong");
	MPI_Request request = MPI_REQUEST_NULL;
	int last = check_rank == check_size - 1, x = 0, rc;
	rc = MPI_File_iwrite_at_all(f, 0, &x, 1, MPI_INT, last ? NULL : &request);
	CHECK(check_class(rc) == (last ? MPI_ERR_ARG : MPI_SUCCESS), "class %d", check_class(rc));
	if (!last)
		CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_ARG);
	rc = MPI_File_write_all_begin(f, &x, last ? -1 : 1, MPI_INT);
	CHECK(check_class(rc) == (last ? MPI_ERR_COUNT : MPI_SUCCESS), "class %d", check_class(rc));
	MPI_File again = f;
	if (check_size > 1) {
		CHECK_CLASS(MPI_File_close(&again), MPI_ERR_OTHER);
		rc = MPI_File_write_all_end(f, &x, MPI_STATUS_IGNORE);
		CHECK(check_class(rc) == (last ? MPI_ERR_OTHER : MPI_ERR_COUNT), "class %d: %s", check_class(rc),
		      check_string(rc));
		if (!last)
			CHECK(strstr(check_string(rc), "MPI_File_write_all_end on file ") != NULL, "%s",
			      check_string(rc));
	}
	CHECK_OK(MPI_File_close(&f));
}

/* Opens a symbolic link, a pipe and a relative name at each rank alone, and exceeds the limit on the size of files.
 * MPI_File_close must delete the relative name although the program has changed its directory. */
static void alone(void) {
	char name[640], other[680], path[64];
	MPI_File f;
	struct rlimit limit, small;
	snprintf(name, sizeof name, "%s.%d", file_name("alone"), check_rank);
	snprintf(other, sizeof other, "%s.link", name);
	CHECK(symlink(name, other) == 0, "symlink");
	CHECK_OK(MPI_File_open(MPI_COMM_SELF, other, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f));
	getrlimit(RLIMIT_FSIZE, &limit);
	CHECK_OK(MPI_File_close(&f));
	small = limit, small.rlim_cur = 1 << 20;
	setrlimit(RLIMIT_FSIZE, &small);
	CHECK_OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	CHECK_CLASS(MPI_File_write_at(f, (1 << 20) - 1, "ab", 2, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_QUOTA);
	CHECK_CLASS(MPI_File_set_size(f, 2 << 20), MPI_ERR_QUOTA);
	CHECK_OK(MPI_File_write_at(f, (1 << 20) - 1, "a", 1, MPI_BYTE, MPI_STATUS_IGNORE));
	CHECK_OK(MPI_File_close(&f));
	setrlimit(RLIMIT_FSIZE, &limit);
	unlink(other), unlink(name);
	CHECK(mkfifo(name, 0600) == 0, "mkfifo");
	CHECK_CLASS(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_ERR_IO);
	unlink(name);
	CHECK(mkdir(name, 0700) == 0 && getcwd(other, sizeof other) != NULL && chdir(name) == 0, "chdir");
	snprintf(path, sizeof path, "relative");
	CHECK_OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
			       MPI_INFO_NULL, &f));
	CHECK(chdir(other) == 0, "chdir");
	CHECK_OK(MPI_File_close(&f));
	CHECK(rmdir(name) == 0, "the deleted file still exists");
}

/* Checks the values that MPI_File_get_info returns for hints: the given values, or those in force if gompirma does not
 * accept the given ones. */
static void hints(void) {
	const char *const given[][3] = {
		{"cb_nodes", "1000000", NULL},
		{"cb_buffer_size", "40000000", "16777216"},
		{"striping_unit", "6000", "4096"},
		{"romio_cb_write", "disable", "disable"},
		{"collective_buffering", NULL, "false"},
		{"cb_config_list", "*:1", "*:*"},
		{"filename", "x", file_name("hints")},
		{"nb_proc", "1000000", NULL},
		{"romio_cb_read", "enable", "enable"},
		{"romio_ds_read", "disable", "disable"},
		{"romio_ds_write", "enable", "enable"},
		{"romio_no_indep_rw", "true", "true"},
		{"ind_rd_buffer_size", "9000", "9000"},
		{"ind_wr_buffer_size", "8000", "8000"},
		{"striping_factor", "3", "3"},
		{"access_style", "read_once", "read_once"},
		{"file_perm", "640", "640"},
		{"chunked", "20,30", "20,30"},
		{"chunked_item", "8", "8"},
		{"chunked_size", "2,3", "2,3"},
		{"io_node_list", "a,b", "a,b"},
	};
	enum { HINTS = sizeof given / sizeof *given };
	char size[12], value[600] = "";
	MPI_Info info, used;
	MPI_File f;
	snprintf(size, sizeof size, "%d", check_size);
	MPI_Info_create(&info);
	for (int i = 0; i < HINTS; i++)
		if (given[i][1] != NULL)
			MPI_Info_set(info, given[i][0], given[i][1]);
	CHECK_OK(MPI_File_open(MPI_COMM_WORLD, file_name("hints"),
			       MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &f));
	MPI_Info_free(&info);
	CHECK_OK(MPI_File_get_info(f, &used));
	for (int i = 0; i < HINTS; i++) {
		const char *want = given[i][2] != NULL ? given[i][2] : size;
		int flag;
		MPI_Info_get(used, given[i][0], sizeof value - 1, value, &flag);
		CHECK(flag && strcmp(value, want) == 0, "%s is %s, not %s", given[i][0], flag ? value : "not set",
		      want);
	}
	MPI_Info_free(&used);
	CHECK_OK(MPI_File_close(&f));
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	far_offsets();
	overlapping();
	overlapping_long();
	freed_types();
	one_is_wrong();
	alone();
	hints();
	return check_end();
}
