/* What went wrong: a sparse exchange with nonblocking consensus (the NBX algorithm: MPI_Issend, MPI_Iprobe,
 * MPI_Ibarrier) hung or ended early while an unrelated receive was pending.
 * Must hold: each message of each round arrives exactly once. MPI-5.0 3.5, 6.12
 * np: 2 4
 * nodes: 2
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Request open_;
	int never;
	MPI_Irecv(&never, 1, MPI_INT, MPI_ANY_SOURCE, 4000, MPI_COMM_WORLD, &open_);
	unsigned seed = 12345 + check_rank;
	for (int round = 0; round < 60; round++) {
		int n = rand_r(&seed) % 6, out[64] = {0}, in[64] = {0}, expect[64], done = 0, started = 0;
		MPI_Request s[8], b;
		int size[8];
		static int data[8][9000], buf[9000];
		for (int i = 0; i < n; i++) {
			int to = rand_r(&seed) % check_size;
			size[i] = rand_r(&seed) % 3 == 0 ? 8000 : 3;
			out[to] += size[i];
			data[i][0] = round;
			CHECK_OK(MPI_Issend(data[i], size[i], MPI_INT, to, round, MPI_COMM_WORLD, &s[i]));
		}
		while (!done) {
			int flag;
			MPI_Status st;
			CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &st));
			if (flag) {
				int k;
				MPI_Get_count(&st, MPI_INT, &k);
				CHECK(st.MPI_TAG == round, "tag %d in round %d", st.MPI_TAG, round);
				CHECK_OK(MPI_Recv(buf, k, MPI_INT, st.MPI_SOURCE, st.MPI_TAG, MPI_COMM_WORLD,
						  MPI_STATUS_IGNORE));
				in[st.MPI_SOURCE] += k;
				CHECK(buf[0] == st.MPI_TAG, "data");
			}
			if (!started) {
				CHECK_OK(MPI_Testall(n, s, &flag, MPI_STATUSES_IGNORE));
				if (flag) {
					CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &b));
					started = 1;
				}
			} else
				CHECK_OK(MPI_Test(&b, &done, MPI_STATUS_IGNORE));
		}
		MPI_Alltoall(out, 1, MPI_INT, expect, 1, MPI_INT, MPI_COMM_WORLD);
		for (int i = 0; i < check_size; i++)
			CHECK(in[i] == expect[i], "round %d from %d: %d of %d", round, i, in[i], expect[i]);
	}
	MPI_Cancel(&open_);
	MPI_Wait(&open_, MPI_STATUS_IGNORE);
	return check_end();
}
