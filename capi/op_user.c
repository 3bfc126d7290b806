#include "op_user.h"

#include "cross.h"

void gompi_op_call_user(uintptr_t function, bool large, uintptr_t in, uintptr_t inout, int64_t count,
			uintptr_t datatype) {
	MPI_Datatype type = (MPI_Datatype)datatype;
	bool was_in_go = gompi_leave_go();
	if (large) {
		MPI_Count n = count;
		((MPI_User_function_c *)function)((void *)in, (void *)inout, &n, &type);
	} else {
		int n = (int)count;
		((MPI_User_function *)function)((void *)in, (void *)inout, &n, &type);
	}
	gompi_return_to_go(was_in_go);
}
