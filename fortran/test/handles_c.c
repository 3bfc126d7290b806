/* The C functions of handles.F90, which check that handles, statuses and attributes are the same in both languages. */
#include <mpi.h>
#include <stddef.h>

/* Each check returns 0, or the number of the failed condition. */

MPI_Fint c_check_handles(MPI_Fint comm, MPI_Fint win, MPI_Fint type, MPI_Fint op, MPI_Fint info, MPI_Fint group,
			 MPI_Fint errhandler, MPI_Fint request) {
	MPI_Comm c = MPI_Comm_f2c(comm);
	MPI_Win w = MPI_Win_f2c(win);
	MPI_Datatype t = MPI_Type_fromint(type);
	int size, n;
	if (MPI_Comm_c2f(c) != comm || MPI_Comm_size(c, &size) != MPI_SUCCESS || size < 1)
		return 1;
	MPI_Group g;
	if (MPI_Win_toint(w) != win || MPI_Win_get_group(w, &g) != MPI_SUCCESS || MPI_Group_free(&g) != MPI_SUCCESS)
		return 2;
	if (MPI_Type_toint(t) != type || MPI_Type_size(t, &size) != MPI_SUCCESS || size != 3 * (int)sizeof(MPI_Fint))
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
	MPI_Fint got = 0;
	if (MPI_Request_toint(r) != request || r == MPI_REQUEST_NULL)
		return 8;
	if (MPI_Recv(&got, sizeof got, MPI_BYTE, 0, 9, MPI_COMM_SELF, &s) != MPI_SUCCESS || got != 4711 ||
	    MPI_Wait(&r, MPI_STATUS_IGNORE) != MPI_SUCCESS)
		return 9;
	return 0;
}

/* Checks that predefined handles have the values of the ABI. The datatype of an INTEGER of 8 bytes is MPI_INTEGER8. */
MPI_Fint c_check_predefined(MPI_Fint world, MPI_Fint integer, MPI_Fint sum, MPI_Fint null) {
	MPI_Datatype of_fortran = sizeof(MPI_Fint) == sizeof(int) ? MPI_INTEGER : MPI_INTEGER8;
	return !(world == (int)(intptr_t)MPI_COMM_WORLD && integer == (int)(intptr_t)of_fortran &&
		 sum == (int)(intptr_t)MPI_SUM && null == (int)(intptr_t)MPI_WIN_NULL);
}

/* Creates a communicator and a datatype and stores their Fortran handles. */
void c_make(MPI_Fint *comm, MPI_Fint *type) {
	MPI_Comm c;
	MPI_Datatype t;
	MPI_Comm_dup(MPI_COMM_SELF, &c);
	MPI_Type_contiguous(5, MPI_INT, &t);
	*comm = MPI_Comm_c2f(c);
	*type = MPI_Type_toint(t);
}

/* Checks that C reads the same values as Fortran from a status that a receive in Fortran has set. */
MPI_Fint c_check_status(const MPI_Fint *status) {
	int count = -1;
	MPI_Fint f_status[8];
	MPI_Status s, again;
	MPI_Status_f2c(status, &s);
	MPI_Get_count(&s, sizeof(MPI_Fint) == sizeof(int) ? MPI_INTEGER : MPI_INTEGER8, &count);
	MPI_Status_c2f(&s, f_status);
	MPI_Status_f2c(f_status, &again);
	if (again.MPI_TAG != 77)
		return 2;
	return !(s.MPI_SOURCE == 0 && s.MPI_TAG == 77 && count == 3);
}

/* Returns 1 or 2 if status is MPI_F_STATUS_IGNORE or MPI_F_STATUSES_IGNORE, 3 or 4 if it is MPI_F08_STATUS_IGNORE or
 * MPI_F08_STATUSES_IGNORE, else 0. */
MPI_Fint c_is_ignore(const MPI_Fint *status) {
	const MPI_F08_status *f08 = (const MPI_F08_status *)status;
	if (f08 == MPI_F08_STATUS_IGNORE || f08 == MPI_F08_STATUSES_IGNORE)
		return f08 == MPI_F08_STATUS_IGNORE ? 3 : 4;
	return status == MPI_F_STATUS_IGNORE ? 1 : status == MPI_F_STATUSES_IGNORE ? 2 : 0;
}

/* Creates a keyval for attributes that Fortran or C sets. If Fortran has set an attribute, C gets the address of its
 * value. */
MPI_Fint c_key(void) {
	int key;
	MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
	return key;
}

void c_set(MPI_Fint comm, MPI_Fint key, MPI_Aint pointer) {
	MPI_Comm_set_attr(MPI_Comm_fromint(comm), key, (void *)pointer);
}

MPI_Aint c_get(MPI_Fint comm, MPI_Fint key, MPI_Fint set_by_fortran) {
	void *value = NULL;
	int flag = 0;
	MPI_Comm_get_attr(MPI_Comm_fromint(comm), key, &value, &flag);
	if (!flag)
		return -1;
	return set_by_fortran ? *(MPI_Aint *)value : (MPI_Aint)value;
}
