// MPI_Pcontrol (MPI-5.0 15.2): for profiling libraries; without one it does nothing.
#include "z_entry.h"

int gompi_pcontrol(const int level, ...) {
	(void)level;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Pcontrol, gompi_pcontrol)
