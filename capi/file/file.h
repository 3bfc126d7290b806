// Files (MPI-5.0 14): the object behind an MPI_File, and what the calls share. Offsets and sizes are in bytes unless
// they are named in etypes.
#ifndef GOMPI_FILE_H
#define GOMPI_FILE_H

#include "base/error_status.h"
#include "base/mutex.h"
#include "base/object_pool.h"
#include "base/tool_counts.h"
#include "comm/comm.h"
#include "datatype/buffer.h"
#include "errors/handler.h"

// How the data of a view is represented in the file (MPI-5.0 14.5).
struct gompi_datarep;

// The view of this process: which bytes of the file it sees, and in which order. The visible bytes form the stream of
// the view, whose positions count from 0. A view does not change once it is set, and MPI_File_set_view is erroneous
// while operations are active.
struct gompi_file_view {
	int64_t disp;                 // where the view begins in the file
	MPI_Datatype etype, filetype; // copies of the application's types, or predefined ones
	MPI_Datatype tile_type; // the filetype in the representation of the file; equal to filetype if datarep is NULL
	const struct gompi_type *tile;       // layout of tile_type; its copies (tiles) cover the file from disp on
	int64_t etype_bytes;                 // bytes of an etype in the file
	bool is_contiguous;                  // the stream is the file from disp + tile->origin on
	const struct gompi_datarep *datarep; // NULL if memory and file have the same representation
	char datarep_name[MPI_MAX_DATAREP_STRING];
};

// A split collective operation that has begun (MPI-5.0 14.4.5).
struct gompi_file_split {
	const char *begun; // name of the MPI function that began the operation; NULL if none is active
	MPI_Request request;
	// The access, if the begin function has executed it, so that only the agreement remains; else NULL.
	struct gompi_file_transfer_desc *executed;
	bool is_agreed; // all processes have agreed on the result of that access
};

// The hints that a file has, whether the application has set them or not (hints.c has their names and defaults).
enum gompi_file_hint {
	GOMPI_HINT_CB_NODES,
	GOMPI_HINT_CB_BUFFER_SIZE,
	GOMPI_HINT_CB_READ,
	GOMPI_HINT_CB_WRITE,
	GOMPI_HINT_DS_READ,
	GOMPI_HINT_DS_WRITE,
	GOMPI_HINT_NO_INDEP_RW,
	GOMPI_HINT_IND_RD_BUFFER_SIZE,
	GOMPI_HINT_IND_WR_BUFFER_SIZE,
	GOMPI_HINT_STRIPING_FACTOR,
	GOMPI_HINT_STRIPING_UNIT,
	GOMPI_HINT_FILE_PERM,
	GOMPI_FILE_HINTS
};
// Values of GOMPI_HINT_CB_READ to GOMPI_HINT_DS_WRITE.
enum gompi_file_choice { GOMPI_FILE_AUTOMATIC, GOMPI_FILE_ENABLE, GOMPI_FILE_DISABLE };

enum {
	GOMPI_FILE_TEXT_HINTS = 5,
	GOMPI_FILE_TEXT_BYTES = 128, // longer values are ignored
};

struct gompi_file_hints {
	int64_t value[GOMPI_FILE_HINTS]; // a number, or the index of one of the words in hints.c
	// Hints without effect, as the application has set them; "" if it has not. Their names are in hints.c.
	char text[GOMPI_FILE_TEXT_HINTS][GOMPI_FILE_TEXT_BYTES];
	// mpi_assert_memory_alloc_kinds (info/values.h), if has_alloc_kinds
	char alloc_kinds[MPI_MAX_INFO_VAL];
	bool has_alloc_kinds;
};

// Accesses that a thread of the library executes in order (queue.c). The first one is being executed.
struct gompi_file_queue {
	struct gompi_mutex mutex; // guards the fields below
	struct gompi_file_transfer_desc *first, *last;
	bool is_running; // a thread executes the accesses
	gompi_a32 count; // number of accesses; readable without the mutex
};

struct gompi_file {
	uintptr_t handle;
	int fd;
	int amode;
	int rank, size;
	bool is_atomic;
	// Short blocks are written to mapped pages if the distance between their beginnings is at most this many bytes.
	// 0 if the file cannot be mapped.
	int64_t map_stride;
	MPI_Comm comm;       // communicator of the processes that have opened the file; only the file uses it
	char *name;          // without a prefix such as "ufs:"
	char *absolute_name; // at rank 0, if the file is deleted when it is closed; else NULL
	int64_t max_bytes;   // limit of this process on the size of a file (RLIMIT_FSIZE), or INT64_MAX
	// this struct is from the pool gompi_files; false for a local variable of MPI_File_open (out of memory)
	bool is_pooled;
	struct gompi_errhandler_ref errhandler;
	struct gompi_file_view view;
	gompi_a64 position; // individual file pointer, in etypes
	// The shared file pointer, in etypes: a word in the memory that the processes share or, if they are on several
	// nodes (shared is NULL), at rank 0 of a window.
	gompi_a64 *shared;
	gompi_a64 shared_alone; // the word to which `shared` points if only one process has opened the file
	MPI_Win shared_win;     // the window if `shared` is NULL, else 0
	struct gompi_file_split split;
	struct gompi_file_hints hints;
	char *_Atomic stage; // memory that gompi_file_stage_acquire returns next; NULL if it must allocate memory
	// several processes have opened the file, and the view of at least one is not contiguous; equal at all of them
	bool is_strided;
	bool is_in_memory; // the file system is tmpfs
	// True if each process must write its own data, so that two-phase writes are not possible. The reason is that
	// the file system has a cache on each node. A process might not see its data if another node has written it.
	bool needs_own_writes;
	struct gompi_file_two_phase *two_phase; // buffers of collective writes; NULL before the first one
	// held with an fcntl lock of the file, which excludes only other processes
	struct gompi_mutex atomic_mutex;
	struct gompi_file_queue queue[2];              // nonblocking accesses: [0] independent, [1] collective ones
	struct gompi_tool_counts *_Atomic tool_counts; // NULL unless a tool has asked for them (execute.h)
};

#pragma GCC visibility push(hidden)

extern struct gompi_object_pool gompi_files;
extern struct gompi_errhandler_ref gompi_file_null_errhandler; // error handler of MPI_FILE_NULL; new files inherit it

// Returns the error handler function for errors on a file, or on no file.
// gompi:callback
uintptr_t gompi_file_errhandler_function(MPI_File fh);

// Returns the file with this handle, or NULL.
static inline struct gompi_file *gompi_file_get(MPI_File fh) {
	return gompi_table_get(&gompi_files.handles.table, (uintptr_t)fh);
}

// Writes ` on file "NAME"`, of at most GOMPI_FILE_LABEL bytes, if fh is a file. Returns the number of bytes. A long
// name is shortened at its beginning.
// gompi:callback
int gompi_file_label(MPI_File fh, char *text);
enum { GOMPI_FILE_LABEL = 128 };

// Executes the accesses of a queue until it is empty. The argument is the address of a struct gompi_file_queue. Blocks.
// The file exists until the function returns, because MPI_File_close waits. Only Go calls it.
void gompi_file_run_queue(uintptr_t queue);

// Raises an error on a file, or on MPI_FILE_NULL if fh is no file. Returns what the call must return.
int gompi_file_raise(MPI_File fh, const char *call, const struct gompi_error_status *v);
// Raises MPI_ERR_FILE for a handle that is not a file. Returns what the call must return.
__attribute__((cold)) int gompi_not_a_file(MPI_File fh, const char *call);

// Fills in v for a failed system call: its error class, the operation and the system's reason. `text` is what failed
// ("cannot write 4096 bytes at offset 0"). `name` is the file's name if the error is raised on no file, else NULL.
// Returns the class.
__attribute__((cold, format(printf, 4, 5))) int gompi_file_errno(struct gompi_error_status *v, int errno_value,
								 const char *name, const char *text, ...);

// Fills in v for a call that is not permitted while a split collective operation is active on the file. Returns the
// class.
__attribute__((cold)) int gompi_file_split_active_error(const struct gompi_file *f, struct gompi_error_status *v);

// Fills in v for a collective on the communicator of a file that failed with an error class. Returns the class.
__attribute__((cold)) int gompi_file_exchange_error(struct gompi_error_status *v, int class);

// Returns the end of a file's name that fits into an error text.
const char *gompi_file_short_name(const char *name);

// Agrees on the result of a collective call: returns MPI_SUCCESS if v->class is MPI_SUCCESS at all processes, else the
// class of the lowest rank that failed; v then describes that rank's error at all processes. Collective over the file's
// communicator.
int gompi_file_agree(MPI_Comm comm, int rank, int size, struct gompi_error_status *v);
// Agrees on the result like gompi_file_agree. If there is no error, also compares n <= GOMPI_FILE_MAX_EQUAL values of
// all processes. If they differ, returns MPI_ERR_NOT_SAME, and the text names `what`.
enum { GOMPI_FILE_MAX_EQUAL = 4 };
int gompi_file_agree_on(MPI_Comm comm, int rank, int size, const int64_t *values, int n, const char *what,
			struct gompi_error_status *v);
// Agrees on the result like gompi_file_agree. If there is no error, replaces *value by its maximum over all processes.
int gompi_file_agree_max(MPI_Comm comm, int rank, int size, int64_t *value, struct gompi_error_status *v);
// Agrees on the result like gompi_file_agree. If there is no error, stores in *differ whether two processes have
// different values, without regard to processes whose value is 0. The values are from 0 to INT64_MAX.
int gompi_file_agree_nonzero(MPI_Comm comm, int rank, int size, int64_t value, bool *differ,
			     struct gompi_error_status *v);

#pragma GCC visibility pop
#endif
