/* Proves: a read through a view with gaps returns the data before the end of the file, wherever the file ends, and the
 * number of bytes. It leaves the rest of the buffer unchanged. Blocks and gaps are short and long, and blocks may
 * overlap. The variants are kinds of access. MPI-5.0 14.3 and 14.4.1.
 *
 * np: 1 3
 * args: independent collective nonblocking
 * timeout: 60
 * ref: none (MPICH 4.0 also counts bytes after the end of the file)
 */
#include "../files.h"

static void read_at(MPI_File f, MPI_Offset at, char *buf, int bytes, int expected) {
	MPI_Status s;
	MPI_Request q;
	if (strcmp(check_arg, "collective") == 0) {
		CHECK_OK(MPI_File_read_at_all(f, at, buf, bytes, MPI_BYTE, &s));
	} else if (strcmp(check_arg, "nonblocking") == 0) {
		CHECK_OK(MPI_File_iread_at(f, at, buf, bytes, MPI_BYTE, &q));
		CHECK_OK(MPI_Wait(&q, &s));
	} else {
		CHECK_OK(MPI_File_read_at(f, at, buf, bytes, MPI_BYTE, &s));
	}
	CHECK_COUNT(&s, MPI_BYTE, expected);
}

/* Reads 12 blocks, without the first third of the first one, of a file that ends inside or after a block. The file may
 * end before the last block. If `gap` is negative, the blocks overlap. */
static void read_blocks(int block, int gap) {
	enum { BLOCKS = 12 };
	const int stride = block + gap, skipped = block / 3, most = BLOCKS * block - skipped;
	MPI_File f = file_create("read_blocks");
	MPI_Datatype contiguous, t;
	char *model = malloc((size_t)(BLOCKS * stride + block)), *data = malloc((size_t)most + 1);
	MPI_Type_contiguous(block, MPI_BYTE, &contiguous);
	MPI_Type_create_resized(contiguous, 0, stride, &t);
	MPI_Type_commit(&t);
	for (int i = 0; i < BLOCKS * stride + block; i++)
		model[i] = (char)(i * 7 + i / 256);
	const int ends[] = {(BLOCKS - 1) * stride + block, 5 * stride + block / 2, 5 * stride + block, 6 * stride};
	for (int k = 0; k < 4; k++) {
		CHECK_OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
		CHECK_OK(MPI_File_set_size(f, 0));
		MPI_Barrier(MPI_COMM_WORLD);
		if (check_rank == 0)
			CHECK_OK(MPI_File_write_at(f, 0, model, ends[k], MPI_BYTE, MPI_STATUS_IGNORE));
		MPI_Barrier(MPI_COMM_WORLD);
		CHECK_OK(MPI_File_set_view(f, 0, MPI_BYTE, t, "native", MPI_INFO_NULL));
		int expected = 0, wrong = 0;
		while (expected < most &&
		       (expected + skipped) / block * stride + (expected + skipped) % block < ends[k])
			expected++;
		memset(data, 99, (size_t)most + 1);
		read_at(f, skipped, data, most, expected);
		for (int i = 0; i < expected; i++)
			wrong += data[i] != model[(i + skipped) / block * stride + (i + skipped) % block];
		CHECK(wrong == 0, "blocks of %d bytes, gaps of %d: %d of %d bytes are wrong", block, gap, wrong,
		      expected);
		for (int i = expected; i <= most; i++)
			wrong += data[i] != 99;
		CHECK(wrong == 0, "blocks of %d bytes, gaps of %d: %d bytes after the end have changed", block, gap,
		      wrong);
	}
	MPI_Type_free(&contiguous);
	MPI_Type_free(&t);
	CHECK_OK(MPI_File_close(&f));
	free(model), free(data);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	for (int i = 0; i < 4; i++)
		for (int gap = 0; gap < 5; gap++)
			read_blocks((int[]){100, 1000, 3000, 70000}[i], (int[]){1, 2048, 4096, 5000, -40}[gap]);
	return check_end();
}
