#define _GNU_SOURCE
#include "base/mutex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/node.h"
#include "base/tuning.h"

void gompi_mutex_wait(struct gompi_mutex *m) {
	for (int i = gompi_node.policy.oversubscribed ? GOMPI_MUTEX_LOOKS : 0; i < GOMPI_MUTEX_LOOKS; i++) {
		gompi_pause();
		if (gompi_load(&m->word) == 0 && gompi_mutex_try(m))
			return;
	}
	while (gompi_swap_total(&m->word, 2) != 0)
		syscall(SYS_futex, &m->word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

void gompi_mutex_wake(struct gompi_mutex *m) { syscall(SYS_futex, &m->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); }
