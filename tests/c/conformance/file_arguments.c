/* Proves: every call that reads or writes a file refuses wrong arguments with the right error class, and then changes
 * nothing: neither the file, its pointers, the buffer nor the request. In variant `one`, only rank 0 has the wrong
 * argument. If the call is collective, it then fails at all ranks. The other ranks return the error when the call
 * completes, and may have transferred their data. MPI-5.0 14.4, 14.7.
 *
 * np: 1 3
 * args: all one
 * nodes: 2
 * timeout: 60
 * ref: none (MPICH 4.0 aborts at counts beyond 32 bits, returns MPI_ERR_IO for a null buffer, and hangs in variant one)
 */
#include "../files.h"

#include <stdint.h>

enum { N = 8 };
enum kind { BLOCKING, NONBLOCKING, SPLIT };
enum pointer { EXPLICIT, INDIVIDUAL, SHARED };

struct arguments {
	MPI_File f;
	MPI_Offset at;
	void *buf;
	MPI_Count count;
	MPI_Datatype type;
	MPI_Request q;
};

/* The functions that read or write have the names NAME and NAME_c. */
#define FOR_EACH_CALL(_)                                  \
	_(read_at, READ, EXPLICIT, BLOCKING, 0)           \
	_(write_at, WRITE, EXPLICIT, BLOCKING, 0)         \
	_(read_at_all, READ, EXPLICIT, BLOCKING, 1)       \
	_(write_at_all, WRITE, EXPLICIT, BLOCKING, 1)     \
	_(iread_at, READ, EXPLICIT, NONBLOCKING, 0)       \
	_(iwrite_at, WRITE, EXPLICIT, NONBLOCKING, 0)     \
	_(iread_at_all, READ, EXPLICIT, NONBLOCKING, 1)   \
	_(iwrite_at_all, WRITE, EXPLICIT, NONBLOCKING, 1) \
	_(read_at_all_begin, READ, EXPLICIT, SPLIT, 1)    \
	_(write_at_all_begin, WRITE, EXPLICIT, SPLIT, 1)  \
	_(read, READ, INDIVIDUAL, BLOCKING, 0)            \
	_(write, WRITE, INDIVIDUAL, BLOCKING, 0)          \
	_(read_all, READ, INDIVIDUAL, BLOCKING, 1)        \
	_(write_all, WRITE, INDIVIDUAL, BLOCKING, 1)      \
	_(iread, READ, INDIVIDUAL, NONBLOCKING, 0)        \
	_(iwrite, WRITE, INDIVIDUAL, NONBLOCKING, 0)      \
	_(iread_all, READ, INDIVIDUAL, NONBLOCKING, 1)    \
	_(iwrite_all, WRITE, INDIVIDUAL, NONBLOCKING, 1)  \
	_(read_all_begin, READ, INDIVIDUAL, SPLIT, 1)     \
	_(write_all_begin, WRITE, INDIVIDUAL, SPLIT, 1)   \
	_(read_shared, READ, SHARED, BLOCKING, 0)         \
	_(write_shared, WRITE, SHARED, BLOCKING, 0)       \
	_(iread_shared, READ, SHARED, NONBLOCKING, 0)     \
	_(iwrite_shared, WRITE, SHARED, NONBLOCKING, 0)   \
	_(read_ordered, READ, SHARED, BLOCKING, 1)        \
	_(write_ordered, WRITE, SHARED, BLOCKING, 1)      \
	_(read_ordered_begin, READ, SHARED, SPLIT, 1)     \
	_(write_ordered_begin, WRITE, SHARED, SPLIT, 1)

#define LEADING_EXPLICIT a->f, a->at
#define LEADING_INDIVIDUAL a->f
#define LEADING_SHARED a->f
#define TRAILING_BLOCKING , MPI_STATUS_IGNORE
#define TRAILING_NONBLOCKING , &a->q
#define TRAILING_SPLIT
#define DEFINE_FORM(name, pointer, kind, count_type)                                                              \
	static int call_##name(struct arguments *a) {                                                             \
		return MPI_File_##name(LEADING_##pointer, a->buf, (count_type)a->count, a->type TRAILING_##kind); \
	}
#define DEFINE(name, access, pointer, kind, collective)                                                   \
	DEFINE_FORM(name, pointer, kind, int)                                                             \
	static int call_##name##_c(struct arguments *a) {                                                 \
		return MPI_File_##name##_c(LEADING_##pointer, a->buf, a->count, a->type TRAILING_##kind); \
	}
FOR_EACH_CALL(DEFINE)

static const struct call {
	const char *name;
	int (*perform)(struct arguments *);
	int writes;
	enum pointer pointer;
	enum kind kind;
	int collective, is_large;
} calls[] = {
#define READ 0
#define WRITE 1
#define ROW(name, access, pointer, kind, collective)                            \
	{"MPI_File_" #name, call_##name, access, pointer, kind, collective, 0}, \
		{"MPI_File_" #name "_c", call_##name##_c, access, pointer, kind, collective, 1},
	FOR_EACH_CALL(ROW)};

static int only_one; /* 1 in variant `one` */
/* `usual` is opened for reading and writing, and holds the integers of `first`. */
static MPI_File closed, usual, read_only, write_only, read_sequential, write_sequential;
static MPI_Datatype uncommitted;
static int first[N];
static int data[N], *buffer; /* content of the buffer before a call, and the buffer */
static MPI_Request sentinel; /* value of the request variable before a call */

static MPI_File open_as(int mode, const char *tag) {
	MPI_File f;
	CHECK_OK(MPI_File_open(MPI_COMM_WORLD, file_name(tag), mode, MPI_INFO_NULL, &f));
	return f;
}

/* The state of a file: its pointers and size. */
struct state {
	MPI_Offset individual, shared, size;
};

static struct state state_of(MPI_File f) {
	struct state s = {-1, -1, -1};
	int mode = 0;
	MPI_File_get_amode(f, &mode);
	if ((mode & MPI_MODE_SEQUENTIAL) == 0) {
		CHECK_OK(MPI_File_get_position(f, &s.individual));
		CHECK_OK(MPI_File_get_position_shared(f, &s.shared));
	}
	CHECK_OK(MPI_File_get_size(f, &s.size));
	return s;
}

/* Completes a nonblocking or split collective call. */
static int complete(const struct call *c, struct arguments *a) {
	if (c->kind == NONBLOCKING)
		return MPI_Wait(&a->q, MPI_STATUS_IGNORE);
	switch (c->pointer) {
	case EXPLICIT:
		return c->writes ? MPI_File_write_at_all_end(a->f, a->buf, MPI_STATUS_IGNORE)
				 : MPI_File_read_at_all_end(a->f, a->buf, MPI_STATUS_IGNORE);
	case INDIVIDUAL:
		return c->writes ? MPI_File_write_all_end(a->f, a->buf, MPI_STATUS_IGNORE)
				 : MPI_File_read_all_end(a->f, a->buf, MPI_STATUS_IGNORE);
	default:
		return c->writes ? MPI_File_write_ordered_end(a->f, a->buf, MPI_STATUS_IGNORE)
				 : MPI_File_read_ordered_end(a->f, a->buf, MPI_STATUS_IGNORE);
	}
}

/* Calls a function with the wrong arguments *a. In variant `one`, only rank 0 uses them, and the other ranks use
 * *right. Checks the error class, and that the state of file f has not changed. */
static void refuse(const struct call *c, const char *what, const struct arguments *a, const struct arguments *right,
		   MPI_File f, int class) {
	if (only_one && check_rank != 0 && !c->collective)
		return;
	struct arguments used = only_one && check_rank != 0 ? *right : *a;
	const struct state before = state_of(f);
	int content[N];
	for (int i = 0; i < N; i++)
		data[i] = buffer[i] = 100 + i;
	used.q = sentinel;
	int rc = c->perform(&used);
	if (only_one && check_rank != 0 && c->kind != BLOCKING) {
		CHECK(rc == MPI_SUCCESS, "%s, %s at rank 0: %s", c->name, what, check_string(rc));
		rc = complete(c, &used);
		used.q = sentinel;
	}
	const int found = check_class(rc);
	CHECK(found == class, "%s, %s: class %d (%s), not %d", c->name, what, found, check_string(rc), class);
	CHECK(used.q == sentinel, "%s, %s: the request has changed", c->name, what);
	const struct state after = state_of(f);
	const int may_change = only_one && c->collective && check_rank != 0;
	CHECK(may_change || before.individual == after.individual, "%s, %s: the individual pointer has moved to %lld",
	      c->name, what, (long long)after.individual);
	CHECK(may_change || memcmp(buffer, data, sizeof data) == 0, "%s, %s: the buffer has changed", c->name, what);
	if (only_one && c->collective) {
		/* The other ranks may have moved the pointers, and written to the file. */
		CHECK_OK(MPI_File_seek_shared(f, before.shared, MPI_SEEK_SET));
		CHECK_OK(MPI_File_seek(f, before.individual, MPI_SEEK_SET));
		CHECK_OK(MPI_File_write_at_all(usual, 0, first, N, MPI_INT, MPI_STATUS_IGNORE));
		return;
	}
	CHECK(before.shared == after.shared, "%s, %s: the shared pointer has moved to %lld", c->name, what,
	      (long long)after.shared);
	CHECK(before.size == after.size, "%s, %s: the size is now %lld", c->name, what, (long long)after.size);
	CHECK_OK(MPI_File_read_at(usual, 0, content, N, MPI_INT, MPI_STATUS_IGNORE));
	for (int i = 0; i < N; i++)
		CHECK(content[i] == i, "%s, %s: element %d of the file is %d", c->name, what, i, content[i]);
}

static void try_call(const struct call *c) {
	const struct arguments right = {.f = usual, .buf = buffer, .count = 2, .type = MPI_INT};
	const MPI_Offset most = INT64_MAX;
	struct arguments a;
#define REFUSE(what, file, class, ...)                    \
	do {                                              \
		a = right;                                \
		__VA_ARGS__;                              \
		refuse(c, what, &a, &right, file, class); \
	} while (0)
	if (!only_one) {
		REFUSE("null file", usual, MPI_ERR_FILE, a.f = MPI_FILE_NULL);
		REFUSE("closed file", usual, MPI_ERR_FILE, a.f = closed);
		if (c->writes)
			REFUSE("file opened for reading", read_only, MPI_ERR_READ_ONLY, a.f = read_only);
		else
			REFUSE("file opened for writing", write_only, MPI_ERR_ACCESS, a.f = write_only);
		if (c->pointer != SHARED) {
			MPI_File f = c->writes ? write_sequential : read_sequential;
			REFUSE("sequential file", f, MPI_ERR_UNSUPPORTED_OPERATION, a.f = f);
		}
	}
	REFUSE("negative count", usual, MPI_ERR_COUNT, a.count = -1);
	REFUSE("null datatype", usual, MPI_ERR_TYPE, a.type = MPI_DATATYPE_NULL);
	REFUSE("uncommitted datatype", usual, MPI_ERR_TYPE, a.type = uncommitted);
	REFUSE("null buffer", usual, MPI_ERR_BUFFER, a.buf = NULL);
	REFUSE("half an etype", usual, MPI_ERR_IO, (a.count = 3, a.type = MPI_SHORT));
	if (c->pointer == EXPLICIT) {
		REFUSE("negative offset", usual, MPI_ERR_ARG, a.at = -1);
		REFUSE("offset beyond 64 bits", usual, MPI_ERR_ARG, a.at = most);
	}
	if (c->is_large)
		REFUSE("data beyond 64 bits", usual, MPI_ERR_VALUE_TOO_LARGE, a.count = most / 2);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	only_one = strcmp(check_arg, "one") == 0;
	if (!only_one && strcmp(check_arg, "all") != 0) {
		CHECK(0, "unknown variant \"%s\"", check_arg);
		return check_end();
	}
	for (int i = 0; i < N; i++)
		first[i] = i;
	buffer = malloc(sizeof data);
	MPI_File f = closed = file_create("closed");
	MPI_File_close(&f);
	usual = file_create("usual");
	write_only = open_as(MPI_MODE_WRONLY | MPI_MODE_CREATE, "others");
	read_only = open_as(MPI_MODE_RDONLY, "others");
	read_sequential = open_as(MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL, "others");
	write_sequential = open_as(MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE, "others");
	CHECK_OK(MPI_File_set_view(usual, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	CHECK_OK(MPI_File_write_at_all(usual, 0, first, N, MPI_INT, MPI_STATUS_IGNORE));
	CHECK_OK(MPI_File_seek(usual, 3, MPI_SEEK_SET));
	CHECK_OK(MPI_File_seek_shared(usual, 5, MPI_SEEK_SET));
	MPI_Type_contiguous(2, MPI_INT, &uncommitted);
	MPI_Recv_init(NULL, 0, MPI_INT, 0, 0, MPI_COMM_SELF, &sentinel);
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
		try_call(&calls[i]);
	MPI_Request_free(&sentinel);
	MPI_Type_free(&uncommitted);
	MPI_File_close(&read_only);
	MPI_File_close(&write_only);
	MPI_File_close(&read_sequential);
	MPI_File_close(&write_sequential);
	MPI_File_close(&usual);
	free(buffer);
	return check_end();
}
