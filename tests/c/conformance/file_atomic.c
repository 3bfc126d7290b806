/* Proves: in atomic mode a read never returns a mixture of two writes. Even ranks write the same range, contiguous or
 * strided, while odd ranks read it. MPI-5.0 14.6.1.
 *
 * np: 2 4
 * nodes: 2
 * timeout: 60
 * ref: mpich
 */
#include "../files.h"

enum { N = 3000, ROUNDS = 30 };

int main(int argc, char **argv) {
	static int data[N];
	MPI_Datatype t;
	int flag = 7;
	check_begin(&argc, &argv);
	MPI_File f = file_create("atomic");
	CHECK_OK(MPI_File_get_atomicity(f, &flag));
	CHECK(flag == 0, "a new file is in atomic mode");
	CHECK_OK(MPI_File_set_atomicity(f, 1));
	CHECK_OK(MPI_File_get_atomicity(f, &flag));
	CHECK(flag != 0, "MPI_File_set_atomicity has no effect");
	for (int strided = 0; strided < 2; strided++) {
		if (strided) {
			MPI_Type_vector(N / 10, 10, 15, MPI_INT, &t);
			MPI_Type_commit(&t);
			CHECK_OK(MPI_File_set_view(f, 0, MPI_INT, t, "native", MPI_INFO_NULL));
			MPI_Type_free(&t);
		} else {
			CHECK_OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
		}
		memset(data, 0, sizeof data);
		CHECK_OK(MPI_File_write_at(f, 0, data, N, MPI_INT, MPI_STATUS_IGNORE));
		MPI_Barrier(MPI_COMM_WORLD);
		for (int round = 0; round < ROUNDS; round++) {
			if (check_rank % 2 == 0) {
				for (int i = 0; i < N; i++)
					data[i] = round * 100 + check_rank;
				CHECK_OK(MPI_File_write_at(f, 0, data, N, MPI_INT, MPI_STATUS_IGNORE));
				continue;
			}
			CHECK_OK(MPI_File_read_at(f, 0, data, N, MPI_INT, MPI_STATUS_IGNORE));
			for (int i = 1; i < N; i++)
				if (data[i] != data[0]) {
					CHECK(0, "round %d: element %d is %d, the first one %d", round, i, data[i],
					      data[0]);
					break;
				}
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	CHECK_OK(MPI_File_close(&f));
	return check_end();
}
