/* Proves: messages of every size from 0 to 8 MiB, around powers of two and at odd addresses, arrive whole in both
 *   directions at once. Covers expected and unexpected messages, and messages to oneself. MPI-5.0 3.4, 3.7
 * np: 1 2 4
 * ref: mpich
 * nodes: 2
 * timeout: 60
 */
#include "../check.h"

enum { MOST = (8 << 20) + 64 };

static int exchange(char *out, char *in, int size, int partner, int shift, int late) {
	MPI_Request r[2];
	MPI_Status status[2];
	int count = -1;
	for (int i = 0; i < size; i += 1 + size / 5000)
		out[shift + i] = (char)(i * 7 + size + check_rank);
	memset(in, 0x55, size + shift + 16);
	if (late) {
		MPI_Isend(out + shift, size, MPI_CHAR, partner, size % 1000, MPI_COMM_WORLD, &r[1]);
		MPI_Probe(partner, size % 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Irecv(in + shift, size, MPI_CHAR, partner, size % 1000, MPI_COMM_WORLD, &r[0]);
	} else {
		MPI_Irecv(in + shift, size, MPI_CHAR, partner, size % 1000, MPI_COMM_WORLD, &r[0]);
		MPI_Isend(out + shift, size, MPI_CHAR, partner, size % 1000, MPI_COMM_WORLD, &r[1]);
	}
	MPI_Waitall(2, r, status);
	MPI_Get_count(&status[0], MPI_CHAR, &count);
	CHECK(count == size, "%d of %d bytes arrived", count, size);
	for (int i = 0; i < size; i += 1 + size / 5000)
		if (in[shift + i] != (char)(i * 7 + size + partner)) {
			CHECK(0, "%d bytes: byte %d is %d, not %d", size, i, in[shift + i],
			      (char)(i * 7 + size + partner));
			return 1;
		}
	for (int i = 0; i < 16; i++)
		CHECK(in[shift + size + i] == 0x55, "%d bytes: byte %d behind the buffer was written", size, i);
	for (int i = 0; i < shift; i++)
		CHECK(in[i] == 0x55, "%d bytes: byte %d before the buffer was written", size, i);
	return 0;
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	char *out = malloc(MOST), *in = malloc(MOST);
	int partner = (check_rank ^ 1) < check_size ? check_rank ^ 1 : check_rank;
	for (int power = 0; power <= 23; power++)
		for (int off = -1; off <= 1; off++) {
			int size = (1 << power) + off;
			exchange(out, in, size, partner, (power + off + 1) % 9, off == 0);
			if (power % 4 == 0)
				exchange(out, in, size, check_rank, 3, power % 8 == 0);
		}
	free(out);
	free(in);
	return check_end();
}
