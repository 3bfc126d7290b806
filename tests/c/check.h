/* Common functions of all C tests in tests/c: begin, CHECK, end. Needs only mpi.h and C11.
 *
 *   int main(int argc, char **argv) {
 *       check_begin(&argc, &argv);               MPI_Init; rank and size of MPI_COMM_WORLD
 *       CHECK(x == 3, "x is %d, not 3", x);      counts and prints an error if x != 3; the program continues
 *       CHECK_CLASS(MPI_Send(...), MPI_ERR_RANK) counts and prints an error unless the call returns this class
 *       return check_end();                      prints "PASS" or the number of errors; returns 1 on every rank
 *                                                if any rank had errors
 *   }
 */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_errors; /* number of errors of this rank so far */
static int check_rank;   /* this rank in MPI_COMM_WORLD */
static int check_size;   /* size of MPI_COMM_WORLD */
/* The variant to run (line "args:" of the first comment): the first argument other than kind=..., or "" if there is
 * none. */
static const char *check_arg;
static const char *check_kind; /* argument kind=NAME: the only window kind to test (windows.h), NULL for all */
static int check_kind_tried;   /* 1 if this rank has created a window of windows.h; for check_end */

enum { CHECK_MAX_PRINTED = 20 }; /* number of errors that one rank prints; further errors are only counted */

/* Reports an error if cond is false. Several threads may use CHECK concurrently. */
#define CHECK(cond, ...) ((cond) ? (void)0 : check_fail(__FILE__, __LINE__, __VA_ARGS__))

static inline __attribute__((format(printf, 3, 4))) void check_fail(const char *file, int line, const char *format,
								    ...) {
	char text[800];
	va_list args;
	if (__atomic_add_fetch(&check_errors, 1, __ATOMIC_RELAXED) > CHECK_MAX_PRINTED)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	fprintf(stderr, "rank %d: %s:%d: %s\n", check_rank, file, line, text);
}

/* Returns the text of an error code, in a static buffer. */
static inline const char *check_string(int code) {
	static char text[MPI_MAX_ERROR_STRING];
	int len;
	if (code == MPI_SUCCESS || MPI_Error_string(code, text, &len) != MPI_SUCCESS)
		snprintf(text, sizeof text, "code %d", code);
	return text;
}

static inline int check_class(int code) {
	int class = -1;
	MPI_Error_class(code, &class);
	return class;
}

static inline void check_is_class(const char *file, int line, const char *call, int code, int class, const char *name) {
	if (check_class(code) != class)
		check_fail(file, line, "%s gave class %d (%s), not %s", call, check_class(code), check_string(code),
			   name);
}

/* Reports an error unless the call returns MPI_SUCCESS. */
#define CHECK_OK(call) check_is_class(__FILE__, __LINE__, #call, call, MPI_SUCCESS, "MPI_SUCCESS")

/* Reports an error unless the call returns an error of this class. The communicator or window of the call must have the
 * error handler MPI_ERRORS_RETURN. */
#define CHECK_CLASS(call, class) check_is_class(__FILE__, __LINE__, #call, call, class, #class)

/* Returns true if `list`, whose words are separated by blanks, contains `word`. */
static inline int check_word(const char *list, const char *word) {
	size_t n = strlen(word);
	for (const char *at = list; n > 0 && (at = strstr(at, word)) != NULL; at += n)
		if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0))
			return 1;
	return 0;
}

/* Aborts the job if the program does not know the argument, because such a program would test nothing and pass.
 * CMakeLists.txt and ref.sh define CHECK_ARGS as the words of the lines "args:". Without CHECK_ARGS every argument is
 * accepted. */
static inline void check_known(const char *arg) {
#ifdef CHECK_ARGS
	if (check_word(CHECK_ARGS, arg))
		return;
	fprintf(stderr, "rank %d: unknown argument '%s'; there are: %s\n", check_rank, arg, CHECK_ARGS);
	MPI_Abort(MPI_COMM_WORLD, 2);
#else
	(void)arg;
#endif
}

/* Reads rank, size and arguments. MPI must be initialized. */
static inline void check_started(int argc, char **argv) {
	MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &check_size);
	check_arg = "";
	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "kind=", 5) == 0) {
			check_kind = argv[i] + 5;
			continue;
		}
		check_known(argv[i]);
		if (*check_arg == 0)
			check_arg = argv[i];
	}
}

static inline void check_begin(int *argc, char ***argv) {
	MPI_Init(argc, argv);
	check_started(*argc, *argv);
}

/* Calls check_begin, and sets MPI_ERRORS_RETURN for MPI_COMM_WORLD and MPI_COMM_SELF. */
static inline void check_begin_return_errors(int *argc, char ***argv) {
	check_begin(argc, argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

/* Does the same as check_begin, with MPI_THREAD_MULTIPLE. */
#define check_begin_threads(argc, argv) check_begin_multiple(__FILE__, __LINE__, argc, argv)

static inline void check_begin_multiple(const char *file, int line, int *argc, char ***argv) {
	int provided;
	MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
	check_started(*argc, *argv);
	if (provided != MPI_THREAD_MULTIPLE)
		check_fail(file, line, "thread level %d", provided);
}

/* Prints PASS or the number of errors. Returns 0 if there are no errors, otherwise 1; main returns this value. */
static inline int check_print_result(int errors) {
	printf(errors == 0 ? "PASS\n" : "FAIL: %d errors\n", errors);
	return errors != 0;
}

/* Sums the errors of all ranks, prints the result and finalizes MPI. Returns 1 if any rank had errors. Aborts the job
 * if the argument kind=NAME was given and no rank created a window of that kind. */
static inline int check_end(void) {
	int all = 0;
	if (check_kind) {
		int tried;
		MPI_Allreduce(&check_kind_tried, &tried, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
		if (!tried) {
			fprintf(stderr, "rank %d: no window of kind '%s' was tried\n", check_rank, check_kind);
			MPI_Abort(MPI_COMM_WORLD, 2);
		}
	}
	MPI_Allreduce(&check_errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (check_rank == 0)
		check_print_result(all);
	MPI_Finalize();
	return all != 0 || check_errors != 0;
}

/* Returns the next pseudo-random number. Any initial *state is allowed. Ranks that begin with the same *state get the
 * same sequence. */
static inline uint64_t check_random(uint64_t *state) {
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

#endif
