/* Functions for tests of MPI-IO. The files that these functions create are deleted when they are closed, also after
 * failed checks. */
#ifndef FILES_H
#define FILES_H

#include "check.h"
#include <unistd.h>

/* Returns the name of a file in the directory for temporary files, in a static buffer. The name is the same at all
 * ranks. Collective. */
static inline const char *file_name(const char *tag) {
	static char name[512];
	if (check_rank == 0) {
		const char *dir = getenv("TMPDIR");
		snprintf(name, sizeof name, "%s/gompirma_%s_%d", dir != NULL ? dir : "/tmp", tag, (int)getpid());
	}
	MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
	return name;
}

/* Opens a new file, which is deleted when it is closed. Collective. */
static inline MPI_File file_create(const char *tag) {
	MPI_File f = MPI_FILE_NULL;
	CHECK_OK(MPI_File_open(MPI_COMM_WORLD, file_name(tag),
			       MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
			       MPI_INFO_NULL, &f));
	if (f == MPI_FILE_NULL)
		MPI_Abort(MPI_COMM_WORLD, 3);
	return f;
}

/* Reports an error unless `status` reports `count` elements of `type`. */
static inline void file_check_count(const char *file, int line, const MPI_Status *status, MPI_Datatype type,
				    int count) {
	int found = -1;
	MPI_Get_count(status, type, &found);
	if (found != count)
		check_fail(file, line, "the status has %d elements, not %d", found, count);
}
#define CHECK_COUNT(status, type, count) file_check_count(__FILE__, __LINE__, status, type, count)

#endif
