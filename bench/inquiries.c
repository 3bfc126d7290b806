/* Times calls that only read local data of the process, as loop.h describes. Rank 0 calls; the other rank waits. */
#include "loop.h"

static MPI_Request pending; /* a receive that no message matches */
static MPI_Status received; /* the status of a message of three doubles */
static MPI_Comm other;      /* congruent to MPI_COMM_WORLD */
static MPI_Group group;
static MPI_Info info;
static int flag;

static void type_size(long n) {
	int length;
	for (long i = 0; i < n; i++)
		MPI_Type_size(MPI_DOUBLE, &length);
}
static void type_get_extent(long n) {
	MPI_Aint lb, extent;
	for (long i = 0; i < n; i++)
		MPI_Type_get_extent(MPI_DOUBLE, &lb, &extent);
}
static void type_get_true_extent(long n) {
	MPI_Aint lb, extent;
	for (long i = 0; i < n; i++)
		MPI_Type_get_true_extent(MPI_DOUBLE, &lb, &extent);
}
static void get_count(long n) {
	int count;
	for (long i = 0; i < n; i++)
		MPI_Get_count(&received, MPI_DOUBLE, &count);
}
static void comm_get_attr(long n) {
	void *value;
	for (long i = 0; i < n; i++)
		MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
}
static void comm_compare(long n) {
	int result;
	for (long i = 0; i < n; i++)
		MPI_Comm_compare(MPI_COMM_WORLD, other, &result);
}
static void group_rank(long n) {
	int mine;
	for (long i = 0; i < n; i++)
		MPI_Group_rank(group, &mine);
}
static void group_translate_ranks(long n) {
	int from[2] = {0, 1}, to[2];
	for (long i = 0; i < n; i++)
		MPI_Group_translate_ranks(group, size < 2 ? 1 : 2, from, group, to);
}
static void iprobe(long n) {
	for (long i = 0; i < n; i++)
		MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}
static void test(long n) {
	for (long i = 0; i < n; i++)
		MPI_Test(&pending, &flag, MPI_STATUS_IGNORE);
}
static void request_get_status(long n) {
	for (long i = 0; i < n; i++)
		MPI_Request_get_status(pending, &flag, MPI_STATUS_IGNORE);
}
static void initialized(long n) {
	for (long i = 0; i < n; i++)
		MPI_Initialized(&flag);
}
static void finalized(long n) {
	for (long i = 0; i < n; i++)
		MPI_Finalized(&flag);
}
static void info_get(long n) {
	char value[16];
	for (long i = 0; i < n; i++)
		MPI_Info_get(info, "no_locks", sizeof value - 1, value, &flag);
}

static const struct measurement measurements[] = {
	{"type_size", NULL, type_size, ORIGIN, 0, 0},
	{"type_get_extent", NULL, type_get_extent, ORIGIN, 0, 0},
	{"type_get_true_extent", NULL, type_get_true_extent, ORIGIN, 0, 0},
	{"get_count", NULL, get_count, ORIGIN, 0, 0},
	{"comm_get_attr", NULL, comm_get_attr, ORIGIN, 0, 0},
	{"comm_compare", NULL, comm_compare, ORIGIN, 0, 0},
	{"group_rank", NULL, group_rank, ORIGIN, 0, 0},
	{"group_translate_ranks", NULL, group_translate_ranks, ORIGIN, 0, 0},
	{"iprobe", NULL, iprobe, ORIGIN, 0, 0},
	{"test", NULL, test, ORIGIN, 0, 0},
	{"request_get_status", NULL, request_get_status, ORIGIN, 0, 0},
	{"initialized", NULL, initialized, ORIGIN, 0, 0},
	{"finalized", NULL, finalized, ORIGIN, 0, 0},
	{"info_get", NULL, info_get, ORIGIN, 0, 0},
};

static void begin(void) {
	static double got[3];
	double three[3] = {0};
	MPI_Sendrecv(three, 3, MPI_DOUBLE, 0, 4, got, 3, MPI_DOUBLE, 0, 4, MPI_COMM_SELF, &received);
	MPI_Irecv(got, 3, MPI_DOUBLE, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &pending);
	MPI_Comm_dup(MPI_COMM_WORLD, &other);
	MPI_Comm_group(MPI_COMM_WORLD, &group);
	MPI_Info_create(&info);
	MPI_Info_set(info, "no_locks", "false");
}

static void finish(void) {
	MPI_Cancel(&pending);
	MPI_Wait(&pending, MPI_STATUS_IGNORE);
	MPI_Comm_free(&other);
	MPI_Group_free(&group);
	MPI_Info_free(&info);
}

int main(int argc, char **argv) {
	static const struct program inquiries = {
		"inquiries", measurements, sizeof measurements / sizeof *measurements, NULL, NULL, NULL, 0};
	return measure(&inquiries, argc, argv, begin, finish);
}
