/* Proves: the bounds of a type contain the bounds of all component types, padding included. Covers every constructor,
 *   with component types that are padded, resized, misaligned and nested. The bounds of the type exceed the bounds of
 *   the components by less than the largest alignment. So a program can compute the memory range of a type from the
 *   displacements and extents of its components. MPI-5.0 5.1.5 5.1.7
 * np: 1
 * timeout: 30
 */
#include "../check.h"

enum { COPIES = 2, LARGEST = 16 };

static MPI_Aint lb(MPI_Datatype t) {
	MPI_Aint at, extent;
	CHECK_OK(MPI_Type_get_extent(t, &at, &extent));
	return at;
}

static MPI_Aint ub(MPI_Datatype t) {
	MPI_Aint at, extent;
	CHECK_OK(MPI_Type_get_extent(t, &at, &extent));
	return at + extent;
}

/* Checks the bounds of t, then frees t. At each of the n displacements t has `copies` copies of the component type
 * `part`. */
static void holds(const char *what, MPI_Datatype t, MPI_Datatype part, int copies, int n, const MPI_Aint *displs) {
	MPI_Aint lowest = 0, highest = 0, extent = ub(part) - lb(part);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < copies; k++) {
			MPI_Aint from = displs[i] + k * extent + lb(part), to = displs[i] + k * extent + ub(part);
			lowest = i + k == 0 || from < lowest ? from : lowest;
			highest = i + k == 0 || to > highest ? to : highest;
		}
	CHECK(lb(t) == lowest, "%s: the lower bound is %ld, that of the parts %ld", what, (long)lb(t), (long)lowest);
	CHECK(ub(t) >= highest && ub(t) < highest + LARGEST, "%s: the upper bound is %ld, that of the parts %ld", what,
	      (long)ub(t), (long)highest);
	CHECK_OK(MPI_Type_free(&t));
}

static void constructors(const char *name, MPI_Datatype part) {
	static const MPI_Aint strides[] = {0, 5, 8, 13, -7, 40};
	MPI_Aint extent = ub(part) - lb(part), at[COPIES] = {0, 0};
	int lengths[COPIES] = {1, 1}, elements[COPIES] = {4, 1};
	MPI_Datatype t, parts[COPIES] = {part, part};
	char what[80];
	snprintf(what, sizeof what, "contiguous of %s", name);
	CHECK_OK(MPI_Type_contiguous(3, part, &t));
	holds(what, t, part, 3, 1, at);
	snprintf(what, sizeof what, "vector of %s", name);
	at[1] = 3 * extent;
	CHECK_OK(MPI_Type_vector(2, 2, 3, part, &t));
	holds(what, t, part, 2, 2, at);
	snprintf(what, sizeof what, "indexed block of %s", name);
	at[0] = 4 * extent, at[1] = extent;
	CHECK_OK(MPI_Type_create_indexed_block(2, 1, elements, part, &t));
	holds(what, t, part, 1, 2, at);
	for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
		at[0] = 0, at[1] = strides[i];
		for (int length = 1; length <= 2; length++) {
			snprintf(what, sizeof what, "hvector of %d %s, %ld apart", length, name, (long)strides[i]);
			CHECK_OK(MPI_Type_create_hvector(2, length, strides[i], part, &t));
			holds(what, t, part, length, 2, at);
		}
		at[0] = 3, at[1] = 3 + strides[i];
		snprintf(what, sizeof what, "hindexed of %s, %ld apart", name, (long)strides[i]);
		CHECK_OK(MPI_Type_create_hindexed(2, lengths, at, part, &t));
		holds(what, t, part, 1, 2, at);
		snprintf(what, sizeof what, "struct of %s, %ld apart", name, (long)strides[i]);
		CHECK_OK(MPI_Type_create_struct(2, lengths, at, parts, &t));
		holds(what, t, part, 1, 2, at);
	}
}

int main(int argc, char **argv) {
	int lengths[2] = {1, 1};
	MPI_Aint displs[2] = {0, 8};
	MPI_Datatype members[2] = {MPI_DOUBLE, MPI_CHAR}, dense, padded, odd, less, more, deep;
	check_begin(&argc, &argv);
	CHECK_OK(MPI_Type_create_hvector(2, 1, 5, MPI_INT, &dense));
	CHECK_OK(MPI_Type_create_struct(2, lengths, displs, members, &padded));
	CHECK_OK(MPI_Type_create_hvector(2, 1, 13, padded, &odd));
	CHECK_OK(MPI_Type_create_hvector(3, 1, 21, odd, &deep));
	CHECK_OK(MPI_Type_create_resized(padded, 1, 6, &less));
	CHECK_OK(MPI_Type_create_resized(dense, -3, 50, &more));
	constructors("int", MPI_INT);
	constructors("char", MPI_CHAR);
	constructors("double and int", MPI_DOUBLE_INT);
	constructors("long double and int", MPI_LONG_DOUBLE_INT);
	constructors("ints 5 bytes apart", dense);
	constructors("a structure", padded);
	constructors("structures 13 bytes apart", odd);
	constructors("a type of four levels", deep);
	constructors("a resized structure", less);
	constructors("resized ints", more);
	MPI_Datatype all[] = {dense, padded, odd, less, more, deep};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		CHECK_OK(MPI_Type_free(&all[i]));
	return check_end();
}
