#define _GNU_SOURCE
#include "transport/cma.h"

#include <sys/uio.h>

#include "base/node.h"

enum { IOVECS = 256 };

// Returns the pid of a process of this node.
static int pid_of(int peer) { return gompi_load(&gompi_cell(gompi_on_node(peer))->pid); }

static ssize_t call_system(int pid, struct iovec *here, struct iovec *there, int n, bool write) {
	return write ? process_vm_writev(pid, here, 1, there, (unsigned long)n, 0)
		     : process_vm_readv(pid, here, 1, there, (unsigned long)n, 0);
}

bool gompi_cma_move(int peer, uint64_t address, void *local, uint64_t bytes, bool write) {
	if (gompi_on_node(peer) < 0)
		return false;
	int pid = pid_of(peer);
	for (uint64_t done = 0; done < bytes;) {
		struct iovec here = {(char *)local + done, bytes - done};
		struct iovec there = {(void *)(uintptr_t)(address + done), bytes - done};
		ssize_t k = call_system(pid, &here, &there, 1, write);
		if (k <= 0)
			return false;
		done += (uint64_t)k;
	}
	return true;
}

bool gompi_cma_move_pieces(int peer, uint64_t address, int64_t count, const struct gompi_type *type, char *local,
			   int64_t bytes, bool write) {
	int pid = pid_of(peer);
	struct gompi_cursor cursor;
	gompi_cursor_init(&cursor, type, count, GOMPI_BYTES);
	while (bytes > 0) {
		struct iovec there[IOVECS];
		int n = 0;
		int64_t total = 0, piece, offset;
		while (n < IOVECS && total < bytes &&
		       (piece = gompi_cursor_next(&cursor, bytes - total, &offset)) > 0) {
			there[n++] = (struct iovec){(void *)(uintptr_t)(address + (uint64_t)offset), (size_t)piece};
			total += piece;
		}
		struct iovec here = {local, (size_t)total};
		if (call_system(pid, &here, there, n, write) != total)
			// also after a partial transfer: the system stops at an address that is not mapped
			return false;
		local += total;
		bytes -= total;
	}
	return true;
}
