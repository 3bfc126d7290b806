/* One of two jobs that connect, for TestConnected: connected serve|connect SERVICE fine|kill|exit|leave|refuse. SERVICE
 * is published for all jobs of the user. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int errors;
#define CHECK(condition, ...) ((condition) ? (void)0 : (void)(errors++, printf(__VA_ARGS__), printf("\n")))

/* Returns a port that is published, or opens one. */
static void find_port(int serves, const char *service, char *port) {
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (serves) {
		MPI_Info info;
		MPI_Info_create(&info);
		MPI_Info_set(info, "gompirma_name_scope", "user");
		MPI_Open_port(MPI_INFO_NULL, port);
		CHECK(MPI_Publish_name(service, info, port) == MPI_SUCCESS, "MPI_Publish_name failed");
		CHECK(MPI_Publish_name(service, info, port) != MPI_SUCCESS, "published twice");
		MPI_Info_set(info, "gompirma_name_scope", "world");
		CHECK(MPI_Publish_name("another", info, port) != MPI_SUCCESS, "published with an unknown scope");
		MPI_Info_free(&info);
	} else {
		while (MPI_Lookup_name(service, MPI_INFO_NULL, port) != MPI_SUCCESS)
			usleep(1000);
	}
}

/* Messages in other communicators, whose contexts must not be those of the connection. The two jobs have different
 * numbers of communicators. */
enum { DUPS = 16 };
static int dups;
static MPI_Comm copies[DUPS];
static MPI_Request sent[DUPS];
static void send_to_self(int rank, int serves) {
	static int own = -1;
	dups = serves ? 0 : DUPS;
	for (int i = 0; i < dups; i++) {
		MPI_Comm_dup(i < dups / 2 ? MPI_COMM_SELF : MPI_COMM_WORLD, &copies[i]);
		MPI_Isend(&own, 1, MPI_INT, i < dups / 2 ? 0 : rank, 7, copies[i], &sent[i]);
	}
}
static void receive_from_self(int rank) {
	for (int i = 0, got = 0; i < dups; i++) {
		MPI_Recv(&got, 1, MPI_INT, i < dups / 2 ? 0 : rank, 7, copies[i], MPI_STATUS_IGNORE);
		CHECK(got == -1, "got %d from this process", got);
		MPI_Comm_free(&copies[i]);
	}
	MPI_Waitall(dups, sent, MPI_STATUSES_IGNORE);
}

static void check_messages(MPI_Comm inter, int rank, int remote, int serves) {
	int value = rank + 100 * serves, got = -1;
	MPI_Status status;
	for (int turn = 0; turn < 2; turn++)
		for (int i = 0; i < remote; i++)
			if (turn == serves) {
				MPI_Send(&value, 1, MPI_INT, i, 7, inter);
			} else {
				MPI_Recv(&got, 1, MPI_INT, i, 7, inter, &status);
				CHECK(got == i + 100 * !serves && status.MPI_SOURCE == i, "got %d of %d from %d", got,
				      i, status.MPI_SOURCE);
			}
}

static void check_merged(MPI_Comm m) {
	enum { TIMES = 50, BYTES = 1 << 21 };
	int rank, size, sum = -1, one = 1, old, *base;
	MPI_Win win;
	MPI_Comm half;
	MPI_Comm_rank(m, &rank);
	MPI_Comm_size(m, &size);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, m);
	CHECK(sum == size * (size - 1) / 2, "the sum is %d", sum);
	MPI_Win_allocate(size * (int)sizeof(int), sizeof(int), MPI_INFO_NULL, m, &base, &win);
	MPI_Win_fence(0, win);
	for (int t = 0; t < size; t++)
		MPI_Put(&rank, 1, MPI_INT, t, rank, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	for (int t = 0; t < size; t++)
		CHECK(base[t] == t, "put: element %d is %d", t, base[t]);
	MPI_Win_fence(0, win);
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < TIMES; i++) {
		MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 0, MPI_SUM, win);
		MPI_Win_flush(0, win);
	}
	MPI_Win_unlock_all(win);
	MPI_Barrier(m);
	CHECK(rank != 0 || base[0] == TIMES * size, "fetch_and_op: %d", base[0]);
	MPI_Win_free(&win);
	char *bytes = malloc(BYTES);
	memset(bytes, rank, BYTES);
	MPI_Bcast(bytes, BYTES, MPI_CHAR, size - 1, m);
	CHECK(bytes[BYTES / 2] == size - 1, "bcast: %d", bytes[BYTES / 2]);
	free(bytes);
	MPI_Comm_split(m, rank % 2, 0, &half);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half);
	CHECK(sum == (size + !(rank % 2)) / 2, "half: %d", sum);
	MPI_Comm_free(&half);
}

/* Waits for the failure of the other job, or fails. */
static void check_failure(MPI_Comm inter, MPI_Comm merged, int rank, int serves, const char *how) {
	char text[MPI_MAX_ERROR_STRING] = "";
	int class = 0, value = 0, length;
	MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(merged, MPI_ERRORS_RETURN);
	MPI_Barrier(merged);
	if (!serves && strcmp(how, "kill") == 0) {
		if (rank == 0)
			raise(SIGKILL);
		pause();
	}
	if (!serves)
		_exit(0);
	MPI_Error_class(MPI_Recv(&value, 1, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE), &class);
	CHECK(class == MPI_ERR_PROC_ABORTED, "MPI_Recv: class %d", class);
	class = MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, merged);
	MPI_Error_string(class, text, &length);
	MPI_Error_class(class, &class);
	CHECK(class == MPI_ERR_PROC_ABORTED && strstr(text, "of another job") != NULL, "MPI_Allreduce: %s", text);
	MPI_Barrier(MPI_COMM_WORLD); /* this job goes on */
}

/* Checks that it is no failure if the other job calls MPI_Finalize after a broadcast that this job has not finished. */
static void check_leave(MPI_Comm inter, MPI_Comm merged, int rank, int remote, int serves) {
	int value = 42, class, size;
	MPI_Comm_size(merged, &size);
	if (serves) {
		value = 0;
		if (rank == 0)
			sleep(6); /* rank 1 looks for failed processes meanwhile */
	}
	MPI_Bcast(&value, 1, MPI_INT, serves ? size - remote : size - 2, merged);
	CHECK(value == 42, "MPI_Bcast: %d", value);
	if (!serves)
		return;
	MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
	MPI_Error_class(MPI_Recv(&value, 1, MPI_INT, 1, 3, inter, MPI_STATUS_IGNORE), &class);
	CHECK(class == MPI_ERR_PROC_ABORTED, "MPI_Recv: class %d", class);
}

int main(int argc, char **argv) {
	int rank, remote;
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm inter, merged;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	int serves = strcmp(argv[1], "serve") == 0;
	if (rank == 0)
		find_port(serves, argv[2], port);
	if (strcmp(argv[3], "refuse") == 0) { /* the jobs cannot connect: all get the same error */
		int error, class, least, most;
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
		error = serves ? MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter)
			       : MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
		MPI_Error_class(error, &class);
		MPI_Allreduce(&class, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
		MPI_Allreduce(&class, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
		CHECK(least == MPI_ERR_OTHER && most == MPI_ERR_OTHER, "class %d", class);
		char text[MPI_MAX_ERROR_STRING] = "";
		int length;
		MPI_Error_string(error, text, &length);
		printf("%s\n", text);
		MPI_Finalize();
		return errors != 0;
	}
	send_to_self(rank, serves);
	if (serves)
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
	else
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
	MPI_Comm_remote_size(inter, &remote);
	MPI_Intercomm_merge(inter, !serves, &merged);
	if (strcmp(argv[3], "fine") == 0) {
		check_messages(inter, rank, remote, serves);
		receive_from_self(rank);
		check_merged(merged);
	} else if (strcmp(argv[3], "leave") == 0) {
		check_leave(inter, merged, rank, remote, serves);
		if (!serves) {
			MPI_Finalize();
			return errors != 0;
		}
	} else {
		check_failure(inter, merged, rank, serves, argv[3]);
	}
	MPI_Comm_free(&merged);
	MPI_Comm_disconnect(&inter);
	if (serves && rank == 0) {
		CHECK(MPI_Unpublish_name(argv[2], MPI_INFO_NULL, port) == MPI_SUCCESS, "MPI_Unpublish_name failed");
		MPI_Close_port(port);
	}
	if (!serves && rank == 0 && strcmp(argv[3], "fine") == 0) {
		while (MPI_Lookup_name(argv[2], MPI_INFO_NULL, port) == MPI_SUCCESS) /* until the server has ended */
			usleep(1000);
		MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
		int class;
		MPI_Error_class(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), &class);
		CHECK(class == MPI_ERR_PORT, "MPI_Comm_connect to a closed port: class %d", class);
	}
	if (errors == 0 && rank == 0)
		printf("%s: %d remote processes\n", argv[1], remote);
	MPI_Finalize();
	return errors != 0;
}
