// Opening, closing and deleting files (MPI-5.0 14.2).
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/go_callbacks.h"
#include "base/host.h"
#include "coll/hierarchy.h"
#include "coll/z_calls.h"
#include "comm/failures.h"
#include "file/hints.h"
#include "file/position.h"
#include "file/queue.h"
#include "file/two_phase.h"
#include "file/view.h"
#include "file/z_calls.h"
#include "info/info.h"
#include "message/messages.h"
#include "rma/z_calls.h"
#include "win/win.h"

// Returns the path in a file name, which may begin with the name of a file system, as in "ufs:/tmp/f". All prefixes of
// ROMIO are accepted and ignored: the system knows which file system it is.
static const char *path_of(const char *name) {
	static const char *const prefixes[] = {
		"ufs:",  "nfs:",     "xfs:", "pvfs:",   "pvfs2:",   "sfs:",    "panfs:",     "lustre:",
		"gpfs:", "testfs:",  "ime:", "daos:",   "quobyte:", "zoidfs:", "piofs:",     "hfs:",
		"pfs:",  "gridftp:", "ftp:", "gsiftp:", "bg:",      "bgl:",    "bglockless:"};
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return name + strlen(prefixes[i]);
	return name;
}

static int check_name(const char *filename, struct gompi_error_status *v) {
	if (filename == NULL)
		return gompi_set_error(v, MPI_ERR_ARG, "filename is NULL");
	if (*path_of(filename) == 0)
		return gompi_set_error(v, MPI_ERR_BAD_FILE, "the file name is empty");
	return MPI_SUCCESS;
}

static int check_amode(int amode, struct gompi_error_status *v) {
	enum {
		ACCESSES = MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY,
		ALL = ACCESSES | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN |
		      MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND
	};
	int access = amode & ACCESSES;
	if (amode & ~ALL)
		return gompi_set_error(v, MPI_ERR_AMODE,
				       "amode is %#x; its bits %#x are not MPI_MODE_ constants of MPI_File_open", amode,
				       amode & ~ALL);
	if (access != MPI_MODE_RDONLY && access != MPI_MODE_RDWR && access != MPI_MODE_WRONLY)
		return gompi_set_error(v, MPI_ERR_AMODE,
				       "amode is %#x; it must have one of MPI_MODE_RDONLY, MPI_MODE_RDWR and "
				       "MPI_MODE_WRONLY",
				       amode);
	if (access == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)))
		return gompi_set_error(v, MPI_ERR_AMODE,
				       "amode combines MPI_MODE_RDONLY with MPI_MODE_CREATE or MPI_MODE_EXCL; to "
				       "create a file, use MPI_MODE_RDWR or MPI_MODE_WRONLY");
	if (access == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL))
		return gompi_set_error(v, MPI_ERR_AMODE,
				       "amode combines MPI_MODE_RDWR with MPI_MODE_SEQUENTIAL; open a sequential file "
				       "with MPI_MODE_RDONLY or MPI_MODE_WRONLY");
	return MPI_SUCCESS;
}

// Types of file systems (statfs) that belong to one host.
enum {
	TMPFS = 0x01021994,
	EXT4 = 0xEF53,
	XFS = 0x58465342,
	BTRFS = 0x9123683E,
	OVERLAY = 0x794C7630,
	ZFS = 0x2FC12FC1
};

// Opens the file in this process, and determines the fields of f that depend on the file and its file system. If
// `creates` is true, this process may create the file. Stores in *created whether it has done so. Returns MPI_SUCCESS
// or the class in v.
static int open_here(struct gompi_file *f, bool creates, bool *created, struct gompi_error_status *v) {
	// Strided data is written to mapped memory, which needs a descriptor that can read.
	int flags = (f->amode & MPI_MODE_RDONLY ? O_RDONLY : O_RDWR) | O_CLOEXEC;
	int64_t perm = f->hints.value[GOMPI_HINT_FILE_PERM];
	mode_t mode = perm < 0 ? 0666 : (mode_t)perm;
	*created = false;
	f->fd = -1;
	if (creates && (f->amode & MPI_MODE_CREATE)) {
		f->fd = open(f->name, flags | O_CREAT | O_EXCL, mode);
		*created = f->fd >= 0;
		if (f->fd < 0 && (errno != EEXIST || (f->amode & MPI_MODE_EXCL)))
			return gompi_file_errno(v, errno, f->name, "cannot create the file");
	}
	if (f->fd < 0)
		f->fd = open(f->name, flags);
	// the name is a symbolic link to a file that does not exist
	if (f->fd < 0 && errno == ENOENT && creates && (f->amode & MPI_MODE_CREATE))
		f->fd = open(f->name, flags | O_CREAT, mode);
	bool can_read = true;
	if (f->fd < 0 && errno == EACCES && (f->amode & MPI_MODE_WRONLY)) {
		f->fd = open(f->name, O_WRONLY | O_CLOEXEC);
		can_read = false;
	}
	if (f->fd < 0 && errno == ENOENT && !creates && (f->amode & MPI_MODE_CREATE)) {
		char host[64] = "?";
		gethostname(host, sizeof host - 1);
		return gompi_set_error(v, MPI_ERR_NO_SUCH_FILE,
				       "file \"%s\": rank 0 has opened the file, but it does not exist on host %s: use "
				       "a directory that all hosts share",
				       gompi_file_short_name(f->name), host);
	}
	if (f->fd < 0)
		return gompi_file_errno(v, errno, f->name, "cannot open the file");
	struct stat s;
	struct statfs fs;
	if (fstat(f->fd, &s) != 0)
		return gompi_file_errno(v, errno, f->name, "cannot read the properties of the file");
	if (S_ISDIR(s.st_mode))
		return gompi_file_errno(v, EISDIR, f->name, "cannot open the file");
	if (S_ISFIFO(s.st_mode) || S_ISSOCK(s.st_mode))
		return gompi_file_errno(v, ESPIPE, f->name, "pipes and sockets cannot be opened");
	struct rlimit limit;
	f->max_bytes = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? (int64_t)limit.rlim_cur
											       : INT64_MAX;
	if (f->rank == 0 && (f->amode & MPI_MODE_DELETE_ON_CLOSE))
		f->absolute_name = realpath(f->name, NULL);
	// The file systems in the first list keep mapped memory and the file coherent on a node, so blocks may be
	// written to mapped pages (map_stride). A page fault costs more in a file on a disk than in a file in memory.
	// So on a disk, mapping pays only if a page has more blocks. The file systems in the second list have a cache
	// on each node (needs_own_writes).
	enum { NFS = 0x6969, CIFS = 0xFF534D42, SMB2 = 0xFE534D42, PLAN9 = 0x01021997 };
	const uint32_t type = fstatfs(f->fd, &fs) == 0 ? (uint32_t)fs.f_type : 0;
	f->is_in_memory = type == TMPFS;
	f->needs_own_writes = gompi_comm_get(f->comm)->hierarchy != NULL &&
			      (type == NFS || type == CIFS || type == SMB2 || type == PLAN9);
	if (can_read && !(f->amode & MPI_MODE_RDONLY) && S_ISREG(s.st_mode)) {
		if (f->is_in_memory)
			f->map_stride = 2048;
		else if (type == EXT4 || type == XFS || type == BTRFS)
			f->map_stride = 1024;
	}
	if (f->amode & MPI_MODE_APPEND)
		f->position = (uint64_t)s.st_size;
	return MPI_SUCCESS;
}

// Returns a number that identifies the open file among all hosts, or 0. The number is 0 unless the file is in a file
// system of this host only.
static int64_t host_file_identity(const struct gompi_file *f) {
	struct stat s;
	struct statfs fs;
	if (fstat(f->fd, &s) != 0 || fstatfs(f->fd, &fs) != 0)
		return 0;
	const uint32_t type = (uint32_t)fs.f_type;
	if (type != TMPFS && type != EXT4 && type != XFS && type != BTRFS && type != OVERLAY && type != ZFS)
		return 0;
	const uint64_t h = gompi_identity_add(gompi_identity_add(gompi_boot_identity(), s.st_dev), s.st_ino);
	return (int64_t)(h >> 2) + 1;
}

// Agrees that all processes have opened the file. If the file is open for writing on several nodes, also checks that
// the nodes have not opened different files: a directory such as /tmp may exist on each host, with a file of this name
// from an earlier job. Copies of a file on each host may be read. Returns MPI_SUCCESS or the class in v, on which all
// processes agree. Collective.
static int agree_on_opened(const struct gompi_file *f, struct gompi_error_status *v) {
	if (f->shared_win == 0 || (f->amode & MPI_MODE_RDONLY))
		return gompi_file_agree(f->comm, f->rank, f->size, v);
	bool differ;
	const int64_t identity = v->class == MPI_SUCCESS ? host_file_identity(f) : 0;
	if (gompi_file_agree_nonzero(f->comm, f->rank, f->size, identity, &differ, v) == MPI_SUCCESS && differ)
		gompi_set_error(v, MPI_ERR_NOT_SAME,
				"file \"%s\": the ranks have opened different files of this name, which are in "
				"directories of single hosts: use a directory that all hosts share",
				gompi_file_short_name(f->name));
	return v->class;
}

// Frees a file and all its resources except its handle. Collective if the file has a communicator already, because it
// frees the communicator and the windows.
static void release(struct gompi_file *f) {
	if (f->fd >= 0)
		close(f->fd);
	gompi_file_view_free(&f->view);
	gompi_errhandler_detach(&f->errhandler);
	free(f->name);
	free(f->absolute_name);
	free(gompi_load(&f->stage));
	free(f->split.executed);
	if (f->comm != 0) {
		if (f->shared_win != 0)
			gompi_win_unlock_all(f->shared_win);
		gompi_file_two_phase_free(f);
		gompi_go_callbacks.free_file_window((uintptr_t)f->shared_win, (uintptr_t)f->comm);
		gompi_go_callbacks.free_file_comm((uintptr_t)f->comm);
	}
	gompi_tool_counts_release(gompi_load(&f->tool_counts));
	if (!f->is_pooled)
		return;
	gompi_biased_lock(&gompi_files.lock);
	gompi_pool_free(&gompi_files, f);
	gompi_biased_unlock(&gompi_files.lock);
}

// Raises an error of a call that has no file. Such errors are raised on MPI_FILE_NULL.
static int raise_without_file(const char *call, const struct gompi_error_status *v) {
	return gompi_file_raise(MPI_FILE_NULL, call, v);
}

// Opens the file at all processes of its communicator and assigns a handle. Stores in *created whether this process has
// created the file. Returns MPI_SUCCESS or the class in v, on which all processes agree. Collective.
static int open_everywhere(struct gompi_file *f, bool *created, struct gompi_error_status *v) {
	int64_t amode = f->amode;
	// Rank 0 waits until all processes have begun the call with valid arguments. Otherwise a process that deletes
	// an older file of this name before it calls MPI_File_open could delete the new file.
	if (gompi_file_agree_on(f->comm, f->rank, f->size, &amode, 1, "amode", v) != MPI_SUCCESS)
		return v->class;
	if (f->rank == 0 && open_here(f, true, created, v) == MPI_SUCCESS && (f->amode & MPI_MODE_APPEND))
		gompi_file_shared_set(f, (int64_t)gompi_load(&f->position), v);
	// The other ranks wait until rank 0 has created the file. A file that exists is opened by all at once.
	if ((f->amode & MPI_MODE_CREATE) && gompi_file_agree(f->comm, f->rank, f->size, v) != MPI_SUCCESS)
		return v->class;
	if (f->rank != 0)
		open_here(f, false, created, v);
	if (v->class == MPI_SUCCESS) {
		gompi_errhandler_init(&f->errhandler, gompi_errhandler_acquire(&gompi_file_null_errhandler));
		gompi_biased_lock(&gompi_files.lock);
		f->handle = gompi_handles_add(&gompi_files.handles, f);
		gompi_biased_unlock(&gompi_files.lock);
		if (f->handle == 0)
			gompi_set_error(
				v, MPI_ERR_NO_MEM,
				"cannot open the file: out of memory, or the maximum of %d open files is reached",
				GOMPI_KIND_MAX_LIVE);
	}
	return agree_on_opened(f, v);
}

// Returns the error class of an MPI_File_open on `comm` that failed with the given class. After a revocation of `comm`,
// another member may have revoked the communicator of the file before this process learns that `comm` is revoked.
static int open_error_class(int class, const struct gompi_file *f, MPI_Comm comm) {
	const int own_class = gompi_fault_class(class, (uintptr_t)f->comm);
	return own_class == MPIX_ERR_REVOKED ? own_class : gompi_fault_class(class, (uintptr_t)comm);
}

int gompi_file_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh) {
	static const char call[] = "MPI_File_open";
	struct gompi_error_status v = {.class = MPI_SUCCESS};
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_comm_invalid(&v, comm), raise_without_file(call, &v);
	if (c->is_inter) {
		gompi_set_error(&v, MPI_ERR_COMM,
				"the communicator is an intercommunicator; files need an "
				"intracommunicator");
		return raise_without_file(call, &v);
	}
	gompi_biased_lock(&gompi_files.lock);
	struct gompi_file *f = gompi_pool_alloc(&gompi_files);
	gompi_biased_unlock(&gompi_files.lock);
	struct gompi_file nothing = {0};
	if (f == NULL) {
		f = &nothing;
		gompi_set_error(&v, MPI_ERR_NO_MEM, "out of memory for a file");
	}
	*f = (struct gompi_file){
		.fd = -1, .amode = amode, .rank = c->rank, .size = c->size, .is_pooled = f != &nothing};
	gompi_file_view_default(&f->view);
	gompi_file_hints_default(&f->hints, c->hierarchy != NULL ? c->hierarchy->nodes : c->size);
	gompi_file_hints_read_environment(&f->hints);
	if (v.class == MPI_SUCCESS) {
		if (fh == NULL)
			gompi_set_error(&v, MPI_ERR_ARG, "fh is NULL");
		else if (check_name(filename, &v) == MPI_SUCCESS && check_amode(amode, &v) == MPI_SUCCESS &&
			 gompi_file_hints_read(&f->hints, info, &v) == MPI_SUCCESS &&
			 (f->name = strdup(path_of(filename))) == NULL)
			gompi_set_error(&v, MPI_ERR_NO_MEM, "out of memory for a file");
	}
	if (f->name == NULL)
		f->name = strdup("");
	// Creates the communicator of the file and, if the processes do not share memory, the window of the shared file
	// pointer. Both are collective.
	uintptr_t own = 0, window = 0;
	struct gompi_error_status made;
	made.class = gompi_go_callbacks.make_file_comm((uintptr_t)comm, &own, made.text);
	f->comm = (MPI_Comm)own;
	const struct gompi_comm *own_comm = made.class == MPI_SUCCESS ? gompi_comm_get(f->comm) : NULL;
	if (made.class == MPI_SUCCESS && f->size > 1 && own_comm->barrier == NULL)
		made.class = gompi_go_callbacks.make_file_window(own, f->rank == 0 ? 8 : 0, &window, made.text);
	if (made.class != MPI_SUCCESS) {
		// The other members may wait for this one on the communicator of the file.
		if (own != 0 && gompi_load(&c->is_revoked) != 0)
			gompi_revoke(gompi_comm_get(f->comm));
		made.class = open_error_class(made.class, f, comm);
		release(f);
		return raise_without_file(call, &made);
	}
	f->shared_win = (MPI_Win)window;
	if (window != 0) {
		gompi_errhandler_init(&gompi_win_get(f->shared_win)->errhandler, (uintptr_t)MPI_ERRORS_RETURN);
		gompi_win_lock_all(MPI_MODE_NOCHECK, f->shared_win);
	} else if (own_comm->barrier != NULL) {
		f->shared = (gompi_a64 *)((char *)own_comm->barrier + GOMPI_BARRIER_SIZE(f->size) +
					  GOMPI_COMM_FILE_POINTER);
	} else {
		f->shared = &f->shared_alone;
	}
	bool created = false;
	if (open_everywhere(f, &created, &v) == MPI_SUCCESS) {
		*fh = (MPI_File)f->handle;
		return MPI_SUCCESS;
	}
	if (created)
		unlink(f->name);
	if (f->handle != 0) {
		gompi_biased_lock(&gompi_files.lock);
		gompi_handles_remove(&gompi_files.handles, f->handle);
		gompi_biased_unlock(&gompi_files.lock);
	}
	v.class = open_error_class(v.class, f, comm);
	release(f);
	return raise_without_file(call, &v);
}
GOMPI_ENTRY(MPI_File_open, gompi_file_open);

// Deletes a file that has been closed. The program may have changed its directory, or renamed the file. So the function
// deletes only a symbolic link, or the file whose device and inode number are in *closed. Returns false with errno set
// if it cannot.
static bool delete_closed(const struct gompi_file *f, const struct stat *closed) {
	const char *path = f->absolute_name != NULL ? f->absolute_name : f->name;
	struct stat s;
	if (lstat(path, &s) != 0)
		return false;
	if (!S_ISLNK(s.st_mode) && (s.st_dev != closed->st_dev || s.st_ino != closed->st_ino)) {
		errno = ENOENT;
		return false;
	}
	return unlink(path) == 0;
}

int gompi_file_close(MPI_File *fh) {
	static const char call[] = "MPI_File_close";
	struct gompi_error_status v = {.class = MPI_SUCCESS};
	if (fh == NULL)
		return gompi_null_argument_error(call, "fh", GOMPI_ON_FILE, (uintptr_t)MPI_FILE_NULL);
	struct gompi_file *f = gompi_file_get(*fh);
	if (f == NULL)
		return gompi_not_a_file(*fh, call);
	gompi_file_await_collectives(f, call);
	if (f->split.begun != NULL)
		gompi_file_split_active_error(f, &v);
	if (gompi_file_agree(f->comm, f->rank, f->size, &v) != MPI_SUCCESS)
		return gompi_file_raise(*fh, call, &v);
	gompi_file_finish_queues(f);
	struct stat closed = {0};
	fstat(f->fd, &closed);
	if (close(f->fd) != 0 && errno != EINTR)
		gompi_file_errno(&v, errno, NULL, "cannot close the file");
	f->fd = -1;
	gompi_file_agree(f->comm, f->rank, f->size, &v);
	// Rank 0 deletes the file after all processes have closed it.
	if (f->rank == 0 && (f->amode & MPI_MODE_DELETE_ON_CLOSE) && !delete_closed(f, &closed) &&
	    v.class == MPI_SUCCESS)
		gompi_file_errno(&v, errno, NULL, "cannot delete the file");
	if (f->amode & MPI_MODE_DELETE_ON_CLOSE)
		gompi_file_agree(f->comm, f->rank, f->size, &v);
	int rc = v.class == MPI_SUCCESS ? MPI_SUCCESS : gompi_file_raise(*fh, call, &v);
	gompi_biased_lock(&gompi_files.lock);
	gompi_handles_remove(&gompi_files.handles, f->handle);
	gompi_biased_unlock(&gompi_files.lock);
	release(f);
	*fh = MPI_FILE_NULL;
	return rc;
}
GOMPI_ENTRY(MPI_File_close, gompi_file_close);

int gompi_file_delete(const char *filename, MPI_Info info) {
	static const char call[] = "MPI_File_delete";
	struct gompi_error_status v;
	struct stat s;
	if (check_name(filename, &v) != MPI_SUCCESS)
		return raise_without_file(call, &v);
	if (info != MPI_INFO_NULL && !gompi_info_exists(info)) {
		gompi_set_error(&v, MPI_ERR_INFO, "%#zx is not an info object, or has been freed", (size_t)info);
		return raise_without_file(call, &v);
	}
	const char *path = path_of(filename);
	if (lstat(path, &s) == 0 && S_ISDIR(s.st_mode))
		errno = EISDIR;
	else if (unlink(path) == 0)
		return MPI_SUCCESS;
	gompi_file_errno(&v, errno, path, "cannot delete the file");
	return raise_without_file(call, &v);
}
GOMPI_ENTRY(MPI_File_delete, gompi_file_delete);
