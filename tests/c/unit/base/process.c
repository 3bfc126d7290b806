/* Proves: the table of processes (base/process.h) returns the right number, node and index on the node of each process.
 * Covers jobs on one node and on several nodes. Also covers jobs that one thread adds while another thread reads the
 * table; the entries of a job may lie in several chunks of the table. */
#include "../unit.h"

#include "base/process.h"

#include <pthread.h>

static void one_node(void) {
	struct gompi_processes *t = unit_processes(100, NULL, NULL);
	CHECK(gompi_processes_count(t) == 100 && t->in_order_count == 100 && t->node_count == 1,
	      "%d, %d in order, %d nodes", t->n, t->in_order_count, t->node_count);
	for (int i = 0; i < 100; i++)
		CHECK(gompi_process_index(t, i) == i && gompi_process(t, i)->rank == i, "%d", i);
	CHECK(gompi_process_index(t, 100) == -1 && gompi_process_index(t, -1) == -1, "there are no others");
}

static void several_nodes(void) {
	const int32_t node_of[] = {0, 1, 0, 2}, index[] = {-1, 0, -1, -1};
	struct gompi_processes *t = unit_processes(4, node_of, index);
	CHECK(t->in_order_count == 0 && t->node_count == 3, "%d in order, %d nodes", t->in_order_count, t->node_count);
	for (int i = 0; i < 4; i++)
		CHECK(gompi_process_index(t, i) == index[i] && gompi_process(t, i)->node == node_of[i], "%d", i);
	const int32_t more[] = {3, 1}, here[] = {-1, 1};
	CHECK(gompi_processes_add(t, 1, 2, more, here) == 4 && t->node_count == 4, "a second job");
	CHECK(gompi_process(t, 5)->job == 1 && gompi_process(t, 5)->rank == 1 && gompi_process_index(t, 5) == 1 &&
		      gompi_process(t, 3)->job == 0,
	      "its processes");
}

enum { MAX_ENTRIES = 100000, JOB_SIZE = 37 };
static gompi_a32 is_finished;

/* Checks repeatedly that the last 1,000 visible entries are complete, until the table no longer grows. */
static void *read_all(void *arg) {
	const struct gompi_processes *t = arg;
	for (bool last = false; !last;) {
		last = gompi_load_acquire(&is_finished) != 0; /* pairs with the release in grow_while_read */
		for (int i = gompi_processes_count(t) - 1, k = 0; i >= 0 && k < 1000; i--, k++) {
			const struct gompi_process *p = gompi_process(t, i);
			CHECK((int)p->job == i / JOB_SIZE && p->rank == i % JOB_SIZE && p->node == i % JOB_SIZE / 8,
			      "%d: job %u rank %d", i, p->job, p->rank);
		}
	}
	return NULL;
}

static void grow_while_read(void) {
	int32_t node_of[JOB_SIZE], index[JOB_SIZE];
	for (int i = 0; i < JOB_SIZE; i++)
		node_of[i] = i / 8, index[i] = i / 8 == 1 ? i % 8 : -1;
	struct gompi_processes *t = unit_processes(JOB_SIZE, node_of, index);
	pthread_t reader;
	pthread_create(&reader, NULL, read_all, t);
	int job = 1;
	for (; gompi_processes_count(t) < MAX_ENTRIES; job++)
		CHECK(gompi_processes_add(t, (uint32_t)job, JOB_SIZE, node_of, index) == job * JOB_SIZE, "job %d", job);
	gompi_store_release(&is_finished, 1); /* pairs with the acquire in read_all */
	pthread_join(reader, NULL);
	CHECK(gompi_process_index(t, (job - 1) * JOB_SIZE + 9) == 1 && t->node_count == 5, "the last job");
}

int main(void) {
	one_node();
	several_nodes();
	grow_while_read();
	return unit_end();
}
