// Tables of predefined types for the fast paths, filled in when the process starts.
#include "datatype/atomic.h"
#include "datatype/predefined.h"

uint8_t gompi_simple_size[GOMPI_PREDEFINED_HANDLES], gompi_cas_type_size[GOMPI_PREDEFINED_HANDLES];
gompi_atomic_kernel gompi_atomic_table[GOMPI_OP_ROWS][GOMPI_OP_COLUMNS];

void gompi_type_fill_tables(uintptr_t handle, int size, bool simple, int class, bool swappable) {
	gompi_simple_size[handle] = simple ? (uint8_t)size : 0;
	gompi_cas_type_size[handle] = swappable && size <= 8 ? (uint8_t)size : 0;
	// Stores an atomic kernel in the table if the standard allows the operation on the type. The kernel is NULL if
	// no atomic instruction exists for the class.
	for (uintptr_t op = GOMPI_OP_FIRST; op < GOMPI_OP_FIRST + GOMPI_OP_HANDLES; op++)
		if (gompi_op_kernel((MPI_Op)op, (MPI_Datatype)handle) != NULL)
			gompi_atomic_table[gompi_op_row[op - GOMPI_OP_FIRST]]
					  [gompi_op_column[handle - GOMPI_OP_TYPE_FIRST]] =
						  gompi_atomic_kernels[op - GOMPI_OP_FIRST][class];
}
