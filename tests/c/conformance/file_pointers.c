/* Proves: every call that reads or writes a file moves the right data, returns the right status, and leaves the file
 * pointers at the right positions. Covers explicit offsets, individual and shared pointers, in blocking, nonblocking
 * and split collective calls. MPI-5.0 14.4.
 *
 * np: 1 2 4
 * nodes: 2
 * timeout: 60
 * ref: mpich
 */
#include "../files.h"

enum { N = 100 };

static MPI_File f;
static int data[N], back[N];

static void fill(int round) {
	for (int i = 0; i < N; i++)
		data[i] = round * 100000 + check_rank * 1000 + i, back[i] = -1;
}

static void compare(const char *call) {
	for (int i = 0; i < N; i++)
		if (back[i] != data[i]) {
			CHECK(0, "%s: element %d is %d, not %d", call, i, back[i], data[i]);
			return;
		}
}

static MPI_Offset position(void) {
	MPI_Offset at = -1;
	CHECK_OK(MPI_File_get_position(f, &at));
	return at;
}

static void explicit_offset(void) {
	MPI_Status s;
	MPI_Request q;
	MPI_Offset at = (MPI_Offset)check_rank * N;
	fill(1);
	CHECK_OK(MPI_File_write_at(f, at, data, N, MPI_INT, &s));
	CHECK_COUNT(&s, MPI_INT, N);
	CHECK_OK(MPI_File_read_at(f, at, back, N, MPI_INT, &s));
	CHECK_COUNT(&s, MPI_INT, N);
	compare("read_at");
	fill(2);
	CHECK_OK(MPI_File_write_at_all(f, at, data, N, MPI_INT, &s));
	CHECK_COUNT(&s, MPI_INT, N);
	CHECK_OK(MPI_File_read_at_all(f, at, back, N, MPI_INT, MPI_STATUS_IGNORE));
	compare("read_at_all");
	fill(3);
	CHECK_OK(MPI_File_iwrite_at(f, at, data, N, MPI_INT, &q));
	CHECK_OK(MPI_Wait(&q, &s));
	CHECK_COUNT(&s, MPI_INT, N);
	CHECK_OK(MPI_File_iread_at(f, at, back, N, MPI_INT, &q));
	CHECK_OK(MPI_Wait(&q, &s));
	CHECK_COUNT(&s, MPI_INT, N);
	compare("iread_at");
	fill(4);
	CHECK_OK(MPI_File_iwrite_at_all(f, at, data, N, MPI_INT, &q));
	CHECK_OK(MPI_Wait(&q, &s));
	CHECK_COUNT(&s, MPI_INT, N);
	CHECK_OK(MPI_File_iread_at_all(f, at, back, N, MPI_INT, &q));
	CHECK_OK(MPI_Wait(&q, &s));
	compare("iread_at_all");
	fill(5);
	CHECK_OK(MPI_File_write_at_all_begin(f, at, data, N, MPI_INT));
	CHECK_OK(MPI_File_write_at_all_end(f, data, &s));
	CHECK_COUNT(&s, MPI_INT, N);
	CHECK_OK(MPI_File_read_at_all_begin(f, at, back, N, MPI_INT));
	CHECK_OK(MPI_File_read_at_all_end(f, back, &s));
	CHECK_COUNT(&s, MPI_INT, N);
	compare("read_at_all_end");
	CHECK(position() == 0, "calls with an offset moved the individual pointer to %lld", (long long)position());
}

static void individual(void) {
	MPI_Status s;
	MPI_Request q;
	MPI_Offset at = (MPI_Offset)check_rank * N;
#define REWIND() CHECK_OK(MPI_File_seek(f, at, MPI_SEEK_SET))
#define MOVED(call) \
	CHECK(position() == at + N, call ": the pointer is at %lld, not %lld", (long long)position(), (long long)at + N)
	fill(6);
	REWIND();
	CHECK_OK(MPI_File_write(f, data, N, MPI_INT, &s));
	CHECK_COUNT(&s, MPI_INT, N);
	MOVED("write");
	CHECK_OK(MPI_File_seek(f, -N, MPI_SEEK_CUR));
	CHECK_OK(MPI_File_read(f, back, N, MPI_INT, &s));
	MOVED("read");
	compare("read");
	fill(7);
	REWIND();
	CHECK_OK(MPI_File_write_all(f, data, N, MPI_INT, &s));
	MOVED("write_all");
	REWIND();
	CHECK_OK(MPI_File_read_all(f, back, N, MPI_INT, &s));
	CHECK_COUNT(&s, MPI_INT, N);
	MOVED("read_all");
	compare("read_all");
	fill(8);
	REWIND();
	CHECK_OK(MPI_File_iwrite(f, data, N, MPI_INT, &q));
	MOVED("iwrite"); /* the call has moved the pointer, although the write may be incomplete */
	CHECK_OK(MPI_Wait(&q, &s));
	REWIND();
	CHECK_OK(MPI_File_iread(f, back, N, MPI_INT, &q));
	MOVED("iread");
	CHECK_OK(MPI_Wait(&q, &s));
	compare("iread");
	fill(9);
	REWIND();
	CHECK_OK(MPI_File_iwrite_all(f, data, N, MPI_INT, &q));
	CHECK_OK(MPI_Wait(&q, &s));
	REWIND();
	CHECK_OK(MPI_File_iread_all(f, back, N, MPI_INT, &q));
	CHECK_OK(MPI_Wait(&q, &s));
	CHECK_COUNT(&s, MPI_INT, N);
	compare("iread_all");
	fill(10);
	REWIND();
	CHECK_OK(MPI_File_write_all_begin(f, data, N, MPI_INT));
	CHECK_OK(MPI_File_write_all_end(f, data, &s));
	MOVED("write_all_end");
	REWIND();
	CHECK_OK(MPI_File_read_all_begin(f, back, N, MPI_INT));
	CHECK_OK(MPI_File_read_all_end(f, back, &s));
	compare("read_all_end");
}

/* Checks that each block of N elements in the file has the data of one rank, and that each rank has written one
 * block. */
static void check_blocks(const char *call, int round) {
	int *all = malloc(sizeof *all * (size_t)(N * check_size)), found[64] = {0};
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK_OK(MPI_File_read_at(f, 0, all, N * check_size, MPI_INT, MPI_STATUS_IGNORE));
	for (int b = 0; b < check_size; b++) {
		int owner = all[b * N] / 1000 % 100;
		for (int i = 0; i < N; i++)
			CHECK(all[b * N + i] == round * 100000 + owner * 1000 + i, "%s: element %d of block %d is %d",
			      call, i, b, all[b * N + i]);
		if (owner >= 0 && owner < 64)
			found[owner]++;
	}
	for (int r = 0; r < check_size; r++)
		CHECK(found[r] == 1, "%s: %d blocks of rank %d", call, found[r], r);
	free(all);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void check_order(const char *call, int round) {
	int first = -1;
	MPI_Barrier(MPI_COMM_WORLD);
	for (int r = 0; r < check_size; r++) {
		CHECK_OK(MPI_File_read_at(f, (MPI_Offset)r * N, &first, 1, MPI_INT, MPI_STATUS_IGNORE));
		CHECK(first == round * 100000 + r * 1000, "%s: block %d begins with %d", call, r, first);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static void shared(void) {
	MPI_Status s;
	MPI_Request q;
	MPI_Offset at = -1;
	fill(11);
	CHECK_OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
	CHECK_OK(MPI_File_write_shared(f, data, N, MPI_INT, &s));
	CHECK_COUNT(&s, MPI_INT, N);
	check_blocks("write_shared", 11);
	CHECK_OK(MPI_File_get_position_shared(f, &at));
	CHECK(at == (MPI_Offset)N * check_size, "the shared pointer is at %lld", (long long)at);
	MPI_Barrier(MPI_COMM_WORLD);
	fill(12);
	CHECK_OK(MPI_File_seek_shared(f, -(MPI_Offset)N * check_size, MPI_SEEK_CUR));
	CHECK_OK(MPI_File_iwrite_shared(f, data, N, MPI_INT, &q));
	CHECK_OK(MPI_Wait(&q, &s));
	CHECK_COUNT(&s, MPI_INT, N);
	check_blocks("iwrite_shared", 12);
	CHECK_OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
	CHECK_OK(MPI_File_read_shared(f, back, N, MPI_INT, &s));
	CHECK_COUNT(&s, MPI_INT, N);
	CHECK(back[N - 1] - back[0] == N - 1, "read_shared has read %d to %d", back[0], back[N - 1]);
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK_OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
	CHECK_OK(MPI_File_iread_shared(f, back, N, MPI_INT, &q));
	CHECK_OK(MPI_Wait(&q, &s));
	CHECK(back[N - 1] - back[0] == N - 1, "iread_shared has read %d to %d", back[0], back[N - 1]);
	MPI_Barrier(MPI_COMM_WORLD);
	fill(13);
	CHECK_OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
	CHECK_OK(MPI_File_write_ordered(f, data, N, MPI_INT, &s));
	CHECK_COUNT(&s, MPI_INT, N);
	check_order("write_ordered", 13);
	CHECK_OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
	CHECK_OK(MPI_File_read_ordered(f, back, N, MPI_INT, &s));
	compare("read_ordered");
	fill(14);
	CHECK_OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
	CHECK_OK(MPI_File_write_ordered_begin(f, data, N, MPI_INT));
	CHECK_OK(MPI_File_write_ordered_end(f, data, &s));
	CHECK_COUNT(&s, MPI_INT, N);
	check_order("write_ordered_end", 14);
	CHECK_OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
	CHECK_OK(MPI_File_read_ordered_begin(f, back, N, MPI_INT));
	CHECK_OK(MPI_File_read_ordered_end(f, back, &s));
	compare("read_ordered_end");
	/* the ranks write different lengths, some ranks write nothing */
	CHECK_OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
	CHECK_OK(MPI_File_write_ordered(f, data, check_rank % 3, MPI_INT, &s));
	CHECK_COUNT(&s, MPI_INT, check_rank % 3);
	MPI_Offset sum = 0;
	for (int r = 0; r < check_size; r++)
		sum += r % 3;
	CHECK_OK(MPI_File_get_position_shared(f, &at));
	CHECK(at == sum, "the shared pointer is at %lld, not %lld", (long long)at, (long long)sum);
}

static void seeks(void) {
	MPI_Status s;
	CHECK_OK(MPI_File_set_size(f, (MPI_Offset)sizeof(int) * N));
	CHECK_OK(MPI_File_seek(f, -10, MPI_SEEK_END));
	CHECK(position() == N - 10, "10 before the end: %lld", (long long)position());
	CHECK_OK(MPI_File_read(f, back, N, MPI_INT, &s)); /* reads only up to the end of the file */
	CHECK_COUNT(&s, MPI_INT, 10);
	CHECK_OK(MPI_File_seek(f, 5 * N, MPI_SEEK_SET)); /* beyond the end */
	CHECK_OK(MPI_File_read(f, back, N, MPI_INT, &s));
	CHECK_COUNT(&s, MPI_INT, 0);
	CHECK_CLASS(MPI_File_seek(f, -1, MPI_SEEK_SET), MPI_ERR_ARG);
	CHECK_CLASS(MPI_File_seek(f, 0, 12345), MPI_ERR_ARG);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Checks that MPI_Cancel has no effect on independent accesses. A thread of gompirma executes the long access; the call
 * that starts the short access also executes it. */
static void cancels(void) {
	enum { LONG = 1 << 18 };
	static int data[LONG], copy[LONG];
	static const int counts[] = {4, LONG};
	for (int i = 0; i < LONG; i++)
		data[i] = check_rank + i;
	for (int i = 0; i < 4; i++) {
		MPI_Offset at = (MPI_Offset)check_rank * LONG;
		MPI_Request q;
		MPI_Status s;
		int n = counts[i / 2], writes = i % 2 == 0, is_cancelled = -1;
		CHECK_OK(writes ? MPI_File_iwrite_at(f, at, data, n, MPI_INT, &q)
				: MPI_File_iread_at(f, at, copy, n, MPI_INT, &q));
		CHECK_OK(MPI_Cancel(&q));
		CHECK_OK(MPI_Wait(&q, &s));
		CHECK_OK(MPI_Test_cancelled(&s, &is_cancelled));
		CHECK(!is_cancelled, "MPI_Cancel has cancelled an access to a file");
		CHECK_COUNT(&s, MPI_INT, n);
		CHECK(writes || memcmp(data, copy, (size_t)n * sizeof *data) == 0, "the read of %d ints is wrong", n);
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	f = file_create("pointers");
	CHECK_OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	explicit_offset();
	MPI_Barrier(MPI_COMM_WORLD);
	individual();
	MPI_Barrier(MPI_COMM_WORLD);
	shared();
	seeks();
	MPI_Barrier(MPI_COMM_WORLD);
	cancels();
	CHECK_OK(MPI_File_close(&f));
	CHECK(f == MPI_FILE_NULL, "MPI_File_close left the handle");
	return check_end();
}
