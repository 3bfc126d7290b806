/* The C side of handles.F90: the same handles, statuses and attributes in both languages. */
#include <mpi.h>
#include <stddef.h>

/* Each returns 0, or the number of what is wrong. */

int c_check_handles(int comm, int win, int type, int op, int info, int group, int errhandler, int request) {
	MPI_Comm c = MPI_Comm_f2c(comm);
	MPI_Win w = MPI_Win_f2c(win);
	MPI_Datatype t = MPI_Type_fromint(type);
	int size, n;
	if (MPI_Comm_c2f(c) != comm || MPI_Comm_size(c, &size) != MPI_SUCCESS || size < 1)
		return 1;
	MPI_Group g;
	if (MPI_Win_toint(w) != win || MPI_Win_get_group(w, &g) != MPI_SUCCESS || MPI_Group_free(&g) != MPI_SUCCESS)
		return 2;
	if (MPI_Type_toint(t) != type || MPI_Type_size(t, &size) != MPI_SUCCESS || size != 12)
		return 3;
	if (MPI_Op_toint(MPI_Op_fromint(op)) != op || MPI_Op_commutative(MPI_Op_fromint(op), &n) != MPI_SUCCESS)
		return 4;
	if (MPI_Info_toint(MPI_Info_fromint(info)) != info ||
	    MPI_Info_get_nkeys(MPI_Info_fromint(info), &n) != MPI_SUCCESS || n != 1)
		return 5;
	if (MPI_Group_toint(MPI_Group_fromint(group)) != group ||
	    MPI_Group_size(MPI_Group_fromint(group), &n) != MPI_SUCCESS || n < 1)
		return 6;
	if (MPI_Errhandler_toint(MPI_Errhandler_fromint(errhandler)) != errhandler)
		return 7;
	MPI_Request r = MPI_Request_fromint(request);
	MPI_Status s;
	int got = 0;
	if (MPI_Request_toint(r) != request || r == MPI_REQUEST_NULL)
		return 8;
	if (MPI_Recv(&got, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &s) != MPI_SUCCESS || got != 4711 ||
	    MPI_Wait(&r, MPI_STATUS_IGNORE) != MPI_SUCCESS)
		return 9;
	return 0;
}

/* Predefined handles have the values of the ABI. */
int c_check_predefined(int world, int integer, int sum, int null) {
	return !(world == (int)(intptr_t)MPI_COMM_WORLD && integer == (int)(intptr_t)MPI_INTEGER &&
		 sum == (int)(intptr_t)MPI_SUM && null == (int)(intptr_t)MPI_WIN_NULL);
}

/* c_make gives Fortran handles. */
void c_make(int *comm, int *type) {
	MPI_Comm c;
	MPI_Datatype t;
	MPI_Comm_dup(MPI_COMM_SELF, &c);
	MPI_Type_contiguous(5, MPI_INT, &t);
	*comm = MPI_Comm_c2f(c);
	*type = MPI_Type_toint(t);
}

/* A status that Fortran received with is the same eight integers here. */
int c_check_status(const MPI_Status *status) {
	int count = -1;
	MPI_Fint f_status[8];
	MPI_Status s;
	MPI_Get_count(status, MPI_INTEGER, &count);
	MPI_Status_c2f(status, f_status);
	MPI_Status_f2c(f_status, &s);
	if (s.MPI_TAG != 77)
		return 2;
	return !(status->MPI_SOURCE == 0 && status->MPI_TAG == 77 && count == 3);
}

/* Which of the addresses that stand for no status is this? Those of mpi and mpif.h, and those of mpi_f08. */
int c_is_ignore(const MPI_Fint *status) {
	const MPI_F08_status *f08 = (const MPI_F08_status *)status;
	if (f08 == MPI_F08_STATUS_IGNORE || f08 == MPI_F08_STATUSES_IGNORE)
		return f08 == MPI_F08_STATUS_IGNORE ? 3 : 4;
	return status == MPI_F_STATUS_IGNORE ? 1 : status == MPI_F_STATUSES_IGNORE ? 2 : 0;
}

/* Attributes. C sets a pointer; what Fortran set C gets as the address of the value. */
int c_key(void) {
	int key;
	MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
	return key;
}

void c_set(int comm, int key, MPI_Aint pointer) { MPI_Comm_set_attr(MPI_Comm_fromint(comm), key, (void *)pointer); }

MPI_Aint c_get(int comm, int key, int set_by_fortran) {
	void *value = NULL;
	int flag = 0;
	MPI_Comm_get_attr(MPI_Comm_fromint(comm), key, &value, &flag);
	if (!flag)
		return -1;
	return set_by_fortran ? *(MPI_Aint *)value : (MPI_Aint)value;
}
