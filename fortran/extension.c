/* Functions that are not part of MPI, and for which the conversion of each argument is not enough. */
#include "extension.h"

ENTRY void EXTENSION(mpix_comm_ishrink)(const integer *comm, integer *newcomm, integer *request, integer *ierror) {
	struct gompi_kept k = {.newcomm = malloc(sizeof(MPI_Comm)), .newcomm_to = newcomm};
	MPI_Request c_request = MPI_REQUEST_NULL;
	int rc;
	if (!k.newcomm) {
		done(ierror, gompi_raise_pending(RAISE_COMM, *comm, MPI_ERR_NO_MEM));
		return;
	}
	*k.newcomm = MPI_COMM_NULL;
	rc = MPIX_Comm_ishrink(comm_in(*comm), k.newcomm, &c_request);
	if (!rc)
		*request = request_out(c_request);
	gompi_keep(&k, rc ? NULL : request, false);
	done(ierror, rc);
}
SAME_EXTENSION(mpix_comm_ishrink, mpix_comm_ishrink_f08)

/* Stores the flag also with an error, because it is valid with MPIX_ERR_PROC_FAILED. */
ENTRY void EXTENSION(mpix_comm_agree)(const integer *comm, integer *flag, integer *ierror) {
	int c_flag = (int)*flag;
	int rc = MPIX_Comm_agree(comm_in(*comm), &c_flag);
	*flag = c_flag;
	done(ierror, rc);
}
SAME_EXTENSION(mpix_comm_agree, mpix_comm_agree_f08)

ENTRY void EXTENSION(mpix_comm_iagree)(const integer *comm, integer *flag, integer *request, integer *ierror) {
	struct gompi_kept k = {.flag = malloc(sizeof(int)), .flag_to = flag};
	MPI_Request c_request = MPI_REQUEST_NULL;
	int rc;
	if (!k.flag) {
		done(ierror, gompi_raise_pending(RAISE_COMM, *comm, MPI_ERR_NO_MEM));
		return;
	}
	*k.flag = (int)*flag;
	rc = MPIX_Comm_iagree(comm_in(*comm), k.flag, &c_request);
	if (!rc)
		*request = request_out(c_request);
	gompi_keep(&k, rc ? NULL : request, false);
	done(ierror, rc);
}
SAME_EXTENSION(mpix_comm_iagree, mpix_comm_iagree_f08)
