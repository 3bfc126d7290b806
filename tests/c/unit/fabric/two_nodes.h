/* Runs two processes that act as two nodes, with the network between them (fabric/fabric.h), without Go and MPI. The
 * first process forks the second. Through a socket they exchange the addresses that core/fabric exchanges in a job. If
 * GOMPIRMA_PROVIDER names a libfabric provider and libfabric is not installed, the test is skipped. */
#ifndef PAIR_H
#define PAIR_H

#include "../unit.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "fabric/progress_thread.h"
#include "fabric/fabric.h"
#include "fabric/health.h"
#include "fabric/net.h"
#include "fabric/open.h"
#include "fabric/progress.h"

static int pair_rank, pair_socket = -1;
static pid_t pair_child;
static pthread_t pair_progress;
static bool pair_needs_local_mr; /* true if local buffers are registered even if the provider does not need that */
static int64_t pair_timeout = 30000000000;

/* Sends `bytes` bytes from `mine` to the other process, and receives as many bytes into `others`. */
static void pair_exchange(const void *mine, void *others, size_t bytes) {
	if (write(pair_socket, mine, bytes) != (ssize_t)bytes)
		abort();
	for (size_t at = 0; at < bytes;) {
		ssize_t n = read(pair_socket, (char *)others + at, bytes - at);
		if (n <= 0)
			exit(1); /* the other process has reported an error and exited */
		at += (size_t)n;
	}
}

static void pair_barrier(void) {
	char mine = 0, others;
	pair_exchange(&mine, &others, 1);
}

static void *pair_run_progress(void *arg) {
	gompi_net_progress_run();
	return arg;
}

/* Creates this process's node. Each of the two nodes has one process. */
static void pair_node(void) {
	unit_node(1);
	struct gompi_node n = gompi_node;
	struct gompi_processes *all = unit_processes(2, (int32_t[]){0, 1}, (int32_t[]){-pair_rank, pair_rank - 1});
	all->self = pair_rank;
	n.processes = all;
	gompi_node_open(&n);
}

struct pair_info {
	struct gompi_provider provider;
	size_t length, host_length;
	char address[GOMPI_ADDRESS_BYTES], host[GOMPI_HOST_DATA_BYTES];
};

/* Forks the second process and returns in both processes. Returns false if libfabric is not available. */
static bool pair_begin(void) {
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		abort();
	fflush(stdout);
	pair_child = fork();
	pair_rank = pair_child == 0;
	if (pair_rank == 1)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	pair_socket = ends[pair_rank];
	close(ends[!pair_rank]);
	pair_node();
	struct pair_info mine = {.length = 0}, other;
	char why[GOMPI_FABRIC_ERROR_BYTES];
	const char *wanted = getenv("GOMPIRMA_PROVIDER");
	if (wanted != NULL && !gompi_libfabric_load(why)) {
		printf("left out: %s\n", why);
		return false;
	}
	if (!gompi_net_choose(wanted, &mine.provider, why) ||
	    !gompi_net_open(&mine.provider, mine.address, &mine.length, mine.host, &mine.host_length, why)) {
		printf("FAIL: %s\n", why);
		exit(1);
	}
	gompi_net.needs_local_mr = gompi_net.needs_local_mr || pair_needs_local_mr;
	pair_exchange(&mine, &other, sizeof mine);
	CHECK(mine.length == other.length, "addresses of %zu and %zu bytes", mine.length, other.length);
	char table[2 * GOMPI_ADDRESS_BYTES];
	memcpy(table + (size_t)pair_rank * mine.length, mine.address, mine.length);
	memcpy(table + (size_t)!pair_rank * mine.length, other.address, mine.length);
	char hosts[2 * GOMPI_HOST_DATA_BYTES];
	const size_t first = pair_rank == 0 ? mine.host_length : other.host_length;
	const uint32_t host_at[] = {0, (uint32_t)first, (uint32_t)(mine.host_length + other.host_length)};
	memcpy(hosts + host_at[pair_rank], mine.host, mine.host_length);
	memcpy(hosts + host_at[!pair_rank], other.host, other.host_length);
	const struct gompi_net_job job = {.size = 2,
					  .rank = pair_rank,
					  .addresses = table,
					  .address_bytes = mine.length,
					  .nodes = 2,
					  .hosts = hosts,
					  .host_offsets = host_at,
					  .node_of = (int32_t[]){0, 1},
					  .secret = {0x0123456789abcdef, 0xfedcba9876543210},
					  .timeout_ns = pair_timeout};
	if (!gompi_net_begin(&job, why)) {
		printf("FAIL: %s\n", why);
		exit(1);
	}
	pthread_create(&pair_progress, NULL, pair_run_progress, NULL);
	pair_barrier();
	return true;
}

/* Closes the network and waits for the second process. Returns the exit status of main. */
static int pair_end(void) {
	if (gompi_fabric_is_open()) {
		pair_barrier();
		gompi_health_stop();
		pair_barrier();
		gompi_net_progress_stop();
		pthread_join(pair_progress, NULL);
		gompi_net_end();
	}
	if (pair_rank == 1)
		exit(check_errors != 0);
	int status;
	waitpid(pair_child, &status, 0);
	CHECK(status == 0, "the second process ended with %#x", status);
	return unit_end();
}

#endif
