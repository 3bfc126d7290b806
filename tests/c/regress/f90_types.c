/* What went wrong: MPI_Type_create_f90_real chose single precision for a decimal exponent range of 38, or
 * MPI_Type_get_contents returned other values than the arguments of the call. MPI_Iallreduce refused the types.
 * Must hold: the types have the right sizes at the limits of precision and range. Equal arguments give the same handle.
 * Envelope, contents and reductions are right. MPI-5.0 19.1.9
 * np: 1 2
 * nodes: 2
 * ref: none (MPICH accepts a type with neither precision nor range, and lets MPI_Type_free free an f90 type)
 * timeout: 60
 */
#include "../check.h"

static int size_of(MPI_Datatype t) {
	int s;
	MPI_Type_size(t, &s);
	return s;
}
int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	int r2s[][2] = {{2, 1}, {3, 2}, {4, 2}, {5, 4}, {9, 4}, {10, 8}, {17, 8}, {18, 8}};
	MPI_Datatype t, u;
	for (int i = 0; i < 8; i++) {
		if (MPI_Type_create_f90_integer(r2s[i][0], &t)) {
			CHECK(0, "integer %d refused", r2s[i][0]);
			continue;
		}
		CHECK(size_of(t) == r2s[i][1], "integer %d: size %d", r2s[i][0], size_of(t));
		CHECK_OK(MPI_Type_create_f90_integer(r2s[i][0], &u));
		CHECK(t == u, "another handle");
	}
	int U = MPI_UNDEFINED,
	    pr[][3] = {{6, 37, 4}, {U, 37, 4}, {6, U, 4}, {U, 38, 8}, {6, 38, 8}, {7, U, 8}, {15, 307, 8}, {15, U, 8}};
	for (int i = 0; i < 8; i++) {
		if (MPI_Type_create_f90_real(pr[i][0], pr[i][1], &t)) {
			CHECK(0, "real %d %d refused", pr[i][0], pr[i][1]);
			continue;
		}
		CHECK(size_of(t) == pr[i][2], "real %d %d: size %d", pr[i][0], pr[i][1], size_of(t));
		int ni, na, nd, comb, in[2] = {0};
		CHECK_OK(MPI_Type_get_envelope(t, &ni, &na, &nd, &comb));
		CHECK(comb == MPI_COMBINER_F90_REAL && ni == 2 && !na && !nd, "envelope %d %d", comb, ni);
		CHECK_OK(MPI_Type_get_contents(t, 2, 0, 0, in, NULL, NULL));
		CHECK(in[0] == pr[i][0] && in[1] == pr[i][1], "contents %d %d expected %d %d", in[0], in[1], pr[i][0],
		      pr[i][1]);
		CHECK_OK(MPI_Type_create_f90_complex(pr[i][0], pr[i][1], &u));
		CHECK(size_of(u) == 2 * pr[i][2], "complex");
		double x = 2, y = 0;
		float f = 2, g = 0;
		if (pr[i][2] == 8) {
			CHECK_OK(MPI_Allreduce(&x, &y, 1, t, MPI_SUM, MPI_COMM_WORLD));
			CHECK(y == 2 * check_size, "sum %g", y);
			MPI_Request request;
			CHECK_OK(MPI_Iallreduce(&x, &y, 1, t, MPI_MAX, MPI_COMM_WORLD, &request));
			CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
			CHECK(y == 2, "maximum %g", y);
		} else {
			CHECK_OK(MPI_Allreduce(&f, &g, 1, t, MPI_PROD, MPI_COMM_WORLD));
			CHECK(g == (1 << check_size), "prod");
		}
	}
	int ms[][2] = {{MPI_TYPECLASS_REAL, 4},    {MPI_TYPECLASS_REAL, 8},    {MPI_TYPECLASS_INTEGER, 1},
		       {MPI_TYPECLASS_INTEGER, 8}, {MPI_TYPECLASS_COMPLEX, 8}, {MPI_TYPECLASS_COMPLEX, 16}};
	for (int i = 0; i < 6; i++) {
		int a, b, d, comb;
		CHECK_OK(MPI_Type_match_size(ms[i][0], ms[i][1], &t));
		CHECK(size_of(t) == ms[i][1], "match");
		MPI_Type_get_envelope(t, &a, &b, &d, &comb);
		CHECK(comb == MPI_COMBINER_NAMED, "not named");
	}
	int rc = MPI_Type_create_f90_integer(40, &t);
	CHECK(rc != MPI_SUCCESS || size_of(t) > 8, "40 digits");
	rc = MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &t);
	CHECK(rc != MPI_SUCCESS, "3 bytes");
	rc = MPI_Type_create_f90_real(U, U, &t);
	CHECK(rc != MPI_SUCCESS, "both undefined accepted");
	t = MPI_DATATYPE_NULL;
	MPI_Type_create_f90_real(6, 37, &t);
	u = t;
	rc = MPI_Type_free(&u);
	CHECK(rc != MPI_SUCCESS, "free of a predefined f90 type accepted");
	return check_end();
}
