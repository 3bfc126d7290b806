// Functions that are casts: handles and their integers, addresses, the fields of a status. None of them may be called
// on a wrong object, so none of them looks at what it is given, except that a status must be there.
#include "base/verdict.h"
#include "z_entry.h"

// Handles. The integer of a handle is the handle: the values of this library and the predefined ones of the ABI fit in
// 31 bits.
int gompi_comm_toint(MPI_Comm comm) { return (int)(intptr_t)comm; }
int gompi_errhandler_toint(MPI_Errhandler errhandler) { return (int)(intptr_t)errhandler; }
int gompi_file_toint(MPI_File file) { return (int)(intptr_t)file; }
int gompi_group_toint(MPI_Group group) { return (int)(intptr_t)group; }
int gompi_info_toint(MPI_Info info) { return (int)(intptr_t)info; }
int gompi_message_toint(MPI_Message message) { return (int)(intptr_t)message; }
int gompi_op_toint(MPI_Op op) { return (int)(intptr_t)op; }
int gompi_request_toint(MPI_Request request) { return (int)(intptr_t)request; }
int gompi_session_toint(MPI_Session session) { return (int)(intptr_t)session; }
int gompi_type_toint(MPI_Datatype datatype) { return (int)(intptr_t)datatype; }
int gompi_win_toint(MPI_Win win) { return (int)(intptr_t)win; }

MPI_Comm gompi_comm_fromint(int comm) { return (MPI_Comm)(intptr_t)comm; }
MPI_Errhandler gompi_errhandler_fromint(int errhandler) { return (MPI_Errhandler)(intptr_t)errhandler; }
MPI_File gompi_file_fromint(int file) { return (MPI_File)(intptr_t)file; }
MPI_Group gompi_group_fromint(int group) { return (MPI_Group)(intptr_t)group; }
MPI_Info gompi_info_fromint(int info) { return (MPI_Info)(intptr_t)info; }
MPI_Message gompi_message_fromint(int message) { return (MPI_Message)(intptr_t)message; }
MPI_Op gompi_op_fromint(int op) { return (MPI_Op)(intptr_t)op; }
MPI_Request gompi_request_fromint(int request) { return (MPI_Request)(intptr_t)request; }
MPI_Session gompi_session_fromint(int session) { return (MPI_Session)(intptr_t)session; }
MPI_Datatype gompi_type_fromint(int datatype) { return (MPI_Datatype)(intptr_t)datatype; }
MPI_Win gompi_win_fromint(int win) { return (MPI_Win)(intptr_t)win; }

// Addresses. Unsigned, since a sum of signed numbers may not overflow in C.
MPI_Aint gompi_aint_add(MPI_Aint base, MPI_Aint disp) { return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp); }
MPI_Aint gompi_aint_diff(MPI_Aint addr1, MPI_Aint addr2) { return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2); }

// The fields of a status.
static int no_status(const char *name) {
	return gompi_refuse(MPI_ERR_ARG, name,
			    "status is a null pointer or MPI_STATUS_IGNORE, or the result has no place", GOMPI_ON_NONE,
			    0);
}

int gompi_status_get_source(const MPI_Status *status, int *source) {
	if (!status || !source)
		return no_status("MPI_Status_get_source");
	*source = status->MPI_SOURCE;
	return MPI_SUCCESS;
}

int gompi_status_get_tag(const MPI_Status *status, int *tag) {
	if (!status || !tag)
		return no_status("MPI_Status_get_tag");
	*tag = status->MPI_TAG;
	return MPI_SUCCESS;
}

int gompi_status_get_error(const MPI_Status *status, int *error) {
	if (!status || !error)
		return no_status("MPI_Status_get_error");
	*error = status->MPI_ERROR;
	return MPI_SUCCESS;
}

int gompi_status_set_source(MPI_Status *status, int source) {
	if (!status)
		return no_status("MPI_Status_set_source");
	status->MPI_SOURCE = source;
	return MPI_SUCCESS;
}

int gompi_status_set_tag(MPI_Status *status, int tag) {
	if (!status)
		return no_status("MPI_Status_set_tag");
	status->MPI_TAG = tag;
	return MPI_SUCCESS;
}

int gompi_status_set_error(MPI_Status *status, int error) {
	if (!status)
		return no_status("MPI_Status_set_error");
	status->MPI_ERROR = error;
	return MPI_SUCCESS;
}
