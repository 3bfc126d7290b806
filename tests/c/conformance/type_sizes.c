/* Proves: size, bounds and true bounds of predefined and constructed types are right, in the forms with int and with
 *   MPI_Count. Covers padding to the alignment, sizes larger than INT_MAX, and names. MPI-5.0 5.1.2 5.1.5 5.1.7 5.1.8
 *   7.8
 * np: 1
 * ref: none (MPICH 4.0 pads structures only, and lacks pair types of the standard ABI)
 * timeout: 30
 */
#include "../check.h"

struct short_int {
	short v;
	int i;
};
struct double_int {
	double v;
	int i;
};
struct long_double_int {
	long double v;
	int i;
};
struct padded {
	double d;
	char c;
};

static void expect(const char *what, MPI_Datatype t, MPI_Count size, MPI_Count lb, MPI_Count extent, MPI_Count true_lb,
		   MPI_Count true_extent) {
	int s;
	MPI_Count c[5];
	MPI_Aint a[4];
	CHECK_OK(MPI_Type_size(t, &s));
	CHECK_OK(MPI_Type_size_c(t, &c[0]));
	CHECK(c[0] == size && s == (size > 2147483647 ? MPI_UNDEFINED : size), "%s: size %d, %lld", what, s,
	      (long long)c[0]);
	CHECK_OK(MPI_Type_get_extent(t, &a[0], &a[1]));
	CHECK_OK(MPI_Type_get_extent_c(t, &c[1], &c[2]));
	CHECK(c[1] == lb && c[2] == extent && a[0] == lb && a[1] == extent, "%s: lower bound %lld, extent %lld", what,
	      (long long)c[1], (long long)c[2]);
	CHECK_OK(MPI_Type_get_true_extent(t, &a[2], &a[3]));
	CHECK_OK(MPI_Type_get_true_extent_c(t, &c[3], &c[4]));
	CHECK(c[3] == true_lb && c[4] == true_extent && a[2] == true_lb && a[3] == true_extent,
	      "%s: true lower bound %lld, extent %lld", what, (long long)c[3], (long long)c[4]);
}

static void basic(const char *name, MPI_Datatype t, MPI_Count size) {
	char text[MPI_MAX_OBJECT_NAME];
	int len;
	expect(name, t, size, 0, size, 0, size);
	CHECK_OK(MPI_Type_get_name(t, text, &len));
	CHECK(strcmp(text, name) == 0 && len == (int)strlen(name), "%s is called %s", name, text);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
#define BASIC(t, c) basic(#t, t, sizeof(c))
	BASIC(MPI_CHAR, char);
	BASIC(MPI_SHORT, short);
	BASIC(MPI_INT, int);
	BASIC(MPI_LONG, long);
	BASIC(MPI_UNSIGNED_LONG_LONG, unsigned long long);
	BASIC(MPI_FLOAT, float);
	BASIC(MPI_DOUBLE, double);
	BASIC(MPI_LONG_DOUBLE, long double);
	BASIC(MPI_C_DOUBLE_COMPLEX, double _Complex);
	BASIC(MPI_C_LONG_DOUBLE_COMPLEX, long double _Complex);
	BASIC(MPI_C_BOOL, _Bool);
	BASIC(MPI_WCHAR, wchar_t);
	BASIC(MPI_AINT, MPI_Aint);
	BASIC(MPI_COUNT, MPI_Count);
	BASIC(MPI_OFFSET, MPI_Offset);
	BASIC(MPI_INT8_T, int8_t);
	BASIC(MPI_UINT64_T, uint64_t);
	basic("MPI_INTEGER", MPI_INTEGER, 4);
	basic("MPI_DOUBLE_COMPLEX", MPI_DOUBLE_COMPLEX, 16);
	basic("MPI_BYTE", MPI_BYTE, 1);
	expect("MPI_2INT", MPI_2INT, 8, 0, 8, 0, 8);
	expect("MPI_SHORT_INT", MPI_SHORT_INT, 6, 0, sizeof(struct short_int), 0, 8);
	expect("MPI_DOUBLE_INT", MPI_DOUBLE_INT, 12, 0, sizeof(struct double_int), 0, 12);
	expect("MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT, 20, 0, sizeof(struct long_double_int), 0, 20);

	MPI_Datatype t, u;
	int two[] = {1, 1};
	MPI_Aint at[] = {0, offsetof(struct padded, c)};
	MPI_Datatype parts[] = {MPI_DOUBLE, MPI_CHAR};
	CHECK_OK(MPI_Type_create_struct(2, two, at, parts, &t));
	expect("struct with padding", t, 9, 0, sizeof(struct padded), 0, 9);
	CHECK_OK(MPI_Type_contiguous(3, t, &u));
	expect("three of them", u, 27, 0, 3 * sizeof(struct padded), 0, 2 * sizeof(struct padded) + 9);
	MPI_Type_free(&u);
	MPI_Type_free(&t);
	CHECK(t == MPI_DATATYPE_NULL, "MPI_Type_free leaves %p", (void *)t);

	CHECK_OK(MPI_Type_vector(3, 2, -4, MPI_INT, &t));
	expect("vector backwards", t, 24, -32, 40, -32, 40);
	MPI_Type_free(&t);
	CHECK_OK(MPI_Type_create_resized(MPI_INT, -8, 24, &t));
	expect("resized", t, 4, -8, 24, 0, 4);
	CHECK_OK(MPI_Type_vector(2, 1, 3, t, &u));
	expect("vector of resized", u, 8, -8, 96, 0, 76);
	MPI_Type_free(&u);
	MPI_Type_free(&t);
	int sizes[] = {10, 20}, subsizes[] = {3, 4}, starts[] = {2, 5};
	CHECK_OK(MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &t));
	expect("subarray", t, 48, 0, 800, 4 * (2 * 20 + 5), 4 * (2 * 20 + 4));
	MPI_Type_free(&t);

	MPI_Datatype big;
	CHECK_OK(MPI_Type_contiguous(1 << 30, MPI_DOUBLE, &big));
	expect("8 GiB", big, 8LL << 30, 0, 8LL << 30, 0, 8LL << 30);
	CHECK_OK(MPI_Type_vector_c(100000000, 1, 2, big, &t));
	CHECK_CLASS(MPI_Type_vector_c(1LL << 40, 1, 2, big, &u), MPI_ERR_VALUE_TOO_LARGE);
	MPI_Type_free(&t);
	MPI_Type_free(&big);

	char text[MPI_MAX_OBJECT_NAME];
	int len = -1;
	CHECK_OK(MPI_Type_dup(MPI_INT, &t));
	CHECK_OK(MPI_Type_get_name(t, text, &len));
	CHECK(len == 0 && text[0] == 0, "a new type is called %s", text);
	CHECK_OK(MPI_Type_set_name(t, "temperature"));
	CHECK_OK(MPI_Type_get_name(t, text, &len));
	CHECK(len == 11 && strcmp(text, "temperature") == 0, "the type is called %s", text);
	MPI_Type_free(&t);
	return check_end();
}
