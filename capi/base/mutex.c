#define _GNU_SOURCE
#include "base/mutex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/node.h"
#include "base/tuning.h"

void gompi_mutex_lock_slow(struct gompi_mutex *m) {
	for (int i = gompi_node.policy.is_oversubscribed ? GOMPI_MUTEX_POLLS : 0; i < GOMPI_MUTEX_POLLS; i++) {
		gompi_pause();
		if (gompi_load(&m->state) == 0 && gompi_mutex_trylock(m))
			return;
	}
	while (gompi_swap_seq_cst(&m->state, 2) != 0)
		syscall(SYS_futex, &m->state, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

void gompi_mutex_wake_one(struct gompi_mutex *m) {
	syscall(SYS_futex, &m->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
