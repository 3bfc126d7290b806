#include "datatype/user_op.h"

#include <pthread.h>
#include <stdlib.h>

struct gompi_table gompi_user_op_table = {&gompi_table_nothing};

// Those to be used again. None is given back to the system, so that a call that comes too late finds memory.
static pthread_mutex_t spare_ops_mu = PTHREAD_MUTEX_INITIALIZER;
static struct gompi_user_op *spare_ops;

// Those that are known at once. Calls with any that are made beyond them go through Go.
enum { MOST_KNOWN = 4096 };
static unsigned known_ops; // under spare_ops_mu

static void give_op(struct gompi_user_op *u) {
	pthread_mutex_lock(&spare_ops_mu);
	u->next = spare_ops;
	spare_ops = u;
	known_ops--;
	pthread_mutex_unlock(&spare_ops_mu);
}

bool gompi_user_op_open(uintptr_t handle, uintptr_t function, bool large) {
	pthread_mutex_lock(&spare_ops_mu);
	struct gompi_user_op *u = NULL;
	if (known_ops < MOST_KNOWN) {
		known_ops++;
		u = spare_ops;
		if (u != NULL)
			spare_ops = u->next;
		else if ((u = malloc(sizeof *u)) == NULL)
			known_ops--;
	}
	pthread_mutex_unlock(&spare_ops_mu);
	if (u == NULL)
		return false;
	*u = (struct gompi_user_op){.function = function, .large = large};
	if (gompi_table_put(&gompi_user_op_table, handle, u))
		return true;
	give_op(u);
	return false;
}

void gompi_user_op_close(uintptr_t handle) {
	struct gompi_user_op *u = gompi_table_remove(&gompi_user_op_table, handle);
	if (u != NULL)
		give_op(u);
}
