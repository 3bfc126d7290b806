#include "grequest.h"

#include "cross.h"

int gompi_call_query(uintptr_t function, uintptr_t extra_state, MPI_Status *status) {
	bool was = gompi_leave_go();
	int code = ((MPI_Grequest_query_function *)function)((void *)extra_state, status);
	gompi_back_to_go(was);
	return code;
}

int gompi_call_free(uintptr_t function, uintptr_t extra_state) {
	bool was = gompi_leave_go();
	int code = ((MPI_Grequest_free_function *)function)((void *)extra_state);
	gompi_back_to_go(was);
	return code;
}

int gompi_call_cancel(uintptr_t function, uintptr_t extra_state, int complete) {
	bool was = gompi_leave_go();
	int code = ((MPI_Grequest_cancel_function *)function)((void *)extra_state, complete);
	gompi_back_to_go(was);
	return code;
}
