/* Proves: MPI_Initialized, MPI_Finalized and the version calls return the right values before MPI_Init, before
 *   MPI_Finalize and after it. MPI_Init accepts null pointers. The world has the right rank and size; MPI_COMM_SELF
 *   has size 1. MPI-5.0 9.1, 11.2
 * np: 1 2 5
 * args: arguments null
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"

static int bad;

static void expect(int want_initialized, int want_finalized, const char *when) {
	int initialized = -1, finalized = -1, version = -1, subversion = -1, len = -1;
	char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	MPI_Initialized(&initialized);
	MPI_Finalized(&finalized);
	MPI_Get_version(&version, &subversion);
	MPI_Get_library_version(library, &len);
	if (initialized != want_initialized || finalized != want_finalized || version != MPI_VERSION ||
	    subversion != MPI_SUBVERSION || version < 3 || len <= 0 || len >= MPI_MAX_LIBRARY_VERSION_STRING ||
	    len != (int)strlen(library)) {
		fprintf(stderr, "%s: initialized %d, finalized %d, version %d.%d, library '%s' of length %d\n", when,
			initialized, finalized, version, subversion, library, len);
		bad = 1;
	}
}

int main(int argc, char **argv) {
	expect(0, 0, "before MPI_Init");
	if (argc > 1 && strcmp(argv[1], "null") == 0)
		MPI_Init(NULL, NULL);
	else
		MPI_Init(&argc, &argv);
	expect(1, 0, "after MPI_Init");
	check_started(argc, argv);
	CHECK(argc == 2, "%d arguments are left", argc);
	CHECK(check_size >= 1 && check_rank >= 0 && check_rank < check_size, "rank %d of %d", check_rank, check_size);
	int n = -1, rank = -1;
	MPI_Comm_size(MPI_COMM_SELF, &n);
	MPI_Comm_rank(MPI_COMM_SELF, &rank);
	CHECK(n == 1 && rank == 0, "MPI_COMM_SELF: rank %d of %d", rank, n);
	char name[MPI_MAX_PROCESSOR_NAME] = "";
	int len = -1;
	MPI_Get_processor_name(name, &len);
	CHECK(len > 0 && len < MPI_MAX_PROCESSOR_NAME && (int)strlen(name) == len,
	      "the processor's name '%s' has length %d", name, len);
	/* each rank exists once */
	int ranks[64], me = check_rank;
	MPI_Allgather(&me, 1, MPI_INT, ranks, 1, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < check_size; i++)
		CHECK(ranks[i] == i, "rank %d says it is %d", i, ranks[i]);
	int status = check_end();
	expect(1, 1, "after MPI_Finalize");
	return status || bad;
}
