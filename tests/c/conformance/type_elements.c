/* Proves: MPI_Get_count and MPI_Get_elements return the right numbers for messages that end inside a type, and after
 *   MPI_Status_set_elements, in all forms of these calls. MPI-5.0 3.2.5 5.1.11 13.3
 * np: 1 2
 * ref: none (MPICH 4.0 takes the count of MPI_Status_set_elements for copies of the type)
 * timeout: 30
 */
#include "../check.h"

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	struct {
		int i[2];
		double d[3];
	} out[4], in[4];
	int n[] = {2, 3}, count;
	MPI_Aint at[] = {0, offsetof(
				    struct {
					    int i[2];
					    double d[3];
				    },
				    d)};
	MPI_Datatype parts[] = {MPI_INT, MPI_DOUBLE}, t, none;
	MPI_Status s;
	MPI_Count large;
	MPI_Type_create_struct(2, n, at, parts, &t);
	MPI_Type_commit(&t);
	MPI_Type_contiguous(0, MPI_INT, &none);
	MPI_Type_commit(&none);
	memset(out, 0, sizeof out);
	for (int k = 0; k < 4; k++) {
		MPI_Sendrecv(out, k, t, check_rank, 1, in, 4, t, check_rank, 1, MPI_COMM_WORLD, &s);
		MPI_Get_count(&s, t, &count);
		CHECK(count == k, "%d of them are %d", k, count);
		MPI_Get_elements(&s, t, &count);
		CHECK(count == 5 * k, "%d of them have %d elements", k, count);
		MPI_Get_elements_x(&s, t, &large);
		CHECK(large == 5 * k, "%d of them have %lld elements", k, (long long)large);
	}
	static const int elements[][2] = {{4, 1},  {8, 2},  {16, 3}, {24, 4},
					  {32, 5}, {36, 6}, {40, 7}, {48, 8}}; /* bytes, elements */
	for (int k = 0; k < 8; k++) {
		MPI_Sendrecv(out, elements[k][0], MPI_BYTE, check_rank, 1, in, (int)sizeof in, MPI_BYTE, check_rank, 1,
			     MPI_COMM_WORLD, &s);
		MPI_Get_count(&s, t, &count);
		CHECK(count == (elements[k][0] % 32 ? MPI_UNDEFINED : elements[k][0] / 32), "%d bytes are %d",
		      elements[k][0], count);
		MPI_Get_elements(&s, t, &count);
		CHECK(count == elements[k][1], "%d bytes are %d elements, not %d", elements[k][0], count,
		      elements[k][1]);
		MPI_Status_set_elements(&s, t, k);
		MPI_Get_elements(&s, t, &count);
		CHECK(count == k, "%d elements set, %d got", k, count);
		MPI_Get_count(&s, t, &count);
		CHECK(count == (k % 5 ? MPI_UNDEFINED : k / 5), "%d elements are %d", k, count);
	}
	MPI_Status_set_elements_x(&s, MPI_DOUBLE, (MPI_Count)3 << 31);
	MPI_Get_elements_x(&s, MPI_DOUBLE, &large);
	CHECK(large == (MPI_Count)3 << 31, "%lld elements", (long long)large);
	MPI_Get_count(&s, MPI_DOUBLE, &count);
	CHECK(count == MPI_UNDEFINED, "a count beyond an int is %d", count);
	MPI_Sendrecv(out, 3, none, check_rank, 1, in, 4, none, check_rank, 1, MPI_COMM_WORLD, &s);
	MPI_Get_count(&s, none, &count);
	CHECK(count == 0, "nothing is %d", count);
	MPI_Type_free(&t);
	MPI_Type_free(&none);
	return check_end();
}
