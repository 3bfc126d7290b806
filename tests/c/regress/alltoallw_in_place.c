/* What went wrong: MPI_Alltoallw with MPI_IN_PLACE changed bytes in the gaps of a datatype, or exchanged the data of
 * wrong pairs of ranks.
 * Must hold: each pair of ranks exchanges blocks with its own datatype and count. Some blocks are empty. All other
 * bytes stay unchanged. MPI_Alltoallv in place does the same with a count for each pair. MPI-5.0 6.8
 * np: 1 2 4
 * nodes: 2
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	enum { M = 4000 };
	static char buf[M], want[M];
	int cnt[16], dis[16];
	MPI_Datatype t[16];
	for (int big = 0; big < 2; big++)
		for (int nb = 0; nb < 2; nb++) {
			for (int j = 0; j < check_size;
			     j++) { /* check_rank + j is equal at both ranks of a pair, so they use the same type */
				int kind = (check_rank + j) % 4;
				MPI_Datatype x;
				if (kind == 0)
					MPI_Type_vector(3, 2, 5, MPI_CHAR, &t[j]);
				else if (kind == 1) {
					int bl[] = {1, 2}, di[] = {-3, 4};
					MPI_Type_indexed(2, bl, di, MPI_SHORT, &t[j]);
				} else if (kind == 2) {
					MPI_Type_contiguous(3, MPI_SHORT, &x);
					MPI_Type_create_resized(x, -2, 17, &t[j]);
					MPI_Type_free(&x);
				} else {
					MPI_Type_contiguous(0, MPI_INT, &t[j]);
				}
				MPI_Type_commit(&t[j]);
				cnt[j] = (kind == 3 ? 5 : 1 + (check_rank + j) % 3) * (big ? 10 : 1);
				dis[j] = 100 + 950 * j;
				if ((check_rank + j) % 5 == 4)
					cnt[j] = 0;
			}
			for (int i = 0; i < M; i++)
				buf[i] = want[i] = (char)(check_rank * 31 + i % 97);
			/* stores the expected data to want: rank j's block for this rank */
			for (int j = 0; j < check_size; j++) {
				static char theirs[M], packed[M];
				int pos = 0, at = 0;
				for (int i = 0; i < M; i++)
					theirs[i] = (char)(j * 31 + i % 97);
				MPI_Pack(theirs + 100 + 950 * check_rank, cnt[j], t[j], packed, M, &pos, MPI_COMM_SELF);
				MPI_Unpack(packed, pos, &at, want + dis[j], cnt[j], t[j], MPI_COMM_SELF);
			}
			if (nb) {
				MPI_Request q;
				CHECK_OK(MPI_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, buf, cnt, dis, t,
							MPI_COMM_WORLD, &q));
				CHECK_OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
			} else
				CHECK_OK(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, buf, cnt, dis, t,
						       MPI_COMM_WORLD));
			for (int i = 0; i < M; i++)
				if (buf[i] != want[i]) {
					CHECK(0, "big %d nb %d byte %d: %d expected %d", big, nb, i, buf[i], want[i]);
					break;
				}
			for (int j = 0; j < check_size; j++)
				MPI_Type_free(&t[j]);
		}
	/* MPI_Alltoallv in place with a different count for each pair of ranks */
	static int vb[20000];
	int vc[16], vd[16], at = 0;
	for (int j = 0; j < check_size; j++) {
		vc[j] = ((check_rank + 1) * (j + 1) * 37) % 1700;
		vd[j] = at;
		at += vc[j];
		for (int k = 0; k < vc[j]; k++)
			vb[vd[j] + k] = check_rank * 100 + j;
	}
	CHECK_OK(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, vb, vc, vd, MPI_INT, MPI_COMM_WORLD));
	for (int j = 0; j < check_size; j++)
		for (int k = 0; k < vc[j]; k++)
			CHECK(vb[vd[j] + k] == j * 100 + check_rank, "v from %d", j);
	/* a rank may pass a nonzero count of an empty type where the other rank passes count 0 */
	MPI_Datatype e;
	MPI_Type_contiguous(0, MPI_INT, &e);
	MPI_Type_commit(&e);
	int sc[16], rc[16], z[16] = {0};
	for (int j = 0; j < check_size; j++) {
		sc[j] = 3;
		rc[j] = 0;
	}
	CHECK_OK(MPI_Alltoallv(vb, sc, z, e, vb + 10000, rc, z, MPI_INT, MPI_COMM_WORLD));
	CHECK_OK(MPI_Alltoallv(vb, rc, z, MPI_INT, vb + 10000, sc, z, e, MPI_COMM_WORLD));
	MPI_Type_free(&e);
	return check_end();
}
