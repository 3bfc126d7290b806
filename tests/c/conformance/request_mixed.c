/* Proves: one MPI_Waitall, MPI_Waitsome or MPI_Testall can complete RMA requests and message requests together. Each
 *   status belongs to its own operation. Tests every window kind. MPI-5.0 12.3.5, 3.7.5
 * np: 1 2 4
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../epochs.h"

enum { REQUESTS = 6, TIMES = 20 };

static void body(struct window *w) {
	int n = w->n, right = (w->rank + 1) % n, left = (w->rank + n - 1) % n, *mem = w->mem;
	int put, got, sum, old, send, recv, one = 1;
	MPI_Request requests[REQUESTS];
	MPI_Status statuses[REQUESTS];
	for (int i = 0; i < 4; i++)
		mem[i] = w->rank * 10 + i;
	epoch_publish(w);
	MPI_Barrier(w->comm);
	MPI_Win_lock_all(0, w->win);
	for (int time = 0; time < TIMES; time++) {
		put = w->rank * 100 + time, send = put, got = recv = old = -1, sum = 1;
		MPI_Rput(&put, 1, MPI_INT, right, window_at(w, right, 0), 1, MPI_INT, w->win, requests);
		MPI_Irecv(&recv, 1, MPI_INT, left, time, w->comm, requests + 1);
		MPI_Rget(&got, 1, MPI_INT, right, window_at(w, right, 1), 1, MPI_INT, w->win, requests + 2);
		MPI_Raccumulate(&sum, 1, MPI_INT, right, window_at(w, right, 2), 1, MPI_INT, MPI_SUM, w->win,
				requests + 3);
		MPI_Isend(&send, 1, MPI_INT, right, time, w->comm, requests + 4);
		MPI_Rget_accumulate(&one, 1, MPI_INT, &old, 1, MPI_INT, right, window_at(w, right, 3), 1, MPI_INT,
				    MPI_SUM, w->win, requests + 5);
		if (time % 3 == 0) {
			MPI_Waitall(REQUESTS, requests, statuses);
			CHECK(statuses[1].MPI_SOURCE == left && statuses[1].MPI_TAG == time,
			      "the receive's status says %d, %d", statuses[1].MPI_SOURCE, statuses[1].MPI_TAG);
		} else if (time % 3 == 1) {
			int done = 0;
			while (!done)
				MPI_Testall(REQUESTS, requests, &done, MPI_STATUSES_IGNORE);
		} else {
			int left_over = REQUESTS, number, which[REQUESTS];
			while (left_over > 0) {
				MPI_Waitsome(REQUESTS, requests, &number, which, MPI_STATUSES_IGNORE);
				CHECK(number > 0 && number <= left_over, "%d of %d requests", number, left_over);
				left_over -= number;
			}
		}
		for (int i = 0; i < REQUESTS; i++)
			CHECK(requests[i] == MPI_REQUEST_NULL, "%s window: request %d is not null", w->name, i);
		CHECK(recv == left * 100 + time, "%s window: received %d", w->name, recv);
		CHECK(got == right * 10 + 1, "%s window: got %d, not %d", w->name, got, right * 10 + 1);
		CHECK(old == right * 10 + 3 + time, "%s window: fetched %d, not %d", w->name, old,
		      right * 10 + 3 + time);
	}
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
	epoch_publish(w);
	CHECK(mem[0] == left * 100 + TIMES - 1, "%s window: put left %d", w->name, mem[0]);
	CHECK(mem[2] == w->rank * 10 + 2 + TIMES, "%s window: the sum is %d", w->name, mem[2]);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(64, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
