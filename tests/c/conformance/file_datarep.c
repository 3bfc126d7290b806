/* Proves: data is converted to and from external32 and a representation that the program registers. The latter stores
 * the negation of each number, in twice as many bytes. A read that reaches the end of the file converts the elements
 * that are in the file, also those of an incomplete copy of a derived datatype. The count of a conversion function is
 * in elements. MPI-5.0 14.5.
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

static void check_elements(const char *what, const MPI_Status *s, MPI_Datatype type, int expected, int whole) {
	int elements = -1, count = -1;
	MPI_Get_elements(s, type, &elements);
	MPI_Get_count(s, type, &count);
	CHECK(elements == expected && count == whole, "%s: %d elements and %d copies, not %d and %d", what, elements,
	      count, expected, whole);
}

/* Reads beyond the end of a file in external32. */
static void external_end(void) {
	struct record {
		int i;
		double d;
	} r[5], in[5];
	struct {
		double d;
		int i;
	} pairs[5];
	long longs[20];
	int ints[20];
	MPI_Status s;
	MPI_Datatype record, ten_ints, ten_longs;
	MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, offsetof(struct record, d)},
			       (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &record);
	MPI_Type_contiguous(10, MPI_INT, &ten_ints);
	MPI_Type_contiguous(10, MPI_LONG, &ten_longs);
	MPI_Type_commit(&record), MPI_Type_commit(&ten_ints), MPI_Type_commit(&ten_longs);
	for (int i = 0; i < 5; i++)
		r[i] = (struct record){i + 1, -i - 0.5};
	CHECK_OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL));
	CHECK_OK(MPI_File_write_at_all(f, 0, r, 5, record, &s));
	check_elements("write", &s, record, 10, 5);
	CHECK_OK(MPI_File_set_size(f, 3 * 12 + 4 + 3)); /* in the file, a record has 12 bytes */
	for (int i = 0; i < 5; i++)
		in[i] = (struct record){99, 99};
	CHECK_OK(MPI_File_read_at_all(f, 0, in, 5, record, &s));
	check_elements("records", &s, record, 7, MPI_UNDEFINED);
	for (int i = 0; i < 5; i++)
		CHECK(in[i].i == (i <= 3 ? i + 1 : 99) && in[i].d == (i < 3 ? -i - 0.5 : 99), "record %d is %d %g", i,
		      in[i].i, in[i].d);
	in[0] = (struct record){99, 99};
	CHECK_OK(MPI_File_read_at(f, 36, in, 1, record, &s));
	check_elements("the first part of a record", &s, record, 1, MPI_UNDEFINED);
	CHECK(in[0].i == 4 && in[0].d == 99, "the record is %d %g", in[0].i, in[0].d);
	MPI_Barrier(MPI_COMM_WORLD);
	/* 10 numbers of 4 bytes, and 3 bytes */
	for (int i = 0; i < 20; i++)
		longs[i] = ints[i] = -i;
	CHECK_OK(MPI_File_write_at_all(f, 0, ints, 10, MPI_INT, &s));
	memset(ints, 1, sizeof ints);
	CHECK_OK(MPI_File_read_at_all(f, 4, ints, 1, ten_ints, &s));
	check_elements("integers", &s, ten_ints, 9, MPI_UNDEFINED);
	for (int i = 0; i < 20; i++)
		CHECK(ints[i] == (i < 9 ? -i - 1 : 0x01010101), "integer %d is %d", i, ints[i]);
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK_OK(MPI_File_write_at_all(f, 0, longs, 1, ten_longs, &s));
	memset(longs, 1, sizeof longs);
	CHECK_OK(MPI_File_read_at_all(f, 0, longs, 2, ten_longs, &s));
	check_elements("longs", &s, ten_longs, 10, 1);
	CHECK(longs[9] == -9 && longs[10] == 0x0101010101010101, "the longs are %ld %ld", longs[9], longs[10]);
	CHECK_OK(MPI_File_read_at_all(f, 8, longs, 1, ten_longs, &s));
	check_elements("8 longs", &s, ten_longs, 8, MPI_UNDEFINED);
	CHECK(longs[7] == -9 && longs[8] == -8, "the longs are %ld %ld", longs[7], longs[8]);
	/* a pair of which only the value is in the file */
	for (int i = 0; i < 5; i++)
		pairs[i].d = i + 0.25, pairs[i].i = i;
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK_OK(MPI_File_write_at_all(f, 0, pairs, 5, MPI_DOUBLE_INT, &s));
	CHECK_OK(MPI_File_set_size(f, 3 * 12 + 8));
	for (int i = 0; i < 5; i++)
		pairs[i].d = 99, pairs[i].i = 99;
	CHECK_OK(MPI_File_read_at_all(f, 0, pairs, 5, MPI_DOUBLE_INT, &s));
	check_elements("pairs", &s, MPI_DOUBLE_INT, 7, MPI_UNDEFINED);
	CHECK(pairs[2].i == 2 && pairs[3].d == 3.25 && pairs[3].i == 99, "the pairs are %d %g %d", pairs[2].i,
	      pairs[3].d, pairs[3].i);
	MPI_Barrier(MPI_COMM_WORLD);
	/* A number that does not fit is an error of the file. */
	longs[0] = 1L << 40;
	CHECK_CLASS(MPI_File_write_at(f, 0, longs, 1, MPI_LONG, &s), MPI_ERR_CONVERSION);
	CHECK_CLASS(MPI_File_write_at_all(f, 0, longs, 1, ten_longs, &s), MPI_ERR_CONVERSION);
	CHECK_OK(MPI_File_set_size(f, 0));
	MPI_Type_free(&record), MPI_Type_free(&ten_ints), MPI_Type_free(&ten_longs);
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

/* Conversion functions of a type whose integers are 8 bytes apart in memory. They store the last count in
 * last_count. */
static MPI_Count last_count;

static int sparse_to_file(void *memory, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra) {
	(void)extra, (void)type;
	for (int i = 0; i < count; i++)
		((long long *)file)[i] = -((int *)memory)[2 * (position + i)];
	last_count = count;
	return MPI_SUCCESS;
}

static int sparse_from_file(void *memory, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra) {
	(void)extra, (void)type;
	for (int i = 0; i < count; i++)
		((int *)memory)[2 * (position + i)] = (int)-((long long *)file)[i];
	last_count = count;
	return MPI_SUCCESS;
}

static int sparse_from_file_c(void *memory, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset position,
			      void *extra) {
	return sparse_from_file(memory, type, (int)count, file, position, extra);
}

static int sparse_to_file_c(void *memory, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset position,
			    void *extra) {
	return sparse_to_file(memory, type, (int)count, file, position, extra);
}

static void sparse(const char *datarep) {
	int memory[64];
	MPI_Status s;
	MPI_Datatype spaced, three;
	MPI_Type_create_resized(MPI_INT, 0, 8, &spaced);
	MPI_Type_contiguous(3, spaced, &three);
	MPI_Type_commit(&three);
	for (int i = 0; i < 64; i++)
		memory[i] = i;
	CHECK_OK(MPI_File_set_size(f, 0));
	CHECK_OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, datarep, MPI_INFO_NULL));
	CHECK_OK(MPI_File_write_at_all(f, 0, memory, 3, three, &s));
	check_elements(datarep, &s, three, 9, 3);
	CHECK(last_count == 9, "%s: the write conversion has count %lld, not 9", datarep, (long long)last_count);
	CHECK_OK(MPI_File_set_size(f, 7 * 8 + 5));
	memset(memory, -1, sizeof memory);
	CHECK_OK(MPI_File_read_at_all(f, 0, memory, 4, three, &s));
	check_elements(datarep, &s, three, 7, MPI_UNDEFINED);
	CHECK(last_count == 7, "%s: the read conversion has count %lld, not 7", datarep, (long long)last_count);
	for (int i = 0; i < 64; i++)
		CHECK(memory[i] == (i % 2 == 0 && i < 14 ? i : -1), "%s: integer %d is %d", datarep, i, memory[i]);
	last_count = -1;
	CHECK_OK(MPI_File_read_at_all(f, 7, memory, 1, three, &s));
	check_elements(datarep, &s, three, 0, 0);
	CHECK(last_count == -1, "%s: a conversion function is called without data", datarep);
	MPI_Type_free(&spaced), MPI_Type_free(&three);
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
	external_end();
	own();
	CHECK_OK(MPI_Register_datarep("sparse", sparse_from_file, sparse_to_file, extent_of, &state));
	CHECK_OK(MPI_Register_datarep_c("sparse_c", sparse_from_file_c, sparse_to_file_c, extent_of, &state));
	sparse("sparse");
	sparse("sparse_c");
	CHECK_OK(MPI_File_close(&f));
	return check_end();
}
