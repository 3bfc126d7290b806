/* Proves: query calls refuse null and freed handles with the error class of the handle's kind, and NULL output
 *   arguments with MPI_ERR_ARG. All forms of the calls return these errors and store nothing. MPI_Get_count returns
 *   MPI_UNDEFINED if the count is not an integer or exceeds an int. MPI_Get_count of a cancelled operation succeeds.
 *   Queries work for uncommitted types, and for derived types whose component types are freed. MPI-5.0 2.8, 3.2.5,
 *   5.1.5 to 5.1.13, 7.3.1, 7.4.1, 7.7, 13.3
 * np: 1 2
 * ref: none (under MPICH 4.0 the job ends in some of these calls)
 * timeout: 30
 */
#include "../check.h"

enum { BEFORE = -77 };

static int n = BEFORE, m = BEFORE;
static MPI_Aint lb = BEFORE, extent = BEFORE;
static MPI_Count large = BEFORE, larger = BEFORE;
static void *value;

static void untouched(const char *what) {
	CHECK(n == BEFORE && m == BEFORE && lb == BEFORE && extent == BEFORE && large == BEFORE && larger == BEFORE,
	      "%s: a refused call has stored something", what);
	n = m = BEFORE;
	lb = extent = BEFORE;
	large = larger = BEFORE;
}

static void no_type(const char *what, MPI_Datatype t) {
	MPI_Status s = {0};
	MPI_Count c;
	int x;
	CHECK_CLASS(MPI_Type_size(t, &n), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_size_c(t, &large), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_size_x(t, &large), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_get_extent(t, &lb, &extent), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_get_extent_c(t, &large, &larger), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_get_extent_x(t, &large, &larger), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_get_true_extent(t, &lb, &extent), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_get_true_extent_c(t, &large, &larger), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_get_true_extent_x(t, &large, &larger), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_get_envelope(t, &n, &m, &x, &x), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_get_envelope_c(t, &large, &larger, &c, &c, &n), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Get_count(&s, t, &n), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Get_count_c(&s, t, &large), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Get_elements(&s, t, &n), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Get_elements_c(&s, t, &large), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Get_elements_x(&s, t, &large), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Status_set_elements(&s, t, 1), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Status_set_elements_c(&s, t, 1), MPI_ERR_TYPE);
	untouched(what);
}

static void no_communicator(const char *what, MPI_Comm c) {
	CHECK_CLASS(MPI_Comm_compare(c, MPI_COMM_SELF, &n), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_compare(MPI_COMM_SELF, c, &n), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_test_inter(c, &n), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_remote_size(c, &n), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_get_attr(c, MPI_TAG_UB, &value, &n), MPI_ERR_COMM);
	untouched(what);
}

static void no_group(const char *what, MPI_Group g) {
	int zero = 0;
	CHECK_CLASS(MPI_Group_size(g, &n), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Group_rank(g, &n), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Group_compare(g, MPI_GROUP_EMPTY, &n), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Group_compare(MPI_GROUP_EMPTY, g, &n), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Group_translate_ranks(g, 1, &zero, MPI_GROUP_EMPTY, &n), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Group_translate_ranks(MPI_GROUP_EMPTY, 0, &zero, g, &n), MPI_ERR_GROUP);
	untouched(what);
}

static void handles(void) {
	MPI_Datatype committed, fresh, inner, old_inner;
	MPI_Comm c, old_c;
	MPI_Group g, old_g;
	MPI_Type_contiguous(3, MPI_INT, &committed);
	MPI_Type_commit(&committed);
	MPI_Type_contiguous(3, MPI_INT, &fresh);
	CHECK_OK(MPI_Type_size(fresh, &n));
	CHECK(n == 12, "size %d", n);
	MPI_Type_contiguous(2, MPI_DOUBLE, &inner);
	n = BEFORE;
	MPI_Comm_dup(MPI_COMM_SELF, &c);
	MPI_Group all;
	int zero = 0;
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 1, &zero, &g);
	MPI_Datatype was[] = {committed, fresh};
	MPI_Datatype outer;
	MPI_Type_contiguous(2, inner, &outer);
	old_inner = inner, old_c = c, old_g = g;
	MPI_Type_free(&committed);
	MPI_Type_free(&fresh);
	MPI_Type_free(&inner);
	MPI_Comm_free(&c);
	MPI_Group_free(&g);
	no_type("null", MPI_DATATYPE_NULL);
	no_type("freed", was[0]);
	no_type("freed before it was committed", was[1]);
	no_type("freed and never asked", old_inner);
	no_communicator("null", MPI_COMM_NULL);
	no_communicator("freed", old_c);
	no_group("null", MPI_GROUP_NULL);
	no_group("freed", old_g);
	CHECK_OK(MPI_Type_size(outer, &n));
	CHECK(n == 32, "a type of a freed one has size %d", n);
	n = BEFORE;
	MPI_Type_free(&outer);
	MPI_Group_free(&all);
}

static void places(void) {
	MPI_Status s = {0};
	int x;
	CHECK_CLASS(MPI_Type_size_c(MPI_INT, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_get_extent(MPI_INT, NULL, &extent), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_get_extent_c(MPI_INT, &large, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_get_true_extent(MPI_INT, &lb, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_get_envelope(MPI_INT, &n, &m, &x, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Get_count_c(&s, MPI_INT, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, &n), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Get_elements(MPI_STATUS_IGNORE, MPI_INT, &n), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Get_elements_x(&s, MPI_INT, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Status_set_elements(MPI_STATUS_IGNORE, MPI_INT, 1), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Status_set_elements(&s, MPI_INT, -1), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Status_set_elements_c(&s, MPI_INT, (MPI_Count)1 << 62), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Comm_test_inter(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_remote_size(MPI_COMM_WORLD, &n), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, NULL, &n), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &value, &n), MPI_ERR_KEYVAL);
	CHECK_CLASS(MPI_Group_rank(MPI_GROUP_EMPTY, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Group_compare(MPI_GROUP_EMPTY, MPI_GROUP_EMPTY, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Group_translate_ranks(MPI_GROUP_EMPTY, -1, &x, MPI_GROUP_EMPTY, &n), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Is_thread_main(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Finalized(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Abi_get_version(&n, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Op_commutative(MPI_SUM, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Op_commutative(MPI_OP_NULL, &n), MPI_ERR_OP);
	untouched("NULL");
}

static void groups(void) {
	MPI_Group all, none = MPI_GROUP_EMPTY;
	int from[] = {0, MPI_PROC_NULL, 0}, to[] = {BEFORE, BEFORE, BEFORE};
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	CHECK_OK(MPI_Group_rank(none, &n));
	CHECK(n == MPI_UNDEFINED, "a rank in nothing: %d", n);
	CHECK_OK(MPI_Group_size(none, &n));
	CHECK(n == 0, "the size of nothing is %d", n);
	CHECK_OK(MPI_Group_translate_ranks(all, 3, from, none, to));
	CHECK(to[0] == MPI_UNDEFINED && to[1] == MPI_PROC_NULL && to[2] == MPI_UNDEFINED, "ranks in nothing: %d %d %d",
	      to[0], to[1], to[2]);
	from[2] = check_size;
	to[0] = to[1] = BEFORE;
	CHECK_CLASS(MPI_Group_translate_ranks(all, 3, from, all, to), MPI_ERR_RANK);
	CHECK(to[0] == BEFORE && to[1] == BEFORE, "a refused translation has stored %d %d", to[0], to[1]);
	MPI_Group_free(&all);
	n = BEFORE;
}

static void counts(void) {
	MPI_Status s = {0};
	MPI_Datatype nothing;
	MPI_Request r;
	int buf[4] = {0}, flag;
	MPI_Status_set_elements(&s, MPI_BYTE, 7);
	CHECK_OK(MPI_Get_count(&s, MPI_INT, &n));
	CHECK(n == MPI_UNDEFINED, "7 bytes are %d ints", n);
	CHECK_OK(MPI_Get_elements(&s, MPI_INT, &n));
	CHECK(n == MPI_UNDEFINED, "7 bytes are %d elements", n);
	CHECK_OK(MPI_Get_count_c(&s, MPI_INT, &large));
	CHECK(large == MPI_UNDEFINED, "7 bytes are %lld ints", (long long)large);
	MPI_Status_set_elements_c(&s, MPI_BYTE, (MPI_Count)1 << 40);
	CHECK_OK(MPI_Get_count(&s, MPI_INT, &n));
	CHECK(n == MPI_UNDEFINED, "2^38 are %d", n);
	CHECK_OK(MPI_Get_count_c(&s, MPI_INT, &large));
	CHECK(large == (MPI_Count)1 << 38, "2^38 are %lld", (long long)large);
	MPI_Type_contiguous(0, MPI_INT, &nothing);
	CHECK_OK(MPI_Get_count(&s, nothing, &n));
	CHECK(n == MPI_UNDEFINED, "some bytes are %d of nothing", n);
	MPI_Status_set_elements(&s, MPI_BYTE, 0);
	CHECK_OK(MPI_Get_count(&s, nothing, &n));
	CHECK(n == 0, "no bytes are %d of nothing", n);
	MPI_Type_free(&nothing);
	MPI_Irecv(buf, 4, MPI_INT, 0, 5, MPI_COMM_SELF, &r);
	MPI_Cancel(&r);
	MPI_Wait(&r, &s);
	CHECK_OK(MPI_Test_cancelled(&s, &flag));
	CHECK_OK(MPI_Get_count(&s, MPI_INT, &n));
	CHECK(flag == 1, "the receive was not cancelled");
	n = BEFORE;
	large = BEFORE;
}

int main(int argc, char **argv) {
	check_begin_return_errors(&argc, &argv);
	handles();
	places();
	groups();
	counts();
	return check_end();
}
