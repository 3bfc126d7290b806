/* Proves: performance variables that are bound to a communicator or file have the values of this object alone, in each
 *   session. Levels of a communicator follow its posted receives and unexpected messages, also while there are many.
 *   The level of a file is the number of accesses that have not ended. Handles stay valid while their object is freed,
 *   also by another thread: levels are then 0, and counters keep their value. A handle cannot be bound to an object
 *   that is freed, null or of another kind. MPI-5.0 15.3.3, 15.3.7
 * np: 2
 * ref: none (the variables are gompirma's)
 * nodes: 2
 * timeout: 30
 */
#include "../files.h"
#include "../pvars.h"

#include <pthread.h>

enum { MANY = 60 }; /* more receives and messages than a search passes before it builds an index */

static MPI_T_pvar_handle posted_of(MPI_T_pvar_session s, MPI_Comm comm) {
	return handle_of(s, "comm_posted_receives", MPI_T_PVAR_CLASS_LEVEL, &comm);
}
static MPI_T_pvar_handle unexpected_of(MPI_T_pvar_session s, MPI_Comm comm) {
	return handle_of(s, "comm_unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, &comm);
}
static MPI_T_pvar_handle arrivals_of(MPI_T_pvar_session s, MPI_Comm comm) {
	return handle_of(s, "comm_unexpected_arrivals", MPI_T_PVAR_CLASS_COUNTER, &comm);
}

#define EXPECT(h, expected)                                                                     \
	do {                                                                                    \
		number is = value_of(s, h);                                                     \
		CHECK(is == (number)(expected), "%s is %llu, not %d", #h, is, (int)(expected)); \
	} while (0)

/* Checks the levels of a communicator. `partner` is the other process there. The values of `quiet` stay 0. */
static void check_queues(MPI_T_pvar_session s, MPI_Comm comm, int partner, MPI_Comm quiet) {
	MPI_T_pvar_handle posted = posted_of(s, comm), unexpected = unexpected_of(s, comm);
	MPI_T_pvar_handle arrivals = arrivals_of(s, comm), later = arrivals_of(s, comm);
	MPI_T_pvar_handle quiet_posted = posted_of(s, quiet), quiet_unexpected = unexpected_of(s, quiet);
	MPI_Request request[MANY];
	int data[MANY] = {0};
	CHECK(MPI_T_pvar_start(s, arrivals) == MPI_SUCCESS, "start");
	EXPECT(posted, 0);
	EXPECT(unexpected, 0);
	MPI_Barrier(MPI_COMM_WORLD);
	if (check_rank == 1)
		for (int i = 0; i < MANY; i++) {
			MPI_Irecv(&data[i], 1, MPI_INT, partner, i, comm, &request[i]);
			EXPECT(posted, i + 1);
		}
	EXPECT(posted, check_rank == 1 ? MANY : 0);
	EXPECT(quiet_posted, 0);
	MPI_Barrier(MPI_COMM_WORLD);
	if (check_rank == 0)
		for (int i = 0; i < MANY - 1; i++)
			MPI_Send(&i, 1, MPI_INT, partner, i, comm);
	if (check_rank == 1) {
		MPI_Waitall(MANY - 1, request, MPI_STATUSES_IGNORE);
		EXPECT(posted, 1);
		MPI_Cancel(&request[MANY - 1]);
		MPI_Wait(&request[MANY - 1], MPI_STATUS_IGNORE);
	}
	EXPECT(posted, 0);
	EXPECT(arrivals, 0);
	/* messages that no receive has matched, because only the last one has been received */
	MPI_Barrier(MPI_COMM_WORLD);
	if (check_rank == 0)
		for (int i = 0; i < MANY; i++)
			MPI_Send(&i, 1, MPI_INT, partner, i, comm);
	if (check_rank == 1) {
		MPI_Recv(data, 1, MPI_INT, partner, MANY - 1, comm, MPI_STATUS_IGNORE);
		EXPECT(unexpected, MANY - 1);
		EXPECT(quiet_unexpected, 0);
		CHECK(value_of(s, arrivals) >= MANY - 1, "%llu arrivals", value_of(s, arrivals));
		EXPECT(later, 0); /* not started */
		for (int i = MANY - 2; i >= 0; i--) {
			MPI_Recv(data, 1, MPI_INT, partner, i, comm, MPI_STATUS_IGNORE);
			EXPECT(unexpected, i);
		}
		CHECK(MPI_T_pvar_stop(s, arrivals) == MPI_SUCCESS, "stop");
	}
	EXPECT(unexpected, 0);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void check_comms(MPI_T_pvar_session s) {
	MPI_Comm comm, inter, quiet;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_dup(MPI_COMM_WORLD, &quiet);
	MPI_Intercomm_create(MPI_COMM_SELF, 0, comm, 1 - check_rank, 5, &inter);
	check_queues(s, comm, 1 - check_rank, quiet);
	check_queues(s, inter, 0, quiet);
	check_queues(s, MPI_COMM_WORLD, 1 - check_rank, comm);

	/* the handles of a freed communicator, after the communication that is pending there */
	MPI_T_pvar_handle posted = posted_of(s, comm), unexpected = unexpected_of(s, comm);
	MPI_T_pvar_handle arrivals = arrivals_of(s, MPI_COMM_SELF), stale = arrivals_of(s, comm);
	int data[2] = {1, 2};
	MPI_Request request;
	CHECK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS, "start");
	MPI_Send(data, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
	EXPECT(arrivals, 1);
	MPI_Recv(data, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	MPI_Send(data, 1, MPI_INT, check_rank, 0, comm);
	EXPECT(unexpected, 1);
	MPI_Recv(data, 1, MPI_INT, check_rank, 0, comm, MPI_STATUS_IGNORE);
	MPI_Irecv(data, 1, MPI_INT, check_rank, 0, comm, &request);
	MPI_Comm freed = comm;
	MPI_Comm_free(&comm);
	EXPECT(posted, 1);
	EXPECT(stale, 1); /* not read before */
	MPI_Cancel(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	for (int i = 0; i < 3; i++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &comm);
		MPI_Irecv(data, 1, MPI_INT, check_rank, 0, comm, &request);
		MPI_Send(&data[1], 1, MPI_INT, check_rank, 1, comm);
		EXPECT(posted, 0);
		EXPECT(unexpected, 0);
		EXPECT(stale, 1);
		MPI_Recv(&data[1], 1, MPI_INT, check_rank, 1, comm, MPI_STATUS_IGNORE);
		MPI_Send(data, 1, MPI_INT, check_rank, 0, comm);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Comm_free(&comm);
	}
	MPI_T_pvar_handle h;
	int count, i = index_of("comm_posted_receives", MPI_T_PVAR_CLASS_LEVEL);
	CHECK(MPI_T_pvar_handle_alloc(s, i, &freed, &h, &count) == MPI_T_ERR_INVALID_HANDLE, "a freed communicator");
	CHECK(MPI_T_pvar_handle_alloc(s, i, &comm, &h, &count) == MPI_T_ERR_INVALID_HANDLE, "MPI_COMM_NULL");
	CHECK(MPI_T_pvar_handle_alloc(s, i, NULL, &h, &count) == MPI_T_ERR_INVALID, "no communicator");
	MPI_Comm_free(&inter);
	MPI_Comm_free(&quiet);
}

/* Creates handles for the variables of a file. */
static void file_handles(MPI_T_pvar_session s, MPI_File file, MPI_T_pvar_handle h[5]) {
	static const char *const names[] = {"per_file_reads", "per_file_read_bytes", "per_file_writes",
					    "per_file_write_bytes", "per_file_pending_accesses"};
	for (int i = 0; i < 5; i++)
		h[i] = handle_of(s, names[i],
				 i == 4  ? MPI_T_PVAR_CLASS_LEVEL
				 : i % 2 ? MPI_T_PVAR_CLASS_AGGREGATE
					 : MPI_T_PVAR_CLASS_COUNTER,
				 &file);
}

static void expect_file(int line, MPI_T_pvar_session s, const MPI_T_pvar_handle h[5], int reads, int read_bytes,
			int writes, int write_bytes, int pending) {
	const int expected[] = {reads, read_bytes, writes, write_bytes, pending};
	for (int i = 0; i < 5; i++)
		CHECK(value_of(s, h[i]) == (number)expected[i], "line %d: value %d is %llu, not %d", line, i,
		      value_of(s, h[i]), expected[i]);
}
#define EXPECT_FILE(...) expect_file(__LINE__, __VA_ARGS__)

static void check_files(MPI_T_pvar_session s, MPI_T_pvar_session other) {
	MPI_File file = file_create("tool_pvars_bound"), second = file_create("tool_pvars_bound_2");
	MPI_T_pvar_handle h[5], of_second[5], of_other[5];
	MPI_Request request[2];
	int data[8] = {0};
	file_handles(s, file, h);
	file_handles(s, second, of_second);
	file_handles(other, file, of_other);
	CHECK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS, "start");
	MPI_File_write_at(file, 32 * check_rank, data, 8, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_read_at_all(file, 32 * check_rank, data, 4, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_iread_at(file, 32 * check_rank, data, 1, MPI_INT, &request[0]);
	MPI_Wait(request, MPI_STATUS_IGNORE);
	MPI_File_write_at(second, 0, data, 1, MPI_CHAR, MPI_STATUS_IGNORE);
	EXPECT_FILE(s, h, 2, 20, 1, 32, 0);
	EXPECT_FILE(s, of_second, 0, 0, 1, 1, 0);
	EXPECT_FILE(other, of_other, 0, 0, 0, 0, 0);

	/* collective accesses that wait for rank 1 */
	if (check_rank == 0) {
		MPI_File_iwrite_at_all(file, 0, data, 8, MPI_INT, &request[0]);
		MPI_File_iwrite_at_all(file, 0, data, 8, MPI_INT, &request[1]);
		CHECK(value_of(s, h[4]) == 2, "%llu pending accesses", value_of(s, h[4]));
		CHECK(value_of(other, of_other[4]) == 2, "%llu pending accesses", value_of(other, of_other[4]));
		CHECK(value_of(s, of_second[4]) == 0, "%llu pending accesses", value_of(s, of_second[4]));
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (check_rank == 1)
		for (int i = 0; i < 2; i++)
			MPI_File_iwrite_at_all(file, 32, data, 8, MPI_INT, &request[i]);
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	EXPECT_FILE(s, h, 2, 20, 3, 96, 0);

	MPI_File closed = file;
	MPI_File_close(&file);
	MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
	MPI_File_write(file, data, 8, MPI_INT, MPI_STATUS_IGNORE);
	EXPECT_FILE(s, h, 2, 20, 3, 96, 0); /* the handles of a closed file keep their values */
	MPI_File_close(&file);
	MPI_T_pvar_handle refused;
	int count, i = index_of("per_file_pending_accesses", MPI_T_PVAR_CLASS_LEVEL);
	CHECK(MPI_T_pvar_handle_alloc(s, i, &closed, &refused, &count) == MPI_T_ERR_INVALID_HANDLE, "a closed file");
	CHECK(MPI_T_pvar_handle_alloc(s, i, &file, &refused, &count) == MPI_T_ERR_INVALID_HANDLE, "MPI_FILE_NULL");
	MPI_Comm comm = MPI_COMM_WORLD;
	CHECK(MPI_T_pvar_handle_alloc(s, i, &comm, &refused, &count) == MPI_T_ERR_INVALID_HANDLE, "a communicator");
	/* the handles of a file may be freed after the file, and the other way round */
	for (i = 0; i < 5; i++)
		CHECK(MPI_T_pvar_handle_free(s, &h[i]) == MPI_SUCCESS, "freeing a handle");
	for (i = 0; i < 5; i++)
		CHECK(MPI_T_pvar_handle_free(s, &of_second[i]) == MPI_SUCCESS, "freeing a handle");
	MPI_File_write_at(second, 0, data, 1, MPI_CHAR, MPI_STATUS_IGNORE);
	MPI_File_close(&second);
}

/* Handles that the main thread creates and whose objects it frees, while `read_handles` reads them. */
enum { ROUNDS = 50 };
static MPI_T_pvar_session shared_session;
static MPI_T_pvar_handle shared[3 * ROUNDS];
static int shared_count;

static void *read_handles(void *unused) {
	while (__atomic_load_n(&shared_count, __ATOMIC_ACQUIRE) < 3 * ROUNDS)
		for (int i = 0; i < __atomic_load_n(&shared_count, __ATOMIC_ACQUIRE); i++)
			(void)value_of(shared_session, shared[i]);
	return unused;
}

static void check_freed_while_read(MPI_T_pvar_session s) {
	pthread_t reader;
	char name[600];
	int data[4] = {0};
	snprintf(name, sizeof name, "%s.%d", file_name("tool_pvars_threads"), check_rank);
	shared_session = s;
	pthread_create(&reader, NULL, read_handles, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		MPI_Comm comm;
		MPI_File file;
		MPI_Request request;
		MPI_Comm_dup(MPI_COMM_SELF, &comm);
		MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
			      &file);
		shared[3 * i] = posted_of(s, comm);
		shared[3 * i + 1] = handle_of(s, "per_file_pending_accesses", MPI_T_PVAR_CLASS_LEVEL, &file);
		shared[3 * i + 2] = handle_of(s, "per_file_writes", MPI_T_PVAR_CLASS_COUNTER, &file);
		__atomic_store_n(&shared_count, 3 * i + 3, __ATOMIC_RELEASE);
		MPI_Irecv(data, 1, MPI_INT, 0, 0, comm, &request);
		MPI_Send(&data[1], 1, MPI_INT, 0, 0, comm);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_File_iwrite_at_all(file, 0, data, 4, MPI_INT, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_File_close(&file);
		MPI_Comm_free(&comm);
	}
	pthread_join(reader, NULL);
}

int main(int argc, char **argv) {
	int provided, count;
	MPI_T_pvar_session s, other;
	MPI_T_pvar_handle h, last;
	MPI_Comm world = MPI_COMM_WORLD;
	CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS, "initialization");
	CHECK(MPI_T_pvar_session_create(&s) == MPI_SUCCESS, "a session");
	CHECK(MPI_T_pvar_session_create(&other) == MPI_SUCCESS, "another session");
	int i = index_of("comm_posted_receives", MPI_T_PVAR_CLASS_LEVEL);
	CHECK(MPI_T_pvar_handle_alloc(s, i, &world, &h, &count) == MPI_T_ERR_INVALID_HANDLE, "before MPI_Init");
	check_begin_threads(&argc, &argv);
	check_comms(s);
	check_files(s, other);
	check_freed_while_read(s);
	last = unexpected_of(s, MPI_COMM_WORLD);
	MPI_T_pvar_handle arrived = arrivals_of(s, MPI_COMM_SELF);
	CHECK(MPI_T_pvar_start(s, arrived) == MPI_SUCCESS, "start");
	MPI_Send(&i, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
	MPI_Recv(&i, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	int status = check_end();
	EXPECT(last, 0);
	EXPECT(arrived, 1);
	CHECK(MPI_T_pvar_handle_alloc(s, i, &world, &h, &count) == MPI_T_ERR_INVALID_HANDLE, "after MPI_Finalize");
	CHECK(MPI_T_finalize() == MPI_SUCCESS, "MPI_T_finalize");
	return status != 0 || check_errors != 0;
}
