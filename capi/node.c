// Start of the data path: where the shared memory is.
#define _GNU_SOURCE
#include "node.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

struct gompi_node gompi_node;

void gompi_node_open(void *control, int n, int me, int cores, size_t cell_stride, size_t message_offset,
		     size_t message_stride, size_t agent_offset, size_t agent_stride, int cma) {
	gompi_node = (struct gompi_node){
		.control = control,
		.n = n,
		.me = me,
		.crowded = n > cores,
		.cma = cma,
		.cell_stride = cell_stride,
		.message_rings = (char *)control + message_offset,
		.message_stride = message_stride,
		.agent_rings = (char *)control + agent_offset,
		.agent_stride = agent_stride,
		.membarrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0,
	};
}
