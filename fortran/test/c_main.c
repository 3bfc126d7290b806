/* A C program that calls Fortran subroutines (c_main_parts.f90). It passes windows, communicators and statuses in
 * both directions. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

void mpif_part_(MPI_Fint *comm, MPI_Fint *win, MPI_Fint *ierror);
void f08_part(MPI_Fint comm, MPI_Fint *status, MPI_Fint *made);

static int errors;

static void expect(int ok, const char *what) {
	if (ok)
		return;
	errors++;
	fprintf(stderr, "%s\n", what);
}

int main(int argc, char **argv) {
	int rank, n, count;
	MPI_Fint memory[4] = {0}, f_comm, f_win, f_status[MPI_F_STATUS_SIZE], made, ierror = -1;
	MPI_Comm comm;
	MPI_Win win;
	MPI_Status s;
	MPI_F08_status s08;
	MPI_Datatype type;

	MPI_Init(&argc, &argv);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &n);
	MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, comm, &win);
	f_comm = MPI_Comm_c2f(comm);
	f_win = MPI_Win_c2f(win);
	mpif_part_(&f_comm, &f_win, &ierror);
	expect(ierror == MPI_SUCCESS, "ierror of the last call with mpif.h");
	expect(memory[0] == 42 && memory[1] == 0 && memory[2] == 43 && memory[3] == 0,
	       "what Fortran's subroutines put");

	f08_part(f_comm, f_status, &made);
	expect(MPI_Status_f2c(f_status, &s) == MPI_SUCCESS && s.MPI_TAG == 9 && s.MPI_SOURCE == rank, "status_f2c");
	MPI_Get_count(&s, sizeof(MPI_Fint) == sizeof(int) ? MPI_INT : MPI_INT64_T, &count);
	expect(count == 2, "count of Fortran's status");
	expect(MPI_Status_f2f08(f_status, &s08) == MPI_SUCCESS && s08.MPI_TAG == 9, "status_f2f08");
	s.MPI_TAG = 0;
	expect(MPI_Status_f082c(&s08, &s) == MPI_SUCCESS && s.MPI_TAG == 9, "status_f082c");
	s.MPI_TAG = 10;
	expect(MPI_Status_c2f08(&s, &s08) == MPI_SUCCESS && s08.MPI_TAG == 10, "status_c2f08");
	expect(MPI_Status_f082f(&s08, f_status) == MPI_SUCCESS && f_status[MPI_F_TAG] == 10, "status_f082f");
	type = MPI_Type_f2c(made);
	MPI_Type_size(type, &count);
	expect(count == 6 * (int)sizeof(MPI_Fint), "a datatype that Fortran made");
	MPI_Type_free(&type);
	expect(type == MPI_DATATYPE_NULL && MPI_Type_c2f(type) == (MPI_Fint)(intptr_t)MPI_DATATYPE_NULL,
	       "a null datatype");
	MPI_Win_free(&win);
	MPI_Comm_free(&comm);
	MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Finalize();
	if (rank == 0)
		puts(errors ? "FAIL" : "PASS");
	return errors != 0;
}
