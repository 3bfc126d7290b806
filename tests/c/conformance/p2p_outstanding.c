/* Proves: 100,000 posted receives, and as many unexpected messages, each with its own tag, are matched in any
 *   order. The time does not grow with the square of their number. MPI-5.0 3.7
 * np: 2
 * args: forward blocks reversed
 * ref: mpich
 * ref-wrong: reversed (MPICH searches its queue from the front, which takes minutes)
 * timeout: 60
 */
#include "../check.h"

enum { MANY = 100000, BLOCK = 100 };

/* Returns the i-th tag in the order of sending, which the variant defines. */
static int at(int i) {
	if (strcmp(check_arg, "reversed") == 0)
		return MANY - 1 - i;
	if (strcmp(check_arg, "blocks") == 0)
		return i / BLOCK * BLOCK + (BLOCK - 1 - i % BLOCK);
	return i;
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int *in = malloc(MANY * sizeof(int)), flag, wrong;
	MPI_Request *r = malloc(MANY * sizeof *r);
	MPI_Status *s = malloc(MANY * sizeof *s), one;
	if (check_rank == 0) {
		for (int turn = 0; turn < 2; turn++) { /* turn 0: the receives are posted first */
			MPI_Recv(&flag, 1, MPI_INT, 1, MANY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			for (int i = 0; i < MANY; i++) {
				int value = at(i) * 3 + turn;
				MPI_Send(&value, 1, MPI_INT, 1, at(i), MPI_COMM_WORLD);
			}
			MPI_Send(&turn, 1, MPI_INT, 1, MANY, MPI_COMM_WORLD);
		}
	} else if (check_rank == 1) {
		for (int i = 0; i < MANY; i++)
			MPI_Irecv(&in[i], 1, MPI_INT, i % 2 ? 0 : MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &r[i]);
		MPI_Send(&flag, 1, MPI_INT, 0, MANY, MPI_COMM_WORLD);
		MPI_Waitall(MANY, r, s);
		MPI_Recv(&flag, 1, MPI_INT, 0, MANY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		wrong = 0;
		for (int i = 0; i < MANY; i++)
			wrong +=
				in[i] != i * 3 || s[i].MPI_TAG != i || s[i].MPI_SOURCE != 0 || r[i] != MPI_REQUEST_NULL;
		CHECK(wrong == 0, "%d of the receives are wrong", wrong);
		MPI_Send(&flag, 1, MPI_INT, 0, MANY, MPI_COMM_WORLD);
		MPI_Recv(&flag, 1, MPI_INT, 0, MANY, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* all messages have arrived */
		wrong = 0;
		for (int k = 0; k < MANY; k++) {
			int i = strcmp(check_arg, "reversed") == 0 ? k : at(k), value = -1;
			if (k % 100 == 0) {
				MPI_Iprobe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &flag, &one);
				wrong += !flag || one.MPI_TAG != i;
			}
			MPI_Recv(&value, 1, MPI_INT, k % 2 ? 0 : MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &one);
			wrong += value != i * 3 + 1 || one.MPI_TAG != i;
		}
		CHECK(wrong == 0, "%d of the messages are wrong", wrong);
		MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &one);
		CHECK(!flag, "a message is left over");
	}
	free(in), free(r), free(s);
	return check_end();
}
