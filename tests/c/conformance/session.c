/* Proves: sessions work without MPI_Init, and before, during and after it (MPI-5.0 11.3). Process sets have the right
 *   names, sizes and groups. A communicator of a session (7.4.2) and all objects that are made from it work: messages,
 *   collectives, derived communicators, windows, files, topologies, intercommunicators (7.6.2). Groups may overlap, and
 *   string tags and threads distinguish concurrent creations. Errors are raised on the session or with the error
 *   handler of the call, and change nothing. Sessions have attached buffers (3.6). A session can be initialized again
 *   and again. Local calls do not wait for other processes. A process may end although other members of its group are
 *   late, and although its messages have not been received. Messages of sessions do not end with MPI_Finalize.
 *   Sessions begin and end while another thread waits in MPI_Init or MPI_Finalize.
 * np: 1 2 5
 * args: objects psets groups overlap threads inter errors handlers buffers around inside again many local
 * args: late late_inside late_inter exit pending beside_init beside_finalize
 * nodes: 2
 * timeout: 60
 */
#include <pthread.h>
#include <unistd.h>

#include "../check.h"

static MPI_Session session;
static MPI_Group world;

static MPI_Session begin_session(void) {
	MPI_Session s = MPI_SESSION_NULL;
	CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
	CHECK(s != MPI_SESSION_NULL, "the session is MPI_SESSION_NULL");
	return s;
}

static void begin(void) {
	session = begin_session();
	CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
	MPI_Group_rank(world, &check_rank);
	MPI_Group_size(world, &check_size);
}

static void end(void) {
	CHECK_OK(MPI_Group_free(&world));
	CHECK_OK(MPI_Session_finalize(&session));
	CHECK(session == MPI_SESSION_NULL, "the handle of the finalized session is %p", (void *)session);
}

static MPI_Comm create(MPI_Group g, const char *tag) {
	MPI_Comm c = MPI_COMM_WORLD;
	CHECK_OK(MPI_Comm_create_from_group(g, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
	return c;
}

/* Checks that c works and has the members of g. */
static void check_comm(MPI_Comm c, MPI_Group g) {
	int rank, size, result, sum = -1, expected_rank;
	MPI_Group own;
	CHECK_OK(MPI_Comm_rank(c, &rank));
	CHECK_OK(MPI_Comm_size(c, &size));
	CHECK_OK(MPI_Comm_group(c, &own));
	MPI_Group_compare(own, g, &result);
	CHECK(result == MPI_IDENT, "the group of the communicator compares as %d", result);
	MPI_Group_rank(g, &expected_rank);
	CHECK(rank == expected_rank, "rank %d in the communicator, %d in the group", rank, expected_rank);
	MPI_Group_free(&own);
	int one = 1;
	CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c));
	CHECK(sum == size, "%d of %d members", sum, size);
	int from = -1;
	CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 7, &from, 1, MPI_INT, (rank + size - 1) % size, 7,
			      c, MPI_STATUS_IGNORE));
	CHECK(from == (rank + size - 1) % size, "received %d from %d", from, (rank + size - 1) % size);
}

static void test_window(MPI_Comm c) {
	int rank, size, *base;
	MPI_Win w;
	MPI_Comm_rank(c, &rank);
	MPI_Comm_size(c, &size);
	CHECK_OK(MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, c, &base, &w));
	*base = -1;
	CHECK_OK(MPI_Win_fence(0, w));
	CHECK_OK(MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, w));
	CHECK_OK(MPI_Win_fence(0, w));
	CHECK(*base == (rank + size - 1) % size, "the window holds %d", *base);
	MPI_Group g;
	CHECK_OK(MPI_Win_get_group(w, &g));
	MPI_Comm n = MPI_COMM_NULL;
	CHECK_OK(MPI_Comm_create(c, g, &n));
	CHECK(n != MPI_COMM_NULL, "no communicator of the window's group");
	CHECK_OK(MPI_Comm_free(&n));
	CHECK_OK(MPI_Group_free(&g));
	CHECK_OK(MPI_Win_free(&w));
	int memory = rank;
	CHECK_OK(MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, c, &w));
	CHECK_OK(MPI_Win_lock_all(0, w));
	int old = -1, one = 1;
	CHECK_OK(MPI_Fetch_and_op(&one, &old, MPI_INT, (rank + 1) % size, 0, MPI_SUM, w));
	CHECK_OK(MPI_Win_unlock_all(w));
	CHECK(old == (rank + 1) % size, "fetched %d", old);
	CHECK_OK(MPI_Win_free(&w));
}

static void test_file(MPI_Comm c) {
	char name[1000] = "";
	const char *directory = getenv("TMPDIR"); /* which all hosts share */
	int rank, value = -1;
	MPI_File f;
	MPI_Comm_rank(c, &rank);
	snprintf(name, sizeof name, "%s/gompirma-session-%d", directory == NULL ? "/tmp" : directory, (int)getpid());
	MPI_Bcast(name, sizeof name, MPI_CHAR, 0, c);
	CHECK_OK(MPI_File_open(c, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f));
	CHECK_OK(MPI_File_write_at_all(f, 4 * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
	CHECK_OK(MPI_File_read_at_all(f, 4 * rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(value == rank, "read %d", value);
	CHECK_OK(MPI_File_close(&f));
}

static void test_objects(void) {
	begin();
	MPI_Comm c = create(world, "objects"), n;
	check_comm(c, world);
	CHECK_OK(MPI_Comm_dup(c, &n));
	check_comm(n, world);
	CHECK_OK(MPI_Comm_free(&n));
	MPI_Request r;
	CHECK_OK(MPI_Comm_idup(c, &n, &r));
	CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	check_comm(n, world);
	CHECK_OK(MPI_Comm_disconnect(&n));
	CHECK_OK(MPI_Comm_split(c, check_rank % 2, 0, &n));
	test_window(n);
	CHECK_OK(MPI_Comm_free(&n));
	CHECK_OK(MPI_Comm_split_type(c, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &n));
	test_window(n);
	CHECK_OK(MPI_Comm_free(&n));
	int dims[1] = {check_size}, periods[1] = {1}, left, right;
	CHECK_OK(MPI_Cart_create(c, 1, dims, periods, 0, &n));
	CHECK_OK(MPI_Cart_shift(n, 0, 1, &left, &right));
	CHECK(right == (check_rank + 1) % check_size, "the right neighbour is %d", right);
	CHECK_OK(MPI_Comm_free(&n));
	test_window(c);
	test_file(c);
	void *memory;
	CHECK_OK(MPI_Alloc_mem(100, MPI_INFO_NULL, &memory));
	CHECK_OK(MPI_Free_mem(memory));
	int initialized = -1, finalized = -1, provided = -1;
	MPI_Initialized(&initialized);
	MPI_Finalized(&finalized);
	CHECK_OK(MPI_Query_thread(&provided));
	CHECK(!initialized && !finalized && provided == MPI_THREAD_MULTIPLE, "initialized %d, finalized %d, level %d",
	      initialized, finalized, provided);
	CHECK_OK(MPI_Comm_free(&c));
	end();
}

static void test_psets(void) {
	begin();
	int n = -1, has_world = 0, has_self = 0;
	CHECK_OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n));
	CHECK(n >= 2, "%d process sets", n);
	for (int i = 0; i < n; i++) {
		char name[MPI_MAX_PSET_NAME_LEN] = "", part[8] = "#######", value[16] = "";
		int length = 0, flag, size, value_bytes = sizeof value;
		CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL));
		int full = length;
		CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name));
		CHECK(length == full && (int)strlen(name) + 1 == full, "process set %d: \"%s\", %d and %d bytes", i,
		      name, full, length);
		length = 5;
		CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, part));
		CHECK(length == full && strlen(part) == 4 && strncmp(part, name, 4) == 0 && part[5] == '#',
		      "truncated to \"%s\", %d bytes", part, length);
		has_world |= strcmp(name, "mpi://WORLD") == 0;
		has_self |= strcmp(name, "mpi://SELF") == 0;
		MPI_Info info;
		MPI_Group g;
		CHECK_OK(MPI_Session_get_pset_info(session, name, &info));
		CHECK_OK(MPI_Info_get_string(info, "mpi_size", &value_bytes, value, &flag));
		CHECK_OK(MPI_Info_free(&info));
		CHECK_OK(MPI_Group_from_session_pset(session, name, &g));
		CHECK_OK(MPI_Group_size(g, &size));
		CHECK(flag && atoi(value) == size, "%s: mpi_size is \"%s\", but the group has %d processes", name,
		      value, size);
		CHECK_OK(MPI_Group_free(&g));
	}
	CHECK(has_world && has_self, "a predefined process set is missing");
	MPI_Group self;
	int rank = -1, size = -1, result;
	CHECK_OK(MPI_Group_from_session_pset(session, "MPI://self", &self));
	MPI_Group_rank(self, &rank);
	MPI_Group_size(self, &size);
	CHECK(rank == 0 && size == 1, "mpi://SELF: rank %d of %d", rank, size);
	MPI_Group other;
	CHECK_OK(MPI_Group_from_session_pset(session, "mpi://world", &other));
	MPI_Group_compare(other, world, &result);
	CHECK(result == MPI_IDENT, "mpi://world compares as %d with mpi://WORLD", result);
	MPI_Info info;
	char level[64] = "";
	int flag, level_bytes = sizeof level;
	CHECK_OK(MPI_Session_get_info(session, &info));
	CHECK_OK(MPI_Info_get_string(info, "thread_level", &level_bytes, level, &flag));
	CHECK(flag && strcmp(level, "MPI_THREAD_MULTIPLE") == 0, "thread_level is \"%s\"", level);
	MPI_Info_free(&info);
	MPI_Comm c = create(self, "self");
	check_comm(c, self);
	CHECK_OK(MPI_Comm_free(&c));
	MPI_Group_free(&self);
	MPI_Group_free(&other);
	end();
}

/* Checks that two disjoint groups can create communicators with the same tag at the same time. Their first members then
 * create a common communicator with this tag. */
static void test_groups(void) {
	begin();
	MPI_Group half, firsts;
	int range[1][3] = {{check_rank % 2, check_size - 1, 2}}, first[2] = {0, 1};
	MPI_Group_range_incl(world, 1, range, &half);
	for (int i = 0; i < 20; i++) {
		MPI_Comm c = create(half, "same tag");
		check_comm(c, half);
		if (check_rank < 2 && check_size >= 2) {
			MPI_Group_incl(world, 2, first, &firsts);
			MPI_Comm d = create(firsts, "same tag");
			check_comm(d, firsts);
			CHECK_OK(MPI_Comm_free(&d));
			MPI_Group_free(&firsts);
		}
		CHECK_OK(MPI_Comm_free(&c));
	}
	MPI_Group_free(&half);
	MPI_Comm c = MPI_COMM_WORLD;
	CHECK_OK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
	CHECK(c == MPI_COMM_NULL, "a communicator of no process");
	end();
}

/* A thread that creates communicators of a group. */
struct job {
	pthread_t thread;
	MPI_Group group;
	int number;
};

static void *create_in_thread(void *arg) {
	struct job *j = arg;
	char tag[32];
	snprintf(tag, sizeof tag, "thread %d", j->number);
	for (int i = 0; i < 10; i++) {
		MPI_Comm c = create(j->group, tag);
		check_comm(c, j->group);
		CHECK_OK(MPI_Comm_free(&c));
	}
	return NULL;
}

static void run_threads(int same_group) {
	enum { THREADS = 4 };
	struct job jobs[THREADS];
	begin();
	for (int i = 0; i < THREADS; i++) {
		int k = (i + check_rank) % THREADS; /* a different order at each process */
		int last = same_group ? check_size - 1 : k % check_size;
		int range[1][3] = {{0, last, 1}};
		jobs[i] = (struct job){.number = k};
		MPI_Group_range_incl(world, 1, range, &jobs[i].group);
		if (check_rank <= last)
			pthread_create(&jobs[i].thread, NULL, create_in_thread, &jobs[i]);
		else
			jobs[i].number = -1;
	}
	for (int i = 0; i < THREADS; i++) {
		if (jobs[i].number >= 0)
			pthread_join(jobs[i].thread, NULL);
		MPI_Group_free(&jobs[i].group);
	}
	end();
}

static void test_inter(void) {
	begin();
	MPI_Comm c = MPI_COMM_WORLD;
	MPI_Group half[2];
	if (check_size < 2) {
		CHECK_OK(MPI_Intercomm_create_from_groups(world, 0, MPI_GROUP_EMPTY, 0, "i", MPI_INFO_NULL,
							  MPI_ERRORS_RETURN, &c));
		CHECK(c == MPI_COMM_NULL, "an intercommunicator without a remote group");
		end();
		return;
	}
	int range[2][3] = {{0, 0, 1}, {1, check_size - 1, 1}}, side = check_rank > 0, leader[2] = {0, check_size - 2};
	MPI_Group_range_incl(world, 1, &range[0], &half[0]);
	MPI_Group_range_incl(world, 1, &range[1], &half[1]);
	for (int i = 0; i < 5; i++) {
		CHECK_OK(MPI_Intercomm_create_from_groups(half[side], leader[side], half[!side], leader[!side], "inter",
							  MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
		int remote = -1, sum = -1;
		CHECK_OK(MPI_Comm_remote_size(c, &remote));
		CHECK(remote == (side ? 1 : check_size - 1), "the remote group has %d processes", remote);
		CHECK_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, c));
		CHECK(sum == (side ? 0 : check_size * (check_size - 1) / 2), "the sum of the remote ranks is %d", sum);
		MPI_Comm merged;
		CHECK_OK(MPI_Intercomm_merge(c, side, &merged));
		check_comm(merged, world);
		CHECK_OK(MPI_Comm_free(&merged));
		CHECK_OK(MPI_Comm_free(&c));
	}
	CHECK_CLASS(MPI_Intercomm_create_from_groups(world, 0, half[0], 0, "bad", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c),
		    MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Intercomm_create_from_groups(half[side], check_size, half[!side], 0, "bad", MPI_INFO_NULL,
						     MPI_ERRORS_RETURN, &c),
		    MPI_ERR_RANK);
	MPI_Group_free(&half[0]);
	MPI_Group_free(&half[1]);
	end();
}

static void test_errors(void) {
	begin();
	MPI_Group g = world;
	MPI_Comm c = MPI_COMM_WORLD;
	MPI_Info info = MPI_INFO_NULL;
	int n = -7, length = 0;
	CHECK_CLASS(MPI_Group_from_session_pset(session, "mpi://NONE", &g), MPI_ERR_ARG);
	CHECK(g == MPI_GROUP_NULL, "the group is %p", (void *)g);
	CHECK_CLASS(MPI_Group_from_session_pset(session, NULL, &g), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 1000, &length, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, &length, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, NULL, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Session_get_num_psets(session, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Session_get_num_psets(session, (MPI_Info)(void *)world, &n), MPI_ERR_INFO);
	CHECK(n == -7, "the number of process sets is %d", n);
	CHECK_CLASS(MPI_Session_get_pset_info(session, "none", &info), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Session_get_info(session, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Session_set_errhandler(session, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
	CHECK_CLASS(MPI_Comm_create_from_group(MPI_GROUP_NULL, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c),
		    MPI_ERR_GROUP);
	CHECK(c == MPI_COMM_NULL, "the communicator is %p", (void *)c);
	CHECK_CLASS(MPI_Comm_create_from_group(world, NULL, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_create_from_group(world, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_create_from_group(world, "t", (MPI_Info)(void *)world, MPI_ERRORS_RETURN, &c),
		    MPI_ERR_INFO);
	if (check_size > 1) {
		int other = (check_rank + 1) % check_size;
		MPI_Group_incl(world, 1, &other, &g);
		CHECK_CLASS(MPI_Comm_create_from_group(g, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_ERR_GROUP);
		MPI_Group_free(&g);
	}
	/* objects of two sessions */
	MPI_Session second = begin_session();
	MPI_Group theirs, both;
	CHECK_OK(MPI_Group_from_session_pset(second, "mpi://WORLD", &theirs));
	CHECK_CLASS(MPI_Group_union(world, theirs, &both), MPI_ERR_GROUP);
	CHECK_OK(MPI_Group_union(world, MPI_GROUP_EMPTY, &both));
	CHECK_OK(MPI_Group_free(&both));
	c = create(world, "first");
	MPI_Comm n2 = MPI_COMM_WORLD;
	CHECK_CLASS(MPI_Comm_create(c, theirs, &n2), MPI_ERR_GROUP);
	CHECK(n2 == MPI_COMM_NULL, "the communicator is %p", (void *)n2);
	CHECK_OK(MPI_Group_free(&theirs));
	CHECK_OK(MPI_Session_finalize(&second));
	check_comm(c, world); /* the end of the other session has not affected this one */
	CHECK_OK(MPI_Comm_free(&c));
	end();
}

static int calls, last_code;
static MPI_Session handler_session;

static void on_session_error(MPI_Session *s, int *code, ...) {
	calls++;
	last_code = *code;
	handler_session = *s;
}

static MPI_Comm handler_comm;

static void on_comm_error(MPI_Comm *c, int *code, ...) {
	calls++;
	last_code = *code;
	handler_comm = *c;
}

static void test_handlers(void) {
	MPI_Errhandler on_session, on_comm, got;
	MPI_Session s = MPI_SESSION_NULL;
	MPI_Group g;
	MPI_Comm c = MPI_COMM_WORLD;
	CHECK_OK(MPI_Session_create_errhandler(on_session_error, &on_session));
	CHECK_OK(MPI_Comm_create_errhandler(on_comm_error, &on_comm));
	/* an error of MPI_Session_init itself */
	int code = MPI_Session_init((MPI_Info)(void *)on_session, on_session, &s);
	CHECK(calls == 1 && code == last_code && check_class(code) == MPI_ERR_INFO && s == MPI_SESSION_NULL,
	      "%d calls of the error handler, code %d, %d", calls, code, last_code);
	begin();
	calls = 0;
	CHECK_OK(MPI_Session_set_errhandler(session, on_session));
	CHECK_OK(MPI_Session_get_errhandler(session, &got));
	CHECK(got == on_session, "another error handler");
	MPI_Errhandler_free(&got);
	MPI_Errhandler_free(&on_session);
	MPI_Group_from_session_pset(session, "mpi://NONE", &g);
	CHECK(calls == 1 && handler_session == session && check_class(last_code) == MPI_ERR_ARG, "%d calls, code %d",
	      calls, last_code);
	CHECK_OK(MPI_Session_call_errhandler(session, MPI_ERR_TOPOLOGY));
	CHECK(calls == 2 && last_code == MPI_ERR_TOPOLOGY, "%d calls, code %d", calls, last_code);
	/* the handler of the call is used for its errors, and attached to the new communicator */
	handler_comm = MPI_COMM_WORLD;
	MPI_Comm_create_from_group(MPI_GROUP_NULL, "t", MPI_INFO_NULL, on_comm, &c);
	CHECK(calls == 3 && handler_comm == MPI_COMM_NULL && check_class(last_code) == MPI_ERR_GROUP,
	      "%d calls, code %d", calls, last_code);
	CHECK_OK(MPI_Comm_create_from_group(world, "t", MPI_INFO_NULL, on_comm, &c));
	CHECK_OK(MPI_Errhandler_free(&on_comm));
	MPI_Send(NULL, 0, MPI_INT, check_size, 0, c);
	CHECK(calls == 4 && handler_comm == c && check_class(last_code) == MPI_ERR_RANK, "%d calls, code %d", calls,
	      last_code);
	CHECK_OK(MPI_Comm_free(&c));
	end();
}

/* Checks that buffered sends use the communicator's buffer, else the session's. */
static void test_buffers(void) {
	begin();
	MPI_Comm c = create(world, "buffers");
	char memory[4096], *address;
	int size = -1, value = 0;
	enum { BYTES = 100000 };
	static char large[BYTES], received[BYTES];
	CHECK_CLASS(MPI_Bsend(large, BYTES, MPI_CHAR, check_rank, 1, c), MPI_ERR_BUFFER);
	CHECK_OK(MPI_Session_attach_buffer(session, memory, sizeof memory));
	CHECK_CLASS(MPI_Session_attach_buffer(session, memory, sizeof memory), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Bsend(large, BYTES, MPI_CHAR, check_rank, 1, c), MPI_ERR_BUFFER);
	CHECK_OK(MPI_Bsend(&check_rank, 1, MPI_INT, check_rank, 1, c));
	CHECK_OK(MPI_Recv(&value, 1, MPI_INT, check_rank, 1, c, MPI_STATUS_IGNORE));
	CHECK(value == check_rank, "received %d", value);
	CHECK_OK(MPI_Session_detach_buffer(session, &address, &size));
	CHECK(address == memory && size == sizeof memory, "detached %d bytes", size);
	CHECK_OK(MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0));
	memset(large, check_rank + 1, BYTES);
	CHECK_OK(MPI_Bsend(large, BYTES, MPI_CHAR, (check_rank + 1) % check_size, 2, c));
	MPI_Request r;
	CHECK_OK(MPI_Session_iflush_buffer(session, &r));
	CHECK_OK(MPI_Recv(received, BYTES, MPI_CHAR, (check_rank + check_size - 1) % check_size, 2, c,
			  MPI_STATUS_IGNORE));
	CHECK(received[BYTES - 1] == (check_rank + check_size - 1) % check_size + 1, "received %d",
	      received[BYTES - 1]);
	CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK_OK(MPI_Session_flush_buffer(session));
	/* MPI_Session_finalize sends the messages of the buffer */
	CHECK_OK(MPI_Bsend(large, BYTES, MPI_CHAR, (check_rank + 1) % check_size, 3, c));
	CHECK_OK(MPI_Irecv(received, BYTES, MPI_CHAR, (check_rank + check_size - 1) % check_size, 3, c, &r));
	CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK_OK(MPI_Comm_free(&c));
	end();
}

/* Checks that a communicator of a session can be used before, during and after MPI_Init and MPI_Finalize. */
static void test_around(int argc, char **argv, int inside_only) {
	if (!inside_only)
		begin();
	MPI_Comm c = inside_only ? MPI_COMM_NULL : create(world, "around");
	if (!inside_only)
		check_comm(c, world);
	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	if (inside_only) {
		begin();
		c = create(world, "inside");
	}
	int sum = 0, one = 1, result;
	CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(sum == check_size, "MPI_COMM_WORLD has %d processes", sum);
	check_comm(c, world);
	MPI_Group of_world;
	MPI_Comm_group(MPI_COMM_WORLD, &of_world);
	MPI_Group_compare(world, of_world, &result);
	CHECK(result == MPI_IDENT, "the groups compare as %d", result);
	MPI_Comm n = MPI_COMM_NULL;
	CHECK_CLASS(MPI_Comm_create(MPI_COMM_WORLD, world, &n), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Session_finalize(NULL), MPI_ERR_ARG);
	MPI_Session none = MPI_SESSION_NULL;
	CHECK_CLASS(MPI_Session_finalize(&none), MPI_ERR_SESSION);
	CHECK_CLASS(MPI_Session_get_info(MPI_SESSION_NULL, NULL), MPI_ERR_SESSION);
	CHECK_CLASS(MPI_Session_flush_buffer(MPI_SESSION_NULL), MPI_ERR_SESSION);
	CHECK_CLASS(MPI_Comm_create_from_group(world, "t", MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &n), MPI_ERR_ERRHANDLER);
	MPI_Group_free(&of_world);
	MPI_Finalize();
	check_comm(c, world);
	CHECK_OK(MPI_Comm_free(&c));
	int finalized;
	MPI_Finalized(&finalized);
	CHECK(finalized, "MPI_Finalized returns %d", finalized);
	end();
	begin();
	c = create(world, "after");
	check_comm(c, world);
	CHECK_OK(MPI_Comm_free(&c));
	end();
}

static void test_again(int times, int communicate) {
	for (int i = 0; i < times; i++) {
		begin();
		if (communicate) {
			MPI_Comm c = create(world, "again");
			check_comm(c, world);
			CHECK_OK(MPI_Comm_free(&c));
		}
		end();
	}
}

/* Checks that a process may end the session, MPI, and itself while another member of the group is still late in the
 * creation of the communicator. */
static void test_late(int argc, char **argv, int with_world, int with_inter) {
	if (with_world)
		MPI_Init(&argc, &argv);
	begin();
	MPI_Comm c = create(world, "first"); /* its memory serves the next communicators, too */
	CHECK_OK(MPI_Comm_free(&c));
	MPI_Group half[2];
	const int split = check_size / 2, second = check_rank >= split;
	int range[2][3] = {{0, split - 1, 1}, {split, check_size - 1, 1}};
	if (check_rank == check_size - 1)
		usleep(300000);
	if (with_inter && check_size > 1) {
		MPI_Group_range_incl(world, 1, &range[0], &half[0]);
		MPI_Group_range_incl(world, 1, &range[1], &half[1]);
		CHECK_OK(MPI_Intercomm_create_from_groups(half[second], 0, half[!second], 0, "late", MPI_INFO_NULL,
							  MPI_ERRORS_RETURN, &c));
		MPI_Group_free(&half[0]);
		MPI_Group_free(&half[1]);
	} else {
		c = create(world, "late");
	}
	CHECK_OK(MPI_Comm_free(&c));
	end();
	if (with_world)
		MPI_Finalize();
}

/* Checks that messages of buffered sends arrive although the sender ends its last session, and itself, at once. */
static void test_exit(int argc, char **argv) {
	begin();
	MPI_Comm c = create(world, "exit");
	MPI_Init(&argc, &argv);
	MPI_Finalize();
	CHECK_OK(MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0));
	if (check_rank > 0) {
		CHECK_OK(MPI_Bsend(&check_rank, 1, MPI_INT, 0, 1, c));
	} else {
		usleep(200000);
		for (int i = 1; i < check_size; i++) {
			int from = -1;
			CHECK_OK(MPI_Recv(&from, 1, MPI_INT, i, 1, c, MPI_STATUS_IGNORE));
			CHECK(from == i, "received %d from rank %d", from, i);
		}
	}
	CHECK_OK(MPI_Comm_free(&c));
	end();
}

/* Checks that messages of a session may be completed after MPI_Finalize. */
static void test_pending(int argc, char **argv) {
	enum { COUNT = 50000 };
	static int sent[2][COUNT], received[COUNT];
	begin();
	MPI_Comm c = create(world, "pending");
	MPI_Request r[2];
	const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 2; i++) {
		sent[i][COUNT - 1] = check_rank;
		CHECK_OK(MPI_Isend(sent[i], i == 0 ? COUNT : 1, MPI_INT, right, i, c, &r[i]));
	}
	MPI_Finalize();
	for (int i = 0; i < 2; i++) {
		received[COUNT - 1] = -1;
		CHECK_OK(MPI_Recv(received, COUNT, MPI_INT, left, i, c, MPI_STATUS_IGNORE));
		CHECK(received[COUNT - 1] == (i == 0 ? left : -1), "message %d: received %d", i, received[COUNT - 1]);
	}
	CHECK_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	CHECK_OK(MPI_Comm_free(&c));
	end();
}

static void *run_init(void *arg) {
	int provided;
	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	return arg;
}

static void *run_finalize(void *arg) {
	MPI_Finalize();
	return arg;
}

/* Checks that rank 0 can begin and end sessions, and all ranks can create communicators, while another thread of rank 0
 * waits for the other ranks in MPI_Init or MPI_Finalize. */
static void test_beside(int is_finalize) {
	pthread_t thread;
	MPI_Session other = MPI_SESSION_NULL;
	begin();
	MPI_Comm c = create(world, "first");
	if (is_finalize)
		run_init(NULL);
	if (check_rank == 0) {
		pthread_create(&thread, NULL, is_finalize ? run_finalize : run_init, NULL);
		usleep(100000);
		other = begin_session();
		CHECK_OK(MPI_Session_finalize(&other));
	}
	MPI_Comm n = create(world, "second");
	check_comm(n, world);
	check_comm(c, world);
	CHECK_OK(MPI_Comm_free(&n));
	if (check_rank == 0)
		pthread_join(thread, NULL);
	else
		(is_finalize ? run_finalize : run_init)(NULL);
	if (!is_finalize)
		MPI_Finalize();
	check_comm(c, world);
	CHECK_OK(MPI_Comm_free(&c));
	end();
}

/* Checks that a process can use a session without a communicator. */
static void test_local(void) {
	begin();
	int result;
	MPI_Group self;
	CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &self));
	MPI_Group_compare(self, world, &result);
	CHECK(result == (check_size == 1 ? MPI_IDENT : MPI_UNEQUAL), "the groups compare as %d", result);
	MPI_Group_free(&self);
	end();
}

int main(int argc, char **argv) {
	check_arg = argc > 1 ? argv[1] : "objects";
	check_known(check_arg);
	if (strcmp(check_arg, "objects") == 0)
		test_objects();
	else if (strcmp(check_arg, "psets") == 0)
		test_psets();
	else if (strcmp(check_arg, "groups") == 0)
		test_groups();
	else if (strcmp(check_arg, "overlap") == 0)
		run_threads(0);
	else if (strcmp(check_arg, "threads") == 0)
		run_threads(1);
	else if (strcmp(check_arg, "inter") == 0)
		test_inter();
	else if (strcmp(check_arg, "errors") == 0)
		test_errors();
	else if (strcmp(check_arg, "handlers") == 0)
		test_handlers();
	else if (strcmp(check_arg, "buffers") == 0)
		test_buffers();
	else if (strcmp(check_arg, "around") == 0)
		test_around(argc, argv, 0);
	else if (strcmp(check_arg, "inside") == 0)
		test_around(argc, argv, 1);
	else if (strcmp(check_arg, "again") == 0)
		test_again(30, 1);
	else if (strcmp(check_arg, "many") == 0)
		test_again(10000, 0);
	else if (strcmp(check_arg, "local") == 0)
		test_local();
	else if (strcmp(check_arg, "late") == 0)
		test_late(argc, argv, 0, 0);
	else if (strcmp(check_arg, "late_inside") == 0)
		test_late(argc, argv, 1, 0);
	else if (strcmp(check_arg, "late_inter") == 0)
		test_late(argc, argv, 0, 1);
	else if (strcmp(check_arg, "exit") == 0)
		test_exit(argc, argv);
	else if (strcmp(check_arg, "pending") == 0)
		test_pending(argc, argv);
	else if (strcmp(check_arg, "beside_init") == 0)
		test_beside(0);
	else if (strcmp(check_arg, "beside_finalize") == 0)
		test_beside(1);
	if (check_rank == 0)
		check_print_result(check_errors);
	return check_errors != 0;
}
