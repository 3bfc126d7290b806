/* Proves: MPI_Type_get_envelope and MPI_Type_get_contents return the right values for constructed types. A type rebuilt
 *   from its contents packs the same bytes. Named types have no contents. Types with large counts report them, and
 *   refuse the calls that return counts as int. MPI-5.0 5.1.13
 * np: 1
 * ref: none (MPICH 4.0 reports large counts differently)
 * timeout: 30
 */
#include "../check.h"

static void envelope(MPI_Datatype t, int integers, int addresses, int types, int combiner, const char *what) {
	int i = -1, a = -1, d = -1, c = -1;
	CHECK_OK(MPI_Type_get_envelope(t, &i, &a, &d, &c));
	CHECK(i == integers && a == addresses && d == types && c == combiner,
	      "%s: %d integers, %d addresses, %d types, combiner %d", what, i, a, d, c);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Datatype t, u, inner[3];
	int integers[20];
	MPI_Aint addresses[20];
	MPI_Count counts[20], n[4];

	envelope(MPI_INT, 0, 0, 0, MPI_COMBINER_NAMED, "MPI_INT");
	CHECK_CLASS(MPI_Type_get_contents(MPI_INT, 20, 20, 3, integers, addresses, inner), MPI_ERR_TYPE);

	MPI_Type_vector(3, 2, 5, MPI_INT, &u);
	envelope(u, 3, 0, 1, MPI_COMBINER_VECTOR, "vector");
	int lengths[] = {1, 2};
	MPI_Aint displs[] = {8, 100};
	MPI_Datatype types[] = {MPI_DOUBLE, u};
	MPI_Type_create_struct(2, lengths, displs, types, &t);
	envelope(t, 3, 2, 2, MPI_COMBINER_STRUCT, "struct");
	CHECK_CLASS(MPI_Type_get_contents(t, 3, 1, 2, integers, addresses, inner), MPI_ERR_ARG);
	CHECK_OK(MPI_Type_get_contents(t, 3, 2, 2, integers, addresses, inner));
	CHECK(integers[0] == 2 && integers[1] == 1 && integers[2] == 2 && addresses[0] == 8 && addresses[1] == 100,
	      "struct: %d %d %d, %ld %ld", integers[0], integers[1], integers[2], (long)addresses[0],
	      (long)addresses[1]);
	CHECK(inner[0] == MPI_DOUBLE && inner[1] != MPI_DOUBLE && inner[1] != MPI_DATATYPE_NULL,
	      "struct: its types are not told");
	envelope(inner[1], 3, 0, 1, MPI_COMBINER_VECTOR, "what is in the struct");
	MPI_Type_free(&u);
	MPI_Type_create_struct(integers[0], integers + 1, addresses, inner, &u); /* rebuild the type */
	MPI_Type_free(&inner[1]);
	MPI_Type_commit(&t);
	MPI_Type_commit(&u);
	static char memory[400], one[400], two[400];
	for (int i = 0; i < 400; i++)
		memory[i] = (char)(i * 7);
	int p = 0, q = 0;
	MPI_Pack(memory, 1, t, one, 400, &p, MPI_COMM_SELF);
	MPI_Pack(memory, 1, u, two, 400, &q, MPI_COMM_SELF);
	CHECK(p == q && p == 56 && memcmp(one, two, 400) == 0,
	      "the type made from the contents packs %d bytes, not %d, or others", q, p);
	MPI_Type_free(&t);
	MPI_Type_free(&u);

	CHECK_OK(MPI_Type_vector_c(3, 2, 5, MPI_INT, &t));
	int i, a, d, c;
	CHECK_CLASS(MPI_Type_get_envelope(t, &i, &a, &d, &c), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_get_contents(t, 20, 20, 3, integers, addresses, inner), MPI_ERR_TYPE);
	CHECK_OK(MPI_Type_get_envelope_c(t, &n[0], &n[1], &n[2], &n[3], &c));
	CHECK(n[0] == 0 && n[1] == 0 && n[2] == 3 && n[3] == 1 && c == MPI_COMBINER_VECTOR,
	      "vector_c: %lld %lld %lld %lld", (long long)n[0], (long long)n[1], (long long)n[2], (long long)n[3]);
	CHECK_OK(MPI_Type_get_contents_c(t, 0, 0, 3, 1, integers, addresses, counts, inner));
	CHECK(counts[0] == 3 && counts[1] == 2 && counts[2] == 5 && inner[0] == MPI_INT, "vector_c: contents");
	MPI_Type_free(&t);

	CHECK_OK(MPI_Type_create_f90_real(10, 100, &t));
	envelope(t, 2, 0, 0, MPI_COMBINER_F90_REAL, "f90_real");
	CHECK_OK(MPI_Type_get_contents(t, 2, 0, 0, integers, addresses, inner));
	CHECK(integers[0] == 10 && integers[1] == 100, "f90_real: %d %d", integers[0], integers[1]);
	CHECK_OK(MPI_Type_create_f90_real(10, 100, &u));
	CHECK(t == u, "the same kind is not the same type");
	CHECK_CLASS(MPI_Type_free(&u), MPI_ERR_TYPE);
	double x = 3, y = 4;
	CHECK_OK(MPI_Reduce_local(&x, &y, 1, t, MPI_SUM)); /* t must be committed and equivalent to MPI_DOUBLE */
	CHECK(y == 7, "3 + 4 = %g", y);
	CHECK_OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &t));
	CHECK(t == MPI_REAL8, "MPI_Type_match_size gives %p", (void *)t);
	return check_end();
}
