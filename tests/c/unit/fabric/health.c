/* Proves: if a peer is killed, or is silent for longer than the timeout, waits for the peer end with
 * MPI_ERR_PROC_ABORTED in time, and the node records which peer failed. If a peer is killed after MPI_Finalize, a wait
 * for it ends in the same way, but the node records no failure. If the peer has sent a notice of its end before, a wait
 * for a group with the peer continues. If a peer is silent for less than the timeout, no record is lost. */
#include "two_nodes.h"

enum { SILENCE_MS = 1000 };
static const struct gompi_wait_desc net_wait = {.call = "test", .peer = -1, .object = 0};

static gompi_a64 records_received;
static void on_record(int peer, const char *data, size_t length) {
	uint64_t number;
	CHECK(peer == !pair_rank && length == sizeof number, "%zu bytes of %d", length, peer);
	memcpy(&number, data, sizeof number);
	CHECK(number == gompi_load(&records_received), "record %llu comes as number %llu", (unsigned long long)number,
	      (unsigned long long)gompi_load(&records_received));
	gompi_add_seq_cst(&records_received, 1);
	gompi_wake(&gompi_my_cell()->wait);
}

static int send_number(uint64_t number) {
	int class = MPI_SUCCESS;
	char *at = gompi_fabric_reserve(!pair_rank, FABRIC_RMA, sizeof number, FABRIC_WAIT, &class);
	if (at == NULL)
		return class;
	memcpy(at, &number, sizeof number);
	gompi_fabric_commit(!pair_rank, sizeof number, number % 3 == 0 ? FABRIC_NOW : FABRIC_PENDING);
	return MPI_SUCCESS;
}

static bool has_received(void *arg) { return gompi_load_acquire(&records_received) >= *(uint64_t *)arg; }
static int wait_for(uint64_t number) { return gompi_await(&gompi_my_cell()->wait, has_received, &number, &net_wait); }

static double seconds_since(int64_t begin) { return (double)(gompi_now_ns() - begin) / 1e9; }

/* Makes the second process fail in the way `how` while the first process sends or waits. Checks that the first process
 * detects the failure not earlier than `least` and not later than `most` seconds afterwards. Does not return. */
enum how { KILLED, STOPPED };
static void test_failure(enum how how, bool sends, double least, double most) {
	uint64_t sent = 1;
	CHECK(send_number(0) == MPI_SUCCESS && wait_for(1) == MPI_SUCCESS, "the first record");
	pair_barrier();
	if (pair_rank == 1)
		raise(how == KILLED ? SIGKILL : SIGSTOP);
	int64_t begin = gompi_now_ns();
	int rc = MPI_SUCCESS;
	while (sends && rc == MPI_SUCCESS)
		rc = send_number(sent++);
	if (!sends)
		rc = wait_for(2);
	double took = seconds_since(begin);
	CHECK(rc == MPI_ERR_PROC_ABORTED, "the wait ended with %d", rc);
	CHECK(took >= least && took < most, "after %.2f s, not %.1f to %.1f", took, least, most);
	UNIT_UNTIL(gompi_load(&gompi_node_header()->failed_processes[0].rank) != 0 || seconds_since(begin) > most + 1);
	CHECK(gompi_fabric_peer_failed(1) && gompi_load(&gompi_node_header()->failed_processes[0].rank) == 2,
	      "it is not known to be lost: %u", gompi_load(&gompi_node_header()->failed_processes[0].rank));
	int class;
	CHECK(gompi_fabric_reserve(1, FABRIC_RMA, 8, FABRIC_ANSWER, &class) == NULL && class == MPI_ERR_PROC_ABORTED,
	      "there is space for a failed peer");
	printf("lost after %.2f s: why %u\n", took, gompi_load(&gompi_node_header()->failed_processes[0].cause));
	kill(pair_child, SIGKILL);
	exit(check_errors != 0);
}

/* Ends a wait for two records when the connection to the second process has been lost for a while. */
static void *end_wait_later(void *arg) {
	UNIT_UNTIL(gompi_fabric_peer_failed(1));
	usleep(100000);
	gompi_store_seq_cst(&records_received, 2);
	gompi_wake(&gompi_my_cell()->wait);
	return arg;
}

/* Kills the second process after MPI_Finalize, while the first process waits for it in a session. If `notifies` is
 * true, the second process sends a notice of its end before, and the first process also waits for a group. Does not
 * return. */
static void test_killed_after_finalize(bool notifies) {
	static const struct gompi_wait_desc for_peer = {.call = "test", .peer = 1};
	static const int32_t both[] = {0, 1};
	static const struct gompi_wait_desc for_group = {
		.call = "test", .peer = -1, .members = both, .member_count = 2};
	uint64_t number = 2;
	pthread_t ends;
	CHECK(send_number(0) == MPI_SUCCESS && wait_for(1) == MPI_SUCCESS, "the first record");
	gompi_health_job_finalized();
	pair_barrier();
	if (pair_rank == 1 && notifies) {
		gompi_health_notify_end();
		gompi_net_drain(true, 5000);
	}
	if (pair_rank == 1)
		raise(SIGKILL);
	if (notifies) {
		pthread_create(&ends, NULL, end_wait_later, NULL);
		CHECK(gompi_await(&gompi_my_cell()->wait, has_received, &number, &for_group) == MPI_SUCCESS,
		      "the wait for a group returned an error because a process has ended");
		pthread_join(ends, NULL);
		number = 3;
	}
	int64_t begin = gompi_now_ns();
	CHECK(gompi_await(&gompi_my_cell()->wait, has_received, &number, &for_peer) == MPI_ERR_PROC_ABORTED,
	      "the wait for a process that has ended returned no error");
	CHECK(seconds_since(begin) < 2, "after %.2f s", seconds_since(begin));
	CHECK(gompi_load(&gompi_node_header()->failed_processes[0].rank) == 0, "the node has recorded a failure");
	exit(check_errors != 0);
}

/* Tests that no record is lost if the second process is stopped for less than the timeout while both processes send. */
static void test_slow(void) {
	enum { RECORDS = 20000 };
	if (pair_rank == 0) {
		if (fork() == 0) {
			usleep(50000);
			kill(pair_child, SIGSTOP);
			usleep(SILENCE_MS * 600);
			kill(pair_child, SIGCONT);
			_exit(0);
		}
	}
	for (uint64_t i = 0; i < RECORDS; i++) {
		CHECK(send_number(i) == MPI_SUCCESS, "record %llu", (unsigned long long)i);
		if (i % 100 == 0)
			usleep(1000);
	}
	gompi_fabric_flush(-1);
	CHECK(wait_for(RECORDS) == MPI_SUCCESS, "%llu records", (unsigned long long)gompi_load(&records_received));
	CHECK(gompi_load(&gompi_node_header()->failed_count) == 0, "somebody was taken for dead");
}

int main(int argc, char **argv) {
	static const struct gompi_port_handler handler = {on_record, NULL};
	static const struct {
		const char *name;
		int64_t timeout;
	} scenes[] = {
		{"killed, sends", 30000},           {"killed, waits", 30000}, {"stopped, sends", SILENCE_MS},
		{"stopped, waits", SILENCE_MS},     {"slow", SILENCE_MS},     {"killed after MPI_Finalize", 30000},
		{"ended after MPI_Finalize", 30000}};
	for (int i = 0; i < 7; i++) {
		fflush(stdout);
		pid_t scene = fork();
		if (scene > 0) {
			int status;
			waitpid(scene, &status, 0);
			CHECK(status == 0, "%s: it ended with %#x", scenes[i].name, status);
			continue;
		}
		if (argc > 1)
			printf("%s\n", scenes[i].name);
		gompi_fabric_set_handler(FABRIC_RMA, &handler);
		pair_timeout = scenes[i].timeout * 1000000;
		if (!pair_begin())
			exit(0);
		if (i == 4)
			test_slow();
		else if (i >= 5)
			test_killed_after_finalize(i == 6);
		else if (i < 2)
			test_failure(KILLED, i == 0, 0, 2);
		else
			test_failure(STOPPED, i == 2, 0.5 * SILENCE_MS / 1000, 2.0 * SILENCE_MS / 1000 + 1);
		exit(pair_end());
	}
	(void)argv;
	return unit_end();
}
