/* Proves: MPI_Sendrecv and MPI_Isendrecv send the data as it was at the call, even if they receive into the same
 *   memory. Covers one variable, an array, overlapping parts of an array, and a vector. MPI requires disjoint buffers.
 *   But some programs receive into the variable that they send, which works in a library that copies the message first.
 *   Each rank sends to its right neighbour in a ring; a single rank exchanges with itself. MPI-5.0 3.10
 * np: 1 2 5
 * args: small large nonblocking
 * ref: none (MPICH sometimes sends the data that it has just received, and aborts if a rank exchanges with itself)
 * timeout: 60
 */
#include "../check.h"

enum { MOST = 100000, ROUNDS = 50 };

static int nonblocking;

static void exchange(int *from, int *to, int count, MPI_Datatype type, int dest, int source) {
	MPI_Comm c = MPI_COMM_WORLD;
	MPI_Request request;
	if (nonblocking) {
		CHECK_OK(MPI_Isendrecv(from, count, type, dest, 1, to, count, type, source, 1, c, &request));
		CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	} else {
		CHECK_OK(MPI_Sendrecv(from, count, type, dest, 1, to, count, type, source, 1, c, MPI_STATUS_IGNORE));
	}
}

/* Sends count elements of the array, `stride` integers apart, and receives into the elements that lie `shift` integers
 * later. */
static void round_trip(int count, int stride, int shift) {
	static int mem[2 * MOST + 10];
	int n = check_size, me = check_rank, left = (me + n - 1) % n, wrong = 0;
	MPI_Datatype type = MPI_INT;
	if (stride > 1) {
		MPI_Type_vector(count, 1, stride, MPI_INT, &type);
		MPI_Type_commit(&type);
	}
	for (int round = 0; round < (count > 1000 ? 5 : ROUNDS); round++) {
		for (int i = 0; i < count * stride + shift; i++)
			mem[i] = 1000 * me + i + round;
		if (round % 3)
			MPI_Barrier(MPI_COMM_WORLD);
		exchange(mem, mem + shift, stride > 1 ? 1 : count, type, (me + 1) % n, left);
		for (int i = 0; i < count * stride + shift; i++) {
			int came = i >= shift && (i - shift) % stride == 0;
			wrong += mem[i] != (came ? 1000 * left + i - shift : 1000 * me + i) + round;
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	CHECK(wrong == 0, "%d elements, stride %d, shift %d: %d are wrong", count, stride, shift, wrong);
	if (stride > 1)
		MPI_Type_free(&type);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	nonblocking = strcmp(check_arg, "nonblocking") == 0;
	int large = strcmp(check_arg, "small") != 0;
	for (int count = 1; count <= (large ? MOST : 100); count = count * 10) {
		round_trip(count, 1, 0);
		round_trip(count, 2, 0);
		if (large)
			round_trip(count, 1, count / 2);
	}
	return check_end();
}
