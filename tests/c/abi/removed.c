/* Proves: calls of functions that MPI-3.0 removed compile as C99 without a warning. A profiling tool sees the function
 * that replaces a removed one (MPI_Get_address for MPI_Address): once for a call by the MPI_ name, never for a call by
 * the PMPI_ name. A program that defines a removed function itself calls its own function. */
#define MPI_Type_ub MPI_Type_ub /* mpi.h then does not define the function, and this program does so below */
#include <mpi.h>
#include <stdio.h>

static int calls;

/* Counts and forwards the call, as a profiling tool does. */
int MPI_Get_address(const void *location, MPI_Aint *address) {
	calls++;
	return PMPI_Get_address(location, address);
}

int MPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent) {
	calls++;
	return PMPI_Type_get_extent(datatype, lb, extent);
}

int MPI_Type_create_struct(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
			   const MPI_Datatype array_of_types[], MPI_Datatype *newtype) {
	calls++;
	return PMPI_Type_create_struct(count, array_of_blocklengths, array_of_displacements, array_of_types, newtype);
}

int MPI_Type_create_hindexed(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
			     MPI_Datatype oldtype, MPI_Datatype *newtype) {
	calls++;
	return PMPI_Type_create_hindexed(count, array_of_blocklengths, array_of_displacements, oldtype, newtype);
}

int MPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype) {
	calls++;
	return PMPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype);
}

int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler *errhandler) {
	calls++;
	return PMPI_Comm_create_errhandler(comm_errhandler_fn, errhandler);
}

int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler) {
	calls++;
	return PMPI_Comm_get_errhandler(comm, errhandler);
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
	calls++;
	return PMPI_Comm_set_errhandler(comm, errhandler);
}

/* Replaces the library's function, as an old profiling library does. */
int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *ub);
int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *ub) {
	calls += 100;
	return PMPI_Type_ub(datatype, ub);
}

static int wrong;

#define SEEN(call, times)                                                           \
	do {                                                                        \
		calls = 0;                                                          \
		if ((call) != MPI_SUCCESS || calls != (times)) {                    \
			printf("%s: seen %d times, not %d\n", #call, calls, times); \
			wrong++;                                                    \
		}                                                                   \
	} while (0)

static void handler(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }

int main(int argc, char **argv) {
	int lengths[1] = {2}, value = 0;
	MPI_Aint displs[1] = {4}, a = 0, b = 0;
	MPI_Datatype types[1] = {MPI_INT}, t = MPI_DATATYPE_NULL;
	MPI_Handler_function *function = handler;
	MPI_Errhandler h = MPI_ERRHANDLER_NULL, h2 = MPI_ERRHANDLER_NULL;

	MPI_Init(&argc, &argv);
	SEEN(MPI_Address(&value, &a), 1);
	SEEN(PMPI_Address(&value, &b), 0);
	wrong += a != (MPI_Aint)&value || a != b;
	SEEN(MPI_Type_extent(MPI_INT, &a), 1);
	SEEN(PMPI_Type_extent(MPI_INT, &b), 0);
	wrong += a != (MPI_Aint)sizeof value || a != b;
	SEEN(MPI_Type_hvector(2, 1, 12, MPI_INT, &t), 1);
	MPI_Type_free(&t);
	SEEN(PMPI_Type_hvector(2, 1, 12, MPI_INT, &t), 0);
	MPI_Type_free(&t);
	SEEN(MPI_Type_hindexed(1, lengths, displs, MPI_INT, &t), 1);
	MPI_Type_free(&t);
	SEEN(PMPI_Type_hindexed(1, lengths, displs, MPI_INT, &t), 0);
	MPI_Type_free(&t);
	SEEN(MPI_Type_struct(1, lengths, displs, types, &t), 1);
	MPI_Type_free(&t);
	SEEN(PMPI_Type_struct(1, lengths, displs, types, &t), 0);
	SEEN(MPI_Type_lb(t, &a), 1);
	SEEN(PMPI_Type_lb(t, &b), 0);
	wrong += a != 4 || a != b;
	SEEN(MPI_Type_ub(t, &a), 100);
	SEEN(PMPI_Type_ub(t, &b), 0);
	wrong += a != 12 || a != b;
	MPI_Type_free(&t);
	SEEN(MPI_Errhandler_create(function, &h), 1);
	SEEN(MPI_Errhandler_set(MPI_COMM_SELF, h), 1);
	SEEN(MPI_Errhandler_get(MPI_COMM_SELF, &h2), 1);
	wrong += h != h2;
	MPI_Errhandler_free(&h);
	MPI_Errhandler_free(&h2);
	SEEN(PMPI_Errhandler_create(function, &h), 0);
	SEEN(PMPI_Errhandler_set(MPI_COMM_SELF, h), 0);
	SEEN(PMPI_Errhandler_get(MPI_COMM_SELF, &h2), 0);
	wrong += h != h2;
	MPI_Errhandler_free(&h);
	MPI_Errhandler_free(&h2);
	MPI_Finalize();
	printf("%d wrong\n", wrong);
	return wrong != 0;
}
