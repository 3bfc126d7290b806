/* Proves: a generalized request completes by MPI_Grequest_complete from the same or another thread. Its callback
 *   functions receive the extra state; the query function runs before the free function. The status has the values that
 *   the query function stored. The cancel function receives a flag that is true if the request is complete. Covers
 *   MPI_Wait, Test, Waitall and MPI_Request_free. MPI-5.0 13.2, 13.3
 * np: 1 2
 * ref: none (MPICH 4.0.2 calls the free function in MPI_Request_free, before MPI_Grequest_complete)
 * timeout: 30
 */
#include "../check.h"

#include <pthread.h>
#include <unistd.h>

struct state {
	int queried, freed, cancelled, complete, order;
};

static int query(void *extra, MPI_Status *s) {
	struct state *x = extra;
	x->queried++;
	CHECK(!x->freed, "query after free");
	MPI_Status_set_elements(s, MPI_INT, 11);
	MPI_Status_set_cancelled(s, x->cancelled);
	s->MPI_SOURCE = 5;
	s->MPI_TAG = 6;
	return MPI_SUCCESS;
}

static int done(void *extra) {
	((struct state *)extra)->freed++;
	return MPI_SUCCESS;
}

static int cancel(void *extra, int complete) {
	struct state *x = extra;
	x->cancelled = 1;
	x->complete = complete;
	return MPI_SUCCESS;
}

static void *later(void *r) {
	usleep(20000);
	MPI_Grequest_complete(*(MPI_Request *)r);
	return NULL;
}

static void look(MPI_Status *s, int cancelled) {
	int n, flag;
	MPI_Get_count(s, MPI_INT, &n);
	MPI_Test_cancelled(s, &flag);
	CHECK(n == 11 && s->MPI_SOURCE == 5 && s->MPI_TAG == 6 && flag == cancelled,
	      "status: %d from %d, tag %d, cancelled %d", n, s->MPI_SOURCE, s->MPI_TAG, flag);
}

int main(int argc, char **argv) {
	int flag;
	check_begin_threads(&argc, &argv);
	MPI_Request r, copy, two[2];
	MPI_Status s, ss[2];
	struct state x = {0}, y = {0};
	pthread_t t;

	MPI_Grequest_start(query, done, cancel, &x, &r);
	MPI_Test(&r, &flag, &s);
	CHECK(!flag && x.queried == 0, "complete too early");
	copy = r;
	pthread_create(&t, NULL, later, &copy);
	MPI_Wait(&r, &s);
	pthread_join(t, NULL);
	look(&s, 0);
	CHECK(x.queried >= 1 && x.freed == 1 && r == MPI_REQUEST_NULL, "queried %d, freed %d times", x.queried,
	      x.freed);

	x = (struct state){0};
	MPI_Grequest_start(query, done, cancel, &x, &r);
	MPI_Cancel(&r);
	CHECK(x.cancelled && !x.complete, "cancel: %d, complete %d", x.cancelled, x.complete);
	MPI_Grequest_complete(r);
	MPI_Test(&r, &flag, &s);
	CHECK(flag, "not complete");
	look(&s, 1);

	x = (struct state){0};
	MPI_Grequest_start(query, done, cancel, &x, &two[0]);
	MPI_Irecv(&flag, 1, MPI_INT, check_rank, 0, MPI_COMM_WORLD, &two[1]);
	MPI_Grequest_complete(two[0]);
	int seven = 7;
	MPI_Send(&seven, 1, MPI_INT, check_rank, 0, MPI_COMM_WORLD);
	MPI_Waitall(2, two, ss);
	look(&ss[0], 0);
	CHECK(ss[1].MPI_SOURCE == check_rank && flag == 7 && x.freed == 1, "the receive beside it");

	MPI_Grequest_start(query, done, cancel, &y, &r);
	copy = r;
	MPI_Request_free(&r);
	CHECK(y.freed == 0, "freed before it is complete");
	MPI_Grequest_complete(copy);
	CHECK(y.freed == 1, "not freed");
	return check_end();
}
