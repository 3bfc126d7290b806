/* Proves: the copies of a filetype may interleave or overlap in the file, because the displacements must ascend only
 * within one copy. Copies overlap if the extent is shorter than the data. An example is a struct of bytes and a
 * subarray: only the subarray has explicit bounds, so the extent does not include the bytes. MPI-5.0 5.1.7 and 14.3.
 *
 * np: 1 3
 * nodes: 2
 * timeout: 60
 * ref: mpich
 */
#include "../files.h"

enum { HEAD = 6000, ROWS = 4, COLUMNS = 10, WIDTH = 5, ROOM = 1 << 14 };

/* Creates the type by which an I/O library accesses its file header together with a part of an array. */
static MPI_Datatype header_and_array(MPI_Aint at) {
	MPI_Datatype part, t;
	MPI_Type_create_subarray(2, (int[]){ROWS, COLUMNS}, (int[]){ROWS, WIDTH}, (int[]){0, 3}, MPI_ORDER_C, MPI_BYTE,
				 &part);
	MPI_Type_create_struct(2, (int[]){HEAD, 1}, (MPI_Aint[]){0, at}, (MPI_Datatype[]){MPI_BYTE, part}, &t);
	MPI_Type_free(&part);
	MPI_Type_commit(&t);
	return t;
}

/* Writes and reads the array through a filetype with an extent that is shorter than the header. */
static void one_copy(int atomic) {
	enum { BYTES = ROWS * WIDTH };
	MPI_File f = file_create("one_copy");
	MPI_Aint at = HEAD + 100 + check_rank * ROWS * COLUMNS;
	MPI_Datatype t = header_and_array(at);
	MPI_Offset end = -1;
	char data[BYTES], back[BYTES] = {0};
	MPI_Status s;
	for (int i = 0; i < BYTES; i++)
		data[i] = (char)(1 + i + check_rank * BYTES);
	if (atomic)
		CHECK_OK(MPI_File_set_atomicity(f, 1));
	CHECK_OK(MPI_File_set_view(f, 0, MPI_BYTE, t, "native", MPI_INFO_NULL));
	CHECK_OK(MPI_File_write_at_all(f, HEAD, data, BYTES, MPI_BYTE, &s));
	CHECK_COUNT(&s, MPI_BYTE, BYTES);
	CHECK_OK(MPI_File_read_at_all(f, HEAD, back, BYTES, MPI_BYTE, &s));
	CHECK_COUNT(&s, MPI_BYTE, BYTES);
	CHECK(memcmp(data, back, BYTES) == 0, "the array differs");
	CHECK_OK(MPI_File_get_byte_offset(f, HEAD + WIDTH, &end));
	CHECK(end == at + COLUMNS + 3, "the second row is at %lld", (long long)end);
	CHECK_OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	for (int i = 0; i < BYTES; i++) {
		char c = 0;
		CHECK_OK(MPI_File_read_at(f, at + i / WIDTH * COLUMNS + 3 + i % WIDTH, &c, 1, MPI_BYTE, &s));
		CHECK(c == data[i], "byte %d in the file is %d, not %d", i, c, data[i]);
	}
	MPI_Type_free(&t);
	CHECK_OK(MPI_File_close(&f));
}

/* Reads and writes several copies of a type with short blocks, resized to `extent`. The file must equal memory that
 * MPI_Pack and MPI_Unpack access with the same type. */
static void many_copies(int blocks, int extent, int stride, int atomic) {
	enum { COPIES = 3, BLOCK = 8 };
	static char model[ROOM], file[ROOM], data[ROOM], packed[ROOM];
	MPI_File f = file_create("many_copies");
	MPI_Datatype vector, t;
	MPI_Status s;
	int position = 0, bytes = COPIES * blocks * BLOCK;
	MPI_Type_vector(blocks, BLOCK, stride, MPI_BYTE, &vector);
	MPI_Type_create_resized(vector, 0, extent, &t);
	MPI_Type_commit(&t);
	for (int i = 0; i < ROOM; i++)
		model[i] = (char)(i * 7 + i / 256);
	for (int i = 0; i < bytes; i++)
		data[i] = (char)(i * 5 + i / 256 + 1);
	CHECK_OK(MPI_File_set_atomicity(f, atomic));
	if (check_rank == 0)
		CHECK_OK(MPI_File_write_at(f, 0, model, ROOM, MPI_BYTE, &s));
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK_OK(MPI_File_set_view(f, 0, MPI_BYTE, t, "native", MPI_INFO_NULL));
	CHECK_OK(MPI_File_read_at(f, 0, data, bytes, MPI_BYTE, &s));
	CHECK_COUNT(&s, MPI_BYTE, bytes);
	MPI_Pack(model, COPIES, t, packed, bytes, &position, MPI_COMM_SELF);
	CHECK(memcmp(data, packed, (size_t)bytes) == 0, "extent %d stride %d: the data read differs", extent, stride);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < bytes; i++)
		data[i] = (char)(i * 5 + i / 256 + 1);
	if (check_rank == check_size - 1)
		CHECK_OK(MPI_File_write_at(f, 0, data, bytes, MPI_BYTE, &s));
	MPI_Barrier(MPI_COMM_WORLD);
	position = 0;
	MPI_Unpack(data, bytes, &position, model, COPIES, t, MPI_COMM_SELF);
	CHECK_OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	CHECK_OK(MPI_File_read_at(f, 0, file, ROOM, MPI_BYTE, &s));
	CHECK(memcmp(file, model, ROOM) == 0, "extent %d stride %d: the data written differs", extent, stride);
	MPI_Type_free(&vector);
	MPI_Type_free(&t);
	CHECK_OK(MPI_File_close(&f));
}

/* Seeks to the end of a file that ends after the first byte of the second block. The position is 5: the four bytes of
 * the first block and this byte. The second copy, which begins at byte 50, does not count. */
static void seek_end(void) {
	MPI_File f = file_create("seek_end");
	MPI_Datatype vector, t;
	MPI_Offset at = -1;
	MPI_Type_vector(3, 4, 100, MPI_BYTE, &vector); /* at 0, 100 and 200 */
	MPI_Type_create_resized(vector, 0, 50, &t);
	MPI_Type_commit(&t);
	CHECK_OK(MPI_File_set_size(f, 101));
	CHECK_OK(MPI_File_set_view(f, 0, MPI_BYTE, t, "native", MPI_INFO_NULL));
	CHECK_OK(MPI_File_seek(f, 0, MPI_SEEK_END));
	CHECK_OK(MPI_File_get_position(f, &at));
	CHECK(at == 5, "the end is at %lld, not 5", (long long)at);
	MPI_Type_free(&vector);
	MPI_Type_free(&t);
	CHECK_OK(MPI_File_close(&f));
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	for (int atomic = 0; atomic < 2; atomic++) {
		one_copy(atomic);
		many_copies(200, 400, 20, atomic); /* the copies interleave or overlap */
		many_copies(200, 40, 20, atomic);
		many_copies(200, 4, 40, atomic);
		many_copies(200, 4, 8, atomic);   /* the type has no gaps */
		many_copies(3, 16, 5000, atomic); /* the blocks of one copy are far apart */
	}
	seek_end();
	return check_end();
}
