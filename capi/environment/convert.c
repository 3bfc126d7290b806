// Converts handles to and from integers (MPI-5.0 19.3.4 and 20), and statuses between C and Fortran (19.3.5). The
// functions do not check handles, because a call with an invalid handle is erroneous. The conversions of statuses
// return MPI_ERR_ARG if an argument is NULL.
//
// The integer of a handle is its value: handles of this library and the predefined ones of the ABI fit in 31 bits.
#include <string.h>

#include "environment/z_calls.h"

int gompi_comm_toint(MPI_Comm comm) { return (int)(intptr_t)comm; }
GOMPI_ENTRY(MPI_Comm_toint, gompi_comm_toint);
int gompi_errhandler_toint(MPI_Errhandler errhandler) { return (int)(intptr_t)errhandler; }
GOMPI_ENTRY(MPI_Errhandler_toint, gompi_errhandler_toint);
int gompi_file_toint(MPI_File file) { return (int)(intptr_t)file; }
GOMPI_ENTRY(MPI_File_toint, gompi_file_toint);
int gompi_group_toint(MPI_Group group) { return (int)(intptr_t)group; }
GOMPI_ENTRY(MPI_Group_toint, gompi_group_toint);
int gompi_info_toint(MPI_Info info) { return (int)(intptr_t)info; }
GOMPI_ENTRY(MPI_Info_toint, gompi_info_toint);
int gompi_message_toint(MPI_Message message) { return (int)(intptr_t)message; }
GOMPI_ENTRY(MPI_Message_toint, gompi_message_toint);
int gompi_op_toint(MPI_Op op) { return (int)(intptr_t)op; }
GOMPI_ENTRY(MPI_Op_toint, gompi_op_toint);
int gompi_request_toint(MPI_Request request) { return (int)(intptr_t)request; }
GOMPI_ENTRY(MPI_Request_toint, gompi_request_toint);
int gompi_session_toint(MPI_Session session) { return (int)(intptr_t)session; }
GOMPI_ENTRY(MPI_Session_toint, gompi_session_toint);
int gompi_type_toint(MPI_Datatype datatype) { return (int)(intptr_t)datatype; }
GOMPI_ENTRY(MPI_Type_toint, gompi_type_toint);
int gompi_win_toint(MPI_Win win) { return (int)(intptr_t)win; }
GOMPI_ENTRY(MPI_Win_toint, gompi_win_toint);

MPI_Comm gompi_comm_fromint(int comm) { return (MPI_Comm)(intptr_t)comm; }
GOMPI_ENTRY(MPI_Comm_fromint, gompi_comm_fromint);
MPI_Errhandler gompi_errhandler_fromint(int errhandler) { return (MPI_Errhandler)(intptr_t)errhandler; }
GOMPI_ENTRY(MPI_Errhandler_fromint, gompi_errhandler_fromint);
MPI_File gompi_file_fromint(int file) { return (MPI_File)(intptr_t)file; }
GOMPI_ENTRY(MPI_File_fromint, gompi_file_fromint);
MPI_Group gompi_group_fromint(int group) { return (MPI_Group)(intptr_t)group; }
GOMPI_ENTRY(MPI_Group_fromint, gompi_group_fromint);
MPI_Info gompi_info_fromint(int info) { return (MPI_Info)(intptr_t)info; }
GOMPI_ENTRY(MPI_Info_fromint, gompi_info_fromint);
MPI_Message gompi_message_fromint(int message) { return (MPI_Message)(intptr_t)message; }
GOMPI_ENTRY(MPI_Message_fromint, gompi_message_fromint);
MPI_Op gompi_op_fromint(int op) { return (MPI_Op)(intptr_t)op; }
GOMPI_ENTRY(MPI_Op_fromint, gompi_op_fromint);
MPI_Request gompi_request_fromint(int request) { return (MPI_Request)(intptr_t)request; }
GOMPI_ENTRY(MPI_Request_fromint, gompi_request_fromint);
MPI_Session gompi_session_fromint(int session) { return (MPI_Session)(intptr_t)session; }
GOMPI_ENTRY(MPI_Session_fromint, gompi_session_fromint);
MPI_Datatype gompi_type_fromint(int datatype) { return (MPI_Datatype)(intptr_t)datatype; }
GOMPI_ENTRY(MPI_Type_fromint, gompi_type_fromint);
MPI_Win gompi_win_fromint(int win) { return (MPI_Win)(intptr_t)win; }
GOMPI_ENTRY(MPI_Win_fromint, gompi_win_fromint);

// The names for Fortran (MPI-5.0 19.3.4, 19.3.5), where an INTEGER is an int. They are not part of the standard ABI.
GOMPI_ENTRY(MPI_Comm_c2f, gompi_comm_toint);
GOMPI_ENTRY(MPI_Errhandler_c2f, gompi_errhandler_toint);
GOMPI_ENTRY(MPI_File_c2f, gompi_file_toint);
GOMPI_ENTRY(MPI_Group_c2f, gompi_group_toint);
GOMPI_ENTRY(MPI_Info_c2f, gompi_info_toint);
GOMPI_ENTRY(MPI_Message_c2f, gompi_message_toint);
GOMPI_ENTRY(MPI_Op_c2f, gompi_op_toint);
GOMPI_ENTRY(MPI_Request_c2f, gompi_request_toint);
GOMPI_ENTRY(MPI_Session_c2f, gompi_session_toint);
GOMPI_ENTRY(MPI_Type_c2f, gompi_type_toint);
GOMPI_ENTRY(MPI_Win_c2f, gompi_win_toint);
GOMPI_ENTRY(MPI_Comm_f2c, gompi_comm_fromint);
GOMPI_ENTRY(MPI_Errhandler_f2c, gompi_errhandler_fromint);
GOMPI_ENTRY(MPI_File_f2c, gompi_file_fromint);
GOMPI_ENTRY(MPI_Group_f2c, gompi_group_fromint);
GOMPI_ENTRY(MPI_Info_f2c, gompi_info_fromint);
GOMPI_ENTRY(MPI_Message_f2c, gompi_message_fromint);
GOMPI_ENTRY(MPI_Op_f2c, gompi_op_fromint);
GOMPI_ENTRY(MPI_Request_f2c, gompi_request_fromint);
GOMPI_ENTRY(MPI_Session_f2c, gompi_session_fromint);
GOMPI_ENTRY(MPI_Type_f2c, gompi_type_fromint);
GOMPI_ENTRY(MPI_Win_f2c, gompi_win_fromint);

// Copies a status. The C, Fortran and Fortran 2008 forms have the same words in the same order.
static int convert_status(const void *from, void *to) {
	if (!from || !to)
		return MPI_ERR_ARG;
	memcpy(to, from, sizeof(MPI_Status));
	return MPI_SUCCESS;
}

int gompi_status_c2f(const MPI_Status *from, MPI_Fint *to) { return convert_status(from, to); }
GOMPI_ENTRY(MPI_Status_c2f, gompi_status_c2f);
int gompi_status_c2f08(const MPI_Status *from, MPI_F08_status *to) { return convert_status(from, to); }
GOMPI_ENTRY(MPI_Status_c2f08, gompi_status_c2f08);
int gompi_status_f2c(const MPI_Fint *from, MPI_Status *to) { return convert_status(from, to); }
GOMPI_ENTRY(MPI_Status_f2c, gompi_status_f2c);
int gompi_status_f2f08(const MPI_Fint *from, MPI_F08_status *to) { return convert_status(from, to); }
GOMPI_ENTRY(MPI_Status_f2f08, gompi_status_f2f08);
int gompi_status_f082c(const MPI_F08_status *from, MPI_Status *to) { return convert_status(from, to); }
GOMPI_ENTRY(MPI_Status_f082c, gompi_status_f082c);
int gompi_status_f082f(const MPI_F08_status *from, MPI_Fint *to) { return convert_status(from, to); }
GOMPI_ENTRY(MPI_Status_f082f, gompi_status_f082f);
