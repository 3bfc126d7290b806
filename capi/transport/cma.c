#define _GNU_SOURCE
#include "transport/cma.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/assisted_copy.h"
#include "base/clock.h"
#include "base/minmax.h"

enum { IOVECS = 256 }; // maximum number of segments that one system call moves

// Returns the pid of a process of this node.
static int pid_of(int peer) { return gompi_load(&gompi_cell(gompi_local_index(peer))->pid); }

static ssize_t call_process_vm(int pid, struct iovec *local_iov, struct iovec *remote_iov, int n, bool write) {
	return write ? process_vm_writev(pid, local_iov, 1, remote_iov, (unsigned long)n, 0)
		     : process_vm_readv(pid, local_iov, 1, remote_iov, (unsigned long)n, 0);
}

// Returns *shared, the time of a system call that moves this many bytes, in ns. Measures it first if it is 0. Returns 0
// if out of memory.
static int64_t call_ns(gompi_a32 *shared, size_t bytes) {
	uint32_t ns = gompi_load(shared);
	if (ns != 0)
		return ns;
	uint64_t shortest = UINT32_MAX;
	char *memory = malloc(2 * bytes); // the stacks of some threads are small
	if (memory == NULL)
		return 0;
	memset(memory, 1, 2 * bytes);
	for (int i = 0; i < 10; i++) { // the first calls take longer
		struct iovec local = {memory, bytes}, remote = {memory + bytes, bytes};
		int64_t start = gompi_now_ns();
		call_process_vm(gompi_load(&gompi_my_cell()->pid), &local, &remote, 1, false);
		shortest = gompi_min_u64(shortest, (uint64_t)(gompi_now_ns() - start) + 1);
	}
	free(memory);
	return gompi_cas_strong(shared, &ns, (uint32_t)shortest) ? (int64_t)shortest : ns;
}

int64_t gompi_cma_call_ns(void) { return call_ns(&gompi_node_header()->cma_call_ns, 8); }

int64_t gompi_cma_16k_ns(void) {
	return call_ns(&gompi_node_header()->cma_16k_call_ns, 16 << 10) - gompi_cma_call_ns();
}

bool gompi_cma_move(int peer, uint64_t address, void *local, uint64_t bytes, bool write) {
	if (gompi_local_index(peer) < 0)
		return false;
	int pid = pid_of(peer);
	for (uint64_t done = 0; done < bytes;) {
		struct iovec local_iov = {(char *)local + done, bytes - done};
		struct iovec remote_iov = {(void *)(uintptr_t)(address + done), bytes - done};
		ssize_t k = call_process_vm(pid, &local_iov, &remote_iov, 1, write);
		if (k <= 0)
			return false;
		done += (uint64_t)k;
	}
	return true;
}

bool gompi_cma_move_assisted(int peer, uint64_t address, void *local, uint64_t bytes, bool write) {
	int i = gompi_local_index(peer);
	return (i >= 0 && gompi_assisted_copy(i, address, local, bytes, write, true)) ||
	       gompi_cma_move(peer, address, local, bytes, write);
}

bool gompi_cma_move_segments(int peer, uint64_t address, int64_t count, const struct gompi_type *type, char *local,
			     int64_t bytes, bool write) {
	if (type->flags & GOMPI_TYPE_CONTIGUOUS) {
		address += (uint64_t)type->origin;
		return gompi_assisted_copy(gompi_local_index(peer), address, local, (uint64_t)bytes, write, false) ||
		       gompi_cma_move(peer, address, local, (uint64_t)bytes, write);
	}
	int pid = pid_of(peer);
	struct gompi_cursor cursor;
	gompi_cursor_init(&cursor, type, count, GOMPI_BYTES);
	while (bytes > 0) {
		struct iovec remote_iov[IOVECS];
		int n = 0;
		int64_t total = 0, segment_bytes, offset;
		while (n < IOVECS && total < bytes &&
		       (segment_bytes = gompi_cursor_next(&cursor, bytes - total, &offset)) > 0) {
			remote_iov[n++] =
				(struct iovec){(void *)(uintptr_t)(address + (uint64_t)offset), (size_t)segment_bytes};
			total += segment_bytes;
		}
		struct iovec local_iov = {local, (size_t)total};
		if (call_process_vm(pid, &local_iov, remote_iov, n, write) != total)
			// This may be a partial transfer: the system stops at an address that is not mapped.
			return false;
		local += total;
		bytes -= total;
	}
	return true;
}
