/* Creates objects from a communicator, for tests that kill ranks or revoke the communicator meanwhile. Include this
 * file after check.h. */
#ifndef CREATIONS_H
#define CREATIONS_H

/* The object that create_object has created: one of the members. */
struct created {
	MPI_Comm comm;
	MPI_Win win;
	MPI_File file;
};

/* Creates an object from the communicator comm, and stores its handle in *made. Collective. The argument `kind` selects
 * the MPI function, `rank` is the rank of this process in comm, and `path` names the file for MPI_File_open. Returns
 * the error code of the MPI function; -1 if `kind` is unknown. */
static inline int create_object(const char *kind, MPI_Comm comm, int rank, const char *path, struct created *made) {
	static int memory[100];
	int *allocated, rc;
	MPI_Request request;
	if (strcmp(kind, "dup") == 0)
		return MPI_Comm_dup(comm, &made->comm);
	if (strcmp(kind, "idup") == 0) {
		rc = MPI_Comm_idup(comm, &made->comm, &request);
		return rc != MPI_SUCCESS ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	if (strcmp(kind, "split") == 0)
		return MPI_Comm_split(comm, rank % 2, 0, &made->comm);
	if (strcmp(kind, "allocate") == 0)
		return MPI_Win_allocate(sizeof memory, 1, MPI_INFO_NULL, comm, &allocated, &made->win);
	if (strcmp(kind, "create") == 0)
		return MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, comm, &made->win);
	if (strcmp(kind, "dynamic") == 0)
		return MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &made->win);
	if (strcmp(kind, "file") == 0)
		return MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &made->file);
	return -1;
}

#endif
