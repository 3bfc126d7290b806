/* Proves: the function of a user-defined operation can have a type whose data begin at any offset, positive or
 *   negative, and have any length. Bytes around the data do not change. MPI-5.0 6.9.5
 * np: 1 3
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"

enum { ROOM = 128, MIDDLE = 64, COUNT = 2 };

static int offset, length;

/* Adds the data bytes of each element. The data begin at `offset` in the element; the extent is length + 3. */
static void add(void *invec, void *inoutvec, int *len, MPI_Datatype *type) {
	(void)type;
	for (int i = 0; i < *len; i++)
		for (int k = 0; k < length; k++) {
			int at = i * (length + 3) + offset + k;
			((unsigned char *)inoutvec)[at] =
				(unsigned char)(((unsigned char *)inoutvec)[at] + ((unsigned char *)invec)[at]);
		}
}

/* Returns true if the byte at offset `at` of a buffer belongs to the data of an element. */
static int is_data(int at) {
	for (int i = 0; i < COUNT; i++) {
		int from = MIDDLE + i * (length + 3) + offset;
		if (at >= from && at < from + length)
			return 1;
	}
	return 0;
}

static void check_one(MPI_Op op) {
	MPI_Datatype block, type;
	unsigned char in[ROOM], out[ROOM];
	MPI_Aint at = offset;
	MPI_Type_create_hindexed_block(1, length, &at, MPI_BYTE, &block);
	MPI_Type_create_resized(block, 0, length + 3, &type);
	MPI_Type_commit(&type);
	for (int scan = 0; scan < 2; scan++) {
		int sum = scan ? check_rank + 1 : check_size;
		for (int i = 0; i < ROOM; i++) {
			in[i] = (unsigned char)i;
			out[i] = 201;
		}
		if (scan)
			CHECK_OK(MPI_Scan(in + MIDDLE, out + MIDDLE, COUNT, type, op, MPI_COMM_WORLD));
		else
			CHECK_OK(MPI_Allreduce(in + MIDDLE, out + MIDDLE, COUNT, type, op, MPI_COMM_WORLD));
		for (int i = 0; i < ROOM; i++) {
			int want = is_data(i) ? (unsigned char)(sum * i) : 201;
			CHECK(out[i] == want, "%s, %d bytes at offset %d: byte %d is %d, not %d",
			      scan ? "MPI_Scan" : "MPI_Allreduce", length, offset, i, out[i], want);
		}
	}
	MPI_Type_free(&block);
	MPI_Type_free(&type);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Op op;
	MPI_Op_create(add, 1, &op);
	for (offset = -17; offset <= 17; offset++)
		for (length = 1; length <= 18; length++)
			check_one(op);
	MPI_Op_free(&op);
	return check_end();
}
