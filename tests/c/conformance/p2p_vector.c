/* Proves: contiguous and vector types match on either side or on both, with different shapes but the same elements.
 *   Gaps do not change. Covers small and large messages, vectors of vectors, vectors of several elements, and
 *   overlapping strides at the sender. Get_count counts the elements. MPI-5.0 5.1.2
 * np: 1 2 4
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

enum { ROWS = 400, COLUMNS = 301 };

static int out[ROWS][COLUMNS], in[ROWS][COLUMNS];

static void fill(void) {
	for (int i = 0; i < ROWS; i++)
		for (int k = 0; k < COLUMNS; k++)
			out[i][k] = check_rank * 1000000 + i * COLUMNS + k, in[i][k] = -1;
}

static int want(int sender, int i, int k) { return sender * 1000000 + i * COLUMNS + k; }

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int n = check_size, right = (check_rank + 1) % n, left = (check_rank + n - 1) % n, count, size;
	MPI_Datatype column, block, three, row, every_other, window;
	MPI_Status s;
	MPI_Request r;
	MPI_Comm W = MPI_COMM_WORLD;
	MPI_Type_vector(ROWS, 1, COLUMNS, MPI_INT, &column);
	MPI_Type_vector(50, 20, COLUMNS, MPI_INT, &block);
	MPI_Type_contiguous(3, MPI_INT, &three);
	MPI_Type_contiguous(COLUMNS, MPI_INT, &row);
	MPI_Type_vector(ROWS / 2, 1, 2, row, &every_other); /* a vector of contiguous rows */
	MPI_Type_vector(5, 4, 1, MPI_INT, &window);         /* overlapping: elements 0 1 2 3, 1 2 3 4, ... */
	MPI_Datatype all[] = {column, block, three, row, every_other, window};
	static const int sizes[] = {ROWS, 1000, 3, COLUMNS, ROWS / 2 * COLUMNS, 20};
	for (int i = 0; i < 6; i++) {
		MPI_Type_commit(&all[i]);
		MPI_Type_size(all[i], &size);
		CHECK(size == sizes[i] * 4, "type %d has %d bytes, not %d", i, size, sizes[i] * 4);
	}

	fill(); /* sends column 5 and receives it as column 7 */
	MPI_Isend(&out[0][5], 1, column, right, 0, W, &r);
	MPI_Recv(&in[0][7], 1, column, left, 0, W, &s);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Get_count(&s, column, &count);
	CHECK(count == 1, "%d columns", count);
	for (int i = 0; i < ROWS; i++)
		for (int k = 0; k < COLUMNS; k++)
			CHECK(in[i][k] == (k == 7 ? want(left, i, 5) : -1), "column: [%d][%d] is %d", i, k, in[i][k]);

	fill(); /* receives a column as contiguous data, and contiguous data as a column */
	MPI_Isend(&out[0][9], 1, column, right, 1, W, &r);
	MPI_Recv(in, ROWS, MPI_INT, left, 1, W, &s);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	for (int i = 0; i < ROWS; i++)
		CHECK((&in[0][0])[i] == want(left, i, 9), "column to array: %d is %d", i, (&in[0][0])[i]);
	fill();
	MPI_Isend(out, ROWS, MPI_INT, right, 2, W, &r);
	MPI_Recv(&in[0][COLUMNS - 1], 1, column, left, 2, W, &s);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	for (int i = 0; i < ROWS; i++)
		CHECK(in[i][COLUMNS - 1] == want(left, i / COLUMNS, i % COLUMNS), "array to column: %d is %d", i,
		      in[i][COLUMNS - 1]);

	fill(); /* sends a block of 50 x 20 elements and receives it as groups of three */
	MPI_Isend(&out[2][10], 1, block, right, 3, W, &r);
	MPI_Recv(in, 400, three, left, 3, W, &s);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Get_count(&s, three, &count);
	CHECK(count == MPI_UNDEFINED, "1000 elements are %d times three", count);
	MPI_Get_count(&s, MPI_INT, &count);
	CHECK(count == 1000, "%d elements, not 1000", count);
	for (int i = 0; i < 1000; i++)
		CHECK((&in[0][0])[i] == want(left, 2 + i / 20, 10 + i % 20), "block: %d is %d", i, (&in[0][0])[i]);

	fill(); /* sends every other row, 240 KB */
	MPI_Isend(out, 1, every_other, right, 4, W, &r);
	MPI_Recv(in, 1, every_other, left, 4, W, &s);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	for (int i = 0; i < ROWS; i++)
		for (int k = 0; k < COLUMNS; k++)
			CHECK(in[i][k] == (i % 2 ? -1 : want(left, i, k)), "every other row: [%d][%d] is %d", i, k,
			      in[i][k]);

	fill(); /* sends a type with overlapping entries, which are allowed in a send */
	MPI_Isend(out, 1, window, right, 5, W, &r);
	MPI_Recv(in, 20, MPI_INT, left, 5, W, &s);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	for (int i = 0; i < 20; i++)
		CHECK((&in[0][0])[i] == want(left, 0, i / 4 + i % 4), "overlapping: %d is %d", i, (&in[0][0])[i]);

	fill(); /* frees the type while the send is active */
	MPI_Datatype short_lived;
	MPI_Type_vector(ROWS, 2, COLUMNS, MPI_INT, &short_lived);
	MPI_Type_commit(&short_lived);
	MPI_Irecv(in, 1, short_lived, left, 6, W, &r);
	MPI_Type_free(&short_lived);
	CHECK(short_lived == MPI_DATATYPE_NULL, "a freed type is not null");
	MPI_Send(out, 2 * ROWS, MPI_INT, right, 6, W);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	CHECK(in[ROWS - 1][1] == want(left, (2 * ROWS - 1) / COLUMNS, (2 * ROWS - 1) % COLUMNS), "freed type: %d",
	      in[ROWS - 1][1]);
	for (int i = 0; i < 6; i++)
		MPI_Type_free(&all[i]);
	return check_end();
}
