/* Proves: MPI_Comm_spawn and MPI_Comm_spawn_multiple start processes with arguments, working directory and environment
 *   (MPI-5.0 11.8). The intercommunicator and all that is made from it works: messages, collectives, merged
 *   communicators, windows. Children have the right parent, application number and MPI_COMM_WORLD. Failures give
 *   MPI_ERR_SPAWN and error codes, and start nothing. Processes connect by ports and names (11.9) and by sockets
 *   (11.10).
 * np: 1 2 4
 * args: one multiple keys errors again many grandchildren ports timeout names join halves session
 * timeout: 60
 */
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../check.h"

static char program[1000]; /* absolute path of this program */

/* Checks that messages, collectives and windows work over an intercommunicator. */
static void check_inter(MPI_Comm inter, int high) {
	int rank, size, remote, is_inter, sum = -1, one = 1, got = -1;
	CHECK_OK(MPI_Comm_test_inter(inter, &is_inter));
	CHECK(is_inter, "not an intercommunicator");
	CHECK_OK(MPI_Comm_rank(inter, &rank));
	CHECK_OK(MPI_Comm_size(inter, &size));
	CHECK_OK(MPI_Comm_remote_size(inter, &remote));
	CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter));
	CHECK(sum == remote, "%d remote processes, not %d", sum, remote);
	if (rank == 0) {
		MPI_Status status;
		CHECK_OK(MPI_Sendrecv(&size, 1, MPI_INT, 0, 5, &got, 1, MPI_INT, 0, 5, inter, &status));
		CHECK(got == remote, "received %d, not %d", got, remote);
		/* large messages are copied by the receiver */
		enum { BYTES = 300000 };
		char *large = malloc(BYTES), *received = malloc(BYTES);
		memset(large, 'a' + high, BYTES);
		CHECK_OK(MPI_Sendrecv(large, BYTES, MPI_CHAR, 0, 6, received, BYTES, MPI_CHAR, 0, 6, inter,
				      MPI_STATUS_IGNORE));
		CHECK(received[0] == 'a' + !high && received[BYTES - 1] == 'a' + !high, "received '%c'", received[0]);
		free(large);
		free(received);
	}
	MPI_Comm merged;
	CHECK_OK(MPI_Intercomm_merge(inter, high, &merged));
	int in_merged, all, *base, memory = -1;
	CHECK_OK(MPI_Comm_rank(merged, &in_merged));
	CHECK_OK(MPI_Comm_size(merged, &all));
	CHECK(all == size + remote && in_merged == (high ? remote : 0) + rank,
	      "rank %d of %d in the merged communicator", in_merged, all);
	for (int kind = 0; kind < 2; kind++) {
		MPI_Win win;
		if (kind == 0)
			CHECK_OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, merged, &base, &win));
		else
			CHECK_OK(MPI_Win_create(base = &memory, sizeof(int), sizeof(int), MPI_INFO_NULL, merged, &win));
		*base = 0;
		CHECK_OK(MPI_Barrier(merged));
		CHECK_OK(MPI_Win_lock_all(0, win));
		for (int target = 0; target < all; target++)
			CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win));
		CHECK_OK(MPI_Win_unlock_all(win));
		CHECK_OK(MPI_Barrier(merged));
		CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, in_merged, 0, win));
		CHECK(*base == all, "window of kind %d: %d updates, not %d", kind, *base, all);
		CHECK_OK(MPI_Win_unlock(in_merged, win));
		CHECK_OK(MPI_Win_free(&win));
	}
	CHECK_OK(MPI_Comm_free(&merged));
}

/* Ends a phase: parents and children add their errors. */
static void end_phase(MPI_Comm *inter) {
	int theirs = 0, mine = check_errors;
	CHECK_OK(MPI_Allreduce(&mine, &theirs, 1, MPI_INT, MPI_SUM, *inter));
	CHECK(theirs == 0, "the other processes had %d errors", theirs);
	CHECK_OK(MPI_Comm_disconnect(inter));
	CHECK(*inter == MPI_COMM_NULL, "the handle is %p", (void *)*inter);
}

static int attribute(int key) {
	int *value, flag;
	MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
	return flag ? *value : -1;
}

static MPI_Errhandler initial_handler[3]; /* initial handlers of MPI_COMM_WORLD, MPI_COMM_SELF and the parent */

/* Runs a child. Its second argument selects what it does. */
static int child(MPI_Comm parent, int argc, char **argv) {
	MPI_Comm again;
	CHECK_OK(MPI_Comm_get_parent(&again));
	CHECK(again == parent, "another parent");
	char name[MPI_MAX_OBJECT_NAME];
	int length;
	CHECK_OK(MPI_Comm_get_name(parent, name, &length));
	CHECK(strcmp(name, "MPI_COMM_PARENT") == 0, "the name of the parent is '%s'", name);
	if (argc > 2 && strcmp(argv[2], "multiple") == 0) {
		CHECK(attribute(MPI_APPNUM) == check_rank / 2, "application number %d", attribute(MPI_APPNUM));
		CHECK(argc == 4 && atoi(argv[3]) == check_rank / 2, "%d arguments, the last is %s", argc,
		      argv[argc - 1]);
		char folder[100] = "";
		CHECK(getcwd(folder, sizeof folder) != NULL && (strcmp(folder, "/tmp") == 0) == (check_rank / 2 == 1),
		      "the working directory is %s", folder);
		for (int i = 0; i < 3; i++)
			CHECK(initial_handler[i] == (check_rank / 2 == 1 ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL),
			      "initial error handler %d is %p", i, (void *)initial_handler[i]);
		const char *value = getenv("SPAWN_TEST");
		CHECK((value != NULL && strcmp(value, "a b") == 0) == (check_rank / 2 == 1), "SPAWN_TEST is %s",
		      value == NULL ? "not set" : value);
	} else if (argc > 2 && strcmp(argv[2], "parent") == 0) {
		MPI_Comm inter;
		char *args[] = {"child", "leaf", "", "a 'b\"", NULL};
		CHECK_OK(MPI_Comm_spawn(program, args, 2, MPI_INFO_NULL, check_size - 1, MPI_COMM_WORLD, &inter,
					MPI_ERRCODES_IGNORE));
		check_inter(inter, 0);
		end_phase(&inter);
	} else if (argc > 2 && strcmp(argv[2], "port") == 0) {
		MPI_Comm inter;
		CHECK_OK(MPI_Comm_connect(argv[3], MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
		check_inter(inter, 1);
		end_phase(&inter);
	} else {
		CHECK(argc == 5 && strcmp(argv[2], "leaf") == 0 && strcmp(argv[3], "") == 0 &&
			      strcmp(argv[4], "a 'b\"") == 0,
		      "%d arguments", argc);
	}
	check_inter(parent, 1);
	end_phase(&parent);
	CHECK_OK(MPI_Comm_get_parent(&again));
	CHECK(again == MPI_COMM_NULL, "the parent after MPI_Comm_disconnect is %p", (void *)again);
	return 0;
}

static void test_one(int n, int root) {
	char *args[] = {"child", "leaf", "", "a 'b\"", NULL};
	int codes[8];
	MPI_Comm inter;
	memset(codes, -1, sizeof codes);
	CHECK_OK(MPI_Comm_spawn(check_rank == root ? program : NULL, args, n, MPI_INFO_NULL, root, MPI_COMM_WORLD,
				&inter, codes));
	for (int i = 0; i < n; i++)
		CHECK(codes[i] == MPI_SUCCESS, "code %d of process %d", codes[i], i);
	check_inter(inter, 0);
	end_phase(&inter);
}

static void test_multiple(void) {
	char *first[] = {"child", "multiple", "0", NULL}, *second[] = {"child", "multiple", "1", NULL};
	char *commands[] = {program, program}, **args[] = {first, second};
	int numbers[] = {2, 1}, codes[3] = {-1, -1, -1};
	MPI_Info infos[2] = {MPI_INFO_NULL};
	MPI_Comm inter;
	MPI_Info_create(&infos[1]);
	MPI_Info_set(infos[1], "wdir", "/tmp");
	MPI_Info_set(infos[1], "env", "SPAWN_TEST=a b\nOTHER=1");
	MPI_Info_set(infos[1], "unknown_key", "ignored");
	MPI_Info_set(infos[1], "mpi_initial_errhandler", "mpi_errors_return");
	CHECK_OK(MPI_Comm_spawn_multiple(2, commands, args, numbers, infos, 0, MPI_COMM_WORLD, &inter, codes));
	CHECK(codes[0] == 0 && codes[1] == 0 && codes[2] == 0, "codes %d %d %d", codes[0], codes[1], codes[2]);
	check_inter(inter, 0);
	end_phase(&inter);
	MPI_Info_free(&infos[1]);
}

/* Starts processes with an info key and its value. Checks the class of the error, or that the first `started` processes
 * have been started. */
static void try_key(const char *key, const char *value, int n, int started, int class) {
	char *args[] = {"child", "leaf", "", "a 'b\"", NULL};
	int codes[8], root = check_size - 1, remote = -1;
	MPI_Comm inter;
	MPI_Info info;
	memset(codes, -1, sizeof codes);
	MPI_Info_create(&info);
	if (check_rank == root)
		MPI_Info_set(info, key, value);
	int error = MPI_Comm_spawn(program, args, n, info, root, MPI_COMM_WORLD, &inter, codes);
	MPI_Info_free(&info);
	CHECK(check_class(error) == class, "%s=%s gave class %d, not %d", key, value, check_class(error), class);
	if (check_rank == root || class == MPI_SUCCESS)
		for (int i = 0; i < n; i++)
			CHECK(check_class(codes[i]) == (i < started ? MPI_SUCCESS : MPI_ERR_SPAWN),
			      "%s=%s: code %d of process %d", key, value, codes[i], i);
	if (error != MPI_SUCCESS) {
		CHECK(inter == MPI_COMM_NULL, "%s=%s: the intercommunicator is %p", key, value, (void *)inter);
		return;
	}
	CHECK_OK(MPI_Comm_remote_size(inter, &remote));
	CHECK(remote == started, "%s=%s: %d processes, not %d", key, value, remote, started);
	check_inter(inter, 0);
	end_phase(&inter);
}

static void test_keys(void) {
	char host[MPI_MAX_PROCESSOR_NAME];
	int length;
	MPI_Get_processor_name(host, &length);
	try_key("soft", "2", 2, 2, MPI_SUCCESS);
	try_key("soft", "1:9:2", 4, 3, MPI_SUCCESS);
	try_key("soft", "9:-9:-4, 2", 4, 2, MPI_SUCCESS);
	try_key("soft", "0:9", 3, 3, MPI_SUCCESS);
	try_key("soft", "3:9", 2, 0, MPI_ERR_SPAWN);
	try_key("soft", "-2", 2, 0, MPI_ERR_SPAWN);
	try_key("soft", "two", 2, 0, MPI_ERR_INFO_VALUE);
	try_key("soft", "1:2:0", 2, 0, MPI_ERR_INFO_VALUE);
	try_key("host", host, 2, 2, MPI_SUCCESS);
	try_key("hosts", "localhost:1,127.0.0.1:1", 3, 3, MPI_SUCCESS);
	try_key("host", "localhost:none", 2, 0, MPI_ERR_SPAWN);
	try_key("hostfile", "/nowhere/hosts", 2, 0, MPI_ERR_SPAWN);
	try_key("map_by", "core", 2, 2, MPI_SUCCESS);
	try_key("mapby", "nowhere", 2, 0, MPI_ERR_SPAWN);
	try_key("file", "/nowhere/keys", 2, 0, MPI_ERR_INFO_VALUE);
}

static void test_errors(void) {
	MPI_Comm inter = MPI_COMM_WORLD;
	int codes[3] = {-1, -1, -1}, numbers[] = {1, 2};
	char *commands[] = {program, "/nowhere/program"};
	MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL}, info;
	CHECK_CLASS(
		MPI_Comm_spawn("/nowhere/program", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes),
		MPI_ERR_SPAWN);
	CHECK(inter == MPI_COMM_NULL, "the intercommunicator is %p", (void *)inter);
	if (check_rank == 0)
		CHECK(check_class(codes[0]) == MPI_ERR_SPAWN && check_class(codes[1]) == MPI_ERR_SPAWN &&
			      codes[2] == -1,
		      "codes %d %d %d", codes[0], codes[1], codes[2]);
	CHECK_CLASS(
		MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, numbers, infos, 0, MPI_COMM_WORLD, &inter, codes),
		MPI_ERR_SPAWN);
	if (check_rank == 0)
		CHECK(codes[0] == MPI_SUCCESS && check_class(codes[1]) == MPI_ERR_SPAWN, "codes %d %d", codes[0],
		      codes[1]);
	CHECK_CLASS(MPI_Comm_spawn("/tmp", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes),
		    MPI_ERR_SPAWN); /* a directory */
	CHECK_CLASS(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1000000, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
				   MPI_ERRCODES_IGNORE),
		    MPI_ERR_SPAWN);
	CHECK_CLASS(MPI_Comm_spawn("true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes),
		    MPI_ERR_SPAWN); /* ends without MPI_Init */
	CHECK_CLASS(MPI_Comm_spawn(program, MPI_ARGV_NULL, -1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes),
		    MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_spawn(NULL, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes),
		    MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, check_size, MPI_COMM_WORLD, &inter, codes),
		    MPI_ERR_RANK);
	MPI_Info_create(&info);
	MPI_Info_set(info, "mpi_initial_errhandler", "mpi_errors_ignore");
	CHECK_CLASS(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, info, 0, MPI_COMM_WORLD, &inter, codes),
		    MPI_ERR_INFO_VALUE);
	MPI_Info_delete(info, "mpi_initial_errhandler");
	MPI_Info_set(info, "wdir", "/nowhere");
	CHECK_CLASS(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, info, 0, MPI_COMM_WORLD, &inter, codes), MPI_ERR_SPAWN);
	MPI_Info_free(&info);
	CHECK_CLASS(MPI_Comm_connect("nothing", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
	CHECK_CLASS(MPI_Comm_connect("gompirma:other_job:0:1", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
	CHECK_CLASS(MPI_Comm_accept("nothing", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
	CHECK_CLASS(MPI_Close_port("nothing"), MPI_ERR_PORT);
}

static void test_grandchildren(void) {
	MPI_Comm inter;
	char *args[] = {"child", "parent", NULL};
	CHECK_OK(MPI_Comm_spawn(program, args, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
	check_inter(inter, 0);
	end_phase(&inter);
}

static void test_ports(void) {
	MPI_Comm inter, second;
	char port[MPI_MAX_PORT_NAME] = "", *args[] = {"child", "port", port, NULL};
	for (int i = 0; i < 2; i++) {
		if (check_rank == 0)
			CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
		CHECK(strpbrk(port, " '\"$&|;<>()*?!\\") == NULL, "the port name %s needs quotes in a shell", port);
		CHECK_OK(MPI_Comm_spawn(program, args, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
					MPI_ERRCODES_IGNORE));
		CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &second));
		check_inter(second, 0);
		end_phase(&second);
		check_inter(inter, 0);
		end_phase(&inter);
		if (check_rank == 0) {
			CHECK_OK(MPI_Close_port(port));
			CHECK_CLASS(MPI_Close_port(port), MPI_ERR_PORT);
		}
		MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
		CHECK_CLASS(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &second), MPI_ERR_PORT);
	}
}

/* Checks that the info key timeout limits the time for which MPI_Comm_accept and MPI_Comm_connect wait. */
static void test_timeout(void) {
	MPI_Comm inter;
	MPI_Info info;
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Info_create(&info);
	if (check_rank == 0)
		CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
	MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
	for (int i = 0; i < 3; i++) {
		static const char *const wrong[] = {"0", "-1", "soon"};
		MPI_Info_set(info, "timeout", wrong[i]);
		CHECK_CLASS(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &inter), MPI_ERR_INFO_VALUE);
	}
	MPI_Info_set(info, "timeout", "1");
	CHECK_CLASS(MPI_Comm_accept(port, info, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
	CHECK(inter == MPI_COMM_NULL, "the intercommunicator is %p", (void *)inter);
	CHECK_CLASS(MPI_Comm_connect(port, info, check_size - 1, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
	/* The port can still be used, and the connection that timed out is ignored. */
	MPI_Info_set(info, "timeout", "60");
	if (check_size > 1 && check_rank < 2) {
		if (check_rank == 0)
			CHECK_OK(MPI_Comm_accept(port, info, 0, MPI_COMM_SELF, &inter));
		else
			CHECK_OK(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &inter));
		check_inter(inter, check_rank);
		end_phase(&inter);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (check_rank == 0)
		CHECK_OK(MPI_Close_port(port));
	MPI_Info_free(&info);
}

static void test_names(void) {
	char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "";
	if (check_rank == 0) {
		CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
		CHECK_CLASS(MPI_Lookup_name("a service", MPI_INFO_NULL, found), MPI_ERR_NAME);
		CHECK_CLASS(MPI_Unpublish_name("a service", MPI_INFO_NULL, port), MPI_ERR_SERVICE);
		CHECK_OK(MPI_Publish_name("a service", MPI_INFO_NULL, port));
		CHECK_CLASS(MPI_Publish_name("a service", MPI_INFO_NULL, port), MPI_ERR_SERVICE);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK_OK(MPI_Lookup_name("a service", MPI_INFO_NULL, found));
	MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
	CHECK(strcmp(port, found) == 0, "found %s, not %s", found, port);
	MPI_Barrier(MPI_COMM_WORLD);
	if (check_rank == 0) {
		CHECK_OK(MPI_Unpublish_name("a service", MPI_INFO_NULL, port));
		CHECK_OK(MPI_Close_port(port));
	}
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK_CLASS(MPI_Lookup_name("a service", MPI_INFO_NULL, found), MPI_ERR_NAME);
}

/* Checks that two processes of the job can connect over a socket. */
static void test_join(void) {
	MPI_Comm inter;
	char name[64];
	if (check_rank / 2 * 2 + 1 >= check_size)
		return;
	snprintf(name, sizeof name, "/tmp/gompirma-join-%d", (int)getpid());
	int partner = check_rank ^ 1;
	MPI_Bcast(name, 0, MPI_CHAR, 0, MPI_COMM_SELF);
	struct {
		unsigned short family;
		char path[108];
	} address = {AF_UNIX, ""};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (check_rank % 2 == 0) {
		memcpy(address.path, name, sizeof name);
		CHECK(bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 1) == 0, "no socket");
		MPI_Send(name, sizeof name, MPI_CHAR, partner, 1, MPI_COMM_WORLD);
		int connected = accept(fd, NULL, NULL);
		close(fd);
		fd = connected;
		unlink(name);
	} else {
		MPI_Recv(name, sizeof name, MPI_CHAR, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		memcpy(address.path, name, sizeof name);
		CHECK(connect(fd, (struct sockaddr *)&address, sizeof address) == 0, "cannot connect");
	}
	CHECK_OK(MPI_Comm_join(fd, &inter));
	close(fd);
	check_inter(inter, check_rank % 2);
	end_phase(&inter);
}

/* Checks that two halves of one job can connect, over several ports at the same time. */
static void test_halves(void) {
	MPI_Comm half, inter[3];
	char port[3][MPI_MAX_PORT_NAME];
	int side = check_rank % 2, first;
	if (check_size < 2)
		return;
	MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
	MPI_Comm_rank(half, &first);
	for (int i = 0; i < 3; i++) {
		if (check_rank == 0)
			CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port[i]));
		MPI_Bcast(port[i], MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
	}
	for (int i = 0; i < 3; i++) {
		if (side == 0)
			CHECK_OK(MPI_Comm_accept(port[i], MPI_INFO_NULL, 0, half, &inter[i]));
		else
			CHECK_OK(MPI_Comm_connect(port[i], MPI_INFO_NULL, 0, half, &inter[i]));
	}
	for (int i = 2; i >= 0; i--) {
		check_inter(inter[i], side);
		end_phase(&inter[i]);
		if (check_rank == 0)
			CHECK_OK(MPI_Close_port(port[i]));
	}
	MPI_Comm_free(&half);
}

/* Checks that a communicator of a session can be used to start processes. */
static void test_session(void) {
	MPI_Session session;
	MPI_Group group;
	MPI_Comm c, inter;
	char *args[] = {"child", "leaf", "", "a 'b\"", NULL};
	CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
	CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
	CHECK_OK(MPI_Comm_create_from_group(group, "spawn", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
	CHECK_OK(MPI_Comm_spawn(program, args, 2, MPI_INFO_NULL, 0, c, &inter, MPI_ERRCODES_IGNORE));
	check_inter(inter, 0);
	end_phase(&inter);
	CHECK_OK(MPI_Comm_free(&c));
	CHECK_OK(MPI_Group_free(&group));
	CHECK_OK(MPI_Session_finalize(&session));
}

int main(int argc, char **argv) {
	MPI_Comm parent;
	CHECK(readlink("/proc/self/exe", program, sizeof program - 1) > 0, "no path of this program");
	MPI_Init(&argc, &argv);
	MPI_Comm_get_parent(&parent);
	MPI_Comm_get_errhandler(MPI_COMM_WORLD, &initial_handler[0]);
	MPI_Comm_get_errhandler(MPI_COMM_SELF, &initial_handler[1]);
	if (parent != MPI_COMM_NULL)
		MPI_Comm_get_errhandler(parent, &initial_handler[2]);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &check_size);
	if (argc > 1 && strcmp(argv[1], "child") == 0) {
		CHECK(parent != MPI_COMM_NULL, "no parent");
		child(parent, argc, argv);
		MPI_Finalize();
		return check_errors != 0;
	}
	check_started(argc, argv);
	CHECK(parent == MPI_COMM_NULL, "a parent");
	if (strcmp(check_arg, "multiple") == 0) {
		test_multiple();
	} else if (strcmp(check_arg, "keys") == 0) {
		test_keys();
	} else if (strcmp(check_arg, "errors") == 0) {
		test_errors();
	} else if (strcmp(check_arg, "again") == 0) {
		for (int i = 0; i < 8; i++)
			test_one(1 + i % 3, i % check_size);
	} else if (strcmp(check_arg, "many") == 0) { /* more processes than a node can have at a time */
		for (int i = 0; i < (check_size == 1 ? 50 : 5); i++)
			test_one(1 + i % 5, i % check_size);
	} else if (strcmp(check_arg, "grandchildren") == 0) {
		test_grandchildren();
	} else if (strcmp(check_arg, "ports") == 0) {
		test_ports();
	} else if (strcmp(check_arg, "timeout") == 0) {
		test_timeout();
	} else if (strcmp(check_arg, "names") == 0) {
		test_names();
	} else if (strcmp(check_arg, "join") == 0) {
		test_join();
	} else if (strcmp(check_arg, "halves") == 0) {
		test_halves();
	} else if (strcmp(check_arg, "session") == 0) {
		test_session();
	} else {
		test_one(3, check_size - 1);
	}
	return check_end();
}
