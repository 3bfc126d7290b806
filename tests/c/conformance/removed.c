/* Proves: functions that MPI-3.0 removed still work for old programs, under their MPI_ and PMPI_ names. Struct types
 *   made of differences of MPI_Address move members between ranks and leave padding unchanged. So do types of absolute
 *   addresses with MPI_BOTTOM. MPI_Type_hvector, MPI_Type_hindexed, MPI_Type_extent and the bounds work.
 *   MPI_Errhandler_create, get and set work. The functions return the errors of the functions that replace them. No
 *   datatype has a removed combiner. MPI-2.2 2.6.1, MPI-5.0 chapter 17
 * np: 1 2 3
 * args: MPI PMPI
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

/* The functions under test, with their MPI-2.2 prototypes. The argument of the program selects the MPI_ or the PMPI_
 * names. */
static struct functions {
	int (*address)(void *, MPI_Aint *);
	int (*errhandler_create)(MPI_Handler_function *, MPI_Errhandler *);
	int (*errhandler_get)(MPI_Comm, MPI_Errhandler *);
	int (*errhandler_set)(MPI_Comm, MPI_Errhandler);
	int (*type_extent)(MPI_Datatype, MPI_Aint *);
	int (*type_hindexed)(int, int *, MPI_Aint *, MPI_Datatype, MPI_Datatype *);
	int (*type_hvector)(int, int, MPI_Aint, MPI_Datatype, MPI_Datatype *);
	int (*type_lb)(MPI_Datatype, MPI_Aint *);
	int (*type_struct)(int, int *, MPI_Aint *, MPI_Datatype *, MPI_Datatype *);
	int (*type_ub)(MPI_Datatype, MPI_Aint *);
} f = {MPI_Address,       MPI_Errhandler_create, MPI_Errhandler_get, MPI_Errhandler_set, MPI_Type_extent,
       MPI_Type_hindexed, MPI_Type_hvector,      MPI_Type_lb,        MPI_Type_struct,    MPI_Type_ub};

static const struct functions profiled = {
	PMPI_Address,       PMPI_Errhandler_create, PMPI_Errhandler_get, PMPI_Errhandler_set, PMPI_Type_extent,
	PMPI_Type_hindexed, PMPI_Type_hvector,      PMPI_Type_lb,        PMPI_Type_struct,    PMPI_Type_ub};

/* ---- A struct whose members are described by their addresses ---- */

struct particle {
	char kind;
	double x[3];
	int id;
	short spin[2];
	char name[5];
};

enum { PARTICLES = 4, MEMBERS = 5 };

static void fill(struct particle *p, int rank, int i) {
	memset(p, 0x55, sizeof *p); /* also sets the padding */
	p->kind = (char)('a' + i);
	for (int j = 0; j < 3; j++)
		p->x[j] = rank + 0.25 * i + j;
	p->id = 100 * rank + i;
	p->spin[0] = (short)-rank;
	p->spin[1] = (short)i;
	memcpy(p->name, "abcd", 5);
}

static void check_particle(const struct particle *p, int rank, int i, const char *how) {
	struct particle want;
	fill(&want, rank, i);
	CHECK(p->kind == want.kind && p->x[0] == want.x[0] && p->x[1] == want.x[1] && p->x[2] == want.x[2] &&
		      p->id == want.id && p->spin[0] == want.spin[0] && p->spin[1] == want.spin[1] &&
		      memcmp(p->name, want.name, 5) == 0,
	      "%s, particle %d of %d: kind %d, x %g %g %g, id %d, spin %d %d, name %.5s", how, i, rank, p->kind,
	      p->x[0], p->x[1], p->x[2], p->id, p->spin[0], p->spin[1], p->name);
	const unsigned char *between =
		(const unsigned char *)&p->kind + 1; /* padding of the target: no rank writes it */
	CHECK(*between == 0, "%s, particle %d: padding is %d", how, i, *between);
}

/* Returns the type of a particle, with the addresses of the members of `first` relative to base. */
static MPI_Datatype particle_type(struct particle *first, MPI_Aint base) {
	int lengths[MEMBERS] = {1, 3, 1, 2, 5};
	MPI_Datatype types[MEMBERS] = {MPI_CHAR, MPI_DOUBLE, MPI_INT, MPI_SHORT, MPI_CHAR}, type = MPI_DATATYPE_NULL;
	MPI_Aint displs[MEMBERS];
	CHECK_OK(f.address(&first->kind, &displs[0]));
	CHECK_OK(f.address(first->x, &displs[1]));
	CHECK_OK(f.address(&first->id, &displs[2]));
	CHECK_OK(f.address(first->spin, &displs[3]));
	CHECK_OK(f.address(first->name, &displs[4]));
	for (int i = 0; i < MEMBERS; i++)
		displs[i] -= base;
	CHECK_OK(f.type_struct(MEMBERS, lengths, displs, types, &type));
	CHECK_OK(MPI_Type_commit(&type));
	return type;
}

static void structs(void) {
	struct particle mine[PARTICLES], *memory;
	MPI_Win win;
	MPI_Aint base = 0, extent = 0, first = 0, second = 0;
	int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
	for (int i = 0; i < PARTICLES; i++)
		fill(&mine[i], check_rank, i);
	MPI_Win_allocate(sizeof mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	memset(memory, 0, sizeof mine);
	CHECK_OK(f.address(mine, &base));
	CHECK(base == (MPI_Aint)mine, "MPI_Address gives %td, not %td", (ptrdiff_t)base, (ptrdiff_t)(MPI_Aint)mine);
	CHECK_OK(f.address(MPI_BOTTOM, &first));
	CHECK(first == 0, "the address of MPI_BOTTOM is %td", (ptrdiff_t)first);
	MPI_Datatype type = particle_type(mine, base), whole = particle_type(mine, 0);
	CHECK_OK(f.type_extent(type, &extent));
	CHECK_OK(f.address(&mine[0], &first));
	CHECK_OK(f.address(&mine[1], &second));
	CHECK(extent == second - first, "the extent is %td, that of the array's elements %td", (ptrdiff_t)extent,
	      (ptrdiff_t)(second - first));

	MPI_Win_fence(0, win);
	MPI_Put(mine, PARTICLES, type, next, 0, PARTICLES, type, win);
	MPI_Win_fence(0, win);
	for (int i = 0; i < PARTICLES; i++)
		check_particle(&memory[i], before, i, "put");
	MPI_Win_fence(0, win);

	memset(mine, 0, sizeof mine);
	MPI_Get(mine, PARTICLES, type, next, 0, PARTICLES, type, win); /* the particles that this rank has put */
	MPI_Win_fence(0, win);
	for (int i = 0; i < PARTICLES; i++)
		check_particle(&mine[i], check_rank, i, "get");

	memset(memory, 0, sizeof *memory);
	mine[0].id = 7000 + check_rank;
	MPI_Win_fence(0, win);
	MPI_Put(MPI_BOTTOM, 1, whole, next, 0, 1, type, win);
	MPI_Win_fence(0, win);
	CHECK(memory[0].id == 7000 + before && memory[0].x[2] == before + 2.0, "put from MPI_BOTTOM: id %d, x %g",
	      memory[0].id, memory[0].x[2]);
	MPI_Type_free(&type);
	MPI_Type_free(&whole);
	MPI_Win_free(&win);
}

/* ---- Puts that transpose a matrix, and puts of its upper triangle ---- */

enum { N = 6 };

static void strides(void) {
	static double matrix[N][N], got[N][N];
	MPI_Datatype column, transposed, triangle;
	MPI_Aint size = 0, displs[N];
	MPI_Win win;
	int lengths[N], next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			matrix[i][j] = 100 * check_rank + 10 * i + j;
	CHECK_OK(f.type_extent(MPI_DOUBLE, &size));
	CHECK(size == sizeof(double), "the extent of MPI_DOUBLE is %td", (ptrdiff_t)size);
	CHECK_OK(f.type_hvector(N, 1, N * size, MPI_DOUBLE, &column));
	CHECK_OK(f.type_hvector(N, 1, size, column, &transposed));
	MPI_Type_commit(&transposed);
	for (int i = 0; i < N; i++) {
		lengths[i] = N - i;
		displs[i] = (MPI_Aint)(N * i + i) * size;
	}
	CHECK_OK(f.type_hindexed(N, lengths, displs, MPI_DOUBLE, &triangle));
	MPI_Type_commit(&triangle);

	MPI_Win_create(got, sizeof got, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_fence(0, win);
	MPI_Put(matrix, N * N, MPI_DOUBLE, next, 0, 1, transposed, win);
	MPI_Win_fence(0, win);
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			CHECK(got[i][j] == 100 * before + 10 * j + i, "transposed: [%d][%d] is %g", i, j, got[i][j]);
	memset(got, 0, sizeof got);
	MPI_Win_fence(0, win);
	MPI_Put(matrix, 1, triangle, next, 0, 1, triangle, win);
	MPI_Win_fence(0, win);
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			CHECK(got[i][j] == (j < i ? 0 : 100 * before + 10 * i + j), "triangle: [%d][%d] is %g", i, j,
			      got[i][j]);
	MPI_Win_free(&win);
	MPI_Type_free(&column);
	MPI_Type_free(&transposed);
	MPI_Type_free(&triangle);
}

static void bounds(void) {
	int lengths[2] = {2, 3};
	MPI_Aint displs[2] = {-24, 40}, lb = 1, ub = 1, extent = 1;
	MPI_Datatype type, large;
	MPI_Type_hindexed(2, lengths, displs, MPI_INT, &type);
	CHECK_OK(f.type_lb(type, &lb));
	CHECK_OK(f.type_ub(type, &ub));
	CHECK_OK(f.type_extent(type, &extent));
	CHECK(lb == -24 && ub == 40 + 3 * (MPI_Aint)sizeof(int) && extent == ub - lb, "bounds %td and %td, extent %td",
	      (ptrdiff_t)lb, (ptrdiff_t)ub, (ptrdiff_t)extent);
	MPI_Type_create_resized(type, -((MPI_Aint)1 << 40), (MPI_Aint)3 << 40, &large);
	CHECK_OK(f.type_lb(large, &lb));
	CHECK_OK(f.type_ub(large, &ub));
	CHECK_OK(f.type_extent(large, &extent));
	CHECK(lb == -((MPI_Aint)1 << 40) && ub == (MPI_Aint)2 << 40 && extent == (MPI_Aint)3 << 40,
	      "resized: bounds %td and %td, extent %td", (ptrdiff_t)lb, (ptrdiff_t)ub, (ptrdiff_t)extent);
	MPI_Type_free(&type);
	MPI_Type_free(&large);
}

/* ---- Error handlers ---- */

static int calls, last_class;
static MPI_Comm last_comm;

static void handler(MPI_Comm *comm, int *code, ...) {
	calls++;
	last_comm = *comm;
	MPI_Error_class(*code, &last_class);
}

static void handlers(void) {
	MPI_Handler_function *function = handler;
	MPI_Errhandler mine = MPI_ERRHANDLER_NULL, got = MPI_ERRHANDLER_NULL;
	MPI_Comm comm;
	int value = 0;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	CHECK_OK(f.errhandler_create(function, &mine));
	CHECK_OK(f.errhandler_get(comm, &got));
	CHECK(got == MPI_ERRORS_ARE_FATAL, "the handler at first is not MPI_ERRORS_ARE_FATAL");
	CHECK_OK(f.errhandler_set(comm, mine));
	CHECK_OK(f.errhandler_get(comm, &got));
	CHECK(got == mine, "the handler got is not the one set");
	MPI_Errhandler_free(&got);
	MPI_Errhandler_free(&mine);
	CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, check_size + 3, 0, comm), MPI_ERR_RANK);
	CHECK(calls == 1 && last_class == MPI_ERR_RANK && last_comm == comm, "the handler: %d calls, class %d", calls,
	      last_class);
	CHECK_OK(f.errhandler_set(comm, MPI_ERRORS_RETURN));
	CHECK_CLASS(MPI_Send(&value, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);
	CHECK(calls == 1, "the replaced handler was called");
	MPI_Comm_free(&comm);
}

/* ---- Refused calls on MPI_COMM_WORLD or MPI_COMM_SELF, which must write nothing ---- */

static void refused(void) {
	int lengths[1] = {1};
	MPI_Aint value = 77, displs[1] = {0};
	MPI_Datatype types[1] = {MPI_DATATYPE_NULL}, made = MPI_CHAR;
	f.errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	f.errhandler_set(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	CHECK_CLASS(f.type_extent(MPI_DATATYPE_NULL, &value), MPI_ERR_TYPE);
	CHECK_CLASS(f.type_lb(MPI_DATATYPE_NULL, &value), MPI_ERR_TYPE);
	CHECK_CLASS(f.type_ub(MPI_DATATYPE_NULL, &value), MPI_ERR_TYPE);
	CHECK_CLASS(f.type_extent(MPI_INT, NULL), MPI_ERR_ARG);
	CHECK_CLASS(f.type_lb(MPI_INT, NULL), MPI_ERR_ARG);
	CHECK_CLASS(f.type_ub(MPI_INT, NULL), MPI_ERR_ARG);
	CHECK_CLASS(f.type_hvector(-1, 1, 0, MPI_INT, &made), MPI_ERR_COUNT);
	CHECK(f.type_hindexed(-1, lengths, displs, MPI_INT, &made) != MPI_SUCCESS, "MPI_Type_hindexed of -1 blocks");
	CHECK_CLASS(f.type_struct(1, lengths, displs, types, &made), MPI_ERR_TYPE);
	CHECK(value == 77 && made == MPI_CHAR, "a refused call wrote its result");
}

/* Returns the name of a type's combiner. Programs list all combiners in one switch, so no two may be equal. */
static const char *combiner(MPI_Datatype type) {
	int integers, addresses, types, how = -1;
	MPI_Type_get_envelope(type, &integers, &addresses, &types, &how);
	switch (how) {
	case MPI_COMBINER_NAMED:
		return "named";
	case MPI_COMBINER_DUP:
		return "dup";
	case MPI_COMBINER_CONTIGUOUS:
		return "contiguous";
	case MPI_COMBINER_VECTOR:
		return "vector";
	case MPI_COMBINER_HVECTOR_INTEGER:
		return "hvector_integer";
	case MPI_COMBINER_HVECTOR:
		return "hvector";
	case MPI_COMBINER_INDEXED:
		return "indexed";
	case MPI_COMBINER_HINDEXED_INTEGER:
		return "hindexed_integer";
	case MPI_COMBINER_HINDEXED:
		return "hindexed";
	case MPI_COMBINER_INDEXED_BLOCK:
		return "indexed_block";
	case MPI_COMBINER_HINDEXED_BLOCK:
		return "hindexed_block";
	case MPI_COMBINER_STRUCT_INTEGER:
		return "struct_integer";
	case MPI_COMBINER_STRUCT:
		return "struct";
	case MPI_COMBINER_SUBARRAY:
		return "subarray";
	case MPI_COMBINER_DARRAY:
		return "darray";
	case MPI_COMBINER_F90_REAL:
		return "f90_real";
	case MPI_COMBINER_F90_COMPLEX:
		return "f90_complex";
	case MPI_COMBINER_F90_INTEGER:
		return "f90_integer";
	case MPI_COMBINER_RESIZED:
		return "resized";
	}
	return "unknown";
}

static void combiners(void) {
	int lengths[1] = {2};
	MPI_Aint displs[1] = {8};
	MPI_Datatype type[3], types[1] = {MPI_INT};
	const char *want[3] = {"hvector", "hindexed", "struct"};
	f.type_hvector(2, 1, 16, MPI_INT, &type[0]);
	f.type_hindexed(1, lengths, displs, MPI_INT, &type[1]);
	f.type_struct(1, lengths, displs, types, &type[2]);
	for (int i = 0; i < 3; i++) {
		CHECK(strcmp(combiner(type[i]), want[i]) == 0, "the combiner is %s, not %s", combiner(type[i]),
		      want[i]);
		MPI_Type_free(&type[i]);
	}
	CHECK(strcmp(combiner(MPI_INT), "named") == 0, "the combiner of MPI_INT is %s", combiner(MPI_INT));
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	if (strcmp(check_arg, "PMPI") == 0)
		f = profiled;
	structs();
	strides();
	bounds();
	handlers();
	combiners();
	refused();
	return check_end();
}
