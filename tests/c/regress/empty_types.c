/* What went wrong: a datatype without data got its bounds from the displacements of its empty blocks. MPI_Get_count
 * with such a type did not return 0.
 * Must hold: the bounds are 0. MPI_Get_count returns 0 if the message is empty, otherwise MPI_UNDEFINED. Messages,
 * collectives and one-sided operations accept the type. MPI-5.0 3.2.5, 5.1
 * np: 1 4
 * nodes: 2
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Datatype e, f, g, p;
	int n, to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size, bl[] = {0, 0, 0};
	MPI_Status st;
	char buf[64] = {1}, in[64];
	MPI_Aint lb, ex;
	MPI_Aint d[] = {-1000000, 5, 1L << 40};
	MPI_Datatype tt[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
	MPI_Type_contiguous(0, MPI_DOUBLE, &e);
	MPI_Type_commit(&e);
	MPI_Type_create_struct(3, bl, d, tt, &f);
	MPI_Type_commit(&f);
	MPI_Type_vector(0, 5, -7, MPI_INT, &g);
	MPI_Type_commit(&g);
	MPI_Type_get_extent(e, &lb, &ex);
	CHECK(!lb && !ex, "contiguous(0): %ld %ld", (long)lb, (long)ex);
	MPI_Type_get_true_extent(g, &lb, &ex);
	CHECK(!ex, "vector(0) %ld", (long)ex);
	MPI_Datatype tries[] = {e, f, g};
	for (int i = 0; i < 3; i++) {
		CHECK_OK(MPI_Sendrecv(buf, 5, tries[i], to, 0, in, 9, tries[i], from, 0, MPI_COMM_WORLD, &st));
		CHECK_OK(MPI_Get_count(&st, tries[i], &n));
		CHECK(n == 0, "count %d", n);
		CHECK_OK(MPI_Get_elements(&st, tries[i], &n));
		CHECK(n == 0, "elements %d", n);
		CHECK_OK(MPI_Get_count(&st, MPI_INT, &n));
		CHECK(n == 0, "as int %d", n);
		CHECK_OK(MPI_Sendrecv(buf, 4, MPI_INT, to, 0, in, 4, MPI_INT, from, 0, MPI_COMM_WORLD, &st));
		CHECK_OK(MPI_Get_count(&st, tries[i], &n));
		CHECK(n == MPI_UNDEFINED, "16 bytes by an empty type: %d", n);
		CHECK_OK(MPI_Bcast(buf, 3, tries[i], 0, MPI_COMM_WORLD));
		CHECK_OK(MPI_Allgather(buf, 2, tries[i], in, 2, tries[i], MPI_COMM_WORLD));
		MPI_Win w;
		CHECK_OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w));
		MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
		MPI_Win_fence(0, w);
		CHECK_OK(MPI_Put(buf, 3, tries[i], to, 0, 3, tries[i], w));
		CHECK_OK(MPI_Get(buf, 3, tries[i], to, 0, 0, MPI_INT, w));
		CHECK_OK(MPI_Put(NULL, 0, MPI_INT, to, 12345, 0, MPI_INT, w));
		MPI_Win_fence(0, w);
		MPI_Win_free(&w);
	}
	/* a message that ends within an element of the receive type: 12 of the 16 bytes of {int, double, int} */
	{
		int b2[] = {1, 1, 1};
		MPI_Aint dd[] = {0, 8, 16};
		MPI_Datatype t3[] = {MPI_INT, MPI_DOUBLE, MPI_INT};
		MPI_Type_create_struct(3, b2, dd, t3, &p);
		MPI_Type_commit(&p);
		char big[200];
		MPI_Datatype part;
		int b1[] = {1, 1};
		MPI_Type_create_struct(2, b1, dd, t3, &part);
		MPI_Type_commit(&part);
		CHECK_OK(MPI_Sendrecv(big, 1, part, to, 0, big + 100, 4, p, from, 0, MPI_COMM_WORLD, &st));
		MPI_Get_count(&st, p, &n);
		CHECK(n == MPI_UNDEFINED, "count %d", n);
		MPI_Get_elements(&st, p, &n);
		CHECK(n == 2, "elements %d", n);
		MPI_Type_free(&p);
		MPI_Type_free(&part);
	}
	MPI_Status s2;
	MPI_Status_set_elements(&s2, MPI_INT, 7);
	MPI_Get_elements(&s2, MPI_INT, &n);
	CHECK(n == 7, "set elements %d", n);
	for (int i = 0; i < 3; i++)
		MPI_Type_free(&tries[i]);
	return check_end();
}
