/* Definitions that all files of the Fortran bindings share. The bindings call only C functions of the standard ABI, so
 * that they work with any MPI library that has this ABI.
 *
 * Fortran passes all arguments by reference. Handles are INTEGERs with the values of MPI_Comm_toint and so on. A status
 * is eight INTEGERs with the same values as the ints of a status in C. The values of LOGICALs depend on the compiler.
 * The lengths of strings follow all other arguments, as size_t. The pointer ierror is NULL if a call with mpi_f08 omits
 * this argument. INTEGERs have 4 or 8 bytes (integer.h).
 *
 * Every file with entry points is compiled twice: to define mpi_put_, which calls MPI_Put, and pmpi_put_, which calls
 * PMPI_Put. Therefore a profiling library in C sees the calls of Fortran programs. If a profiling library in Fortran
 * calls pmpi_put_, a profiling library in C does not see the call again. Calls that the bindings make only for a
 * conversion use PMPI_ names, so that no tool sees them. */
#ifndef GOMPI_F_H
#define GOMPI_F_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "integer.h"

/* ---- Names ---- */

#ifdef GOMPI_F_PROFILING
#define NAME(name) pmpi_##name##_
#define CALL(name) PMPI_##name
#else
#define NAME(name) mpi_##name##_
#define CALL(name) MPI_##name
#endif

/* Marks an entry point. It is weak, so that a tool's procedure of the same name replaces it in a static link. */
#define ENTRY __attribute__((visibility("default"), weak))

/* SAME defines `other` as a second name for the entry point `name` of the same file. */
#define SAME(name, other) SAME2(NAME(name), NAME(other))
#define SAME2(name, other) ENTRY extern __typeof__(name) other __attribute__((alias(SAME3(name))));
#define SAME3(name) SAME4(name)
#define SAME4(name) #name

/* Stores the error code in ierror unless the caller omitted it. Every entry point ends with this call. */
static inline void done(integer *ierror, int rc) {
	if (ierror)
		*ierror = rc;
}

/* ---- Sentinels: variables that MPI recognizes by their addresses (sentinel.c). In mpif.h they are common blocks.
 * ---- */

/* Each size of INTEGER has its own symbols, so that mixed.c can detect a program that mixes sizes. */
#ifdef GOMPI_F_INTEGER_8
#define SYMBOL(name) __asm__(name)
#else
#define SYMBOL(name)
#endif

extern integer gompi_f_bottom_ SYMBOL("gompi_f_i8_bottom_");
extern integer gompi_f_in_place_ SYMBOL("gompi_f_i8_in_place_");
extern integer gompi_f_buffer_automatic_ SYMBOL("gompi_f_i8_buffer_automatic_");
extern f_status gompi_f_status_ignore_ SYMBOL("gompi_f_i8_status_ignore_");
extern f_status gompi_f_statuses_ignore_[1] SYMBOL("gompi_f_i8_statuses_ignore_");
extern f_status gompi_f08_status_ignore_ SYMBOL("gompi_f08_i8_status_ignore_"); /* only mpi_f08 uses this variable and
                                                                                 * the next one */
extern f_status gompi_f08_statuses_ignore_[1] SYMBOL("gompi_f08_i8_statuses_ignore_");
extern integer gompi_f_errcodes_ignore_[1] SYMBOL("gompi_f_i8_errcodes_ignore_");
extern integer gompi_f_unweighted_[1] SYMBOL("gompi_f_i8_unweighted_");
extern integer gompi_f_weights_empty_[1] SYMBOL("gompi_f_i8_weights_empty_");
extern char gompi_f_argv_null_[1] SYMBOL("gompi_f_i8_argv_null_");
extern char gompi_f_argvs_null_[1] SYMBOL("gompi_f_i8_argvs_null_");

/* Returns the address of a buffer for C. Replaces Fortran's MPI_BOTTOM, MPI_IN_PLACE and MPI_BUFFER_AUTOMATIC by C's
 * constants. */
static inline void *buffer_in(const void *buffer) {
	if (buffer == &gompi_f_bottom_)
		return MPI_BOTTOM;
	if (buffer == &gompi_f_in_place_)
		return MPI_IN_PLACE;
	if (buffer == &gompi_f_buffer_automatic_)
		return MPI_BUFFER_AUTOMATIC;
	return (void *)buffer;
}

/* Replaces C's MPI_BUFFER_AUTOMATIC by Fortran's, in the address of a detached buffer that a call has returned. */
static inline void pointer_out(void *pointer) {
	if (*(void **)pointer == MPI_BUFFER_AUTOMATIC)
		*(void **)pointer = &gompi_f_buffer_automatic_;
}

static inline bool in_place(const void *buffer) { return buffer == &gompi_f_in_place_; }

static inline bool status_ignored(const void *status) {
	return status == &gompi_f_status_ignore_ || status == gompi_f_statuses_ignore_ ||
	       status == &gompi_f08_status_ignore_ || status == gompi_f08_statuses_ignore_;
}

/* Returns the status that C reads and writes: this is MPI_STATUS_IGNORE if the program ignores the status. It is the
 * program's variable if that has C's form. Otherwise it is `own`, with the values of the program's variable. */
static inline MPI_Status *status_to(const f_status *status, MPI_Status *own) {
	if (status_ignored(status))
		return MPI_STATUS_IGNORE;
	if (!EIGHT)
		return (MPI_Status *)status;
	for (int i = 0; i < MPI_F_STATUS_SIZE; i++)
		((int *)own)[i] = (int)status->word[i];
	return own;
}

/* Copies the status from `own` to the program's variable. Does nothing if C has written to that variable directly, or
 * if the program ignores the status. */
static inline void status_out(f_status *status, const MPI_Status *own) {
	if (EIGHT && !status_ignored(status))
		for (int i = 0; i < MPI_F_STATUS_SIZE; i++)
			status->word[i] = ((const int *)own)[i];
}

/* Converts in the opposite direction, for callbacks of the program. status_for returns the status that a callback reads
 * and writes. status_from copies the values that the callback has written to C's status. */
static inline f_status *status_for(const MPI_Status *status, f_status *own) {
	if (!EIGHT)
		return (f_status *)status;
	for (int i = 0; i < MPI_F_STATUS_SIZE; i++)
		own->word[i] = ((const int *)status)[i];
	return own;
}

static inline void status_from(MPI_Status *status, const f_status *from) {
	for (int i = 0; EIGHT && i < MPI_F_STATUS_SIZE; i++)
		((int *)status)[i] = (int)from->word[i];
}

static inline bool weights_special(const integer *weights) {
	return weights == gompi_f_unweighted_ || weights == gompi_f_weights_empty_;
}

/* ---- Handles ---- */

/* Defines the conversions of a type of handle. The ABI requires that predefined handles have the same values below 4096
 * in C and Fortran. The library converts all other handles. */
#define GOMPI_HANDLE(type, name, function)                                                      \
	static inline MPI_##type name##_in(integer handle) {                                    \
		if ((uinteger)handle < 4096 || wide(handle)) /* if wide, C reports the error */ \
			return (MPI_##type)(intptr_t)handle;                                    \
		return PMPI_##function##_fromint((int)handle);                                  \
	}                                                                                       \
	static inline integer name##_out(MPI_##type handle) {                                   \
		if ((uintptr_t)handle < 4096)                                                   \
			return (integer)(intptr_t)handle;                                       \
		return PMPI_##function##_toint(handle);                                         \
	}
GOMPI_HANDLE(Comm, comm, Comm)
GOMPI_HANDLE(Datatype, datatype, Type)
GOMPI_HANDLE(Errhandler, errhandler, Errhandler)
GOMPI_HANDLE(File, file, File)
GOMPI_HANDLE(Group, group, Group)
GOMPI_HANDLE(Info, info, Info)
GOMPI_HANDLE(Message, message, Message)
GOMPI_HANDLE(Op, op, Op)
GOMPI_HANDLE(Request, request, Request)
GOMPI_HANDLE(Session, session, Session)
GOMPI_HANDLE(Win, win, Win)

/* ---- LOGICAL ---- */

/* The compiler's values of .true. and .false., defined in logical.f90. */
extern const logical gompi_f_true, gompi_f_false;

static inline int logical_in(logical value) { return value != gompi_f_false; }
static inline logical logical_out(int value) { return value ? gompi_f_true : gompi_f_false; }

static inline void logicals_out(logical *to, MPI_Count n, const int *from) {
	for (MPI_Count i = 0; i < n; i++)
		to[i] = logical_out(from[i]);
}

/* ---- Arrays whose elements differ between Fortran and C (array.c). Functions with an int result return MPI_SUCCESS or
 * an error class. ---- */

struct gompi_array {
	void *data;
	void *heap; /* equals data if data must be freed, else NULL */
	void *small[16];
};

/* Allocates n elements, in a->small if they fit there. For n <= 0 the array is valid but empty; the called MPI function
 * reports a negative n. */
int gompi_array_make(struct gompi_array *a, MPI_Count n, size_t size);
/* Allocates n elements on the heap, so that the array can outlive the call. */
int gompi_array_make_kept(struct gompi_array *a, MPI_Count n, size_t size);
static inline void gompi_array_free(struct gompi_array *a) { free(a->heap); }

static inline int logicals_in(struct gompi_array *a, MPI_Count n, const logical *from) {
	int rc = gompi_array_make(a, n, sizeof(int));
	for (MPI_Count i = 0; !rc && i < n; i++)
		((int *)a->data)[i] = logical_in(from[i]);
	return rc;
}

#define GOMPI_HANDLES_IN(type, name)                                                            \
	static inline int name##s_in(struct gompi_array *a, MPI_Count n, const integer *from) { \
		int rc = gompi_array_make(a, n, sizeof(type));                                  \
		for (MPI_Count i = 0; !rc && i < n; i++)                                        \
			((type *)a->data)[i] = name##_in(from[i]);                              \
		return rc;                                                                      \
	}
GOMPI_HANDLES_IN(MPI_Datatype, datatype)
GOMPI_HANDLES_IN(MPI_Info, info)
GOMPI_HANDLES_IN(MPI_Request, request)

/* Converts the datatypes of MPI_Alltoallw or, if `neighbor` is set, of MPI_Neighbor_alltoallw. Their number is the
 * number of processes to which the call sends (if `which` is 0) or from which it receives (if `which` is 1). If
 * `ignored` is set, the datatypes are not significant and are not converted. The array may outlive the call. */
int gompi_peer_types(struct gompi_array *a, MPI_Comm comm, bool neighbor, int which, bool ignored, const integer *from);

/* ---- Arrays of INTEGERs. C gets the program's array if its elements are ints, else a converted copy. ints_in prepares
 * an input array. For an output array, ints_room is called before the MPI function and ints_out after it. ---- */

int gompi_ints_in(struct gompi_array *a, MPI_Count n, const integer *from);
void gompi_ints_out(integer *to, MPI_Count n, const struct gompi_array *a);

static inline int ints_in(struct gompi_array *a, MPI_Count n, const integer *from) {
	if (EIGHT)
		return gompi_ints_in(a, n, from);
	a->data = (void *)from;
	return MPI_SUCCESS;
}

static inline int ints_room(struct gompi_array *a, MPI_Count n, integer *to) { return ints_in(a, n, to); }

static inline void ints_out(integer *to, MPI_Count n, const struct gompi_array *a) {
	if (EIGHT)
		gompi_ints_out(to, n, a);
}

static inline void ints_free(struct gompi_array *a) {
	if (EIGHT)
		gompi_array_free(a);
}

/* Converts weights as ints_in does. Replaces Fortran's MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY by C's constants. */
static inline int weights_in(struct gompi_array *a, MPI_Count n, const integer *weights) {
	if (!weights_special(weights))
		return ints_in(a, n, weights);
	a->data = weights == gompi_f_unweighted_ ? MPI_UNWEIGHTED : MPI_WEIGHTS_EMPTY;
	return MPI_SUCCESS;
}

static inline int weights_fit(const char *function, const char *argument, MPI_Count n, const integer *weights) {
	return weights_special(weights) ? MPI_SUCCESS : all_fit(function, argument, n, weights, MPI_ERR_ARG);
}

static inline int weights_room(struct gompi_array *a, MPI_Count n, integer *to) { return weights_in(a, n, to); }

static inline void weights_out(integer *to, MPI_Count n, const struct gompi_array *a) {
	if (!weights_special(to))
		ints_out(to, n, a);
}

/* Returns the length of an array that is no argument of the call: the sum of the degrees (sum_of), the last index of a
 * graph (last_of), or the number of dimensions of a communicator (dims_of). If INTEGERs are ints, C gets the program's
 * array itself and no copy is made. The result is then 0. */
static inline MPI_Count sum_of(MPI_Count n, const integer *degrees) {
	MPI_Count sum = 0;
	for (MPI_Count i = 0; EIGHT && i < n; i++)
		sum += degrees[i] > 0 ? degrees[i] : 0;
	return sum;
}

static inline MPI_Count last_of(MPI_Count n, const integer *index) { return EIGHT && n > 0 ? index[n - 1] : 0; }

static inline MPI_Count dims_of(integer comm) {
	int ndims = 0;
	return EIGHT && !PMPI_Cartdim_get(comm_in(comm), &ndims) ? ndims : 0;
}

/* ---- Strings (string.c) ---- */

struct gompi_string {
	char *text;
	char *heap; /* equals text if text must be freed, else NULL */
	char small[256];
};

enum gompi_strip { STRIP_TRAILING, STRIP_BOTH };

int gompi_string_in(struct gompi_string *s, const char *from, size_t length, enum gompi_strip strip);
static inline void gompi_string_free(struct gompi_string *s) { free(s->heap); }
/* Copies a C string into a CHARACTER variable. Truncates the text or pads it with blanks. */
void gompi_string_out(char *to, size_t length, const char *from);

/* ---- Data that lives until a request is complete (request_data.c) ---- */

/* A copy of a section whose elements are not contiguous. */
struct gompi_scratch {
	void *addr;              /* the copy, or the program's memory if that is contiguous */
	struct gompi_layout *of; /* the layout of the program's section; NULL if addr is the program's memory */
	char *before;            /* contents of the copy before the call; NULL if the call only reads the buffer */
};

struct gompi_kept {
	struct gompi_scratch buffer[2];
	struct gompi_array types[2];
	MPI_Comm *newcomm; /* on the heap: C writes the result of MPI_Comm_idup here */
	integer *newcomm_to;
	int *flag; /* on the heap: C writes the result of MPIX_Comm_iagree here */
	integer *flag_to;
};

/* Frees the data of a blocking call. If `copy` is set, it first copies changed elements to the program's section. */
void gompi_release(struct gompi_kept *k, bool copy);
/* Takes ownership of the data in k and releases it when the request is complete. For a persistent request, it copies
 * the program's sections to the buffers at each start, and frees the data with the request. If the call failed,
 * `request` is NULL, and gompi_keep frees the data at once without copying results. */
void gompi_keep(struct gompi_kept *k, const integer *request, bool persistent);

extern _Atomic int gompi_kept_count; /* number of requests with an entry in request_data.c; almost always 0 */
void gompi_kept_completed(integer request);
void gompi_kept_started(integer request);
void gompi_kept_freed(integer request);

/* Invalidates the datatypes that section.c caches. MPI_Finalize and MPI_Session_finalize call it, because the datatypes
 * do not exist after them. */
void gompi_forget_sections(void);

/* ---- Errors (raise.c) ---- */

enum gompi_object { RAISE_SELF, RAISE_COMM, RAISE_WIN, RAISE_FILE, RAISE_SESSION };

/* Calls the error handler of an object with an error class or code, as the C functions do. Returns the error code. */
int gompi_raise_pending(enum gompi_object kind, integer object, int code);
/* Raises MPI_ERR_ARG on MPI_COMM_SELF because a function's result does not fit into an INTEGER of default size. The
 * error string has the value and the function to use instead. Returns the error code. */
int gompi_raise_wide(const char *function, MPI_Aint value, const char *instead);

/* ---- Sizes of Fortran's types (sizes.c) ---- */

extern const int gompi_f_sizes[4]; /* bytes of LOGICAL, INTEGER, REAL, DOUBLE PRECISION; from logical.f90 */

/* gompi_store_sizes stores gompi_f_sizes in an info object. store_sizes does so only if INTEGERs have 8 bytes, because
 * the library itself reports the sizes for 4 bytes. */
void gompi_store_sizes(MPI_Info info);
static inline void store_sizes(MPI_Info info) {
	if (EIGHT)
		gompi_store_sizes(info);
}

#endif
