// MPI_Pcontrol (MPI-5.0 15.2): a hook for profiling libraries, which does nothing without one.
#include "z_entry.h"

int gompi_pcontrol(const int level, ...) {
	(void)level;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Pcontrol, gompi_pcontrol);
