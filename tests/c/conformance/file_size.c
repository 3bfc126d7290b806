/* Proves: MPI_File_set_size and MPI_File_preallocate set the right size, accesses at offsets above 2^32 in a sparse
 *   file work, and MPI_File_get_info returns the hints in force. MPI-5.0 14.2.
 *
 * np: 1 2
 * nodes: 2
 * timeout: 60
 * ref: mpich
 */
#include "../files.h"

/* Checks that the library reads hints from the file that ROMIO_HINTS names. The first line of a key counts. Hints
 * passed to MPI_File_open take precedence. */
static void hints_file(void) {
	static const char lines[] = "# a comment\ncb_buffer_size 4096\nind_rd_buffer_size 49\nind_rd_buffer_size 60\n";
	char hints[600], value[64] = "";
	MPI_File f;
	MPI_Info info, used;
	int flag;
	snprintf(hints, sizeof hints, "%s.%d", file_name("hints"), check_rank);
	FILE *to = fopen(hints, "w");
	CHECK(to != NULL && fputs(lines, to) >= 0 && fclose(to) == 0, "cannot write %s", hints);
	setenv("ROMIO_HINTS", hints, 1);
	MPI_Info_create(&info);
	MPI_Info_set(info, "cb_buffer_size", "8192");
	CHECK_OK(MPI_File_open(MPI_COMM_SELF, hints, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &f));
	unsetenv("ROMIO_HINTS");
	MPI_Info_free(&info);
	CHECK_OK(MPI_File_get_info(f, &used));
	CHECK_OK(MPI_Info_get(used, "cb_buffer_size", 63, value, &flag));
	CHECK(flag && strcmp(value, "8192") == 0, "cb_buffer_size is %s", flag ? value : "not set");
	CHECK_OK(MPI_Info_get(used, "ind_rd_buffer_size", 63, value, &flag));
	CHECK(flag && strcmp(value, "49") == 0, "ind_rd_buffer_size is %s", flag ? value : "not set");
	MPI_Info_free(&used);
	CHECK_OK(MPI_File_close(&f));
}

int main(int argc, char **argv) {
	MPI_Offset size = -1, at = -1, far = ((MPI_Offset)1 << 32) + 4096;
	MPI_Info info, used;
	MPI_Datatype t;
	MPI_Status s;
	char value[64];
	int flag = 0, data[2] = {0};
	check_begin(&argc, &argv);
	hints_file(); /* must be the first test, because MPICH reads ROMIO_HINTS only once */
	MPI_File f = file_create("size");
	CHECK_OK(MPI_File_set_size(f, 1000));
	CHECK_OK(MPI_File_get_size(f, &size));
	CHECK(size == 1000, "the size is %lld, not 1000", (long long)size);
	CHECK_OK(MPI_File_preallocate(f, 500)); /* never shrinks the file */
	CHECK_OK(MPI_File_get_size(f, &size));
	CHECK(size == 1000, "MPI_File_preallocate changed the size to %lld", (long long)size);
	CHECK_OK(MPI_File_preallocate(f, 5000));
	CHECK_OK(MPI_File_get_size(f, &size));
	CHECK(size == 5000, "after MPI_File_preallocate the size is %lld", (long long)size);
	CHECK_OK(MPI_File_set_size(f, 10));
	CHECK_OK(MPI_File_get_size(f, &size));
	CHECK(size == 10, "the size is %lld, not 10", (long long)size);
	MPI_Barrier(MPI_COMM_WORLD);

	data[0] = 100 + check_rank;
	CHECK_OK(MPI_File_write_at_all(f, far + 4 * check_rank, data, 1, MPI_INT, &s));
	CHECK_OK(MPI_File_sync(f));
	CHECK_OK(MPI_File_get_size(f, &size));
	CHECK(size == far + 4 * check_size, "the size is %lld", (long long)size);
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK_OK(MPI_File_read_at_all(f, far, data, check_size > 1 ? 2 : 1, MPI_INT, &s));
	CHECK(data[0] == 100 && (check_size == 1 || data[1] == 101), "far behind are %d and %d", data[0], data[1]);
	/* a view whose tiles are 3 GiB apart */
	MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)3 << 30, &t);
	MPI_Type_commit(&t);
	CHECK_OK(MPI_File_set_view(f, 8 + 4 * check_rank, MPI_INT, t, "native", MPI_INFO_NULL));
	CHECK_OK(MPI_File_get_byte_offset(f, 3, &at));
	CHECK(at == 8 + 4 * check_rank + ((MPI_Offset)9 << 30), "etype 3 is at %lld", (long long)at);
	data[0] = 5, data[1] = 6 + check_rank;
	CHECK_OK(MPI_File_write_at_all(f, 1, data, 2, MPI_INT, &s));
	data[0] = data[1] = 0;
	CHECK_OK(MPI_File_read_at_all(f, 1, data, 2, MPI_INT, &s));
	CHECK(data[0] == 5 && data[1] == 6 + check_rank, "in the view are %d and %d", data[0], data[1]);
	CHECK_OK(MPI_File_seek(f, 0, MPI_SEEK_END));
	CHECK_OK(MPI_File_get_position(f, &at));
	CHECK(at == 3, "the end is at etype %lld, not 3", (long long)at);
	MPI_Type_free(&t);

	MPI_Info_create(&info);
	MPI_Info_set(info, "cb_buffer_size", "1048576");
	MPI_Info_set(info, "no_such_hint", "1");
	CHECK_OK(MPI_File_set_info(f, info));
	MPI_Info_free(&info);
	CHECK_OK(MPI_File_get_info(f, &used));
	CHECK_OK(MPI_Info_get(used, "cb_buffer_size", 63, value, &flag));
	CHECK(flag && strcmp(value, "1048576") == 0, "cb_buffer_size is %s", flag ? value : "not set");
	MPI_Info_free(&used);
	CHECK_OK(MPI_File_close(&f));
	return check_end();
}
