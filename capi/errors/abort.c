// MPI_Abort (MPI-5.0 9.7). Programs call it in signal handlers. If such a handler has interrupted Go, this process
// exits with the low 8 bits of the error code as its status (with 1 if they are 0), and the launcher ends the other
// processes.
#include <unistd.h>

#include "base/go_callbacks.h"
#include "base/in_go.h"
#include "errors/z_calls.h"

int gompi_abort(MPI_Comm comm, int errorcode) {
	if (gompi_is_in_go())
		_exit((errorcode & 0xff) != 0 ? errorcode & 0xff : 1);
	gompi_go_callbacks.abort_job((uintptr_t)comm, errorcode);
	return MPI_ERR_OTHER;
}
GOMPI_ENTRY(MPI_Abort, gompi_abort);
