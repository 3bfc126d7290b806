/* Functions that exist only in Fortran (MPI-5.0 19.1). */
#include "section.h"

/* Does nothing. Because the buffer is an argument, the compiler must store its value to memory before the call and load
 * the value again after it. */
ENTRY void NAME(f_sync_reg)(void *buf) { (void)buf; }
ENTRY void NAME(f_sync_reg_f08ts)(const CFI_cdesc_t *buf) { (void)buf; }

ENTRY void NAME(sizeof_f08ts)(const CFI_cdesc_t *x, integer *size, integer *ierror) {
	*size = (integer)x->elem_len;
	done(ierror, MPI_SUCCESS);
}

ENTRY void NAME(status_f2f08_f08)(const f_status *from, f_status *f08_status, integer *ierror) {
	*f08_status = *from;
	done(ierror, MPI_SUCCESS);
}

ENTRY void NAME(status_f082f_f08)(const f_status *f08_status, f_status *to, integer *ierror) {
	*to = *f08_status;
	done(ierror, MPI_SUCCESS);
}
