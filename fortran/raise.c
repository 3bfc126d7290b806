/* Errors that the bindings themselves find. */
#include "gompi_f.h"

int gompi_raise(enum gompi_object kind, int object, int class)
{
    switch (kind) {
    case RAISE_COMM:
        PMPI_Comm_call_errhandler(comm_in(object), class);
        break;
    case RAISE_WIN:
        PMPI_Win_call_errhandler(win_in(object), class);
        break;
    case RAISE_FILE:
        PMPI_File_call_errhandler(file_in(object), class);
        break;
    case RAISE_SESSION:
        PMPI_Session_call_errhandler(session_in(object), class);
        break;
    case RAISE_SELF:
        PMPI_Comm_call_errhandler(MPI_COMM_SELF, class);
        break;
    }
    return class;
}
