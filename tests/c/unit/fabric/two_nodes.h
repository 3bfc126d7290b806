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
#include "ofi/library.h"

static int pair_rank, pair_socket = -1;
static pid_t pair_child;
static pthread_t pair_progress;
static int64_t pair_timeout = 30000000000;
static void (*pair_on_open)(void); /* if not NULL, called when the network is open, before its first use */

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
	struct gompi_net_endpoint endpoint;
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
	struct pair_info mine = {.endpoint.fd = -1}, other;
	char why[GOMPI_NET_ERROR_BYTES];
	const char *wanted = getenv("GOMPIRMA_PROVIDER");
	if (wanted != NULL && !gompi_libfabric_load(why)) {
		printf("left out: %s\n", why);
		return false;
	}
	if (!gompi_net_choose(wanted, &mine.provider, why) || !gompi_net_open(&mine.provider, &mine.endpoint, why)) {
		printf("FAIL: %s\n", why);
		exit(1);
	}
	if (pair_on_open != NULL)
		pair_on_open();
	pair_exchange(&mine, &other, sizeof mine);
	const struct gompi_net_endpoint *e[] = {&mine.endpoint, &other.endpoint};
	const size_t bytes = mine.endpoint.address_bytes;
	CHECK(bytes == other.endpoint.address_bytes, "addresses of %zu and %zu bytes", bytes,
	      other.endpoint.address_bytes);
	char table[2 * GOMPI_ADDRESS_BYTES], hosts[2 * GOMPI_HOST_DATA_BYTES];
	uint32_t host_at[3] = {0};
	for (int rank = 0; rank < 2; rank++) {
		const struct gompi_net_endpoint *at = e[rank != pair_rank];
		memcpy(table + (size_t)rank * bytes, at->address, bytes);
		memcpy(hosts + host_at[rank], at->host, at->host_bytes);
		host_at[rank + 1] = host_at[rank] + (uint32_t)at->host_bytes;
	}
	const struct gompi_net_job job = {.size = 2,
					  .rank = pair_rank,
					  .addresses = table,
					  .address_bytes = bytes,
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
