// Size, storage, mode, hints and consistency of files (MPI-5.0 14.2 and 14.6).
#define _GNU_SOURCE // F_OFD_SETLK
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coll/z_calls.h"
#include "comm/z_calls.h"
#include "file/hints.h"
#include "file/queue.h"
#include "file/z_calls.h"

// Ends a collective call: agrees with the other processes on the error in v, and raises it.
static int end_collective(struct gompi_file *f, const char *call, struct gompi_error_status *v) {
	gompi_file_agree(f->comm, f->rank, f->size, v);
	return v->class == MPI_SUCCESS ? MPI_SUCCESS : gompi_file_raise((MPI_File)f->handle, call, v);
}

// Begins a collective call that changes the size of the file: checks the arguments, and agrees with the other processes
// that they are equal. Returns MPI_SUCCESS or the class in v.
static int check_size(struct gompi_file *f, const char *call, MPI_Offset size, struct gompi_error_status *v) {
	v->class = MPI_SUCCESS;
	gompi_file_await_collectives(f, call);
	if (f->split.begun != NULL)
		gompi_file_split_active_error(f, v);
	else if (size < 0)
		gompi_set_error(v, MPI_ERR_ARG, "size is %lld; it must not be negative", (long long)size);
	else if (size > f->max_bytes)
		gompi_set_error(v, MPI_ERR_QUOTA,
				"size is %lld, but the limit on the size of files is %lld bytes (ulimit -f)",
				(long long)size, (long long)f->max_bytes);
	else if (f->amode & MPI_MODE_RDONLY)
		gompi_set_error(v, MPI_ERR_READ_ONLY,
				"the file has been opened with MPI_MODE_RDONLY; open it with MPI_MODE_RDWR or "
				"MPI_MODE_WRONLY to change its size");
	else if (f->amode & MPI_MODE_SEQUENTIAL)
		gompi_set_error(v, MPI_ERR_UNSUPPORTED_OPERATION,
				"the file has been opened with MPI_MODE_SEQUENTIAL; only writes change the size of "
				"such a file");
	int64_t mine = size;
	return gompi_file_agree_on(f->comm, f->rank, f->size, &mine, 1, "size", v);
}

int gompi_file_set_size(MPI_File fh, MPI_Offset size) {
	struct gompi_file *f = gompi_file_get(fh);
	struct gompi_error_status v;
	if (f == NULL)
		return gompi_not_a_file(fh, "MPI_File_set_size");
	if (check_size(f, "MPI_File_set_size", size, &v) != MPI_SUCCESS)
		return gompi_file_raise(fh, "MPI_File_set_size", &v);
	if (f->rank == 0 && ftruncate(f->fd, size) != 0)
		gompi_file_errno(&v, errno, NULL, "cannot set the size to %lld bytes", (long long)size);
	return end_collective(f, "MPI_File_set_size", &v);
}
GOMPI_ENTRY(MPI_File_set_size, gompi_file_set_size);

int gompi_file_preallocate(MPI_File fh, MPI_Offset size) {
	struct gompi_file *f = gompi_file_get(fh);
	struct gompi_error_status v;
	if (f == NULL)
		return gompi_not_a_file(fh, "MPI_File_preallocate");
	if (check_size(f, "MPI_File_preallocate", size, &v) != MPI_SUCCESS)
		return gompi_file_raise(fh, "MPI_File_preallocate", &v);
	if (f->rank == 0 && size > 0) {
		int error;
		while ((error = posix_fallocate(f->fd, 0, size)) == EINTR)
			;
		if (error != 0)
			gompi_file_errno(&v, error, NULL, "cannot allocate %lld bytes", (long long)size);
	}
	return end_collective(f, "MPI_File_preallocate", &v);
}
GOMPI_ENTRY(MPI_File_preallocate, gompi_file_preallocate);

int gompi_file_get_size(MPI_File fh, MPI_Offset *size) {
	struct gompi_file *f = gompi_file_get(fh);
	struct gompi_error_status v;
	struct stat s;
	if (f == NULL)
		return gompi_not_a_file(fh, "MPI_File_get_size");
	if (size == NULL)
		return gompi_null_argument_error("MPI_File_get_size", "size", GOMPI_ON_FILE, (uintptr_t)fh);
	if (fstat(f->fd, &s) != 0) {
		gompi_file_errno(&v, errno, NULL, "cannot get the size of the file");
		return gompi_file_raise(fh, "MPI_File_get_size", &v);
	}
	*size = s.st_size;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_File_get_size, gompi_file_get_size);

int gompi_file_get_amode(MPI_File fh, int *amode) {
	struct gompi_file *f = gompi_file_get(fh);
	if (f == NULL)
		return gompi_not_a_file(fh, "MPI_File_get_amode");
	if (amode == NULL)
		return gompi_null_argument_error("MPI_File_get_amode", "amode", GOMPI_ON_FILE, (uintptr_t)fh);
	*amode = f->amode;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_File_get_amode, gompi_file_get_amode);

int gompi_file_get_group(MPI_File fh, MPI_Group *group) {
	struct gompi_file *f = gompi_file_get(fh);
	if (f == NULL)
		return gompi_not_a_file(fh, "MPI_File_get_group");
	if (group == NULL)
		return gompi_null_argument_error("MPI_File_get_group", "group", GOMPI_ON_FILE, (uintptr_t)fh);
	return gompi_comm_group(f->comm, group);
}
GOMPI_ENTRY(MPI_File_get_group, gompi_file_get_group);

int gompi_file_set_info(MPI_File fh, MPI_Info info) {
	struct gompi_file *f = gompi_file_get(fh);
	struct gompi_error_status v = {.class = MPI_SUCCESS};
	if (f == NULL)
		return gompi_not_a_file(fh, "MPI_File_set_info");
	struct gompi_file_hints hints = f->hints;
	gompi_file_hints_read(&hints, info, &v);
	gompi_file_await_collectives(f, "MPI_File_set_info");
	if (gompi_file_agree(f->comm, f->rank, f->size, &v) != MPI_SUCCESS)
		return gompi_file_raise(fh, "MPI_File_set_info", &v);
	f->hints = hints;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_File_set_info, gompi_file_set_info);

int gompi_file_get_info(MPI_File fh, MPI_Info *info_used) {
	struct gompi_file *f = gompi_file_get(fh);
	struct gompi_error_status v;
	if (f == NULL)
		return gompi_not_a_file(fh, "MPI_File_get_info");
	if (info_used == NULL)
		return gompi_null_argument_error("MPI_File_get_info", "info_used", GOMPI_ON_FILE, (uintptr_t)fh);
	return gompi_file_hints_info(f, info_used, &v) == MPI_SUCCESS ? MPI_SUCCESS
								      : gompi_file_raise(fh, "MPI_File_get_info", &v);
}
GOMPI_ENTRY(MPI_File_get_info, gompi_file_get_info);

int gompi_file_set_atomicity(MPI_File fh, int flag) {
	struct gompi_file *f = gompi_file_get(fh);
	struct gompi_error_status v = {.class = MPI_SUCCESS};
	if (f == NULL)
		return gompi_not_a_file(fh, "MPI_File_set_atomicity");
	int64_t mine = flag != 0;
	gompi_file_await_collectives(f, "MPI_File_set_atomicity");
	// A lock of one byte far behind the end of the file tests whether the file system supports locks.
	if (mine) {
		struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = INT64_MAX - 1, .l_len = 1};
		if (f->amode & MPI_MODE_WRONLY)
			lock.l_type = F_WRLCK;
		if (fcntl(f->fd, F_OFD_SETLK, &lock) == 0) {
			lock.l_type = F_UNLCK;
			fcntl(f->fd, F_OFD_SETLK, &lock);
		} else if (errno != EAGAIN && errno != EACCES) {
			gompi_file_errno(&v, errno, NULL,
					 "the file system does not support the locks that atomic mode needs");
			v.class = MPI_ERR_UNSUPPORTED_OPERATION;
		}
	}
	if (gompi_file_agree_on(f->comm, f->rank, f->size, &mine, 1, "flag", &v) != MPI_SUCCESS)
		return gompi_file_raise(fh, "MPI_File_set_atomicity", &v);
	f->is_atomic = mine;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_File_set_atomicity, gompi_file_set_atomicity);

int gompi_file_get_atomicity(MPI_File fh, int *flag) {
	struct gompi_file *f = gompi_file_get(fh);
	if (f == NULL)
		return gompi_not_a_file(fh, "MPI_File_get_atomicity");
	if (flag == NULL)
		return gompi_null_argument_error("MPI_File_get_atomicity", "flag", GOMPI_ON_FILE, (uintptr_t)fh);
	*flag = f->is_atomic;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_File_get_atomicity, gompi_file_get_atomicity);

int gompi_file_sync(MPI_File fh) {
	struct gompi_file *f = gompi_file_get(fh);
	struct gompi_error_status v = {.class = MPI_SUCCESS};
	if (f == NULL)
		return gompi_not_a_file(fh, "MPI_File_sync");
	gompi_file_await_collectives(f, "MPI_File_sync");
	if (f->split.begun != NULL)
		gompi_file_split_active_error(f, &v);
	else if ((f->amode & MPI_MODE_RDONLY) == 0 && fsync(f->fd) != 0 && errno != EINVAL && errno != EROFS)
		gompi_file_errno(&v, errno, NULL, "cannot write the data of the file to the storage device");
	return end_collective(f, "MPI_File_sync", &v);
}
GOMPI_ENTRY(MPI_File_sync, gompi_file_sync);
