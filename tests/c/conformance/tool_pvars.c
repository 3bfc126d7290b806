/* Proves: performance variables have the right values. A handle counts only while it is started, and sessions do not
 *   influence each other. A variable that is bound to a window counts the operations on that window. Levels follow the
 *   numbers of objects and unexpected messages, and the highest resident memory is not below the current one. Accesses
 *   to files are counted with their bytes. Continuous variables can be neither started nor written. Handles and
 *   sessions that are invalid, freed or of another session are refused. Several threads may use the interface at the
 *   same time. MPI-5.0 15.3.7
 * np: 2
 * ref: none (the variables are gompirma's)
 * env: GOMPIRMA_SHARE_IN_PLACE=0
 * again: GOMPIRMA_NO_CMA=1
 * nodes: 2
 * timeout: 30
 */
#include "../files.h"
#include "../pvars.h"

#include <pthread.h>

/* A variable for each path that operations may take. */
static const char *const paths[] = {"ring", "cma", "network"};
enum { PATHS = 3 };

static number level(MPI_T_pvar_session s, const char *name) {
	MPI_T_pvar_handle h = handle_of(s, name, MPI_T_PVAR_CLASS_LEVEL, NULL);
	number value = value_of(s, h);
	CHECK(MPI_T_pvar_handle_free(s, &h) == MPI_SUCCESS && h == MPI_T_PVAR_HANDLE_NULL, "freeing %s", name);
	return value;
}

/* Creates handles for puts on each path. */
static void put_handles(MPI_T_pvar_session s, const char *prefix, const char *field, int class, void *object,
			MPI_T_pvar_handle h[PATHS]) {
	for (int i = 0; i < PATHS; i++) {
		char name[64];
		snprintf(name, sizeof name, "%s_put_%s_%s", prefix, paths[i], field);
		h[i] = handle_of(s, name, class, object);
	}
}

static number sum_of(MPI_T_pvar_session s, const MPI_T_pvar_handle h[PATHS]) {
	number sum = 0;
	for (int i = 0; i < PATHS; i++)
		sum += value_of(s, h[i]);
	return sum;
}

static void put(MPI_Win win, int n) {
	int value = 7;
	for (int i = 0; i < n; i++)
		CHECK_OK(MPI_Put(&value, 1, MPI_INT, 1 - check_rank, 0, 1, MPI_INT, win));
	CHECK_OK(MPI_Win_flush(1 - check_rank, win));
}

#define EXPECT(s, h, expected)                                                                  \
	do {                                                                                    \
		number is = sum_of(s, h);                                                       \
		CHECK(is == (number)(expected), "%s is %llu, not %d", #h, is, (int)(expected)); \
	} while (0)

static void check_operations(MPI_T_pvar_session s, MPI_T_pvar_session other) {
	MPI_Win win, second;
	MPI_T_pvar_handle mine[PATHS], bytes[PATHS], all[PATHS], theirs[PATHS];
	int *memory = calloc(100, sizeof *memory), *more = calloc(100, sizeof *more);
	MPI_Win_create(memory, 400, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_create(more, 400, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &second);
	CHECK_OK(MPI_Win_lock_all(0, win));
	CHECK_OK(MPI_Win_lock_all(0, second));
	put_handles(s, "win", "calls", MPI_T_PVAR_CLASS_COUNTER, &win, mine);
	put_handles(s, "win", "bytes", MPI_T_PVAR_CLASS_AGGREGATE, &win, bytes);
	put_handles(s, "rma", "calls", MPI_T_PVAR_CLASS_COUNTER, NULL, all);
	put_handles(other, "win", "calls", MPI_T_PVAR_CLASS_COUNTER, &win, theirs);
	put(win, 2);
	EXPECT(s, mine, 0);
	CHECK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS, "start");
	put(win, 3);
	put(second, 10);
	EXPECT(s, mine, 3);
	EXPECT(s, bytes, 12);
	EXPECT(s, all, 13);
	EXPECT(other, theirs, 0);
	CHECK(MPI_T_pvar_start(other, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS, "start of the other session");
	CHECK(MPI_T_pvar_stop(s, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS, "stop");
	put(win, 4);
	EXPECT(s, mine, 3);
	EXPECT(other, theirs, 4);
	CHECK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS, "start again");
	CHECK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS, "start of started handles");
	put(win, 1);
	EXPECT(s, mine, 4);
	number was = 0, written = 100;
	for (int i = 0; i < PATHS; i++) {
		number part = 0;
		CHECK(MPI_T_pvar_readreset(s, mine[i], &part) == MPI_SUCCESS, "readreset");
		was += part;
	}
	CHECK(was == 4, "readreset gave %llu", was);
	EXPECT(s, mine, 0);
	EXPECT(other, theirs, 5);
	CHECK(MPI_T_pvar_write(s, mine[0], &written) == MPI_SUCCESS, "write");
	put(win, 1);
	EXPECT(s, mine, 101);
	CHECK(MPI_T_pvar_reset(s, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS, "reset");
	EXPECT(s, mine, 0);
	EXPECT(s, bytes, 0);
	EXPECT(other, theirs, 6);
	CHECK(MPI_T_pvar_read(other, mine[0], &was) == MPI_T_ERR_INVALID_HANDLE, "a handle of another session");
	CHECK_OK(MPI_Win_unlock_all(second));
	CHECK_OK(MPI_Win_unlock_all(win));
	CHECK(level(s, "windows") == 2, "%llu windows", level(s, "windows"));
	MPI_Win freed = win;
	MPI_Win_free(&win);
	EXPECT(other, theirs, 6); /* the handles of a freed window keep their values */
	MPI_Win_free(&second);
	CHECK(level(s, "windows") == 0, "%llu windows", level(s, "windows"));
	MPI_T_pvar_handle h;
	int count, i = index_of("win_put_ring_calls", MPI_T_PVAR_CLASS_COUNTER);
	CHECK(MPI_T_pvar_handle_alloc(s, i, &freed, &h, &count) == MPI_T_ERR_INVALID_HANDLE, "a freed window");
	CHECK(MPI_T_pvar_handle_alloc(s, i, NULL, &h, &count) == MPI_T_ERR_INVALID, "no window");
	for (i = 0; i < PATHS; i++)
		CHECK(MPI_T_pvar_handle_free(s, &mine[i]) == MPI_SUCCESS, "freeing a handle");
	free(memory);
	free(more);
}

static void check_levels(MPI_T_pvar_session s) {
	MPI_Datatype type;
	MPI_Comm comm;
	MPI_Group group;
	number types = level(s, "datatypes"), comms = level(s, "communicators"), groups = level(s, "groups");
	MPI_Type_contiguous(3, MPI_INT, &type);
	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	MPI_Comm_group(MPI_COMM_WORLD, &group);
	CHECK(level(s, "datatypes") == types + 1, "%llu datatypes", level(s, "datatypes"));
	CHECK(level(s, "communicators") == comms + 1, "%llu communicators", level(s, "communicators"));
	CHECK(level(s, "groups") >= groups + 1, "%llu groups", level(s, "groups"));
	MPI_Type_free(&type);
	MPI_Comm_free(&comm);
	MPI_Group_free(&group);
	CHECK(level(s, "datatypes") == types, "%llu datatypes", level(s, "datatypes"));
	CHECK(level(s, "communicators") == comms, "%llu communicators", level(s, "communicators"));
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
	int here = 0;
	MPI_Comm_size(comm, &here);
	MPI_Comm_free(&comm);
	CHECK(level(s, "node_processes") == (number)here, "%llu processes", level(s, "node_processes"));
	CHECK(level(s, "failed_processes") == 0, "a failed process");
	CHECK(level(s, "memory_resident_bytes") > 1000000, "%llu bytes", level(s, "memory_resident_bytes"));
	MPI_T_pvar_handle peak = handle_of(s, "memory_resident_peak_bytes", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
	for (int i = 0; i < 20; i++) {
		char *memory = malloc(100000);
		memset(memory, 1, 100000);
		number resident = level(s, "memory_resident_bytes"), highest = value_of(s, peak);
		CHECK(highest >= resident, "%llu bytes; the maximum is %llu", resident, highest);
		free(memory);
	}
	CHECK(MPI_T_pvar_handle_free(s, &peak) == MPI_SUCCESS, "freeing a handle");

	/* rank 1 has three messages that it has not received, because a later one has arrived */
	int data = 0, before = (int)level(s, "unexpected_messages");
	MPI_T_pvar_handle arrivals = handle_of(s, "unexpected_arrivals", MPI_T_PVAR_CLASS_COUNTER, NULL);
	CHECK(MPI_T_pvar_start(s, arrivals) == MPI_SUCCESS, "start");
	MPI_Barrier(MPI_COMM_WORLD);
	if (check_rank == 0) {
		for (int tag = 1; tag <= 4; tag++)
			MPI_Send(&data, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
		/* until rank 1 has looked: a message of the next collective would count, too */
		MPI_Recv(&data, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(&data, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		CHECK(level(s, "unexpected_messages") == (number)before + 3, "%llu unexpected messages",
		      level(s, "unexpected_messages"));
		CHECK(level(s, "unexpected_bytes") > 0, "unexpected messages need no memory");
		CHECK(value_of(s, arrivals) >= 3, "%llu arrivals", value_of(s, arrivals));
		for (int tag = 1; tag <= 3; tag++)
			MPI_Recv(&data, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		CHECK(level(s, "unexpected_messages") == (number)before, "%llu unexpected messages",
		      level(s, "unexpected_messages"));
		MPI_Send(&data, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
	}
	CHECK(MPI_T_pvar_handle_free(s, &arrivals) == MPI_SUCCESS, "freeing a handle");
}

/* Checks the counts of a write and two reads, of which one ends at the end of the file. */
static void check_files(MPI_T_pvar_session s) {
	static const char *const names[] = {"file_reads", "file_writes", "file_read_bytes", "file_write_bytes"};
	static const number expected[] = {2, 1, 6 * sizeof(int), 5 * sizeof(int)};
	MPI_T_pvar_handle h[4];
	MPI_File file;
	int data[5] = {1, 2, 3, 4, 5};
	for (int i = 0; i < 4; i++) {
		h[i] = handle_of(s, names[i], i < 2 ? MPI_T_PVAR_CLASS_COUNTER : MPI_T_PVAR_CLASS_AGGREGATE, NULL);
		CHECK(MPI_T_pvar_start(s, h[i]) == MPI_SUCCESS, "start");
	}
	char name[600];
	snprintf(name, sizeof name, "%s.%d", file_name("tool_pvars"), check_rank);
	MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
	MPI_File_write_all(file, data, 5, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_read_at(file, 0, data, 4, MPI_INT, MPI_STATUS_IGNORE);
	MPI_Request request;
	MPI_File_iread_at(file, 3 * sizeof(int), data, 5, MPI_INT, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_File_close(&file);
	for (int i = 0; i < 4; i++) {
		CHECK(value_of(s, h[i]) == expected[i], "%s: %llu", names[i], value_of(s, h[i]));
		CHECK(MPI_T_pvar_handle_free(s, &h[i]) == MPI_SUCCESS, "freeing a handle");
	}
}

static void check_refused(MPI_T_pvar_session s) {
	MPI_T_pvar_handle h = handle_of(s, "windows", MPI_T_PVAR_CLASS_LEVEL, NULL), stale = h;
	number value = 0;
	int n = 0, count = -7;
	CHECK(MPI_T_pvar_start(s, h) == MPI_T_ERR_PVAR_NO_STARTSTOP, "start of a continuous variable");
	CHECK(MPI_T_pvar_stop(s, h) == MPI_T_ERR_PVAR_NO_STARTSTOP, "stop of a continuous variable");
	CHECK(MPI_T_pvar_write(s, h, &value) == MPI_T_ERR_PVAR_NO_WRITE, "write of a read-only variable");
	CHECK(MPI_T_pvar_reset(s, h) == MPI_T_ERR_PVAR_NO_WRITE, "reset of a read-only variable");
	CHECK(MPI_T_pvar_readreset(s, h, &value) == MPI_T_ERR_PVAR_NO_ATOMIC, "readreset of a read-only variable");
	CHECK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS, "start of all");
	CHECK(MPI_T_pvar_reset(s, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS, "reset of all");
	CHECK(MPI_T_pvar_read(s, MPI_T_PVAR_ALL_HANDLES, &value) == MPI_T_ERR_INVALID_HANDLE, "read of all");
	CHECK(MPI_T_pvar_read(s, h, NULL) == MPI_T_ERR_INVALID, "read to NULL");
	CHECK(MPI_T_pvar_read(MPI_T_PVAR_SESSION_NULL, h, &value) == MPI_T_ERR_INVALID_SESSION, "no session");
	CHECK(MPI_T_pvar_handle_free(s, &h) == MPI_SUCCESS, "freeing a handle");
	CHECK(MPI_T_pvar_handle_free(s, &h) == MPI_T_ERR_INVALID_HANDLE, "freeing a handle twice");
	CHECK(MPI_T_pvar_read(s, stale, &value) == MPI_T_ERR_INVALID_HANDLE, "reading a freed handle");
	CHECK(MPI_T_pvar_start(s, (MPI_T_pvar_handle)&value) == MPI_T_ERR_INVALID_HANDLE, "an address as handle");
	CHECK(MPI_T_pvar_start((MPI_T_pvar_session)&value, h) == MPI_T_ERR_INVALID_SESSION, "an address as session");
	CHECK(MPI_T_pvar_get_num(&n) == MPI_SUCCESS, "number of variables");
	CHECK(MPI_T_pvar_handle_alloc(s, n, NULL, &h, &count) == MPI_T_ERR_INVALID_INDEX, "an index after the last");
	CHECK(MPI_T_pvar_handle_alloc(s, 0, NULL, NULL, &count) == MPI_T_ERR_INVALID, "no place for the handle");
	CHECK(MPI_T_pvar_get_index("windows", MPI_T_PVAR_CLASS_COUNTER, &n) == MPI_T_ERR_INVALID_NAME, "wrong class");
}

/* Checks what can be known of each variable. */
static void check_all(void) {
	int n = 0, categories = 0, sum = 0, members[300];
	CHECK(MPI_T_pvar_get_num(&n) == MPI_SUCCESS && n > 50, "%d variables", n);
	for (int i = 0; i < n; i++) {
		char name[64], desc[200];
		int name_length = sizeof name, desc_length = sizeof desc, class = 0, bind = 0, flags[3] = {-1, -1, -1};
		MPI_Datatype type = MPI_DATATYPE_NULL;
		MPI_T_enum e;
		CHECK(MPI_T_pvar_get_info(i, name, &name_length, NULL, &class, &type, &e, desc, &desc_length, &bind,
					  &flags[0], &flags[1], &flags[2]) == MPI_SUCCESS,
		      "variable %d", i);
		CHECK(index_of(name, class) == i, "the name %s is not unique", name);
		CHECK(desc_length > 5 && desc_length <= (int)sizeof desc, "%s: description of %d", name, desc_length);
		CHECK(type == (class == MPI_T_PVAR_CLASS_STATE ? MPI_INT : MPI_UNSIGNED_LONG_LONG), "type of %s", name);
		CHECK((bind == MPI_T_BIND_MPI_WIN) == (strncmp(name, "win_", 4) == 0), "%s is bound to %d", name, bind);
		int counts = class == MPI_T_PVAR_CLASS_COUNTER || class == MPI_T_PVAR_CLASS_AGGREGATE ||
			     class == MPI_T_PVAR_CLASS_TIMER;
		CHECK(flags[0] == !counts && flags[1] == !counts && flags[2] == counts, "flags of %s", name);
	}
	MPI_T_category_get_num(&categories);
	for (int c = 0; c < categories; c++) {
		int count = 0;
		MPI_T_category_get_info(c, NULL, NULL, NULL, NULL, NULL, &count, NULL);
		CHECK(MPI_T_category_get_pvars(c, 300, members) == MPI_SUCCESS, "variables of category %d", c);
		for (int i = 1; i < count; i++)
			CHECK(members[i] > members[i - 1] && members[i] < n, "category %d lists %d", c, members[i]);
		sum += count;
	}
	CHECK(sum == n, "%d of %d variables are in categories", sum, n);
}

static void check_state(MPI_T_pvar_session s, int expected) {
	MPI_T_pvar_handle h = handle_of(s, "mpi_state", MPI_T_PVAR_CLASS_STATE, NULL);
	int state = -7;
	CHECK(MPI_T_pvar_read(s, h, &state) == MPI_SUCCESS && state == expected, "MPI is in state %d", state);
	CHECK(MPI_T_pvar_handle_free(s, &h) == MPI_SUCCESS, "freeing a handle");
}

/* Uses the interface while other threads do, and while the main thread is in MPI_Finalize. */
static void *use_all(void *unused) {
	for (int round = 0; round < 20; round++) {
		int provided, n = 0, count;
		MPI_T_pvar_session s;
		CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS, "initialization");
		CHECK(MPI_T_pvar_session_create(&s) == MPI_SUCCESS, "a session");
		MPI_T_pvar_get_num(&n);
		for (int i = 0; i < n; i++) {
			MPI_T_pvar_handle h;
			number value;
			if (MPI_T_pvar_handle_alloc(s, i, NULL, &h, &count) == MPI_SUCCESS)
				CHECK(MPI_T_pvar_read(s, h, &value) == MPI_SUCCESS, "reading variable %d", i);
		}
		CHECK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS, "start");
		if (round % 2)
			CHECK(MPI_T_pvar_session_free(&s) == MPI_SUCCESS && s == MPI_T_PVAR_SESSION_NULL, "free");
		CHECK(MPI_T_finalize() == MPI_SUCCESS, "MPI_T_finalize");
	}
	return unused;
}

int main(int argc, char **argv) {
	int provided;
	pthread_t thread[3];
	MPI_T_pvar_session s, other;
	CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS, "initialization");
	CHECK(MPI_T_pvar_session_create(&s) == MPI_SUCCESS, "a session before MPI_Init");
	check_state(s, 0);
	check_all();
	check_refused(s);
	check_begin(&argc, &argv);
	CHECK(MPI_T_pvar_session_create(&other) == MPI_SUCCESS, "a session");
	check_state(s, 1);
	check_operations(s, other);
	check_levels(s);
	check_files(s);
	check_refused(s);
	CHECK(MPI_T_pvar_session_free(&other) == MPI_SUCCESS, "freeing a session with handles");
	CHECK(MPI_T_pvar_start(other, MPI_T_PVAR_ALL_HANDLES) == MPI_T_ERR_INVALID_SESSION, "a freed session");
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, use_all, NULL);
	int status = check_end();
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	check_state(s, 2);
	CHECK(level(s, "unexpected_messages") == 0, "messages after MPI_Finalize");
	check_refused(s);
	CHECK(MPI_T_finalize() == MPI_SUCCESS, "MPI_T_finalize");
	CHECK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES) == MPI_T_ERR_NOT_INITIALIZED, "after MPI_T_finalize");
	CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS, "initialization");
	CHECK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES) == MPI_T_ERR_INVALID_SESSION, "a session of before");
	CHECK(MPI_T_finalize() == MPI_SUCCESS, "MPI_T_finalize");
	return status != 0 || check_errors != 0;
}
