/* Proves: MPIX_Gompirma_waits reports each thread that sleeps in MPI: the call, the peer, the event that it waits for,
 *   and the communicator. It reports nothing for a thread that does not sleep. If there are more entries than the
 *   caller's array holds, it returns their number.
 * np: 1
 * ref: none (of gompirma only)
 * timeout: 20
 */
#include "../check.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mpix_gompirma.h"

static MPI_Comm comm;
static int number[2];

static void *receives(void *tag) {
	int value;
	number[(long)tag - 7] = (int)syscall(SYS_gettid);
	MPI_Recv(&value, 1, MPI_INT, 0, (int)(long)tag, comm, MPI_STATUS_IGNORE);
	return NULL;
}

/* Waits until MPIX_Gompirma_waits reports `want` sleeping threads. */
static void await_waits(int want, int most, struct MPIX_Gompirma_wait *waits) {
	for (int count = -1; count != want; usleep(1000))
		CHECK_OK(MPIX_Gompirma_waits(most, waits, &count));
}

int main(int argc, char **argv) {
	struct MPIX_Gompirma_wait w[3], none[1];
	int count = -1, value = 1;
	pthread_t thread[2];
	CHECK_OK(MPIX_Gompirma_waits(0, NULL, &count));
	CHECK(count == 0, "%d threads wait before MPI_Init", count);
	check_begin_threads(&argc, &argv);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_set_name(comm, "waits");
	for (long i = 0; i < 2; i++) {
		pthread_create(&thread[i], NULL, receives, (void *)(7 + i));
		await_waits((int)i + 1, 3, w);
	}
	for (int i = 0; i < 2; i++) {
		CHECK(strcmp(w[i].call, "MPI_Recv") == 0 && strcmp(w[i].name, "waits") == 0, "'%s' on '%s'", w[i].call,
		      w[i].name);
		CHECK(w[i].object == (uintptr_t)comm && w[i].process == 0, "object %#llx, process %d",
		      (unsigned long long)w[i].object, w[i].process);
		CHECK(w[i].reason == MPIX_GOMPIRMA_FOR_MESSAGE && w[i].tag == 7 + i && w[i].thread == number[i],
		      "reason %d, tag %d, thread %d", w[i].reason, w[i].tag, w[i].thread);
	}
	await_waits(2, 0, NULL);
	memset(w, 7, sizeof w);
	await_waits(2, 1, w);
	CHECK(w[0].tag == 7 && w[1].call[0] == 7, "more is stored than there is room for");
	CHECK(MPIX_Gompirma_waits(1, NULL, &count) == MPI_ERR_ARG && MPIX_Gompirma_waits(1, none, NULL) == MPI_ERR_ARG,
	      "NULL is no error");
	for (int i = 0; i < 2; i++) {
		MPI_Send(&value, 1, MPI_INT, 0, 7 + i, comm);
		pthread_join(thread[i], NULL);
	}
	await_waits(0, 0, NULL);
	MPI_Comm_free(&comm);
	return check_end();
}
