/* Proves: data is converted to and from external32 and a representation that the program registers. The latter stores
 * the negation of each number, in twice as many bytes. MPI-5.0 14.5.
 *
 * np: 1 2
 * nodes: 2
 * timeout: 60
 * ref: none (MPICH 4.0 has only "native" with conversions)
 */
#include "../files.h"

static MPI_File f;

static void external(void) {
	unsigned char bytes[64] = {0};
	double d[3] = {1.0, -2.5, 1e10}, e[3] = {0};
	int i[2] = {0x01020304, -2}, j[2] = {0};
	MPI_Aint extent = 0;
	MPI_Datatype t, vector;
	MPI_Status s;
	CHECK_OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
	CHECK_OK(MPI_File_write_at(f, 0, i, 2, MPI_INT, &s));
	CHECK_COUNT(&s, MPI_INT, 2);
	CHECK_OK(MPI_File_read_at(f, 0, j, 2, MPI_INT, &s));
	CHECK_COUNT(&s, MPI_INT, 2);
	CHECK(j[0] == i[0] && j[1] == i[1], "external32: %#x %d", (unsigned)j[0], j[1]);
	CHECK_OK(MPI_File_get_type_extent(f, MPI_DOUBLE, &extent));
	CHECK(extent == 8, "the extent of MPI_DOUBLE is %ld", (long)extent);
	MPI_Barrier(MPI_COMM_WORLD);
	/* Use a filetype that selects every second double. */
	MPI_Type_vector(1, 1, 2, MPI_DOUBLE, &t);
	MPI_Type_create_resized(t, 0, 16, &vector);
	MPI_Type_free(&t);
	MPI_Type_commit(&vector);
	CHECK_OK(MPI_File_set_view(f, 8, MPI_DOUBLE, vector, "external32", MPI_INFO_NULL));
	CHECK_OK(MPI_File_write_at_all(f, 0, d, 3, MPI_DOUBLE, &s));
	CHECK_OK(MPI_File_read_at_all(f, 0, e, 3, MPI_DOUBLE, &s));
	for (int k = 0; k < 3; k++)
		CHECK(e[k] == d[k], "element %d is %g, not %g", k, e[k], d[k]);
	MPI_Type_free(&vector);
	CHECK_OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	CHECK_OK(MPI_File_read_at(f, 0, bytes, 32, MPI_BYTE, &s));
	CHECK(bytes[0] == 1 && bytes[3] == 4 && bytes[4] == 0xff && bytes[7] == 0xfe,
	      "the integers are not big-endian");
	CHECK(bytes[8] == 0x3f && bytes[9] == 0xf0 && bytes[24] == 0xc0 && bytes[25] == 0x04,
	      "the doubles are elsewhere");
	MPI_Barrier(MPI_COMM_WORLD);
}

static int state;

static int extent_of(MPI_Datatype type, MPI_Aint *extent, void *extra) {
	int size;
	CHECK(extra == &state, "the extra state is another");
	MPI_Type_size(type, &size);
	*extent = 2 * size;
	return MPI_SUCCESS;
}

static int to_file(void *memory, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra) {
	const int *from = memory;
	long long *to = file;
	(void)extra, (void)type;
	for (int i = 0; i < count; i++)
		to[position + i] = -from[i];
	return MPI_SUCCESS;
}

static int from_file(void *memory, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra) {
	int *to = memory;
	const long long *from = file;
	(void)extra, (void)type;
	for (int i = 0; i < count; i++)
		to[position + i] = (int)-from[i];
	return MPI_SUCCESS;
}

static int fails(void *memory, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra) {
	(void)memory, (void)type, (void)count, (void)file, (void)position, (void)extra;
	return MPI_ERR_OTHER;
}

static void own(void) {
	int i[4] = {1, 2, 3, 4 + check_rank}, j[4] = {0};
	long long stored[4] = {0};
	MPI_Aint extent = 0;
	MPI_Status s;
	CHECK_OK(MPI_Register_datarep("negated", from_file, to_file, extent_of, &state));
	CHECK_CLASS(MPI_Register_datarep("negated", from_file, to_file, extent_of, &state), MPI_ERR_DUP_DATAREP);
	CHECK_OK(MPI_Register_datarep("fails", fails, fails, extent_of, &state));
	CHECK_OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "negated", MPI_INFO_NULL));
	CHECK_OK(MPI_File_get_type_extent(f, MPI_INT, &extent));
	CHECK(extent == 8, "the extent of MPI_INT is %ld", (long)extent);
	CHECK_OK(MPI_File_write_at_all(f, (MPI_Offset)check_rank * 4, i, 4, MPI_INT, &s));
	CHECK_COUNT(&s, MPI_INT, 4);
	CHECK_OK(MPI_File_read_at_all(f, (MPI_Offset)check_rank * 4, j, 4, MPI_INT, &s));
	for (int k = 0; k < 4; k++)
		CHECK(j[k] == i[k], "element %d is %d, not %d", k, j[k], i[k]);
	CHECK_OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	CHECK_OK(MPI_File_read_at(f, (MPI_Offset)check_rank * 32, stored, 32, MPI_BYTE, &s));
	CHECK(stored[0] == -1 && stored[3] == -4 - check_rank, "the file has %lld and %lld", stored[0], stored[3]);
	CHECK_OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "fails", MPI_INFO_NULL));
	CHECK_CLASS(MPI_File_write_at_all(f, 0, i, 1, MPI_INT, &s), MPI_ERR_CONVERSION);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	f = file_create("datarep");
	external();
	own();
	CHECK_OK(MPI_File_close(&f));
	return check_end();
}
