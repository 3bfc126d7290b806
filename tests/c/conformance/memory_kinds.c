/* Proves: memory allocation kinds. A session reports "mpi,system" and the requested kinds with restrictors that are
 *   supported. It leaves out kinds that it does not support and kinds with an unknown restrictor. It ignores a
 *   malformed list. Communicators, windows and files that are derived from the session report the same value, and those
 *   that are derived from the World Model report the value of MPI_COMM_WORLD. If kinds are asserted for a communicator,
 *   window or file, it reports those of them that are supported; the empty value asserts no kinds. An assertion for
 *   MPI_COMM_WORLD does not change its kinds. A buffer may have any of the kinds. MPI-5.0 11.4.3, 7.4.4, 12.2.1, 14.2.8
 * np: 1 2
 * ref: none (MPICH 4.0 and Open MPI 5.0 do not know the keys)
 * timeout: 30
 */
#include "../check.h"

#include <unistd.h>

static const char kinds_key[] = "mpi_memory_alloc_kinds", assert_key[] = "mpi_assert_memory_alloc_kinds";

/* Checks the kinds and the assertion (NULL: none) in an info object, and frees the object. */
static void expect(MPI_Info info, const char *of, const char *kinds, const char *asserted) {
	char value[MPI_MAX_INFO_VAL] = "";
	int flag = 0, length = sizeof value;
	CHECK_OK(MPI_Info_get_string(info, kinds_key, &length, value, &flag));
	CHECK(flag && strcmp(value, kinds) == 0, "%s: '%s', not '%s'", of, flag ? value : "(none)", kinds);
	length = sizeof value;
	CHECK_OK(MPI_Info_get_string(info, assert_key, &length, value, &flag));
	CHECK(flag ? asserted != NULL && strcmp(value, asserted) == 0 : asserted == NULL, "%s: asserted '%s', not '%s'",
	      of, flag ? value : "(none)", asserted != NULL ? asserted : "(none)");
	CHECK_OK(MPI_Info_free(&info));
}

/* Returns an info object with a key, or MPI_INFO_NULL if the value is NULL. */
static MPI_Info info_with(const char *key, const char *value) {
	MPI_Info info = MPI_INFO_NULL;
	if (value != NULL) {
		MPI_Info_create(&info);
		MPI_Info_set(info, key, value);
	}
	return info;
}

static void free_info(MPI_Info info) {
	if (info != MPI_INFO_NULL)
		MPI_Info_free(&info);
}

static MPI_Session check_session(const char *requested, const char *kinds) {
	MPI_Session session;
	MPI_Info info = info_with(kinds_key, requested), used;
	CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
	CHECK_OK(MPI_Session_get_info(session, &used));
	expect(used, requested == NULL ? "no request" : requested, kinds, NULL);
	free_info(info);
	return session;
}

/* Creates a communicator, windows and a file of a communicator's members with an assertion (NULL: none). */
static void check_derived(MPI_Comm parent, const char *asserted, const char *kinds) {
	static int memory;
	char name[100];
	MPI_Info info = info_with(assert_key, asserted), used;
	MPI_Comm comm;
	CHECK_OK(MPI_Comm_dup_with_info(parent, info, &comm));
	CHECK_OK(MPI_Comm_get_info(comm, &used));
	expect(used, "communicator", kinds, asserted);
	CHECK_OK(MPI_Comm_free(&comm));

	MPI_Win win;
	CHECK_OK(MPI_Win_create(&memory, sizeof memory, 1, info, parent, &win));
	CHECK_OK(MPI_Win_get_info(win, &used));
	expect(used, "window", kinds, asserted);
	CHECK_OK(MPI_Win_free(&win));
	CHECK_OK(MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, parent, &win));
	CHECK_OK(MPI_Win_set_info(win, info));
	CHECK_OK(MPI_Win_get_info(win, &used));
	expect(used, "window after MPI_Win_set_info", kinds, asserted);
	CHECK_OK(MPI_Win_free(&win));

	MPI_File file;
	int pid = getpid();
	MPI_Bcast(&pid, 1, MPI_INT, 0, parent);
	snprintf(name, sizeof name, "/tmp/gompirma-kinds-%d", pid);
	const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
	CHECK_OK(MPI_File_open(parent, name, mode, info, &file));
	CHECK_OK(MPI_File_get_info(file, &used));
	expect(used, "file", kinds, asserted);
	CHECK_OK(MPI_File_close(&file));
	CHECK_OK(MPI_File_open(parent, name, mode, MPI_INFO_NULL, &file));
	CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", info));
	CHECK_OK(MPI_File_set_info(file, MPI_INFO_NULL));
	CHECK_OK(MPI_File_get_info(file, &used));
	expect(used, "file after MPI_File_set_view", kinds, asserted);
	CHECK_OK(MPI_File_close(&file));
	free_info(info);
}

/* Derives objects from a session that requested kinds. */
static void check_objects_of_session(void) {
	static const char kinds[] = "mpi,system,mpi:win_allocate:alloc_mem";
	MPI_Session session = check_session("mpi:win_allocate:alloc_mem,cuda", kinds);
	MPI_Group group;
	MPI_Comm comm, odd_even;
	MPI_Info used;
	CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
	CHECK_OK(MPI_Comm_create_from_group(group, "kinds", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
	CHECK_OK(MPI_Comm_get_info(comm, &used));
	expect(used, "communicator of the session", kinds, NULL);
	check_derived(comm, NULL, kinds);
	check_derived(comm, "mpi", "mpi");
	int rank;
	MPI_Comm_rank(comm, &rank);
	CHECK_OK(MPI_Comm_split(comm, rank % 2, 0, &odd_even));
	CHECK_OK(MPI_Comm_get_info(odd_even, &used));
	expect(used, "communicator of MPI_Comm_split", kinds, NULL);
	CHECK_OK(MPI_Comm_free(&odd_even));
	CHECK_OK(MPI_Comm_free(&comm));
	CHECK_OK(MPI_Group_free(&group));
	CHECK_OK(MPI_Session_finalize(&session));
}

/* Receives into memory of each kind. */
static void check_buffers(void) {
	MPI_Win win;
	int *window, *allocated, *heap = calloc(1, sizeof *heap), stack = check_rank,
				 peer = (check_rank + 1) % check_size,
				 from = (check_rank + check_size - 1) % check_size;
	MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
	MPI_Alloc_mem(sizeof(int), MPI_INFO_NULL, &allocated);
	int *const to[] = {window, allocated, heap};
	for (int i = 0; i < 3; i++) {
		*to[i] = -1;
		CHECK_OK(MPI_Sendrecv(&stack, 1, MPI_INT, peer, i, to[i], 1, MPI_INT, from, i, MPI_COMM_WORLD,
				      MPI_STATUS_IGNORE));
		CHECK(*to[i] == from, "memory %d holds %d", i, *to[i]);
	}
	free(heap);
	MPI_Free_mem(allocated);
	MPI_Win_free(&win);
}

int main(int argc, char **argv) {
	MPI_Session first = check_session(NULL, "mpi,system"); /* before MPI_Init */
	check_begin(&argc, &argv);
	CHECK_OK(MPI_Session_finalize(&first));
	static const char *const requests[][2] = {
		{"system,mpi", "mpi,system"},
		{"cuda:device,system,rocm", "mpi,system"},
		{" mpi:alloc_mem , mpi : win_allocate : win_allocate_shared",
		 "mpi,system,mpi:alloc_mem,mpi:win_allocate:win_allocate_shared"},
		{"mpi:device,mpi:alloc_mem:device,system:alloc_mem", "mpi,system"},
		{"mpi:alloc_mem,,mpi", "mpi,system"}, /* malformed */
		{"", "mpi,system"},
	};
	for (unsigned i = 0; i < sizeof requests / sizeof *requests; i++) {
		MPI_Session session = check_session(requests[i][0], requests[i][1]);
		CHECK_OK(MPI_Session_finalize(&session));
	}
	check_objects_of_session();
	check_derived(MPI_COMM_WORLD, NULL, "mpi,system");
	check_derived(MPI_COMM_WORLD, "system", "system");
	check_derived(MPI_COMM_WORLD, "system,mpi:win_allocate,mpi:device,cuda:device", "system,mpi:win_allocate");
	check_derived(MPI_COMM_WORLD, "system:managed", "");
	check_derived(MPI_COMM_WORLD, "", "");
	const MPI_Comm predefined[] = {MPI_COMM_WORLD, MPI_COMM_SELF};
	for (int i = 0; i < 2; i++) {
		MPI_Info info = info_with(assert_key, "system"), used;
		CHECK_OK(MPI_Comm_set_info(predefined[i], info));
		CHECK_OK(MPI_Comm_get_info(predefined[i], &used));
		expect(used, i == 0 ? "MPI_COMM_WORLD" : "MPI_COMM_SELF", "mpi,system", "system");
		MPI_Info_free(&info);
	}
	check_buffers();
	return check_end();
}
