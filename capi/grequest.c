#include "grequest.h"

int gompi_call_query(uintptr_t function, uintptr_t extra_state, MPI_Status *status)
{
    return ((MPI_Grequest_query_function *)function)((void *)extra_state, status);
}

int gompi_call_free(uintptr_t function, uintptr_t extra_state)
{
    return ((MPI_Grequest_free_function *)function)((void *)extra_state);
}

int gompi_call_cancel(uintptr_t function, uintptr_t extra_state, int complete)
{
    return ((MPI_Grequest_cancel_function *)function)((void *)extra_state, complete);
}
